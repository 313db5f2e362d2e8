//! A store or a bundle in which `verify` looks up what lock files and manifests name.

use std::path::PathBuf;

use precast_store::key::Fingerprint;
use precast_store::{ActionKey, BuildKey, Bundle, Entry, OpenError, Record, Store};

use crate::args::LayerArgs;
use crate::error::Failure;
use crate::layers;

/// An open store or bundle. Its files were verified before.
pub(crate) enum Searched {
    Store(Store),
    Bundle(Box<Bundle>),
}

impl Searched {
    /// Opens the bundles and stores of a command line. A bundle that cannot be opened was reported before.
    pub(crate) fn open(args: &LayerArgs, stores: &[PathBuf]) -> Result<Vec<Self>, Failure> {
        let keyring = layers::open_keyring(args)?;
        let bundle = |path: &PathBuf| match (Bundle::open_unsigned(path), &keyring) {
            // Signatures replace the permissions.
            (Err(_), Some(keyring)) => Bundle::open_signed(path, keyring).ok(),
            (opened, _) => opened.ok(),
        };
        let bundles = args.bundle.iter().filter_map(bundle).map(|bundle| Ok(Self::Bundle(Box::new(bundle))));
        let store = |path: &PathBuf| match (Store::open(path), &keyring) {
            (Err(OpenError::Untrusted(_)), Some(_)) => Store::inspect(path),
            (opened, _) => opened,
        };
        bundles.chain(stores.iter().map(|path| Ok(Self::Store(store(path)?)))).collect()
    }

    /// Returns the records with a module.
    pub(crate) fn find(&self, key: &BuildKey) -> Result<Vec<Record>, Failure> {
        match self {
            Self::Store(store) => Ok(store.find(key)?),
            Self::Bundle(bundle) => Ok(bundle.find(key).iter().map(|record| (**record).clone()).collect()),
        }
    }

    /// Returns the records of an action.
    pub(crate) fn find_action(&self, action: &ActionKey) -> Result<Vec<Record>, Failure> {
        match self {
            Self::Store(store) => Ok(store.find_action(action)?),
            Self::Bundle(bundle) => {
                Ok(bundle.records().into_iter().filter(|record| record.action == *action).collect())
            }
        }
    }

    /// Returns the modules of a fingerprint.
    pub(crate) fn find_fingerprint(&self, fingerprint: &Fingerprint) -> Result<Vec<BuildKey>, Failure> {
        match self {
            Self::Store(store) => {
                Ok(store.find_fingerprint(fingerprint)?.into_iter().map(|(_, key)| key).collect())
            }
            Self::Bundle(bundle) => {
                Ok(bundle.find_fingerprint(fingerprint).into_iter().map(|(_, key)| key).collect())
            }
        }
    }

    pub(crate) fn find_entry(&self, name: &str) -> Result<Option<Entry>, Failure> {
        match self {
            Self::Store(store) => Ok(store.find_entry(name)?),
            Self::Bundle(bundle) => Ok(bundle.find_entry(name)),
        }
    }

    /// Returns whether the code of a record is there.
    pub(crate) fn holds(&self, record: &Record) -> Result<bool, Failure> {
        match self {
            Self::Store(store) => Ok(store.holds(record)?),
            Self::Bundle(_) => Ok(true),
        }
    }

    /// Returns whether a bundle has modules of several archives in one, so that no record is that of an archive.
    pub(crate) fn is_joined(&self, is_archive: impl Fn(&Record) -> bool) -> bool {
        match self {
            Self::Store(_) => false,
            Self::Bundle(bundle) => !bundle.records().iter().any(is_archive),
        }
    }
}
