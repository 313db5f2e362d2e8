//! The entry: a record that names a graph, so that a call by name needs no code generation.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Record;
use super::format::{self, ParseRecordError};
use crate::key::{BuildKey, RecordId};

/// A named graph and the modules that compute it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The name, which [`check_entry_name`] must accept.
    pub name: String,
    /// The rewritten graph, in its JSON form. Numbers in it must survive a round trip, so floats stand as text.
    pub graph: Value,
    /// The graph as it was declared, in its JSON form.
    pub declared: Value,
    /// What the graph's modules compute, in the order of the program.
    pub program: Vec<BuildKey>,
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
    /// Renders the canonical bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut entry = self.clone();
        // Does nothing unless some crate of the program asked serde_json to keep the order of insertion.
        entry.graph.sort_all_objects();
        entry.declared.sort_all_objects();
        format::render("entry", &entry)
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
    /// The format is newer than this reader, or the JSON is of another form or not canonical.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseRecordError> {
        let entry: Self = format::parse("entry", bytes)?;
        if entry.to_bytes() == bytes { Ok(entry) } else { Err(ParseRecordError::NotCanonical) }
    }
}
