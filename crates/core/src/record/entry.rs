//! An entry: a named graph and the program that computes it, so that a call by name needs no code generation.

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
    /// The program that computes the graph.
    pub program: Program,
    /// The declared graph in canonical JSON, from which `program` was made. Used by crates that resolve graphs.
    pub declared: String,
    /// The recipe that made `program` from `declared`. A reader with the same recipe can check the result.
    pub recipe: String,
}

/// The error for an invalid entry name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid entry name `{name}`: expected 1 to 128 letters, digits, `_`, `-` or `.`, not beginning with `.`"
)]
pub struct EntryNameError {
    /// The beginning of the text, with hidden characters escaped.
    pub name: String,
}

/// Checks that a name is a valid file name on every system. It has 1 to 128 ASCII letters, digits, `_`, `-` or `.`, and
/// does not begin with `.`.
///
/// # Errors
///
/// The name is invalid.
pub fn check_entry_name(name: &str) -> Result<(), EntryNameError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if (1..=128).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(plain) {
        Ok(())
    } else {
        Err(EntryNameError { name: excerpt(name) })
    }
}

impl Entry {
    /// Serializes the entry.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (program, declared) = self.to_parts();
        [program, declared].concat()
    }

    /// Returns the bytes up to the end of the program, which loaders read, and the remaining bytes.
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

    /// Parses bytes that [`Entry::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// The format is unknown, or the bytes are not an entry in canonical form.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseRecordError> {
        let mut reader = Reader::new(Kind::Entry, bytes)?;
        let (name, program) = (reader.str()?, Program::read(&mut reader)?);
        let entry = Self::read_declared(name, program, reader)?;
        // A type or an element may have several spellings, but an entry must be canonical.
        if entry.to_bytes() == bytes { Ok(entry) } else { Err(not_canonical()) }
    }

    /// Parses the two parts that [`Entry::to_parts`] returned.
    pub(crate) fn of_parts(program: &[u8], declared: &[u8]) -> Result<Self, ParseRecordError> {
        let mut reader = Reader::new(Kind::Entry, program)?;
        let (name, read) = (reader.str()?, Program::read(&mut reader)?);
        reader.end()?;
        let entry = Self::read_declared(name, read, Reader::within(Kind::Entry, declared))?;
        let (its_program, its_declared) = entry.to_parts();
        let is_canonical = its_program == program && its_declared == declared;
        if is_canonical { Ok(entry) } else { Err(not_canonical()) }
    }

    /// Parses the fields after the program.
    fn read_declared(
        name: String,
        program: Program,
        mut reader: Reader<'_>,
    ) -> Result<Self, ParseRecordError> {
        let (declared, recipe) = (reader.str()?, reader.str()?);
        reader.end()?;
        check_entry_name(&name).map_err(|_| malformed("invalid name"))?;
        Ok(Self { name, program, declared, recipe })
    }
}

fn not_canonical() -> ParseRecordError {
    malformed("not in canonical form")
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
