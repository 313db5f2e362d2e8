//! Provenance: what a builder states of how a record came about, kept beside it. It is for people and their tools; nothing here
//! depends on it, and what is lost of it is not put back.

use super::paths::RecordName;
use super::write::WriteError;
use super::{FindError, Store};
use crate::record::Record;

/// No statement comes near this size, in bytes.
const LIMIT: u64 = 64 << 20;

impl Store {
    /// Puts a statement beside a record, durably, unless there is one: it is about the build that made what is there. Tells
    /// whether it was put.
    ///
    /// # Errors
    ///
    /// The file system refuses, or others can change what is there.
    pub fn put_provenance(&self, record: &Record, statement: &str) -> Result<bool, WriteError> {
        let _lease = self.lease();
        let path = self.paths.provenance(&name(record));
        if self.read(&path, LIMIT)?.is_some() {
            return Ok(false);
        }
        self.write_alone(&path, statement.as_bytes()).map(|()| true)
    }

    /// Finds the statement beside a record.
    ///
    /// # Errors
    ///
    /// The file system refuses, or others can change what is there.
    pub fn find_provenance(&self, record: &Record) -> Result<Option<String>, FindError> {
        let found = self.read(&self.paths.provenance(&name(record)), LIMIT)?;
        Ok(found.map(|found| String::from_utf8_lossy(&found.bytes).into_owned()))
    }
}

fn name(record: &Record) -> RecordName {
    RecordName { action: record.action, id: record.id() }
}
