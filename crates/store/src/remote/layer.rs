//! A remote layer: a source, and the store that keeps what came from it.

use std::fmt;
use std::sync::{Arc, Mutex};

use precast_core::cpu;

use super::question::{Questions, lock};
use super::{Item, Source, Wanted};
use crate::event::Event;
use crate::key::{ActionKey, BuildKey, Fingerprint};
use crate::record::{Entry, Record};
use crate::store::{FindError, LoadError, Store};

/// Most entries that are fetched because somebody lists them.
pub(super) const LISTED: usize = 1000;

/// A source whose answers are kept in a store of its own, and served from there.
///
/// What the store has is not asked for again, except what the names of entries mean, which changes. Of the variants of a module
/// the best that this host can run comes.
///
/// # Examples
///
/// A layer that asks for signatures; `source` is of `precast-remote`.
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
    /// Records that came and that this host cannot run: they explain misses.
    unfit: Arc<Mutex<Vec<Arc<Record>>>>,
    /// What is removed with the last of these.
    _temporary: Option<Arc<tempfile::TempDir>>,
}

/// Renders what messages and tables call it.
impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "remote `{}`", self.source.name())
    }
}

impl Remote {
    /// Keeps what comes from `source` in `store`, whose keyring says what is believed.
    #[must_use]
    pub fn new(source: Arc<dyn Source>, store: Store) -> Self {
        Self { store, source, questions: Arc::default(), unfit: Arc::default(), _temporary: None }
    }

    /// Removes a temporary directory with the last of these: the store is in it.
    #[must_use]
    pub fn keeping(self, directory: tempfile::TempDir) -> Self {
        Self { _temporary: Some(Arc::new(directory)), ..self }
    }

    /// Gives the store that keeps what came.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Tells an observer what went wrong, and what came.
    #[must_use]
    pub fn on_event(self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self { store: self.store.on_event(observer), ..self }
    }

    /// Finds the records that have a module of this key, as [`Store::find`].
    ///
    /// # Errors
    ///
    /// The store that keeps them cannot be read.
    pub fn find(&self, key: &BuildKey) -> Result<Vec<Record>, FindError> {
        let found = self.store.find(key)?;
        if self.is_served(found.iter())? {
            return Ok(found);
        }
        self.ask(Wanted::Key(*key));
        self.store.find(key)
    }

    /// Finds the records that have a module of this fingerprint, as [`Store::find_fingerprint`].
    ///
    /// # Errors
    ///
    /// The store that keeps them cannot be read.
    pub fn find_fingerprint(&self, fingerprint: &Fingerprint) -> Result<Vec<(Record, BuildKey)>, FindError> {
        let found = self.store.find_fingerprint(fingerprint)?;
        if self.is_served(found.iter().map(|(record, _)| record))? {
            return Ok(found);
        }
        self.ask(Wanted::Fingerprint(*fingerprint));
        self.store.find_fingerprint(fingerprint)
    }

    /// Finds the records of an action, as [`Store::find_action`].
    ///
    /// # Errors
    ///
    /// The store that keeps them cannot be read.
    pub fn find_action(&self, action: &ActionKey) -> Result<Vec<Record>, FindError> {
        let found = self.store.find_action(action)?;
        if self.holds_one(&found)? {
            return Ok(found);
        }
        self.ask(Wanted::Action(*action));
        self.store.find_action(action)
    }

    /// Finds the entry that a name means, as [`Store::find_entry`]. What it means is asked for again, but not every time.
    ///
    /// # Errors
    ///
    /// The store that keeps it cannot be read.
    pub fn find_entry(&self, name: &str) -> Result<Option<Entry>, FindError> {
        self.ask_entry(name);
        self.store.find_entry(name)
    }

    /// Gives every entry, sorted by name; of those that are only there, at most a thousand.
    ///
    /// # Errors
    ///
    /// The store that keeps them cannot be read.
    pub fn entries(&self) -> Result<Vec<Entry>, FindError> {
        self.ask_entries();
        self.store.entries()
    }

    /// Loads a member of the archive of a record, as [`Store::load_member`]; an archive that is lost or damaged here is fetched
    /// again.
    ///
    /// # Errors
    ///
    /// As [`Store::load_member`].
    pub fn load_member(&self, record: &Record, name: &str) -> Result<Option<Vec<u8>>, LoadError> {
        match self.store.load_member(record, name) {
            Err(LoadError::Damaged { .. } | LoadError::Missing { .. }) => {
                self.ask_again(record);
                self.store.load_member(record, name)
            }
            loaded => loaded,
        }
    }

    /// Asks at once for all that finding these would ask for, so that they are here when they are looked for.
    ///
    /// # Errors
    ///
    /// The store that keeps them cannot be read.
    pub fn prefetch(&self, wanted: &[Wanted]) -> Result<(), FindError> {
        let mut missing = Vec::new();
        for wanted in wanted {
            let is_here = match wanted {
                Wanted::Key(key) => self.is_served(self.store.find(key)?.iter())?,
                Wanted::Fingerprint(fingerprint) => {
                    let found = self.store.find_fingerprint(fingerprint)?;
                    self.is_served(found.iter().map(|(record, _)| record))?
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

    /// Gives the records of a key that came and that this host cannot run.
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

    /// Tells whether the archive of one of these is here.
    fn holds_one(&self, records: &[Record]) -> Result<bool, FindError> {
        records.iter().try_fold(false, |holds, record| Ok(holds || self.store.holds(record)?))
    }

    /// Tells whether one of these can be run, and its archive is here.
    fn is_served<'r>(&self, mut records: impl Iterator<Item = &'r Record>) -> Result<bool, FindError> {
        let is_here = |record: &Record| match record.requires.check(cpu::host()) {
            Ok(()) => self.store.holds(record),
            Err(_) => Ok(false),
        };
        records.try_fold(false, |served, record| Ok(served || is_here(record)?))
    }

    /// The place of an item, for messages.
    pub(super) fn place(&self, item: &Item) -> String {
        format!("{}/{}", self.source.name().trim_end_matches('/'), item.path())
    }
}
