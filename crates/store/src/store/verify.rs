//! Reads and verifies the whole store.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use precast_core::program::Step;
use walkdir::WalkDir;

use super::access::walk_error;
use super::paths::{RecordName, is_stray, object_digest};
use super::releases::ReleaseError;
use super::{FindError, LoadError, Store};
use crate::archive::Archive;
use crate::event::{Event, Observer, chain};
use crate::export::Release;
use crate::key::{BuildKey, Digest, RecordId};
use crate::record::{Entry, Record};
use crate::trust::Protection;

/// The maximum number of archives in memory at once.
const READERS: usize = 4;

/// The result of verifying a store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// The number of intact archives.
    pub objects: usize,
    /// The number of intact records.
    pub records: usize,
    /// The number of intact entries.
    pub entries: usize,
    /// The digests of archives that records name but that are missing or newly quarantined.
    pub missing: Vec<Digest>,
    /// The digests of archives that no record names, left by an interrupted publish. They are harmless.
    pub unreferenced: Vec<Digest>,
    /// The number of records with lost documents: they are served, but misses cannot be explained with them.
    pub undocumented: usize,
    /// The modules that entries call but no intact artifact provides. (Modules with an op of the empty version are
    /// never published; only a generator can recognise those.)
    pub lacking: Vec<MissingModule>,
    /// Damage and repairs; also reported to the observer.
    pub events: Vec<Event>,
}

/// A log of the events that a store has reported.
#[derive(Debug, Clone, Default)]
pub struct EventLog(Arc<Mutex<Vec<Event>>>);

impl EventLog {
    /// Returns the events since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A missing module that an entry calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingModule {
    /// The entry's name.
    pub entry: String,
    /// The module's signature.
    pub signature: String,
    /// The module's key.
    pub key: BuildKey,
}

impl fmt::Display for MissingModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry `{}` calls `{}`, which is missing", self.entry, self.signature)
    }
}

/// Returns the modules that entries call and for which `served` is false.
pub fn lacking(entries: &[Entry], served: impl Fn(&BuildKey) -> bool) -> Vec<MissingModule> {
    let steps = entries.iter().flat_map(|entry| entry.program.steps.iter().map(move |step| (entry, step)));
    let gone = steps.filter(|(_, step)| !served(&step.key));
    let lacking = |(entry, step): (&Entry, &Step)| MissingModule {
        entry: entry.name.clone(),
        signature: step.signatures.join("; "),
        key: step.key,
    };
    gone.map(lacking).collect()
}

impl Verification {
    /// Returns whether nothing is damaged or missing and every entry can be called. Restored pointers do not count as
    /// damage, because a killed or running publish or collection leaves some out.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        let is_whole = self.events.iter().all(Event::is_repair);
        is_whole && self.missing.is_empty() && self.undocumented == 0 && self.lacking.is_empty()
    }
}

/// The content of the records, collected while they are read.
#[derive(Default)]
struct Seen {
    /// The archives that records name.
    named: BTreeMap<Digest, Vec<RecordName>>,
    /// The records without documents.
    undocumented: Vec<RecordName>,
    /// The modules in use with their archives.
    members: Vec<(Digest, BuildKey)>,
}

impl Seen {
    fn add(&mut self, name: RecordName, record: &Record) {
        if record.members.iter().any(|member| member.document.is_none()) {
            self.undocumented.push(name);
        }
        self.named.entry(record.digest).or_default().push(name);
    }
}

impl Store {
    /// Reads and verifies every file. If the tree is writable, damaged files are quarantined, and missing pointers are
    /// restored.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn verify(&self) -> Result<Verification, FindError> {
        let (listening, heard) = self.listening();
        let mut verification = listening.read_all()?;
        verification.events = heard.take();
        Ok(verification)
    }

    /// Returns a handle to the same store with a log of its further events. The observer still receives them.
    #[must_use]
    pub fn listening(&self) -> (Self, EventLog) {
        let heard = EventLog::default();
        let (sink, observer) = (heard.clone(), self.observer.clone());
        let observer = Observer::new(move |event| {
            observer.tell(event);
            sink.0.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
        });
        (Self { observer, ..self.clone() }, heard)
    }

    /// Returns a handle to the same store that reports events only to the log. The caller reports them with
    /// [`Store::tell`] or in an error.
    #[must_use]
    pub fn quiet(&self) -> (Self, EventLog) {
        Self { observer: Observer::default(), ..self.clone() }.listening()
    }

    fn read_all(&self) -> Result<Verification, FindError> {
        let mut verification = Verification::default();
        let mut objects = self.read_objects()?;
        let mut seen = Seen::default();
        for item in self.named_records() {
            let (name, record) = item?;
            verification.records += 1;
            self.restore_pointers(&name, &record);
            seen.add(name, &record);
            if !self.is_superseded(&record)? {
                seen.members.extend(record.members.iter().map(|member| (record.digest, member.key)));
            }
        }
        let entries = self.entries()?;
        self.confirm_losses(&mut verification, &mut objects, &seen, &entries)?;
        let named = seen.named;
        verification.objects = objects.len();
        verification.unreferenced =
            objects.iter().filter(|digest| !named.contains_key(digest)).copied().collect();
        verification.entries = entries.len();
        match self.releases() {
            Err(ReleaseError::Damaged { path, .. } | ReleaseError::NoDirectory { path }) => {
                let reason = "the last imported release is unknown".to_owned();
                self.observer.tell(&Event::Damaged {
                    place: path.display().to_string(),
                    reason,
                    quarantined: None,
                });
            }
            Err(ReleaseError::Find(error)) => return Err(error),
            // `releases` neither waits for a lock nor writes.
            Err(ReleaseError::Busy { .. } | ReleaseError::Write(_)) | Ok(_) => {}
        }
        Ok(verification)
    }

    /// Checks apparent losses again while collectors are locked out: collectors and publishers may have changed the
    /// store in the meantime.
    fn confirm_losses(
        &self,
        verification: &mut Verification,
        objects: &mut BTreeSet<Digest>,
        seen: &Seen,
        entries: &[Entry],
    ) -> Result<(), FindError> {
        let _lease = self.lease();
        for (digest, names) in &seen.named {
            if !objects.contains(digest) && self.is_named(names)? {
                match self.read_object(digest, Archive::check) {
                    Ok(()) => drop(objects.insert(*digest)),
                    Err(LoadError::Find(error)) => return Err(error),
                    Err(_) => verification.missing.push(*digest),
                }
            }
        }
        for name in &seen.undocumented {
            verification.undocumented += usize::from(self.is_undocumented(name)?);
        }
        let whole = seen.members.iter().filter(|(digest, _)| objects.contains(digest));
        let served: BTreeSet<BuildKey> = whole.map(|(_, key)| *key).collect();
        for lacking in lacking(entries, |key| served.contains(key)) {
            if self.is_lacking(&lacking)? {
                verification.lacking.push(lacking);
            }
        }
        self.lost_entries()
    }

    /// Reports lost entries of releases that are served or that a rollback would serve.
    pub(crate) fn lost_entries(&self) -> Result<(), FindError> {
        for deployed in self.deployed()? {
            for number in [deployed.current, deployed.rollback()].into_iter().flatten() {
                let release = Release { name: deployed.name.clone(), number };
                let entries = self.entries_of(&release)?.unwrap_or_default();
                entries.iter().for_each(|(name, id)| self.tell_lost(&release, name, id));
            }
        }
        Ok(())
    }

    /// Reports an entry of a recorded release if it is lost.
    pub(super) fn tell_lost(&self, release: &Release, name: &str, id: &RecordId) {
        let list = self.path_of(release);
        // A collector deletes a release before its entries.
        if !self.paths.entry(id).exists() && list.exists() {
            self.observer.tell(&Event::Damaged {
                place: list.display().to_string(),
                reason: format!("entry `{name}` of release `{release}` is missing; import or build it again"),
                quarantined: None,
            });
        }
    }

    /// Returns whether any of these records exists.
    fn is_named(&self, names: &[RecordName]) -> Result<bool, FindError> {
        for name in names {
            if self.read_record(name)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether a record exists without documents.
    fn is_undocumented(&self, name: &RecordName) -> Result<bool, FindError> {
        let Some(mut record) = self.read_record(name)? else { return Ok(false) };
        Ok(!record.members.is_empty() && !self.fill_documents(name, &mut record)?)
    }

    /// Returns whether an entry exists and no archive provides one of its modules.
    fn is_lacking(&self, lacking: &MissingModule) -> Result<bool, FindError> {
        let entry = self.find_entry(&lacking.entry)?;
        if !entry.is_some_and(|entry| entry.program.keys().any(|key| key == lacking.key)) {
            return Ok(false);
        }
        for record in self.find(&lacking.key)? {
            match self.read_object(&record.digest, Archive::check) {
                Ok(()) => return Ok(false),
                Err(LoadError::Find(error)) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(true)
    }

    /// Restores the missing pointers of a record, and reports each one, or the failure to restore them.
    fn restore_pointers(&self, name: &RecordName, record: &Record) {
        if self.protection == Protection::Signatures {
            return;
        }
        match self.put_pointers(name, record) {
            Ok(places) => {
                for path in places {
                    self.observer.tell(&Event::PointerRestored { place: path.display().to_string() });
                }
            }
            Err(error) => {
                let place = self.paths.record(name).display().to_string();
                let reason = format!("missing pointers of keys: {}", chain(&error));
                self.observer.tell(&Event::Damaged { place, reason, quarantined: None });
            }
        }
    }

    /// Reads all objects with up to [`READERS`] threads. Returns the intact ones.
    fn read_objects(&self) -> Result<BTreeSet<Digest>, FindError> {
        let digests = self.object_digests()?;
        let (next, read) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            let work = || {
                while let Some(digest) = digests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = self.read_object(digest, Archive::check);
                    read.lock().unwrap_or_else(PoisonError::into_inner).push((digest, found));
                }
            };
            let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
            for _ in 1..processors.min(digests.len()).min(READERS) {
                // If no more threads can be started, the existing ones do the work.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let mut read = read.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Events are reported in the order of the names, independent of thread scheduling.
        read.sort_by_key(|(digest, _)| *digest);
        let mut intact = BTreeSet::new();
        for (digest, found) in read {
            // Objects that seem damaged are read again: a build may have repaired them in the meantime.
            let found = match found {
                Err(LoadError::Damaged { .. }) => self.told(digest, self.read_object(digest, Archive::check)),
                found => found,
            };
            match found {
                Ok(()) => drop(intact.insert(*digest)),
                Err(LoadError::Find(error)) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(intact)
    }

    /// Lists the digests of the objects.
    fn object_digests(&self) -> Result<Vec<Digest>, FindError> {
        let root = self.paths.dir("objects");
        let mut digests = Vec::new();
        for entry in WalkDir::new(&root).min_depth(2).max_depth(2).sort_by_file_name() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => match walk_error(&root, error) {
                    Some(error) => return Err(error),
                    None => continue,
                },
            };
            match object_digest(entry.path()) {
                Some(digest) => digests.push(digest),
                None if entry.file_name().to_str().is_some_and(is_stray) => {}
                None => self.damaged(entry.path(), "not the name of an object"),
            }
        }
        Ok(digests)
    }
}
