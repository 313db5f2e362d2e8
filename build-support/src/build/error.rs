//! Errors of a build script.

use super::environment::EnvironmentError;
use crate::dependencies::DependenciesError;
use crate::execute::ExecuteError;
use crate::lock::LockError;
use crate::pipeline::OpenStoreError;
use crate::problem::DeclareError;
use precast_compile::FindToolchainError;
use precast_core::event::{chain, split_hints};
use std::error::Error as _;
use std::io;
use std::path::PathBuf;

/// An error of a build.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The environment is not that of a build script, or a variable has an invalid value.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The declarations contain mistakes.
    #[error(transparent)]
    Declare(#[from] DeclareError),
    /// An ISA level is unknown, or no level remains.
    #[error("in {place}: {message}")]
    Isa {
        /// The source of the name: a variable, the script or a manifest.
        place: String,
        /// The reason.
        message: String,
    },
    /// The declarations of dependencies are unknown, and `PRECAST_LOCKED` is set.
    #[error(
        "cannot collect the declarations of dependencies\nhint: run `cargo fetch` once, or unset `PRECAST_LOCKED`"
    )]
    Dependencies(#[source] DependenciesError),
    /// Some dependencies were not found, and `PRECAST_LOCKED` is set.
    #[error("cannot read `{}`\nhint: run `cargo fetch` once, or unset `PRECAST_LOCKED`", packages.join("`, `"))]
    Unseen {
        /// The dependencies.
        packages: Vec<String>,
    },
    /// The declarations differ from the lock file, or the lock file cannot be used.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The workspace's own table is invalid.
    #[error(transparent)]
    Workspace(DependenciesError),
    /// No compiler was found.
    #[error(transparent)]
    Toolchain(#[from] FindToolchainError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] OpenStoreError),
    /// Compiling or publishing failed.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// Writing to OUT_DIR failed.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

precast_core::debug_as_chain!(BuildError);

impl BuildError {
    /// Returns the full message, line by line: the error, its causes, and hints.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        if let Self::Declare(wrong) = self {
            // Each problem is followed by its own hint.
            return wrong.to_string().lines().map(str::to_owned).collect();
        }
        let (what, hints) = split_hints(&match self.source() {
            None => self.to_string(),
            Some(source) => format!("{self}\ncaused by: {}", chain(source)),
        });
        what.lines().map(str::to_owned).chain(hints.iter().map(|hint| format!("hint: {hint}"))).collect()
    }
}
