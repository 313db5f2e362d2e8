//! Reads everything there is and says what it found.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use walkdir::WalkDir;

use super::access::walk_error;
use super::paths::{RecordName, object_digest};
use super::{FindError, LoadError, Store};
use crate::event::{Event, Observer, chain};
use crate::key::Digest;
use crate::record::Record;

/// What a whole store consists of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// Number of intact archives.
    pub objects: usize,
    /// Number of intact records.
    pub records: usize,
    /// Number of intact entries.
    pub entries: usize,
    /// Archives that records name and the store lacks, or lacks now that they are quarantined.
    pub missing: Vec<Digest>,
    /// Archives that no record names: left over from a publish that was cut short. They are harmless.
    pub unreferenced: Vec<Digest>,
    /// Records whose documents are lost: they serve, but cannot be explained.
    pub undocumented: usize,
    /// Damage, and what was restored; the observer was told too.
    pub events: Vec<Event>,
}

impl Verification {
    /// Tells whether nothing is damaged or missing.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.events.is_empty() && self.missing.is_empty() && self.undocumented == 0
    }
}

impl Store {
    /// Reads and verifies every file. Damage is quarantined as by any reader, and missing pointers are put back, where the
    /// tree can be written.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn verify(&self) -> Result<Verification, FindError> {
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let (sink, observer) = (Arc::clone(&events), self.observer.clone());
        let listening = Self {
            observer: Observer::new(move |event| {
                observer.tell(event);
                sink.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
            }),
            ..self.clone()
        };
        let mut verification = listening.read_all()?;
        verification.events = std::mem::take(&mut events.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(verification)
    }

    fn read_all(&self) -> Result<Verification, FindError> {
        let mut verification = Verification::default();
        let objects = self.read_objects()?;
        let mut named = BTreeSet::new();
        for item in self.named_records() {
            let (name, record) = item?;
            verification.records += 1;
            verification.undocumented +=
                usize::from(record.members.iter().any(|member| member.document.is_none()));
            named.insert(record.digest);
            self.restore_pointers(&name, &record);
        }
        verification.objects = objects.len();
        verification.missing = named.difference(&objects).copied().collect();
        verification.unreferenced = objects.difference(&named).copied().collect();
        verification.entries = self.entries()?.len();
        Ok(verification)
    }

    /// Puts back the pointers of a record, and tells of those that were missing, or are.
    fn restore_pointers(&self, name: &RecordName, record: &Record) {
        match self.put_pointers(name, record) {
            Ok(places) => {
                for path in places {
                    self.observer.tell(&Event::PointerRestored { place: path.display().to_string() });
                }
            }
            Err(error) => {
                let place = self.paths.record(name).display().to_string();
                let reason = format!("it cannot be found by all of its keys: {}", chain(&error));
                self.observer.tell(&Event::Damaged { place, reason, quarantined: None });
            }
        }
    }

    /// Loads every object; gives the intact ones.
    fn read_objects(&self) -> Result<BTreeSet<Digest>, FindError> {
        let root = self.paths.dir("objects");
        let mut intact = BTreeSet::new();
        for entry in WalkDir::new(&root).min_depth(2).max_depth(2).sort_by_file_name() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => match walk_error(&root, error) {
                    Some(error) => return Err(error),
                    None => continue,
                },
            };
            let Some(digest) = object_digest(entry.path()) else {
                self.damaged(entry.path(), "not the name of an object");
                continue;
            };
            match self.load_object(&digest) {
                Ok(_) => drop(intact.insert(digest)),
                Err(LoadError::Find(error)) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(intact)
    }
}
