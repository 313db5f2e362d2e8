//! The only way to what is in a store: every directory on the path and every file is ours ([`crate::trust`]), and none is a link.
//!
//! A directory is judged once for an open store, a file whenever it is opened.

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use walkdir::WalkDir;

use super::Store;
use super::paths::is_stray;
use super::write::{WriteError, create_dir};
use crate::step::step;
use crate::trust::{self, Found, TrustError, Untrusted};

/// Says that the file system, or the lack of trust in what is there, kept us from looking. What is damaged or missing is no
/// error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// Others can change what is there.
    #[error(transparent)]
    Untrusted(#[from] Box<Untrusted>),
    /// The file system refused.
    #[error("cannot read `{}` in the store", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl From<TrustError> for FindError {
    fn from(error: TrustError) -> Self {
        match error {
            TrustError::Untrusted(untrusted) => Self::Untrusted(untrusted),
            TrustError::Io { path, source } => Self::Io { path, source },
        }
    }
}

/// The directories of an open store that have passed. Shards only, so that it stays small; those of pointers are many.
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

/// A file that was read.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) bytes: Vec<u8>,
    /// When it was written or confirmed.
    pub(super) modified: Option<std::time::SystemTime>,
}

impl Store {
    /// Tells whether there is a directory; its faults, and those of the directories above, are an error.
    pub(super) fn has_dir(&self, directory: &Path) -> Result<bool, FindError> {
        if self.passed.has(directory) {
            return Ok(true);
        }
        let is_root = directory == self.paths.root;
        if !is_root && !directory.parent().map_or(Ok(false), |parent| self.has_dir(parent))? {
            return Ok(false);
        }
        step();
        // The way to the root was checked, and may end in a link.
        let found = if is_root { trust::look(&self.real) } else { trust::look(directory) };
        let Some(metadata) = self.judged(directory, found)? else { return Ok(false) };
        let is_dir = metadata.is_dir();
        let below = directory.strip_prefix(&self.paths.root).map_or(0, |path| path.components().count());
        if is_dir && below <= 2 {
            self.passed.add(directory);
        }
        Ok(is_dir)
    }

    /// Turns a judgement into an error that names the remedy, or into nothing: what is no file is damage.
    pub(super) fn judged<T>(&self, path: &Path, found: io::Result<Found<T>>) -> Result<Option<T>, FindError> {
        match found {
            Ok(Found::It(it)) => return Ok(Some(it)),
            Ok(Found::Missing) => {}
            Ok(Found::Other) => self.damaged(path, "not a file"),
            Ok(Found::Wrong(fault)) => return Err(Untrusted::new(path, fault, &self.paths.root).into()),
            Err(source) => return Err(FindError::Io { path: path.to_path_buf(), source }),
        }
        Ok(None)
    }

    /// Reads a whole file; `None` when there is none. What is longer than `limit` bytes is cut, and then fails its hash; what
    /// is no file is damage.
    pub(super) fn read(&self, path: &Path, limit: u64) -> Result<Option<Contents>, FindError> {
        if !path.parent().map_or(Ok(false), |parent| self.has_dir(parent))? {
            return Ok(None);
        }
        step();
        let Some((file, metadata)) = self.judged(path, trust::open_file(path))? else { return Ok(None) };
        let limit = limit.min(metadata.len().saturating_add(1));
        let mut bytes = Vec::new();
        let refused =
            |_| FindError::Io { path: path.to_path_buf(), source: io::ErrorKind::OutOfMemory.into() };
        bytes.try_reserve_exact(usize::try_from(limit).unwrap_or(usize::MAX)).map_err(refused)?;
        let read = file.take(limit).read_to_end(&mut bytes);
        read.map_err(|source| FindError::Io { path: path.to_path_buf(), source })?;
        Ok(Some(Contents { bytes, modified: metadata.modified().ok() }))
    }

    /// Tells whether an empty file, a pointer, is there. Something else in its place is damage.
    pub(super) fn has_pointer(&self, path: &Path) -> Result<bool, FindError> {
        if !path.parent().map_or(Ok(false), |parent| self.has_dir(parent))? {
            return Ok(false);
        }
        step();
        let found = self.judged(path, trust::look(path))?;
        let is_file = found.as_ref().is_some_and(std::fs::Metadata::is_file);
        if found.is_some() && !is_file {
            self.damaged(path, "not a file");
        }
        Ok(is_file)
    }

    /// Lists the names in a directory, sorted, without those of other programs; none when the directory is missing.
    pub(super) fn names(&self, directory: &Path) -> Result<Vec<String>, FindError> {
        let mut names = self.all_names(directory)?;
        names.retain(|name| !is_stray(name));
        Ok(names)
    }

    /// Lists all names in a directory, sorted; none when the directory is missing.
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

    /// Makes a directory of the store and those above it, where they are missing; what stands in the way is moved out of it.
    /// Tells whether it was missing.
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
            // It is not the store's own.
            Err(WriteError::InTheWay { path, source }) if is_root => Err(WriteError::Io { path, source }),
            Err(error) => Err(error),
        }
    }

    /// Judges every directory and file, and reads none.
    ///
    /// # Errors
    ///
    /// Others can change something, or the file system refuses.
    pub fn check_trust(&self) -> Result<(), FindError> {
        for entry in WalkDir::new(&self.real).min_depth(1).sort_by_file_name() {
            match entry {
                Ok(entry) => {
                    self.judged(entry.path(), trust::look(entry.path()))?;
                }
                Err(error) => walk_error(&self.real, error).map_or(Ok(()), Err)?,
            }
        }
        Ok(())
    }
}

/// Turns an error of a walk into ours; `None` for something that is not there, or no longer.
pub(super) fn walk_error(root: &Path, error: walkdir::Error) -> Option<FindError> {
    let path = error.path().unwrap_or(root).to_path_buf();
    let source = io::Error::from(error);
    let is_there = !matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    is_there.then_some(FindError::Io { path, source })
}
