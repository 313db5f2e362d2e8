//! Implements the remote layer: a source, and a local store that holds the fetched data.

use std::fmt;
use std::sync::{Arc, Mutex};

use precast_core::cpu;

use super::question::{Questions, lock};
use super::{Item, Source, Wanted};
use crate::event::Event;
use crate::key::{ActionKey, BuildKey, Fingerprint};
use crate::record::{Entry, Record};
use crate::store::{FindError, LoadError, Store};

/// The maximum number of entries that a listing fetches.
pub(super) const LISTED: usize = 1000;

/// A source with a local store. Fetched data is published to the local store and served from there.
///
/// Data in the local store is not fetched again. The exceptions can change: the mapping from names to entries, and the
/// current generation of a module that reads files outside of its sources.
/// Of a module's variants, only the best one that this host can run is fetched.
///
/// # Examples
///
/// A layer that requires signatures; `source` comes from `precast-remote`.
///
/// ```
/// # use std::sync::Arc;
/// # use precast_store::{Keyring, Layer, Store};
/// # use precast_store::remote::{Remote, Source};
/// fn layer(source: Arc<dyn Source>, kept: Store, keyring: Keyring) -> Layer {
///     Layer::from(Remote::new(source, kept.trusting(Arc::new(keyring))))
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Remote {
    pub(super) store: Store,
    pub(super) source: Arc<dyn Source>,
    pub(super) questions: Arc<Questions>,
    /// Fetched records that this host cannot run; they explain misses.
    unfit: Arc<Mutex<Vec<Arc<Record>>>>,
    /// A temporary directory, removed when the last clone is dropped.
    _temporary: Option<Arc<tempfile::TempDir>>,
}

/// Renders the remote's name for messages and tables.
impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "remote `{}`", self.source.name())
    }
}

impl Remote {
    /// Makes a layer that keeps data from `source` in `store`. The store's keyring decides which data is trusted.
    #[must_use]
    pub fn new(source: Arc<dyn Source>, store: Store) -> Self {
        Self { store, source, questions: Arc::default(), unfit: Arc::default(), _temporary: None }
    }

    /// Takes ownership of the temporary directory that contains the store, and removes it when the last clone is
    /// dropped.
    #[must_use]
    pub fn keeping(self, directory: tempfile::TempDir) -> Self {
        Self { _temporary: Some(Arc::new(directory)), ..self }
    }

    /// Returns the local store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Calls `observer` for each problem and each fetched item.
    #[must_use]
    pub fn on_event(self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self { store: self.store.on_event(observer), ..self }
    }

    /// Finds the records with a module of this key, as [`Store::find`].
    ///
    /// # Errors
    ///
    /// The local store cannot be read.
    pub fn find(&self, key: &BuildKey) -> Result<Vec<Record>, FindError> {
        let found = self.store.find(key)?;
        if self.is_final(found.iter())? {
            return Ok(found);
        }
        self.ask(Wanted::Key(*key));
        self.store.find(key)
    }

    /// Finds the records with a module of this fingerprint, as [`Store::find_fingerprint`].
    ///
    /// # Errors
    ///
    /// The local store cannot be read.
    pub fn find_fingerprint(&self, fingerprint: &Fingerprint) -> Result<Vec<(Record, BuildKey)>, FindError> {
        let found = self.store.find_fingerprint(fingerprint)?;
        if self.is_final(found.iter().map(|(record, _)| record))? {
            return Ok(found);
        }
        self.ask(Wanted::Fingerprint(*fingerprint));
        self.store.find_fingerprint(fingerprint)
    }

    /// Finds the records of an action, as [`Store::find_action`].
    ///
    /// # Errors
    ///
    /// The local store cannot be read.
    pub fn find_action(&self, action: &ActionKey) -> Result<Vec<Record>, FindError> {
        let found = self.store.find_action(action)?;
        if self.holds_one(&found)? {
            return Ok(found);
        }
        self.ask(Wanted::Action(*action));
        self.store.find_action(action)
    }

    /// Finds the entry of a name, as [`Store::find_entry`]. The source is asked again for names whose last answer has
    /// expired.
    ///
    /// # Errors
    ///
    /// The local store cannot be read.
    pub fn find_entry(&self, name: &str) -> Result<Option<Entry>, FindError> {
        self.ask_entry(name);
        self.store.find_entry(name)
    }

    /// Returns all entries, sorted by name. Asks the source for at most 1000 entries.
    ///
    /// # Errors
    ///
    /// The local store cannot be read.
    pub fn entries(&self) -> Result<Vec<Entry>, FindError> {
        self.ask_entries();
        self.store.entries()
    }

    /// Loads a member of a record's archive, as [`Store::load_member`]. Fetches the archive again if the local copy is
    /// lost or damaged.
    ///
    /// # Errors
    ///
    /// Fails as [`Store::load_member`].
    pub fn load_member(&self, record: &Record, name: &str) -> Result<Option<Vec<u8>>, LoadError> {
        match self.store.load_member(record, name) {
            Err(LoadError::Damaged { .. } | LoadError::Missing { .. }) => {
                self.ask_again(record);
                self.store.load_member(record, name)
            }
            loaded => loaded,
        }
    }

    /// Fetches the records for all these queries at once, so that later lookups find them in the local store.
    ///
    /// # Errors
    ///
    /// The local store cannot be read.
    pub fn prefetch(&self, wanted: &[Wanted]) -> Result<(), FindError> {
        let mut missing = Vec::new();
        for wanted in wanted {
            let is_here = match wanted {
                Wanted::Key(key) => self.is_final(self.store.find(key)?.iter())?,
                Wanted::Fingerprint(fingerprint) => {
                    let found = self.store.find_fingerprint(fingerprint)?;
                    self.is_final(found.iter().map(|(record, _)| record))?
                }
                Wanted::Action(action) => self.holds_one(&self.store.find_action(action)?)?,
            };
            if !is_here {
                missing.push(*wanted);
            }
        }
        self.ask_all(&missing);
        Ok(())
    }

    /// Returns the fetched records of a key that this host cannot run.
    pub(crate) fn unfit(&self, key: &BuildKey) -> Vec<Arc<Record>> {
        lock(&self.unfit).iter().filter(|record| record.member(key).is_some()).cloned().collect()
    }

    pub(super) fn set_unfit<'r>(&self, records: impl Iterator<Item = &'r Record>) {
        let mut unfit = lock(&self.unfit);
        for record in records {
            if !unfit.iter().any(|known| **known == *record) {
                unfit.push(Arc::new(record.clone()));
            }
        }
    }

    /// Returns whether the local store holds the archive of any of these records.
    fn holds_one(&self, records: &[Record]) -> Result<bool, FindError> {
        records.iter().try_fold(false, |holds, record| Ok(holds || self.store.holds(record)?))
    }

    /// Returns whether the local store can serve one of these records, and the source cannot have superseded it.
    fn is_final<'r>(&self, records: impl Iterator<Item = &'r Record> + Clone) -> Result<bool, FindError> {
        Ok(!records.clone().any(Record::has_outside) && self.is_served(records)?)
    }

    /// Returns whether this host can run any of these records and the local store holds its archive.
    fn is_served<'r>(&self, mut records: impl Iterator<Item = &'r Record>) -> Result<bool, FindError> {
        let is_here = |record: &Record| match record.requires.check(cpu::host()) {
            Ok(()) => self.store.holds(record),
            Err(_) => Ok(false),
        };
        records.try_fold(false, |served, record| Ok(served || is_here(record)?))
    }

    /// Returns the location of an item, for messages.
    pub(super) fn place(&self, item: &Item) -> String {
        format!("{}/{}", self.source.name().trim_end_matches('/'), item.path())
    }
}
