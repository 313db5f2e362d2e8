//! Iterates over all records.

use walkdir::WalkDir;

use super::FindError;
use super::Store;
use super::access::walk_error;
use super::paths::RecordName;
use crate::record::Record;
use crate::step::step;

impl Store {
    /// Returns all records, sorted by ActionKey, with their documents if these are intact. Damage is reported and
    /// skipped.
    pub fn records(&self) -> impl Iterator<Item = Result<Record, FindError>> + '_ {
        self.named_records().map(|result| result.map(|(_, record)| record))
    }

    /// Returns all records like [`Store::records`], but does not read documents.
    pub fn bare_records(&self) -> impl Iterator<Item = Result<Record, FindError>> + '_ {
        self.all_record_names().filter_map(|name| match name {
            Ok(name) => self.read_record(&name).transpose(),
            Err(error) => Some(Err(error)),
        })
    }

    pub(super) fn named_records(&self) -> impl Iterator<Item = Result<(RecordName, Record), FindError>> + '_ {
        self.all_record_names().filter_map(|name| match name {
            Ok(name) => self.walked_record(name).transpose(),
            Err(error) => Some(Err(error)),
        })
    }

    /// Returns the names of all records, sorted, without reading the records.
    pub(super) fn all_record_names(&self) -> impl Iterator<Item = Result<RecordName, FindError>> + use<> {
        let root = self.paths.dir("records");
        let walk = WalkDir::new(&root).min_depth(2).max_depth(2).sort_by_file_name();
        walk.into_iter().inspect(|_| step()).filter_map(move |entry| match entry {
            Ok(entry) => RecordName::parse(entry.file_name().to_str()?).map(Ok),
            Err(error) => walk_error(&root, error).map(Err),
        })
    }

    fn walked_record(&self, name: RecordName) -> Result<Option<(RecordName, Record)>, FindError> {
        let Some(mut record) = self.read_record(&name)? else { return Ok(None) };
        self.fill_documents(&name, &mut record)?;
        Ok(Some((name, record)))
    }
}
