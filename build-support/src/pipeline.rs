//! The pipeline that all builds share: build scripts, `precast build` and Python's `save`.
//!
//! ```text
//! StoreChoice ──open──▶ Store ─┐
//! Plan ────────────────────────┴─build──▶ Executed { artifacts, events, warnings } ──bundle──▶ bytes ──▶ file
//!                                   └──▶ the log of builds in the store
//! ```
//! A front end reads its declarations, chooses the store and the variants, and reports the warnings. Nothing here
//! prints.

use crate::execute::{ExecuteError, Executed, Execution, execute};
use crate::history;
use crate::plan::Plan;
use precast_store::{CreateError, OpenError, Store};
use std::path::{Path, PathBuf};

/// The store that a build keeps its artifacts in.
#[derive(Debug, Clone, Copy)]
pub enum StoreChoice<'a> {
    /// A store that the user named. It is an error if it cannot be used.
    Named(&'a Path),
    /// The store of this user. If it cannot be used, the fallback takes its place.
    Shared {
        /// The store.
        path: &'a Path,
        /// The store of this build alone. Without it, nothing is kept.
        fallback: Option<&'a Path>,
    },
}

/// The use of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The build publishes compiled artifacts. A missing store is created.
    Publish,
    /// The build publishes fetched artifacts, and compiles nothing. A missing store is created; one that is not writable
    /// is read.
    Fetch,
    /// The build only reads. A missing store is not created.
    Read,
}

/// The opened store of a build.
#[derive(Debug)]
pub struct Opened {
    /// The store. `None` if no store exists to read, or if nothing is kept.
    pub store: Option<Store>,
    /// The reason why the shared store is not used.
    pub refused: Option<OpenStoreError>,
}

/// An error: a store cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the store at `{}`\nhint: set `PRECAST_STORE` to a writable directory", path.display())]
pub struct OpenStoreError {
    /// The store.
    pub path: PathBuf,
    /// The reason.
    pub source: CreateError,
}

impl StoreChoice<'_> {
    /// Opens the store, or creates it.
    ///
    /// # Errors
    /// Fails if no store can be used.
    pub fn open(self, access: Access) -> Result<Opened, OpenStoreError> {
        if access == Access::Publish {
            return self.create();
        }
        match self.read() {
            Ok(store) if store.is_some() || access == Access::Read => Ok(Opened { store, refused: None }),
            Err(error) if access == Access::Read || !error.is_missing() => Err(error),
            _ => self.create(),
        }
    }

    fn create(self) -> Result<Opened, OpenStoreError> {
        let (path, fallback) = match self {
            Self::Named(path) => return Ok(Opened { store: Some(create(path)?), refused: None }),
            Self::Shared { path, fallback } => (path, fallback),
        };
        match create(path) {
            Ok(store) => Ok(Opened { store: Some(store), refused: None }),
            Err(refused) => {
                let store = fallback.map(create).transpose()?;
                Ok(Opened { store, refused: Some(refused) })
            }
        }
    }

    /// Opens the first store that exists. The shared store comes first if it is writable, because other builds fill it.
    fn read(self) -> Result<Option<Store>, OpenStoreError> {
        let places: Vec<&Path> = match self {
            Self::Named(path) => vec![path],
            Self::Shared { path, fallback } => {
                let is_filled = Store::open(path).is_ok_and(|store| store.is_writable());
                is_filled.then_some(path).into_iter().chain(fallback).chain([path]).collect()
            }
        };
        for path in places {
            match Store::open(path) {
                Ok(store) => return Ok(Some(store)),
                Err(OpenError::Missing { is_lost: false, .. }) => {}
                Err(error) => return Err(OpenStoreError { path: path.to_owned(), source: error.into() }),
            }
        }
        Ok(None)
    }
}

impl OpenStoreError {
    /// Returns whether the directory is not a store, or no longer one.
    fn is_missing(&self) -> bool {
        matches!(self.source, CreateError::Open(OpenError::Missing { .. }))
    }
}

fn create(path: &Path) -> Result<Store, OpenStoreError> {
    Store::create(path).map_err(|source| OpenStoreError { path: path.to_owned(), source })
}

/// Executes a plan, and logs the build of `subject`, a manifest or another file, in the store.
///
/// # Errors
/// See [`execute`].
pub fn build(plan: &Plan, execution: &Execution<'_>, subject: &Path) -> Result<Executed, ExecuteError> {
    let executed = execute(plan, execution)?;
    execution.store.iter().for_each(|store| history::remember(store, subject, &executed));
    Ok(executed)
}

#[cfg(test)]
mod tests {
    use super::{Access, StoreChoice};

    #[test]
    fn only_publishing_builds_create_a_store() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        for choice in [StoreChoice::Named(&path), StoreChoice::Shared { path: &path, fallback: None }] {
            assert!(choice.open(Access::Read).unwrap().store.is_none() && !path.exists());
            for access in [Access::Fetch, Access::Read, Access::Publish] {
                let store = choice.open(access).unwrap().store.unwrap();
                assert_eq!(store.path(), path, "{access:?}");
            }
            fs_err::remove_dir_all(&path).unwrap();
        }
    }

    #[test]
    fn fallback_replaces_an_unusable_shared_store() {
        let directory = tempfile::tempdir().unwrap();
        let (path, own) = (directory.path().join("file"), directory.path().join("own"));
        fs_err::write(&path, b"not a store").unwrap();
        let shared = |fallback| StoreChoice::Shared { path: &path, fallback };
        let opened = shared(Some(&*own)).open(Access::Publish).unwrap();
        assert_eq!((opened.store.unwrap().path(), opened.refused.unwrap().path), (&*own, path.clone()));
        let opened = shared(None).open(Access::Publish).unwrap();
        assert!(opened.store.is_none() && opened.refused.is_some());
        assert!(StoreChoice::Named(&path).open(Access::Publish).is_err());
    }
}
