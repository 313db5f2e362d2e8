//! Provenance: a builder's statement about the origin of a record, stored beside it. It is for people and their tools.
//! The store does not depend on it, and does not restore a lost statement.

use super::batch::Batch;
use super::paths::RecordName;
use super::write::WriteError;
use super::{FindError, Store};
use crate::record::Record;

/// An upper bound for the size of a statement, in bytes.
const LIMIT: u64 = 64 << 20;

impl Store {
    /// Stores a statement beside a record, durably, unless one exists: the existing one describes the build of the
    /// existing files. Returns whether the statement was written.
    ///
    /// # Errors
    ///
    /// The file system refuses, or other users can change the files.
    pub fn put_provenance(&self, record: &Record, statement: &str) -> Result<bool, WriteError> {
        let _lease = self.lease();
        let mut batch = Batch::default();
        let is_put = self.add_provenance(&RecordName::of(record), statement, &mut batch)?;
        self.commit(batch).map_err(|(_, source)| source)?;
        Ok(is_put)
    }

    /// Adds a statement to a batch, as [`Store::put_provenance`].
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

    /// Finds the statement of a record.
    ///
    /// # Errors
    ///
    /// The file system refuses, or other users can change the files.
    pub fn find_provenance(&self, record: &Record) -> Result<Option<String>, FindError> {
        let found = self.read(&self.paths.provenance(&RecordName::of(record)), LIMIT)?;
        Ok(found.map(|found| String::from_utf8_lossy(&found.bytes).into_owned()))
    }
}
