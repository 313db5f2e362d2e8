//! What can go wrong between a plan and its artifacts.

use precast_compile::CompileError;
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
    /// An archive has no shared object.
    #[error("the archive of module `{}` has no shared object", key.short())]
    NoSharedObject {
        /// The first module of the unit.
        key: BuildKey,
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
