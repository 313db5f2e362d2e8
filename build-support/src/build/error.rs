//! What can go wrong in a build script.

use super::environment::EnvironmentError;
use crate::dependencies::DependenciesError;
use crate::execute::ExecuteError;
use crate::lock::LockError;
use crate::problem::DeclareError;
use precast_compile::FindToolchainError;
use precast_core::event::{chain, split_hints};
use precast_store::CreateError;
use std::error::Error as _;
use std::io;
use std::path::PathBuf;

/// Says why nothing was built.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The environment is not that of a build script, or has a value that means nothing.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// Mistakes in the declarations.
    #[error(transparent)]
    Declare(#[from] DeclareError),
    /// An ISA level that there is not, or none at all.
    #[error("in {place}: {message}")]
    Isa {
        /// Who named it.
        place: String,
        /// What is wrong with it.
        message: String,
    },
    /// What dependencies declare is not known, and `PRECAST_LOCKED` is set.
    #[error(
        "cannot collect what dependencies declare\nhint: run `cargo fetch` once, or unset `PRECAST_LOCKED`"
    )]
    Dependencies(#[source] DependenciesError),
    /// Some dependencies could not be looked into, and `PRECAST_LOCKED` is set.
    #[error("cannot look into `{}`\nhint: run `cargo fetch` once, or unset `PRECAST_LOCKED`", packages.join("`, `"))]
    Unseen {
        /// The dependencies.
        packages: Vec<String>,
    },
    /// What is declared is not what is locked, or the lock file cannot be used.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The workspace's own table is wrong.
    #[error(transparent)]
    Workspace(DependenciesError),
    /// There is no compiler.
    #[error(transparent)]
    Toolchain(#[from] FindToolchainError),
    /// The store cannot be written.
    #[error("cannot use the store at `{}`\nhint: set `PRECAST_STORE` to a directory that can be written", path.display())]
    Store {
        /// The store.
        path: PathBuf,
        /// Why not.
        source: CreateError,
    },
    /// Something does not compile, or cannot be published.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// OUT_DIR cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

precast_core::debug_as_chain!(BuildError);

impl BuildError {
    /// Everything there is to say, line by line: what, why, and what to do about it.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        if let Self::Declare(wrong) = self {
            // Each problem with its own remedy behind it.
            return wrong.to_string().lines().map(str::to_owned).collect();
        }
        let (what, hints) = split_hints(&match self.source() {
            None => self.to_string(),
            Some(source) => format!("{self}\ncaused by: {}", chain(source)),
        });
        what.lines().map(str::to_owned).chain(hints.iter().map(|hint| format!("hint: {hint}"))).collect()
    }
}
