//! Declarations of dependencies: the normal dependencies of the package being built.
//!
//! A library crate declares its needs in `[package.metadata.precast]`; the package that links it compiles them. Cargo
//! determines the set of these crates:
//!
//! ```text
//! memo (nothing changed) ──▶ answer
//!   └ cargo metadata --offline --locked --filter-platform T ──▶ walk over normal dependencies ──▶ answer
//!       └ fails ──▶ cargo metadata --no-deps, cargo tree -e normal ──▶ answer, perhaps with crates that were not found
//! ```
//! The last line is for fresh clones and container builds: `cargo metadata` needs *every* package of the lock file,
//! even dev-dependencies, but `cargo build` has fetched only the packages it builds. This module never uses the
//! network and never writes a lock file.
//!
//! Build dependencies and procedural macros are left out, because their code is not part of the program.

mod memo;
mod metadata;
mod tree;

#[cfg(test)]
mod tests;

use cargo_metadata::{CargoOpt, MetadataCommand};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A query for the dependencies of a package.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    /// The `cargo` executable.
    pub(crate) cargo: PathBuf,
    /// The directory of the package being built.
    pub(crate) manifest_dir: PathBuf,
    /// The target of the build.
    pub(crate) target: String,
    /// The enabled features; `None` for the default features.
    pub(crate) features: Option<Vec<String>>,
    /// The memo file.
    pub(crate) memo: PathBuf,
}

/// The answer to a [`Query`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dependencies {
    /// Manifests of the dependencies with declarations, sorted.
    pub(crate) declaring: Vec<PathBuf>,
    /// The existing files that affect the answer, sorted.
    pub(crate) inputs: Vec<PathBuf>,
    /// The store selected by the workspace.
    pub(crate) store: Option<PathBuf>,
    /// Dependencies whose manifests were not found.
    pub(crate) unseen: Vec<String>,
}

/// An error while collecting the dependencies.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DependenciesError {
    /// Cargo failed.
    #[error("cannot read the dependency graph with `cargo metadata`: {}", words(source))]
    Cargo {
        /// Cargo's error.
        source: Box<cargo_metadata::Error>,
    },
    /// The package is missing from the output of `cargo metadata`.
    #[error("package `{}` not found by `cargo metadata`", manifest.display())]
    Package {
        /// The manifest that was looked up.
        manifest: PathBuf,
    },
    /// The workspace's table does not match its schema.
    #[error("in `{}`, `[workspace.metadata.precast]`: {message}", manifest.display())]
    Workspace {
        /// The workspace's manifest.
        manifest: PathBuf,
        /// The reason.
        message: String,
    },
}

/// Collects the declarations of the package and its dependencies, from the memo if nothing changed.
pub(crate) fn collect(query: &Query) -> Result<Dependencies, DependenciesError> {
    if let Some(known) = memo::get(query) {
        return Ok(known);
    }
    let started = std::time::SystemTime::now();
    let answer = match query.command().exec() {
        Ok(metadata) => metadata::walk(query, &metadata)?,
        Err(error) => tree::collect(query, error)?,
    };
    // An incomplete answer is not stored: the next `cargo fetch` may complete it.
    if answer.unseen.is_empty() {
        memo::put(query, &answer, started);
    }
    Ok(answer)
}

impl Query {
    fn manifest(&self) -> PathBuf {
        self.manifest_dir.join("Cargo.toml")
    }

    /// Returns the `cargo metadata` command, which uses no network and does not change the lock file.
    fn command(&self) -> MetadataCommand {
        let mut command = MetadataCommand::new();
        command.cargo_path(&self.cargo).manifest_path(self.manifest()).current_dir(&self.manifest_dir);
        if let Some(features) = &self.features {
            command.features(CargoOpt::NoDefaultFeatures);
            if !features.is_empty() {
                command.features(CargoOpt::SomeFeatures(features.clone()));
            }
        }
        let options = ["--offline", "--locked", "--filter-platform", &self.target];
        command.other_options(options.map(str::to_owned));
        command
    }
}

/// Returns the first line of Cargo's error output, without its prefix.
fn words(error: &cargo_metadata::Error) -> String {
    let text = match error {
        cargo_metadata::Error::CargoMetadata { stderr } => stderr.as_str(),
        other => return other.to_string(),
    };
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix("error: ").unwrap_or(line)).collect();
    lines.join("; ")
}
