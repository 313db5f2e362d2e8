//! Looks up records: pointers say where to look, and the record itself decides whether it matches.

use super::access::Pointer;
use super::paths::RecordName;
use super::{FindError, Store};
use crate::event::{Event, chain};
use crate::key::{ActionKey, BuildKey, Fingerprint};
use crate::record::{Record, set_documents};
use crate::step::step;

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
        Ok(self.pointed(&key.to_string(), |record| record.member(key).is_some())?.current)
    }

    /// Finds the superseded records with a module of this key: a record that was built or confirmed later contradicts
    /// them. They only explain misses.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn find_superseded(&self, key: &BuildKey) -> Result<Vec<Record>, FindError> {
        Ok(self.pointed(&key.to_string(), |record| record.member(key).is_some())?.superseded)
    }

    /// Finds the records with a module of this fingerprint, each with the module's key. Their documents are not loaded.
    ///
    /// # Errors
    ///
    /// The file system refuses. Damage is reported as an event and skipped.
    pub fn find_fingerprint(&self, fingerprint: &Fingerprint) -> Result<Vec<(Record, BuildKey)>, FindError> {
        let listed = |record: &Record| record.member_by_fingerprint(fingerprint).map(|member| member.key);
        let found = self.pointed(&fingerprint.to_string(), |record| listed(record).is_some())?;
        Ok(found.current.into_iter().filter_map(|record| listed(&record).map(|key| (record, key))).collect())
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

    fn pointed(&self, key: &str, listed: impl Fn(&Record) -> bool) -> Result<Pointed, FindError> {
        let directory = self.paths.pointers(key);
        let (mut records, mut superseded) = (Vec::new(), Vec::new());
        for pointer in self.names(&directory)? {
            let path = directory.join(&pointer);
            let Some(name) = RecordName::parse(&pointer) else {
                self.damaged(&path, "not a record name");
                continue;
            };
            let Some(state) = self.pointer(&path)? else { continue };
            match self.read_dated(&name)? {
                Some((_, record)) if state == Pointer::Superseded => superseded.push(record),
                Some((built, record)) if listed(&record) => {
                    if self.is_signed(&self.paths.record(&name), &record.to_bytes())? {
                        records.push((built, record));
                    }
                }
                Some(_) => self.damaged(&path, "points to a record that does not list the key"),
                // A newer precast wrote the record, or a collector removed the pointer and then the record, and both
                // may have been restored.
                None if self.pointer(&path)?.is_none() || self.paths.record(&name).exists() => {}
                None => self.damaged(&path, "points to a missing record"),
            }
        }
        // A writer that was killed before it marked the superseded records leaves contradicting ones.
        let mut current: Vec<Record> = Vec::new();
        for record in newest_first(records) {
            let is_contradicted = current.iter().any(|newer| newer.contradicts(&record));
            if is_contradicted { superseded.push(record) } else { current.push(record) }
        }
        Ok(Pointed { current, superseded })
    }

    /// Marks a record as wanted by a current build, so that lookups return it before other records of its keys, such as
    /// those of another compiler. A read-only store keeps its order.
    pub fn confirm(&self, record: &Record) {
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

/// The records that the pointers of a key refer to.
struct Pointed {
    /// The usable records, the most recently built or confirmed first.
    current: Vec<Record>,
    superseded: Vec<Record>,
}

fn newest_first(mut records: Vec<Dated>) -> Vec<Record> {
    records.sort_by_key(|(built, _)| std::cmp::Reverse(*built));
    records.into_iter().map(|(_, record)| record).collect()
}
