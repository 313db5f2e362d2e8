//! Provenance: what a builder states of how a record came about, kept beside it. It is for people and their tools; nothing here
//! depends on it, and what is lost of it is not put back.

use super::batch::Batch;
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
        let mut batch = Batch::default();
        let is_put = self.add_provenance(&name(record), statement, &mut batch)?;
        self.commit(batch).map_err(|(_, source)| source)?;
        Ok(is_put)
    }

    /// Puts a statement with a batch, as [`Store::put_provenance`].
    pub(super) fn add_provenance(
        &self,
        name: &RecordName,
        statement: &str,
        batch: &mut Batch,
    ) -> Result<bool, WriteError> {
        let path = self.paths.provenance(name);
        if self.read(&path, LIMIT)?.is_some() {
            return Ok(false);
        }
        self.write(&path, statement.as_bytes(), batch).map(|()| true)
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
