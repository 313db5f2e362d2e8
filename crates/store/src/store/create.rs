//! Creates a store, or opens one for writing and finds out at once whether it can be.

use std::io;
use std::path::Path;

use super::layout::{DIRECTORIES, Layout};
use super::open::STORE_FILE;
use super::write::{WriteError, create_dir, probe, sync_dir, write_file};
use super::{OpenError, Store};

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
        let layout = Layout { root: path.as_ref().to_path_buf() };
        let exists = match fs_err::symlink_metadata(layout.store_file()) {
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(source) => return Err(OpenError::Io { path: layout.store_file(), source }.into()),
        };
        let prepared = if exists { complete(&layout) } else { lay_out(&layout) };
        prepared.map_err(|source| CreateError::Write { path: layout.root.display().to_string(), source })?;
        Ok(Self::open(path)?)
    }
}

/// Makes the directories that a copy, or git, has left out, and checks that a file can be made.
fn complete(layout: &Layout) -> Result<(), WriteError> {
    for name in DIRECTORIES {
        create_dir(&layout.dir(name))?;
    }
    probe(&layout.dir("tmp"))
}

/// Makes the tree, `STORE` last: what has it is complete.
fn lay_out(layout: &Layout) -> Result<(), WriteError> {
    complete(layout)?;
    write_file(&layout.dir("tmp"), &layout.store_file(), STORE_FILE.as_bytes(), 0o644)?;
    sync_dir(&layout.root)
}
