//! Who else declares something: the normal dependencies of the package that is being built.
//!
//! A library crate states what it needs in `[package.metadata.precast]`; the package that links it compiles that. Which
//! crates these are is Cargo's to say:
//!
//! ```text
//! memo (nothing changed) ──▶ answer
//!   └ cargo metadata --offline --locked --filter-platform T ──▶ walk over normal dependencies ──▶ answer
//!       └ fails ──▶ cargo metadata --no-deps, cargo tree -e normal ──▶ answer, perhaps with crates that were not found
//! ```
//! The last line is for fresh clones and container builds: `cargo metadata` wants *every* package of the lock file, those
//! of tests too, but `cargo build` has fetched only what it builds. Nothing here uses the network or writes a lock file.
//!
//! Left out: build dependencies and procedural macros, whose code is not in the program.

mod memo;
mod metadata;
mod tree;

#[cfg(test)]
mod tests;

use cargo_metadata::{CargoOpt, MetadataCommand};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is asked.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    /// Cargo itself.
    pub(crate) cargo: PathBuf,
    /// The package that is being built.
    pub(crate) manifest_dir: PathBuf,
    /// The target that it is built for.
    pub(crate) target: String,
    /// The features that are enabled; without a list, the default ones.
    pub(crate) features: Option<Vec<String>>,
    /// The file that remembers the answer.
    pub(crate) memo: PathBuf,
}

/// What Cargo said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dependencies {
    /// Manifests of the dependencies that declare something, sorted.
    pub(crate) declaring: Vec<PathBuf>,
    /// The files that decide the answer and exist, sorted.
    pub(crate) inputs: Vec<PathBuf>,
    /// The store that the workspace opted in to.
    pub(crate) store: Option<PathBuf>,
    /// Dependencies whose manifests could not be looked into.
    pub(crate) unseen: Vec<String>,
}

/// Says why the dependencies are not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DependenciesError {
    /// Cargo said no.
    #[error("cannot read the dependency graph with `cargo metadata`: {}", words(source))]
    Cargo {
        /// What it said.
        source: Box<cargo_metadata::Error>,
    },
    /// The package is not in the answer.
    #[error("`cargo metadata` does not know the package `{}`", manifest.display())]
    Package {
        /// The manifest that was looked for.
        manifest: PathBuf,
    },
    /// The workspace's table is not of its schema.
    #[error("in `{}`, `[workspace.metadata.precast]`: {message}", manifest.display())]
    Workspace {
        /// The workspace's manifest.
        manifest: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}

/// Collects what the package and its dependencies say, from the memo if nothing changed.
pub(crate) fn collect(query: &Query) -> Result<Dependencies, DependenciesError> {
    if let Some(known) = memo::get(query) {
        return Ok(known);
    }
    let started = std::time::SystemTime::now();
    let answer = match query.command().exec() {
        Ok(metadata) => metadata::walk(query, &metadata)?,
        Err(error) => tree::collect(query, error)?,
    };
    // What is incomplete may be completed by the next fetch.
    if answer.unseen.is_empty() {
        memo::put(query, &answer, started);
    }
    Ok(answer)
}

impl Query {
    fn manifest(&self) -> PathBuf {
        self.manifest_dir.join("Cargo.toml")
    }

    /// `cargo metadata`, without network, without a change of the lock file.
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

/// Cargo's own words: the first line of what it wrote, without its prefix.
fn words(error: &cargo_metadata::Error) -> String {
    let text = match error {
        cargo_metadata::Error::CargoMetadata { stderr } => stderr.as_str(),
        other => return other.to_string(),
    };
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix("error: ").unwrap_or(line)).collect();
    lines.join("; ")
}
