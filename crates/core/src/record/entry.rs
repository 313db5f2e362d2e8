//! The entry: a named graph, and the program that computes it, so that a call by name needs no code generation.

use super::wire::{Kind, Reader, Writer};
use super::{ParseRecordError, Record};
use crate::key::RecordId;
use crate::names::excerpt;
use crate::program::Program;

/// A named graph and the program that computes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, which [`check_entry_name`] must accept.
    pub name: String,
    /// What is called to compute it.
    pub program: Program,
    /// The graph as it was declared, in canonical JSON; what `program` is made of, for those who resolve graphs.
    pub declared: String,
    /// What made `program` of `declared`. Readers of the same recipe can say whether it did.
    pub recipe: String,
}

/// Says that a name cannot be an entry's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry name `{name}` is not 1 to 128 letters, digits, `_`, `-` or `.`, the first not a `.`")]
pub struct EntryNameError {
    /// The beginning of the text, with its hidden characters spelled out.
    pub name: String,
}

/// Checks that a name can be a file's name everywhere: 1 to 128 ASCII letters, digits, `_`, `-` or `.`, the first not a `.`.
///
/// # Errors
///
/// It cannot.
pub fn check_entry_name(name: &str) -> Result<(), EntryNameError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if (1..=128).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(plain) {
        Ok(())
    } else {
        Err(EntryNameError { name: excerpt(name) })
    }
}

impl Entry {
    /// Renders the bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (program, declared) = self.to_parts();
        [program, declared].concat()
    }

    /// The bytes up to the program's end, which is all that a loader reads, and the others.
    pub(crate) fn to_parts(&self) -> (Vec<u8>, Vec<u8>) {
        let Self { name, program, declared, recipe } = self;
        let mut writer = Writer::new(Kind::Entry);
        writer.str(name);
        program.write(&mut writer);
        let mut rest = Writer::within();
        rest.str(declared);
        rest.str(recipe);
        (writer.finish(), rest.finish())
    }

    /// Computes the identity: the hash of [`Entry::to_bytes`].
    #[must_use]
    pub fn id(&self) -> RecordId {
        Record::id_of(&self.to_bytes())
    }

    /// Reads bytes that [`Entry::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// Another format, or bytes that no entry has.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseRecordError> {
        let mut reader = Reader::new(Kind::Entry, bytes)?;
        let (name, program) = (reader.str()?, Program::read(&mut reader)?);
        let entry = Self::read_declared(name, program, reader)?;
        // A type or an element may be spelled in more than one way; an entry is not.
        if entry.to_bytes() == bytes { Ok(entry) } else { Err(not_canonical()) }
    }

    /// Reads what [`Entry::to_parts`] gave.
    pub(crate) fn of_parts(program: &[u8], declared: &[u8]) -> Result<Self, ParseRecordError> {
        let mut reader = Reader::new(Kind::Entry, program)?;
        let (name, read) = (reader.str()?, Program::read(&mut reader)?);
        reader.end()?;
        let entry = Self::read_declared(name, read, Reader::within(Kind::Entry, declared))?;
        let (its_program, its_declared) = entry.to_parts();
        let is_canonical = its_program == program && its_declared == declared;
        if is_canonical { Ok(entry) } else { Err(not_canonical()) }
    }

    /// Reads what follows the program.
    fn read_declared(
        name: String,
        program: Program,
        mut reader: Reader<'_>,
    ) -> Result<Self, ParseRecordError> {
        let (declared, recipe) = (reader.str()?, reader.str()?);
        reader.end()?;
        check_entry_name(&name).map_err(|_| malformed("its name is invalid"))?;
        Ok(Self { name, program, declared, recipe })
    }
}

fn not_canonical() -> ParseRecordError {
    malformed("it is not in canonical form")
}

fn malformed(why: &'static str) -> ParseRecordError {
    ParseRecordError::Malformed { what: "entry", why }
}

#[cfg(test)]
mod tests {
    use super::Entry;
    use crate::program::{Port, Program};
    use crate::record::ParseRecordError;

    fn entry(name: &str, input: &str) -> Entry {
        let inputs = vec![Port { name: input.to_owned(), ty: "f64[?]".parse().unwrap() }];
        let program = Program { inputs, ..Program::default() };
        let (declared, recipe) = (String::new(), String::new());
        Entry { name: name.to_owned(), program, declared, recipe }
    }

    #[test]
    fn entries_with_invalid_names_are_malformed() {
        assert!(Entry::parse(&entry("f", "x").to_bytes()).is_ok());
        for hostile in
            ["x\n", "\0", "\x1b[2J", "\"", "*/", "</script>", "\u{202e}", "../x", "", &"x".repeat(1 << 20)]
        {
            for entry in [entry(hostile, "x"), entry("f", hostile)] {
                let read = Entry::parse(&entry.to_bytes());
                assert!(
                    matches!(read, Err(ParseRecordError::Malformed { .. })),
                    "{}",
                    hostile.escape_debug()
                );
            }
        }
    }
}
