//! The entry: a named graph, and the program that computes it, so that a call by name needs no code generation.

use super::wire::{Kind, Reader, Writer};
use super::{ParseRecordError, Record};
use crate::key::RecordId;
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
    /// The name.
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
        Err(EntryNameError { name: name.escape_debug().to_string() })
    }
}

impl Entry {
    /// Renders the bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { name, program, declared, recipe } = self;
        let mut writer = Writer::new(Kind::Entry);
        writer.str(name);
        program.write(&mut writer);
        writer.str(declared);
        writer.str(recipe);
        writer.finish()
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
        let entry = Self { name, program, declared: reader.str()?, recipe: reader.str()? };
        reader.end()?;
        // A type or an element may be spelled in more than one way; an entry is not.
        if entry.to_bytes() == bytes {
            Ok(entry)
        } else {
            Err(ParseRecordError::Malformed { what: "entry", why: "it is not in canonical form" })
        }
    }
}
