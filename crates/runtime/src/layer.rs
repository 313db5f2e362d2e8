//! Layers: where artifacts are looked for, in order; the first with a survivor wins.

use precast_core::event::chain;
use precast_core::{best_first, cpu};
use precast_store::archive::SHARED_OBJECT;
use precast_store::key::KeyDocument;
use precast_store::{BuildKey, Bundle, Entry, FindError, Fingerprint, LoadError, Record, Store};
use std::fmt;
use std::path::PathBuf;

/// A place that serves artifacts.
pub(crate) enum Layer {
    /// A bundle inside the binary or in a file.
    Bundle {
        /// `embedded bundle`, or its path.
        name: String,
        bundle: Box<Bundle>,
    },
    /// A store directory.
    Store {
        store: Store,
        /// Whether modules compiled at run time are published to it.
        writable: bool,
    },
}

/// Why a layer could not be read; damage is not among it, that is a miss and an event.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayerError {
    /// The store could not be searched.
    #[error("cannot search store `{path}`")]
    Find {
        /// The store.
        path: PathBuf,
        /// What the file system said, or what others can change.
        source: FindError,
    },
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bundle { name, .. } => f.write_str(name),
            Self::Store { store, .. } => write!(f, "store `{}`", store.path().display()),
        }
    }
}

impl Layer {
    /// The records of a key that this host can run, best first: most CPU features, then by ActionKey and Digest.
    pub(crate) fn find(&self, key: &BuildKey) -> Result<Vec<Record>, LayerError> {
        let records = match self {
            Self::Bundle { bundle, .. } => bundle.find(key),
            Self::Store { store, .. } => store.find(key).map_err(|source| find_error(store, source))?,
        };
        Ok(best_first(records, &mut Vec::new()))
    }

    /// The key behind a fingerprint.
    pub(crate) fn find_fingerprint(&self, fingerprint: &Fingerprint) -> Result<Option<BuildKey>, LayerError> {
        let found = match self {
            Self::Bundle { bundle, .. } => bundle.find_fingerprint(fingerprint),
            Self::Store { store, .. } => {
                store.find_fingerprint(fingerprint).map_err(|source| find_error(store, source))?
            }
        };
        Ok(found.into_iter().map(|(_, key)| key).next())
    }

    /// The named graph.
    pub(crate) fn find_entry(&self, name: &str) -> Result<Option<Entry>, LayerError> {
        match self {
            Self::Bundle { bundle, .. } => Ok(bundle.find_entry(name)),
            Self::Store { store, .. } => store.find_entry(name).map_err(|source| find_error(store, source)),
        }
    }

    /// The names of all named graphs.
    pub(crate) fn entry_names(&self) -> Vec<String> {
        let entries = match self {
            Self::Bundle { bundle, .. } => bundle.entries(),
            Self::Store { store, .. } => store.entries().unwrap_or_default(),
        };
        entries.into_iter().map(|entry| entry.name).collect()
    }

    /// The verified shared object of a record; or in words why there is none, which is a miss.
    pub(crate) fn load(&self, record: &Record) -> Result<Result<Vec<u8>, String>, LayerError> {
        match self {
            Self::Bundle { bundle, .. } => Ok(bundle.load(record).map_err(|error| chain(&error))),
            Self::Store { store, .. } => match store.load(record) {
                Ok(mut archive) => Ok(archive
                    .members
                    .remove(SHARED_OBJECT)
                    .ok_or_else(|| format!("its archive has no `{SHARED_OBJECT}`"))),
                Err(LoadError::Find(source)) => Err(find_error(store, source)),
                Err(error) => Ok(Err(chain(&error))),
            },
        }
    }

    /// The key documents of all modules that this host could look up, with their printable signatures.
    pub(crate) fn documents(&self) -> Vec<(String, KeyDocument)> {
        let (records, bundle) = match self {
            Self::Bundle { bundle, .. } => (bundle.records(), Some(bundle)),
            Self::Store { store, .. } => (store.records().filter_map(Result::ok).collect(), None),
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

    /// The records of a key that this host cannot run, with the reason.
    pub(crate) fn inadmissible(&self, key: &BuildKey) -> Vec<(String, precast_store::Unmet)> {
        let records = match self {
            Self::Bundle { bundle, .. } => bundle.find(key),
            Self::Store { store, .. } => store.find(key).unwrap_or_default(),
        };
        let unmet = |record: &Record| record.requires.check(cpu::host()).err();
        records.iter().filter_map(|record| Some((record.isa.clone(), unmet(record)?))).collect()
    }

    /// The store, if this is one that was declared writable.
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "only a JIT publishes"))]
    pub(crate) fn writable(&self) -> Option<&Store> {
        match self {
            Self::Store { store, writable: true } => Some(store),
            _ => None,
        }
    }
}

fn find_error(store: &Store, source: FindError) -> LayerError {
    LayerError::Find { path: store.path().to_owned(), source }
}
