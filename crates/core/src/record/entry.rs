//! An entry: a named graph and the program that computes it, so that a call by name needs no code generation.

use super::wire::{FORMAT, Kind, Reader, WITH_METADATA, WITH_NAMES, Writer};
use super::{ParseRecordError, Record};
use crate::key::RecordId;
use crate::metadata::Metadata;
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
    /// What is stated about the graph beyond its program.
    pub metadata: Metadata,
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
        let metadata = self.metadata.to_bytes();
        let format = if metadata.is_empty() { self.format() } else { self.format().max(WITH_METADATA) };
        let writer = Writer::with_format(Kind::Entry, format);
        [self.write_program(writer), self.declared_bytes(), metadata].concat()
    }

    /// Returns the bytes up to the end of the program, which loaders read, and those of the declared graph. A bundle has the
    /// metadata elsewhere, so these parts have the format of an entry without metadata.
    pub(crate) fn to_parts(&self) -> (Vec<u8>, Vec<u8>) {
        let writer = Writer::with_format(Kind::Entry, self.format());
        (self.write_program(writer), self.declared_bytes())
    }

    /// Returns the oldest format that can hold the program. A reader that does not check the names of extents must not call
    /// a program that has them.
    fn format(&self) -> u32 {
        if self.program.has_names() { WITH_NAMES } else { FORMAT }
    }

    fn write_program(&self, mut writer: Writer) -> Vec<u8> {
        writer.str(&self.name);
        self.program.write(&mut writer);
        writer.finish()
    }

    fn declared_bytes(&self) -> Vec<u8> {
        // Destructured without `..`, so that a new field cannot be forgotten here.
        let Self { name: _, program: _, declared, recipe, metadata: _ } = self;
        let mut writer = Writer::within();
        writer.str(declared);
        writer.str(recipe);
        writer.finish()
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
        let (mut reader, format) = Reader::up_to(WITH_NAMES, Kind::Entry, bytes)?;
        let (name, program) = (reader.str()?, Program::read(&mut reader)?);
        let mut entry = Self::read_declared(name, program, &mut reader)?;
        if format == FORMAT {
            reader.end()?;
        } else {
            entry.metadata = Metadata::parse(reader.rest())?;
        }
        // A type or an element may have several spellings, but an entry must be canonical.
        if entry.to_bytes() == bytes { Ok(entry) } else { Err(not_canonical()) }
    }

    /// Parses the two parts that [`Entry::to_parts`] returned.
    pub(crate) fn of_parts(program: &[u8], declared: &[u8]) -> Result<Self, ParseRecordError> {
        let (mut reader, _) = Reader::up_to(WITH_NAMES, Kind::Entry, program)?;
        let (name, read) = (reader.str()?, Program::read(&mut reader)?);
        reader.end()?;
        let mut rest = Reader::within(Kind::Entry, declared);
        let entry = Self::read_declared(name, read, &mut rest)?;
        rest.end()?;
        let (its_program, its_declared) = entry.to_parts();
        let is_canonical = its_program == program && its_declared == declared;
        if is_canonical { Ok(entry) } else { Err(not_canonical()) }
    }

    /// Parses the fields between the program and the metadata.
    fn read_declared(
        name: String,
        program: Program,
        reader: &mut Reader<'_>,
    ) -> Result<Self, ParseRecordError> {
        let (declared, recipe) = (reader.str()?, reader.str()?);
        check_entry_name(&name).map_err(|_| malformed("invalid name"))?;
        Ok(Self { name, program, declared, recipe, metadata: Metadata::default() })
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
    use super::{Entry, Metadata};
    use crate::program::{Port, Program};
    use crate::record::ParseRecordError;

    fn entry(name: &str, input: &str) -> Entry {
        let inputs = vec![Port { name: input.to_owned(), ty: "f64[?]".parse().unwrap() }];
        let program = Program { inputs, ..Program::default() };
        Entry {
            name: name.to_owned(),
            program,
            declared: String::new(),
            recipe: String::new(),
            metadata: Metadata::default(),
        }
    }

    #[test]
    fn metadata_changes_entry_format_and_identity() {
        let plain = entry("f", "x");
        let metadata = Metadata { documentation: "text".to_owned(), ..Metadata::default() };
        let described = Entry { metadata, ..plain.clone() };
        let bytes = described.to_bytes();
        assert_eq!(Entry::parse(&bytes).unwrap(), described);
        assert_eq!((plain.to_bytes()[3], bytes[3]), (2, 3));
        assert_ne!(plain.id(), described.id());
        assert_eq!(plain.to_parts(), described.to_parts());
        let mut relabelled = plain.to_bytes();
        relabelled[3] = 3;
        assert!(matches!(Entry::parse(&relabelled), Err(ParseRecordError::Malformed { .. })));
        relabelled[3] = 5;
        assert!(matches!(Entry::parse(&relabelled), Err(ParseRecordError::Format { found: 5, .. })));
    }

    #[test]
    fn names_of_extents_change_entry_format() {
        let plain = entry("f", "x");
        let mut named = plain.clone();
        named.program.inputs[0].ty = "f64[n]".parse().unwrap();
        assert_eq!((plain.to_bytes()[3], named.to_bytes()[3]), (2, 4));
        assert_eq!(Entry::parse(&named.to_bytes()).unwrap(), named);
        let (program, declared) = named.to_parts();
        assert_eq!(Entry::of_parts(&program, &declared).unwrap(), named);
        for (mut bytes, format) in [(named.to_bytes(), 2), (named.to_bytes(), 3), (plain.to_bytes(), 4)] {
            bytes[3] = format;
            assert!(matches!(Entry::parse(&bytes), Err(ParseRecordError::Malformed { .. })));
        }
        // The name of an input cannot name an extent.
        named.program.inputs[0].ty = "f64[x]".parse().unwrap();
        assert!(matches!(Entry::parse(&named.to_bytes()), Err(ParseRecordError::Malformed { .. })));
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
