//! Current generations: of the records of a key, only those that fit the current headers and libraries are used.
//!
//! A key does not cover files outside of a module's sources, so it may have records that were built from different states
//! of these files: different [generations](crate::GenerationId). One generation of a key is current for each target: that
//! of the record which a build, an import or a push published or reused last. The file `current-<target>` beside the
//! pointers names it. It is replaced as a whole, so that concurrent writers leave the generation of one of them with all
//! its ISA levels. It needs no times, and therefore survives copies, exports and pushes.
//!
//! Records of other generations are superseded: lookups, exports and pushes skip them. A build that needs one again,
//! because a file has its old content back, makes its generation current. Without the file, a record is used if all
//! records of the key have its generation.
//!
//! A record without outside files has no generation, and costs nothing here.

use std::collections::BTreeMap;

use super::batch::{Batch, Refused};
use super::{FindError, Store};
use crate::key::{BuildKey, GenerationId};
use crate::record::Record;

/// The length of a file that names a generation, in bytes.
const LENGTH: u64 = 65;

/// Returns the content of a file that names a generation.
pub(crate) fn text(generation: &GenerationId) -> String {
    format!("{generation}\n")
}

/// Parses the content of a file that names a generation.
pub(crate) fn parse(bytes: &[u8]) -> Option<GenerationId> {
    str::from_utf8(bytes).ok()?.strip_suffix('\n')?.parse().ok()
}

impl Store {
    /// Makes the generations of records current, which have their pointers already.
    pub(super) fn set_current(&self, records: &[&Record]) -> Result<(), Refused> {
        let mut wanted = BTreeMap::new();
        for (at, record) in records.iter().enumerate() {
            let generation = record.generation.iter();
            wanted.extend(generation.flat_map(|generation| {
                let path = |key| self.paths.current(key, &record.target);
                record.members.iter().map(move |member| (path(&member.key), (at, generation)))
            }));
        }
        let mut batch = Batch::default();
        for (path, (at, generation)) in wanted {
            batch.begin(at);
            let text = text(generation);
            let of = |error| (Some(at), error);
            let found = self.read(&path, LENGTH).map_err(|error| of(error.into()))?;
            if found.is_none_or(|found| found.bytes != text.as_bytes()) {
                self.write(&path, text.as_bytes(), &mut batch).map_err(of)?;
            }
        }
        self.commit(batch)
    }

    /// Returns the current generation of a key for a target, if it is known.
    fn current(&self, key: &BuildKey, target: &str) -> Result<Option<GenerationId>, FindError> {
        let path = self.paths.current(key, target);
        let Some(found) = self.read(&path, LENGTH)? else { return Ok(None) };
        let generation = parse(&found.bytes);
        if generation.is_none() {
            self.damaged(&path, "not the name of a generation");
        }
        Ok(generation)
    }

    /// Returns whether a record may be used for a key. `records` are all records of the key.
    pub(super) fn is_current(
        &self,
        key: &BuildKey,
        record: &Record,
        records: &[Record],
    ) -> Result<bool, FindError> {
        if !record.has_outside() {
            return Ok(true);
        }
        if let Some(generation) = self.current(key, &record.target)? {
            return Ok(record.generation == Some(generation));
        }
        let mut others = records.iter().filter(|other| other.has_outside() && other.target == record.target);
        Ok(others.all(|other| other.generation == record.generation))
    }

    /// Returns whether a record is superseded for each of its modules. Lookups, exports and pushes skip it.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn is_superseded(&self, record: &Record) -> Result<bool, FindError> {
        if !record.has_outside() {
            return Ok(false);
        }
        for member in &record.members {
            let superseded = self.find_superseded(&member.key)?;
            if !superseded.iter().any(|other| other.id() == record.id()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
