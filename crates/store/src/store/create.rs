//! Creates a store, or opens one for writing and checks at once that it is writable.

use std::io;
use std::path::{Path, PathBuf};

use super::open::STORE_FILE;
use super::paths::{BUILDS, DIRECTORIES, INDEX, Paths, STORE, is_litter};
use super::write::{WriteError, probe, sync_few, write_file};
use super::{OpenError, Store};
use crate::trust::Protection;

/// The reason why a store cannot be created or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The store exists, but cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The directory contains other files.
    #[error("`{}` is neither a precast store nor empty (found `{found}`)\nhint: use an empty or new directory", path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// The first file that does not belong to a store.
        found: String,
    },
    /// The file system refused.
    #[error("cannot {} `{path}`", if *exists { "write the store" } else { "create a store in" })]
    Write {
        /// The directory.
        path: String,
        /// Whether the store already exists.
        exists: bool,
        /// The write error.
        source: WriteError,
    },
}

impl Store {
    /// Opens the store at `path` for writing; creates it and its parent directories if missing.
    ///
    /// # Errors
    ///
    /// An existing store cannot be opened, or the file system refuses to write. Write problems are detected here, not
    /// at the first publish.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, CreateError> {
        let store = Self::at(Paths { root: path.as_ref().to_path_buf() }, Protection::Permissions)?;
        let exists = match fs_err::symlink_metadata(store.paths.store_file()) {
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(_) if store.paths.root.is_file() => {
                return Err(OpenError::File { path: store.paths.root }.into());
            }
            Err(source) => {
                return Err(OpenError::Io { path: store.paths.store_file(), source }.into());
            }
        };
        if !exists && let Some(found) = store.foreign()? {
            return Err(CreateError::Foreign { path: store.paths.root, found });
        }
        let prepared = if exists { store.complete() } else { store.lay_out() };
        match prepared {
            Ok(()) => Ok(Self::open(path)?),
            Err(WriteError::Find(error)) => Err(OpenError::from(error).into()),
            Err(source) => {
                Err(CreateError::Write { path: store.path().display().to_string(), exists, source })
            }
        }
    }

    /// Returns whether files can be created in the store.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        probe(&self.paths.dir("tmp")).is_ok()
    }

    /// Finds a file that belongs neither to a store (unfinished, or without `STORE`) nor to git. `STORE` was missing a
    /// moment ago; if it exists now, another process has created the store in the meantime.
    fn foreign(&self) -> Result<Option<String>, OpenError> {
        let ours = [BUILDS, INDEX, STORE, ".gitignore"];
        let is_ours = |name: &str| DIRECTORIES.contains(&name) || ours.contains(&name);
        if !self.real.is_dir() {
            return Ok(None);
        }
        let names = self.all_names(&self.paths.root)?;
        Ok(names.into_iter().find(|name| !is_ours(name) && !is_litter(name)))
    }

    /// Creates directories that are missing after a copy or a git checkout, and checks that files can be created.
    fn complete(&self) -> Result<(), WriteError> {
        for name in DIRECTORIES {
            self.make_dir(&self.paths.dir(name))?;
        }
        probe(&self.paths.dir("tmp"))
    }

    /// Creates the tree with `STORE` last, so that a tree with `STORE` is complete.
    fn lay_out(&self) -> Result<(), WriteError> {
        self.complete()?;
        write_file(&self.paths.dir("tmp"), &self.paths.store_file(), STORE_FILE.as_bytes(), 0o644)?;
        sync_few(&[&self.paths.root])
    }
}
