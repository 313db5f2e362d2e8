//! Layers: the places to search for artifacts, in order. The first layer with an admissible artifact wins.
//!
//! A layer is a bundle, a store or a remote store; all are searched in the same way. Features of one kind (the files of
//! an archive, a directory to publish to) are available through the variant.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use precast_core::event::chain;
use precast_core::{Metadata, best_first, cpu};

use crate::archive::SHARED_OBJECT;
use crate::keyring::{Keyring, OpenSignedError};
use crate::remote::{Remote, Wanted};
use crate::{
    BuildKey, Bundle, Entry, Event, FindError, Fingerprint, KeyDocument, LoadError, OpenBundleError,
};
use crate::{Record, Store, Unmet};

/// A source of artifacts.
#[derive(Debug)]
pub enum Layer {
    /// A bundle inside the binary or in a file.
    Bundle {
        /// The name for messages and tables.
        name: String,
        /// The bundle.
        bundle: Box<Bundle>,
    },
    /// A store directory.
    Store {
        /// The store.
        store: Store,
        /// Whether modules compiled at run time are published to it.
        writable: bool,
    },
    /// A remote store.
    Remote(Box<Remote>),
}

/// An error while searching a layer. Damage is not an error: it is a miss and an event.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LayerError {
    /// The store could not be searched.
    #[error("cannot search store `{}`", path.display())]
    Find {
        /// The store.
        path: PathBuf,
        /// The error of the file system or the trust check.
        source: FindError,
    },
}

precast_core::debug_as_chain!(LayerError);

/// Renders the layer's name for messages and tables.
impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bundle { name, .. } => f.write_str(name),
            Self::Store { store, .. } => write!(f, "store `{}`", store.path().display()),
            Self::Remote(remote) => write!(f, "{remote}"),
        }
    }
}

impl From<Store> for Layer {
    /// Makes a read-only layer from a store.
    fn from(store: Store) -> Self {
        Self::Store { store, writable: false }
    }
}

impl From<Remote> for Layer {
    fn from(remote: Remote) -> Self {
        Self::Remote(Box::new(remote))
    }
}

impl Layer {
    /// Opens a bundle file and reads it into memory. `PRECAST_KEYRING` applies as for [`Bundle::open`].
    ///
    /// # Errors
    ///
    /// Fails as [`Bundle::open`].
    pub fn open_bundle(path: &Path) -> Result<Self, OpenBundleError> {
        let name = format!("bundle `{}`", path.display());
        Ok(Self::Bundle { name, bundle: Box::new(Bundle::open(path)?) })
    }

    /// Opens a bundle file and verifies the signatures in `<path>.minisig`.
    ///
    /// # Errors
    ///
    /// The file is not a bundle or cannot be read, or too few keys of the keyring signed it. Its owner and mode do not matter:
    /// [`crate::trust::Protection::Signatures`].
    pub fn open_signed_bundle(path: &Path, keyring: &Keyring) -> Result<Self, OpenSignedError> {
        let name = format!("bundle `{}`", path.display());
        Ok(Self::Bundle { name, bundle: Box::new(Bundle::open_signed(path, keyring)?) })
    }

    /// Calls `observer` for each problem that readers recover from.
    #[must_use]
    pub fn on_event(self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        match self {
            Self::Bundle { name, bundle } => {
                Self::Bundle { name, bundle: Box::new(bundle.on_event(observer)) }
            }
            Self::Store { store, writable } => Self::Store { store: store.on_event(observer), writable },
            Self::Remote(remote) => Self::from(remote.on_event(observer)),
        }
    }

    /// Finds the records for a key that this host can run, best first: by number of CPU features, then by ActionKey and
    /// Digest.
    ///
    /// # Errors
    ///
    /// The layer cannot be searched.
    pub fn find(&self, key: &BuildKey) -> Result<Vec<Arc<Record>>, LayerError> {
        Ok(best_first(self.find_all(key)?, &mut Vec::new()))
    }

    /// Makes a remote layer fetch the data for all these keys at once, instead of one key at a time. No effect on local
    /// layers.
    ///
    /// # Errors
    ///
    /// The layer cannot be searched.
    pub fn prefetch(&self, keys: &[BuildKey]) -> Result<(), LayerError> {
        let Self::Remote(remote) = self else { return Ok(()) };
        let wanted: Vec<Wanted> = keys.iter().copied().map(Wanted::Key).collect();
        remote.prefetch(&wanted).map_err(at(remote.store()))
    }

    /// Finds the records for a key that this host cannot run, with the ISA level and reason of each. Returns an empty
    /// list if the layer cannot be searched, because the answer only explains a miss.
    #[must_use]
    pub fn inadmissible(&self, key: &BuildKey) -> Vec<(String, Unmet)> {
        let unmet = |record: &Arc<Record>| record.requires.check(cpu::host()).err();
        let mut records = self.find_all(key).unwrap_or_default();
        if let Self::Remote(remote) = self {
            records.extend(remote.unfit(key));
        }
        records.iter().filter_map(|record| Some((record.isa.clone(), unmet(record)?))).collect()
    }

    /// Finds the superseded records for a key, which only explain a miss. Returns an empty list if the layer cannot be
    /// searched.
    #[must_use]
    pub fn superseded(&self, key: &BuildKey) -> Vec<Record> {
        self.store().and_then(|store| store.find_superseded(key).ok()).unwrap_or_default()
    }

    /// Returns whether a record is superseded: see [`Store::is_superseded`].
    ///
    /// # Errors
    ///
    /// The layer cannot be searched.
    pub fn is_superseded(&self, record: &Record) -> Result<bool, LayerError> {
        self.store().map_or(Ok(false), |store| store.is_superseded(record).map_err(at(store)))
    }

    fn find_all(&self, key: &BuildKey) -> Result<Vec<Arc<Record>>, LayerError> {
        match self {
            Self::Bundle { bundle, .. } => Ok(bundle.find(key)),
            Self::Store { store, .. } => {
                let records = store.find(key).map_err(at(store))?;
                Ok(records.into_iter().map(Arc::new).collect())
            }
            Self::Remote(remote) => {
                let records = remote.find(key).map_err(at(remote.store()))?;
                Ok(records.into_iter().map(Arc::new).collect())
            }
        }
    }

    /// Looks up the key for a fingerprint.
    ///
    /// # Errors
    ///
    /// The layer cannot be searched.
    pub fn find_fingerprint(&self, fingerprint: &Fingerprint) -> Result<Option<BuildKey>, LayerError> {
        Ok(match self {
            Self::Bundle { bundle, .. } => bundle.find_fingerprint(fingerprint).first().map(|(_, key)| *key),
            Self::Store { store, .. } => {
                store.find_fingerprint(fingerprint).map_err(at(store))?.first().map(|(_, key)| *key)
            }
            Self::Remote(remote) => {
                let found = remote.find_fingerprint(fingerprint).map_err(at(remote.store()))?;
                found.first().map(|(_, key)| *key)
            }
        })
    }

    /// Looks up a named graph.
    ///
    /// # Errors
    ///
    /// The layer cannot be searched.
    pub fn find_entry(&self, name: &str) -> Result<Option<Entry>, LayerError> {
        match self {
            Self::Bundle { bundle, .. } => Ok(bundle.find_entry(name)),
            Self::Store { store, .. } => store.find_entry(name).map_err(at(store)),
            Self::Remote(remote) => remote.find_entry(name).map_err(at(remote.store())),
        }
    }

    /// Returns all intact entries, sorted by name.
    ///
    /// # Errors
    ///
    /// The layer cannot be searched.
    pub fn entries(&self) -> Result<Vec<Entry>, LayerError> {
        match self {
            Self::Bundle { bundle, .. } => Ok(bundle.entries()),
            Self::Store { store, .. } => store.entries().map_err(at(store)),
            Self::Remote(remote) => remote.entries().map_err(at(remote.store())),
        }
    }

    /// Returns the metadata of functions of several entries, and of the layer itself, whose name is empty. Only bundles have
    /// such metadata.
    #[must_use]
    pub fn functions(&self) -> BTreeMap<String, Metadata> {
        match self {
            Self::Bundle { bundle, .. } => bundle.functions(),
            Self::Store { .. } | Self::Remote(_) => BTreeMap::new(),
        }
    }

    /// Returns all intact records, with their documents if available. For a remote layer, returns only the records
    /// already fetched.
    ///
    /// # Errors
    ///
    /// The layer cannot be searched.
    pub fn records(&self) -> Result<Vec<Record>, LayerError> {
        if let Self::Bundle { bundle, .. } = self {
            return Ok(bundle.records());
        }
        self.store()
            .map_or(Ok(Vec::new()), |store| store.records().collect::<Result<_, _>>().map_err(at(store)))
    }

    /// Returns all intact records like [`Layer::records`], but does not read document files.
    pub fn bare_records(&self) -> Box<dyn Iterator<Item = Result<Record, LayerError>> + '_> {
        match self {
            Self::Bundle { bundle, .. } => Box::new(bundle.records().into_iter().map(Ok)),
            _ => Box::new(
                self.store()
                    .into_iter()
                    .flat_map(|store| store.bare_records().map(|found| found.map_err(at(store)))),
            ),
        }
    }

    /// Returns the key documents of modules for any host, with their printable signatures. From a store, reads at most
    /// `most` records.
    #[must_use]
    pub fn documents(&self, most: usize) -> Vec<(String, KeyDocument)> {
        let (records, bundle) = match self {
            Self::Bundle { bundle, .. } => (bundle.records(), Some(bundle)),
            _ => {
                let records = self.store().into_iter().flat_map(Store::records);
                (records.take(most).filter_map(Result::ok).collect(), None)
            }
        };
        let mut documents = Vec::new();
        for member in records.into_iter().flat_map(|record| record.members) {
            let document = member.document.or_else(|| bundle.and_then(|b| b.document(&member.key)));
            if let Some(document) = document {
                documents.push((member.signature, document));
            }
        }
        documents
    }

    /// Returns the recipe of each key that a store's entries call. A bundle has no recipes; it states its generator
    /// instead.
    #[must_use]
    pub fn recipes(&self) -> HashMap<BuildKey, String> {
        let entries = self.store().and_then(|store| store.entries().ok()).unwrap_or_default();
        let calls =
            entries.iter().flat_map(|entry| entry.program.steps.iter().map(move |step| (step.key, entry)));
        calls.map(|(key, entry)| (key, entry.recipe.clone())).collect()
    }

    /// Returns whether the layer has the code of a record. Only [`Layer::load`] verifies that the code is intact.
    ///
    /// # Errors
    ///
    /// The layer cannot be searched.
    pub fn holds(&self, record: &Record) -> Result<bool, LayerError> {
        self.store().map_or(Ok(true), |store| store.holds(record).map_err(at(store)))
    }

    /// Loads the verified shared object of a record. The inner error is a message that explains a miss.
    ///
    /// # Errors
    ///
    /// The layer cannot be searched.
    pub fn load(&self, record: &Record) -> Result<Result<Vec<u8>, String>, LayerError> {
        match self {
            Self::Bundle { bundle, .. } => {
                Ok(bundle.load(record).map(<[u8]>::to_vec).map_err(|error| chain(&error)))
            }
            Self::Store { store, .. } => shared_object(store, store.load_member(record, SHARED_OBJECT)),
            Self::Remote(remote) => shared_object(remote.store(), remote.load_member(record, SHARED_OBJECT)),
        }
    }

    /// Returns the local store of this layer. For a remote layer, this is the store that holds the fetched data.
    #[must_use]
    pub fn store(&self) -> Option<&Store> {
        match self {
            Self::Bundle { .. } => None,
            Self::Store { store, .. } => Some(store),
            Self::Remote(remote) => Some(remote.store()),
        }
    }

    /// Returns the store if it is writable.
    #[must_use]
    pub fn writable(&self) -> Option<&Store> {
        match self {
            Self::Store { store, writable: true } => Some(store),
            _ => None,
        }
    }
}

fn shared_object(
    store: &Store,
    loaded: Result<Option<Vec<u8>>, LoadError>,
) -> Result<Result<Vec<u8>, String>, LayerError> {
    let lacking = || format!("its archive has no `{SHARED_OBJECT}`");
    match loaded {
        Ok(member) => Ok(member.ok_or_else(lacking)),
        Err(LoadError::Find(source)) => Err(at(store)(source)),
        Err(error) => Ok(Err(chain(&error))),
    }
}

fn at(store: &Store) -> impl Fn(FindError) -> LayerError {
    |source| LayerError::Find { path: store.path().to_owned(), source }
}
