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
        let (name, program, declared, recipe) = parts(bytes)?;
        let [name, declared, recipe] = [name, declared, recipe].map(str::to_owned);
        let entry = Self { name, program, declared, recipe };
        // A type or an element may be spelled in more than one way; an entry is not.
        if entry.to_bytes() == bytes {
            Ok(entry)
        } else {
            Err(ParseRecordError::Malformed { what: "entry", why: "it is not in canonical form" })
        }
    }

    /// Name and program of an entry whose bytes are known to be the ones that were written: in which form is not asked.
    pub(crate) fn program(bytes: &[u8]) -> Result<(&str, Program), ParseRecordError> {
        parts(bytes).map(|(name, program, ..)| (name, program))
    }
}

/// The parts of an entry, in their order.
fn parts(bytes: &[u8]) -> Result<(&str, Program, &str, &str), ParseRecordError> {
    let mut reader = Reader::new(Kind::Entry, bytes)?;
    let (name, program) = (reader.text()?, Program::read(&mut reader)?);
    let (declared, recipe) = (reader.text()?, reader.text()?);
    reader.end()?;
    Ok((name, program, declared, recipe))
}
