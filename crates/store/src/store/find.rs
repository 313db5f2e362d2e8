//! Looks records up: pointers say where, the records themselves say whether.

use super::paths::RecordName;
use super::{FindError, Store};
use crate::event::{Event, chain};
use crate::key::{ActionKey, BuildKey, Fingerprint};
use crate::record::{Record, set_documents};
use crate::step::step;

/// No record or entry comes near this size, in bytes.
const RECORD_LIMIT: u64 = 64 << 20;

/// When a record was written or confirmed, and the record.
pub(super) type Dated = (Option<std::time::SystemTime>, Record);

impl Store {
    /// Finds the records that have a module of this key, the last built or confirmed first. Their documents are not filled in.
    ///
    /// # Errors
    ///
    /// The file system refuses; damage is told as an event and skipped.
    pub fn find(&self, key: &BuildKey) -> Result<Vec<Record>, FindError> {
        self.pointed(&key.to_string(), |record| record.member(key).is_some())
    }

    /// Finds the records that have a module of this fingerprint, each with the module's key. Their documents are not filled
    /// in.
    ///
    /// # Errors
    ///
    /// The file system refuses; damage is told as an event and skipped.
    pub fn find_fingerprint(&self, fingerprint: &Fingerprint) -> Result<Vec<(Record, BuildKey)>, FindError> {
        let listed = |record: &Record| record.member_by_fingerprint(fingerprint).map(|member| member.key);
        let records = self.pointed(&fingerprint.to_string(), |record| listed(record).is_some())?;
        Ok(records.into_iter().filter_map(|record| listed(&record).map(|key| (record, key))).collect())
    }

    /// Finds the records of an action, the last built or confirmed first, each with its documents where they are intact. There
    /// are several if it did not come out the same twice. [`Store::reuse`] says whether one can be used.
    ///
    /// # Errors
    ///
    /// The file system refuses; damage is told as an event and skipped.
    pub fn find_action(&self, action: &ActionKey) -> Result<Vec<Record>, FindError> {
        let mut records = Vec::new();
        for name in self.record_names(action)? {
            if let Some((built, mut record)) = self.read_dated(&name)? {
                self.fill_documents(&name, &mut record)?;
                records.push((built, record));
            }
        }
        Ok(newest_first(records))
    }

    /// Lists the records of an action.
    pub(super) fn record_names(&self, action: &ActionKey) -> Result<Vec<RecordName>, FindError> {
        let names = self.names(&self.paths.records_of(action))?;
        Ok(names
            .iter()
            .filter_map(|name| RecordName::parse(name))
            .filter(|name| name.action == *action)
            .collect())
    }

    fn pointed(&self, key: &str, listed: impl Fn(&Record) -> bool) -> Result<Vec<Record>, FindError> {
        let directory = self.paths.pointers(key);
        let mut records = Vec::new();
        for pointer in self.names(&directory)? {
            let path = directory.join(&pointer);
            let Some(name) = RecordName::parse(&pointer) else {
                self.damaged(&path, "not the name of a record");
                continue;
            };
            if !self.has_pointer(&path)? {
                continue;
            }
            match self.read_dated(&name)? {
                Some((built, record)) if listed(&record) => {
                    if self.is_signed(&self.paths.record(&name), &record.to_bytes())? {
                        records.push((built, record));
                    }
                }
                Some(_) => self.damaged(&path, "points to a record that does not list the key"),
                // It is of a newer precast; or a collector took the pointer and then the record, which may both be back.
                None if !self.has_pointer(&path)? || self.paths.record(&name).exists() => {}
                None => self.damaged(&path, "points to a record that is missing"),
            }
        }
        Ok(newest_first(records))
    }

    /// Says that a build came to this record again, so that it is found before others of its keys. They differ in what no
    /// BuildKey knows: the compiler, or files outside of the sources (headers and static libraries of the system), as they
    /// are now. A store that cannot be written keeps its order.
    pub fn confirm(&self, record: &Record) {
        let name = RecordName { action: record.action, id: record.id() };
        confirm_file(&self.paths.record(&name));
        confirm_file(&self.paths.object(&record.digest));
    }

    /// Reads a record and holds it against its name. `None` when it is missing, damaged (told) or unreadable (told).
    pub(super) fn read_record(&self, name: &RecordName) -> Result<Option<Record>, FindError> {
        Ok(self.read_dated(name)?.map(|(_, record)| record))
    }

    pub(super) fn read_dated(&self, name: &RecordName) -> Result<Option<Dated>, FindError> {
        let path = self.paths.record(name);
        let Some(found) = self.read(&path, RECORD_LIMIT)? else { return Ok(None) };
        if Record::id_of(&found.bytes) != name.id {
            self.damaged(&path, "its bytes do not hash to its name");
            return Ok(None);
        }
        match Record::parse(&found.bytes) {
            Ok(record) if record.action == name.action => return Ok(Some((found.modified, record))),
            Ok(_) => self.damaged(&path, "it is named after another action"),
            Err(error) => {
                // The bytes are as they were written, by somebody who knows more than we do.
                let place = path.display().to_string();
                self.observer.tell(&Event::Unreadable { place, reason: chain(&error) });
            }
        }
        Ok(None)
    }

    /// Fills in a record's documents. Tells whether they were there and intact.
    pub(super) fn fill_documents(&self, name: &RecordName, record: &mut Record) -> Result<bool, FindError> {
        let path = self.paths.documents(name);
        let Some(found) = self.read(&path, RECORD_LIMIT)? else { return Ok(false) };
        match set_documents(record, &found.bytes) {
            Ok(()) => Ok(true),
            Err(error) => {
                self.damaged(&path, chain(&error));
                Ok(false)
            }
        }
    }
}

/// Says that a file is wanted now: a collector looks at its time. Where that cannot be written, nothing can be collected.
pub(super) fn confirm_file(path: &std::path::Path) {
    step();
    let file = fs_err::File::open(path);
    let _ = file.and_then(|file| file.set_modified(std::time::SystemTime::now()));
}

fn newest_first(mut records: Vec<Dated>) -> Vec<Record> {
    records.sort_by_key(|(built, _)| std::cmp::Reverse(*built));
    records.into_iter().map(|(_, record)| record).collect()
}
