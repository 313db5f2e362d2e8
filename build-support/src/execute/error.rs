//! What can go wrong between a plan and its artifacts.

use precast_compile::{CompileError, Isa};
use precast_store::{BuildKey, FindError, PublishError, PutEntryError, WriteBundleError};
use std::fmt;

/// Says why a plan was not carried out. What had been published before is whole and is used by the next attempt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// Units that do not compile.
    #[error("{}", render(failures))]
    Compile {
        /// The units; never empty.
        failures: Vec<Failure>,
    },
    /// The store cannot be searched.
    #[error("cannot look for what is there already")]
    Find(#[from] FindError),
    /// The store cannot be written.
    #[error("cannot publish `{title}`")]
    Publish {
        /// The unit.
        title: String,
        /// What was refused.
        source: PublishError,
    },
    /// The store cannot take a named graph.
    #[error("cannot publish a named graph")]
    Entry(#[from] PutEntryError),
    /// An archive lacks a file.
    #[error("the archive of module `{}` has no `{file}`", key.short())]
    NoFile {
        /// The first module of the unit.
        key: BuildKey,
        /// The file.
        file: &'static str,
    },
    /// Artifacts cannot be joined for the bundle.
    #[error("cannot join the modules for `{isa}`")]
    Join {
        /// The ISA level.
        isa: Isa,
        /// Why not.
        source: CompileError,
    },
    /// A module of a static program calls a library that cannot be part of it.
    #[error(
        "`{signature}` calls the shared library `{library}`, which a static program cannot load\nhint: link a static library in \
         the op's `c_libraries`, or do not link statically"
    )]
    Static {
        /// The module.
        signature: String,
        /// The library.
        library: String,
    },
    /// No bundle can be made.
    #[error("cannot write the bundle")]
    Bundle(#[from] WriteBundleError),
}

/// A unit that does not compile.
#[derive(Debug)]
pub struct Failure {
    /// The unit: the signature of its first module, and how many more there are; and the ISA level.
    pub title: String,
    /// Why not.
    pub error: CompileError,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot compile {}: {}", self.title, precast_core::event::chain(&self.error))
    }
}

fn render(failures: &[Failure]) -> String {
    failures.iter().map(Failure::to_string).collect::<Vec<_>>().join("\n")
}
