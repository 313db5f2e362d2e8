//! Checks and reads the files of a store. Every directory on the path and every file must belong to a trusted user
//! ([`crate::trust`]), and none may be a link. In a store that was opened under a keyring, only links are rejected:
//! signatures protect its content.
//!
//! Each directory is checked once per open store, each file whenever it is opened.

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use walkdir::WalkDir;

use super::Store;
use super::paths::is_stray;
use super::write::{WriteError, create_dir};
use crate::step::step;
use crate::trust::{self, PathCheck, TrustError, Untrusted};

/// The reason why the store cannot be read: the file system refuses, files are not trusted, or it is unknown which release
/// is served. Other damaged or missing files are not errors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// Other users can change the files.
    #[error(transparent)]
    Untrusted(#[from] Box<Untrusted>),
    /// The file system refused.
    #[error("cannot read `{}` in the store", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It is unknown which release is served.
    #[error(transparent)]
    Damaged(#[from] Box<DamagedRelease>),
}

/// A file of a release that is damaged or missing, so that another release could be served in its place.
#[derive(Debug, thiserror::Error)]
#[error("`{}` is damaged or missing: expected {expected}\nhint: {hint}", path.display())]
pub struct DamagedRelease {
    /// The path.
    pub path: PathBuf,
    /// The expected content.
    pub expected: String,
    /// The remedy.
    pub hint: String,
}

impl FindError {
    /// Returns whether a file is damaged or missing.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_))
    }
}

impl From<TrustError> for FindError {
    fn from(error: TrustError) -> Self {
        match error {
            TrustError::Untrusted(untrusted) => Self::Untrusted(untrusted),
            TrustError::Io { path, source } => Self::Io { path, source },
        }
    }
}

/// The directories of an open store that passed the trust check. Only shards are stored, to keep the set small; pointer
/// directories are many.
#[derive(Debug, Clone, Default)]
pub(super) struct Passed(Arc<RwLock<HashSet<PathBuf>>>);

impl Passed {
    fn has(&self, directory: &Path) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(directory)
    }

    fn add(&self, directory: &Path) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(directory.to_path_buf());
    }
}

/// The content of a file.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) bytes: Vec<u8>,
    /// The time when the file was written or confirmed.
    pub(super) modified: Option<std::time::SystemTime>,
}

impl Store {
    /// Returns whether a directory exists. An untrusted directory, or one above it, is an error.
    pub(super) fn has_dir(&self, directory: &Path) -> Result<bool, FindError> {
        if self.passed.has(directory) {
            return Ok(true);
        }
        let is_root = directory == self.paths.root;
        if !is_root && !directory.parent().map_or(Ok(false), |parent| self.has_dir(parent))? {
            return Ok(false);
        }
        step();
        // The path to the root was already checked, and may end in a link.
        let found = trust::look(if is_root { &self.real } else { directory }, self.protection);
        let Some(metadata) = self.judged(directory, found)? else { return Ok(false) };
        let is_dir = metadata.is_dir();
        let below = directory.strip_prefix(&self.paths.root).map_or(0, |path| path.components().count());
        if is_dir && below <= 2 {
            self.passed.add(directory);
        }
        Ok(is_dir)
    }

    /// Converts the result of a trust check into an error that names the remedy. Reports an object that is not a
    /// regular file as damage, and returns `None`.
    pub(super) fn judged<T>(
        &self,
        path: &Path,
        found: io::Result<PathCheck<T>>,
    ) -> Result<Option<T>, FindError> {
        match found {
            Ok(PathCheck::Trusted(it)) => return Ok(Some(it)),
            Ok(PathCheck::Missing) => {}
            Ok(PathCheck::Irregular) => self.damaged(path, "not a file"),
            Ok(PathCheck::Untrusted(fault)) => {
                return Err(Untrusted::new(path, fault, &self.paths.root).into());
            }
            Err(source) => return Err(FindError::Io { path: path.to_path_buf(), source }),
        }
        Ok(None)
    }

    /// Reads a whole file; `None` if it does not exist. A file longer than `limit` bytes is cut, and then fails its
    /// hash check. An object that is not a regular file is damage.
    pub(super) fn read(&self, path: &Path, limit: u64) -> Result<Option<Contents>, FindError> {
        if !path.parent().map_or(Ok(false), |parent| self.has_dir(parent))? {
            return Ok(None);
        }
        step();
        let Some((file, metadata)) = self.judged(path, trust::open_file(path, self.protection))? else {
            return Ok(None);
        };
        let limit = limit.min(metadata.len().saturating_add(1));
        let mut bytes = Vec::new();
        let refused =
            |_| FindError::Io { path: path.to_path_buf(), source: io::ErrorKind::OutOfMemory.into() };
        bytes.try_reserve_exact(usize::try_from(limit).unwrap_or(usize::MAX)).map_err(refused)?;
        let read = file.take(limit).read_to_end(&mut bytes);
        read.map_err(|source| FindError::Io { path: path.to_path_buf(), source })?;
        Ok(Some(Contents { bytes, modified: metadata.modified().ok() }))
    }

    /// Returns whether a pointer exists. An object that is not a regular file is damage.
    pub(super) fn has_pointer(&self, path: &Path) -> Result<bool, FindError> {
        if !path.parent().map_or(Ok(false), |parent| self.has_dir(parent))? {
            return Ok(false);
        }
        step();
        match self.judged(path, trust::look(path, self.protection))? {
            Some(found) if found.is_file() => Ok(true),
            Some(_) => {
                self.damaged(path, "not a file");
                Ok(false)
            }
            None => Ok(false),
        }
    }

    /// Lists the names in a directory, sorted, without files of other programs; empty if the directory is missing.
    pub(super) fn names(&self, directory: &Path) -> Result<Vec<String>, FindError> {
        let mut names = self.all_names(directory)?;
        names.retain(|name| !is_stray(name));
        Ok(names)
    }

    /// Lists all names in a directory, sorted; empty if the directory is missing.
    pub(super) fn all_names(&self, directory: &Path) -> Result<Vec<String>, FindError> {
        if !self.has_dir(directory)? {
            return Ok(Vec::new());
        }
        step();
        let mut names = Vec::new();
        for entry in WalkDir::new(directory).min_depth(1).max_depth(1).sort_by_file_name() {
            match entry {
                Ok(entry) => names.extend(entry.file_name().to_str().map(str::to_owned)),
                Err(error) => {
                    if let Some(error) = walk_error(directory, error) {
                        return Err(error);
                    }
                }
            }
        }
        Ok(names)
    }

    /// Creates a directory of the store and its missing parents; a file in its place is quarantined. Returns whether
    /// the directory was missing.
    pub(super) fn make_dir(&self, directory: &Path) -> Result<bool, WriteError> {
        let is_root = directory == self.paths.root;
        if self.has_dir(directory)? && directory.is_dir() {
            return Ok(false);
        }
        if let Some(parent) = directory.parent().filter(|_| !is_root) {
            self.make_dir(parent)?;
        }
        if !is_root && fs_err::symlink_metadata(directory).is_ok_and(|found| !found.is_dir()) {
            self.damaged(directory, "not a directory");
        }
        match create_dir(directory) {
            Ok(()) => Ok(true),
            // `InTheWay` hints at `rm -r`, which is wrong for a file outside the store.
            Err(WriteError::InTheWay { path, source }) if is_root => Err(WriteError::Io { path, source }),
            Err(error) => Err(error),
        }
    }

    /// Checks the trust of all directories and files without reading the files.
    ///
    /// # Errors
    ///
    /// Other users can change something, or the file system refuses.
    pub fn check_trust(&self) -> Result<(), FindError> {
        for entry in WalkDir::new(&self.real).min_depth(1).sort_by_file_name() {
            match entry {
                Ok(entry) => {
                    self.judged(entry.path(), trust::look(entry.path(), self.protection))?;
                }
                Err(error) => walk_error(&self.real, error).map_or(Ok(()), Err)?,
            }
        }
        Ok(())
    }
}

/// Converts a directory-walk error; `None` if the file does not exist (any more).
pub(super) fn walk_error(root: &Path, error: walkdir::Error) -> Option<FindError> {
    let path = error.path().unwrap_or(root).to_path_buf();
    let source = io::Error::from(error);
    let is_there = !matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    is_there.then_some(FindError::Io { path, source })
}
