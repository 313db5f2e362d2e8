//! Creates a store, or opens one for writing and finds out at once whether it can be.

use std::io;
use std::path::Path;

use super::open::STORE_FILE;
use super::paths::DIRECTORIES;
use super::write::{WriteError, probe, sync_dir, write_file};
use super::{OpenError, Store};
use crate::trust::check_way;

/// Says why a store cannot be created or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// There is a store, and it cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The file system refused.
    #[error("cannot create a store at `{path}`")]
    Write {
        /// The directory.
        path: String,
        /// What was refused.
        source: WriteError,
    },
}

impl Store {
    /// Opens the store at `path` for writing, creating it and the directories above it where there is none.
    ///
    /// # Errors
    ///
    /// What is there cannot be opened, or the file system refuses to write; the latter is found out here, not with the
    /// first publish.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, CreateError> {
        let root = path.as_ref().to_path_buf();
        let real = check_way(&root).map_err(OpenError::from)?;
        let store = Self { real, ..Self::unchecked(root) };
        let exists = match fs_err::symlink_metadata(store.paths.store_file()) {
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(source) => {
                return Err(OpenError::Io { path: store.paths.store_file(), source }.into());
            }
        };
        let prepared = if exists { store.complete() } else { store.lay_out() };
        match prepared {
            Ok(()) => Ok(Self::open(path)?),
            Err(WriteError::Find(error)) => Err(OpenError::from(error).into()),
            Err(source) => Err(CreateError::Write { path: store.path().display().to_string(), source }),
        }
    }

    /// Makes the directories that a copy, or git, has left out, and checks that a file can be made.
    fn complete(&self) -> Result<(), WriteError> {
        for name in DIRECTORIES {
            self.make_dir(&self.paths.dir(name))?;
        }
        probe(&self.paths.dir("tmp"))
    }

    /// Makes the tree, `STORE` last: what has it is complete.
    fn lay_out(&self) -> Result<(), WriteError> {
        self.complete()?;
        write_file(&self.paths.dir("tmp"), &self.paths.store_file(), STORE_FILE.as_bytes(), 0o644)?;
        sync_dir(&self.paths.root)
    }
}
