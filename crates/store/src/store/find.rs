//! Looks up records: pointers say where to look, and the record itself decides whether it matches.

use super::paths::{CURRENT, RecordName};
use super::{FindError, Store};
use crate::event::{Event, chain};
use crate::key::{ActionKey, BuildKey, Fingerprint};
use crate::record::{Record, set_documents};
use crate::step::step;
use crate::trust::Protection;

/// An upper bound for the size of a record or an entry, in bytes.
const RECORD_LIMIT: u64 = 64 << 20;

/// A record with the time when it was written or confirmed.
pub(super) type Dated = (Option<std::time::SystemTime>, Record);

impl Store {
    /// Finds the records with a module of this key, the most recently built or confirmed first, without superseded ones.
    /// Their documents are not loaded.
    ///
    /// # Errors
    ///
    /// The file system refuses. Damage is reported as an event and skipped.
    pub fn find(&self, key: &BuildKey) -> Result<Vec<Record>, FindError> {
        Ok(self.split(key)?.0)
    }

    /// Finds the superseded records with a module of this key. They only explain misses.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn find_superseded(&self, key: &BuildKey) -> Result<Vec<Record>, FindError> {
        Ok(self.split(key)?.1)
    }

    /// Returns the current and the superseded records of a key.
    fn split(&self, key: &BuildKey) -> Result<(Vec<Record>, Vec<Record>), FindError> {
        let records = self.pointed(&key.to_string(), |record| record.member(key).is_some())?;
        if !records.iter().any(Record::has_outside) {
            return Ok((records, Vec::new()));
        }
        let mut current = Vec::new();
        for record in &records {
            current.push(self.is_current(key, record, &records)?);
        }
        let (current, superseded): (Vec<_>, Vec<_>) =
            records.into_iter().zip(current).partition(|(_, is_current)| *is_current);
        let records = |list: Vec<(Record, bool)>| list.into_iter().map(|(record, _)| record).collect();
        Ok((records(current), records(superseded)))
    }

    /// Finds the records with a module of this fingerprint, each with the module's key, also superseded ones. Their
    /// documents are not loaded.
    ///
    /// # Errors
    ///
    /// The file system refuses. Damage is reported as an event and skipped.
    pub fn find_fingerprint(&self, fingerprint: &Fingerprint) -> Result<Vec<(Record, BuildKey)>, FindError> {
        let listed = |record: &Record| record.member_by_fingerprint(fingerprint).map(|member| member.key);
        let found = self.pointed(&fingerprint.to_string(), |record| listed(record).is_some())?;
        Ok(found.into_iter().filter_map(|record| listed(&record).map(|key| (record, key))).collect())
    }

    /// Finds the records of an action, the most recently built or confirmed first, each with its documents if these are
    /// intact. There are several if the action was not reproducible. [`Store::reuse`] checks whether a record can be
    /// used.
    ///
    /// # Errors
    ///
    /// The file system refuses. Damage is reported as an event and skipped.
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

    /// Lists the names of an action's records.
    pub(super) fn record_names(&self, action: &ActionKey) -> Result<Vec<RecordName>, FindError> {
        let names = self.names(&self.paths.records_of(action))?;
        Ok(names
            .iter()
            .filter_map(|name| RecordName::parse(name))
            .filter(|name| name.action == *action)
            .collect())
    }

    /// Returns the usable records to which the pointers of a key refer, the most recently built or confirmed first.
    fn pointed(&self, key: &str, listed: impl Fn(&Record) -> bool) -> Result<Vec<Record>, FindError> {
        let directory = self.paths.pointers(key);
        let mut records = Vec::new();
        for pointer in self.names(&directory)? {
            let path = directory.join(&pointer);
            let Some(name) = RecordName::parse(&pointer) else {
                if !pointer.starts_with(CURRENT) {
                    self.damaged(&path, "not a record name");
                }
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
                // A newer precast wrote the record, or a collector removed the pointer and then the record, and both
                // may have been restored.
                None if !self.has_pointer(&path)? || self.paths.record(&name).exists() => {}
                None => self.damaged(&path, "points to a missing record"),
            }
        }
        Ok(newest_first(records))
    }

    /// Marks a record as wanted by a current build, so that lookups return it before other records of its keys, such as
    /// those of another compiler. A read-only store keeps its order.
    pub fn confirm(&self, record: &Record) {
        if self.protection == Protection::Signatures {
            return;
        }
        confirm_file(&self.paths.record(&RecordName::of(record)));
        confirm_file(&self.paths.object(&record.digest));
    }

    /// Reads a record and checks it against its name. `None` if it is missing, damaged or unreadable; the latter two
    /// are reported.
    pub(super) fn read_record(&self, name: &RecordName) -> Result<Option<Record>, FindError> {
        Ok(self.read_dated(name)?.map(|(_, record)| record))
    }

    pub(super) fn read_dated(&self, name: &RecordName) -> Result<Option<Dated>, FindError> {
        let path = self.paths.record(name);
        let Some(found) = self.read(&path, RECORD_LIMIT)? else { return Ok(None) };
        if Record::id_of(&found.bytes) != name.id {
            self.damaged(&path, "hash mismatch");
            return Ok(None);
        }
        match Record::parse(&found.bytes) {
            Ok(record) if record.action == name.action => return Ok(Some((found.modified, record))),
            Ok(_) => self.damaged(&path, "is named after another action"),
            Err(error) => {
                // The bytes are intact, but a newer precast wrote them.
                let place = path.display().to_string();
                self.observer.tell(&Event::Unreadable { place, reason: chain(&error) });
            }
        }
        Ok(None)
    }

    /// Loads a record's documents. Returns whether they exist and are intact.
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

/// Sets a file's time to now, so that a collector sees that it is in use. If the time cannot be set, this user cannot
/// collect anything either.
pub(super) fn confirm_file(path: &std::path::Path) {
    step();
    let file = fs_err::File::open(path);
    let _ = file.and_then(|file| file.set_modified(std::time::SystemTime::now()));
}

fn newest_first(mut records: Vec<Dated>) -> Vec<Record> {
    records.sort_by_key(|(built, _)| std::cmp::Reverse(*built));
    records.into_iter().map(|(_, record)| record).collect()
}
