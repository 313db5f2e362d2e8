//! Supersedes records: of the records of a key, only those that fit the current state of the outside files are used.
//!
//! A key does not cover system headers and libraries, so a module may have records that were built from different
//! contents of one file ([`Record::contradicts`]), for one ISA level or for several. The last record that a build
//! published or reused is right. Its contradicting records are superseded: each pointer to them gets the content
//! [`SUPERSEDED`]. This state does not depend on times, and therefore survives copies, exports and pushes. A build that
//! needs a superseded record again, because a file has its old content back, makes it current again.
//!
//! A record without outside files has no contradicting records, and costs nothing here.

use std::path::PathBuf;

use super::access::Pointer;
use super::batch::Batch;
use super::paths::RecordName;
use super::settle::pointer_keys;
use super::write::WriteError;
use super::{FindError, Store};
use crate::record::Record;

/// The content of a pointer to a superseded record.
pub(crate) const SUPERSEDED: &[u8] = b"superseded\n";

impl Store {
    /// Supersedes the records that contradict this one, which has its pointers already.
    pub(super) fn supersede_by(&self, record: &Record) -> Result<(), WriteError> {
        if record.outside.is_empty() {
            return Ok(());
        }
        let name = RecordName::of(record);
        let mut batch = Batch::default();
        for key in pointer_keys(record) {
            for pointer in self.contradicting(&key, &name, record)? {
                self.write(&pointer, SUPERSEDED, &mut batch)?;
            }
        }
        self.commit(batch).map_err(|(_, source)| source)
    }

    /// Returns the current pointers of a key to records that contradict this one.
    pub(super) fn contradicting(
        &self,
        key: &str,
        name: &RecordName,
        record: &Record,
    ) -> Result<Vec<PathBuf>, FindError> {
        let directory = self.paths.pointers(key);
        let mut found = Vec::new();
        if record.outside.is_empty() {
            return Ok(found);
        }
        for pointer in self.names(&directory)? {
            let path = directory.join(&pointer);
            let Some(other) = RecordName::parse(&pointer).filter(|other| other != name) else { continue };
            let is_current = self.pointer(&path)? == Some(Pointer::Current);
            if is_current && self.read_record(&other)?.is_some_and(|other| other.contradicts(record)) {
                found.push(path);
            }
        }
        Ok(found)
    }

    /// Returns whether a record is superseded for each of its modules. Lookups, exports and pushes skip it.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn is_superseded(&self, record: &Record) -> Result<bool, FindError> {
        if record.outside.is_empty() {
            return Ok(false);
        }
        let name = RecordName::of(record);
        for member in &record.members {
            let key = member.key.to_string();
            let is_superseded = match self.pointer(&self.paths.pointers(&key).join(name.to_string()))? {
                Some(Pointer::Superseded) => true,
                Some(Pointer::Current) => {
                    self.find_superseded(&member.key)?.iter().any(|other| other.id() == name.id)
                }
                None => !self.contradicting(&key, &name, record)?.is_empty(),
            };
            if !is_superseded {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
