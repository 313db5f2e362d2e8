//! Walks over all records.

use walkdir::WalkDir;

use super::FindError;
use super::Store;
use super::access::walk_error;
use super::paths::RecordName;
use crate::record::Record;

impl Store {
    /// Gives every record, sorted by ActionKey, with its documents where they are intact. Damage is told and skipped.
    pub fn records(&self) -> impl Iterator<Item = Result<Record, FindError>> + '_ {
        self.named_records().map(|result| result.map(|(_, record)| record))
    }

    pub(super) fn named_records(&self) -> impl Iterator<Item = Result<(RecordName, Record), FindError>> + '_ {
        let root = self.paths.dir("records");
        let walk = WalkDir::new(&root).min_depth(2).max_depth(2).sort_by_file_name();
        walk.into_iter().filter_map(move |entry| match entry {
            Ok(entry) => self.walked_record(entry.file_name().to_str()?).transpose(),
            Err(error) => walk_error(&root, error).map(Err),
        })
    }

    fn walked_record(&self, name: &str) -> Result<Option<(RecordName, Record)>, FindError> {
        let Some(name) = RecordName::parse(name) else { return Ok(None) };
        let Some(mut record) = self.read_record(&name)? else { return Ok(None) };
        self.fill_documents(&name, &mut record)?;
        Ok(Some((name, record)))
    }
}
