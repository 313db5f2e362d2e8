//! What can go wrong between a plan and its artifacts.

use crate::lock::LockError;
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
    /// The store lacks units, and nothing may be compiled.
    #[error("nothing may be compiled, and the store has not got:\n{}\nhint: build without `--frozen`, or bring what was built elsewhere: `precast import`, `--remote`, `--remote-cache`", titles.iter().map(|title| format!("  {title}")).collect::<Vec<_>>().join("\n"))]
    Lacking {
        /// The units; never empty.
        titles: Vec<String>,
    },
    /// The store is damaged, and nothing may change.
    #[error("the store is damaged, and nothing may change:\n{}\nhint: {}", lines.join("\n"), damage_hint(*is_moved))]
    Damaged {
        /// What the store told.
        lines: Vec<String>,
        /// Whether all that is damaged was moved to the quarantine.
        is_moved: bool,
    },
    /// An archive is not the one that a lock file pins.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store cannot be searched.
    #[error("cannot look for what is there already")]
    Find(#[from] FindError),
    /// The store cannot be written.
    #[error("cannot publish {title}")]
    Publish {
        /// The unit, or how many there are.
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
    /// Artifacts have to be joined for the bundle, and nothing here can.
    #[error(
        "a bundle has its modules in few shared objects: {units} units would have to be joined into one, and the compiler of the \
         release, whose linker does that, is not here\nhint: the store is a layer as it is; or take the bundle of the release, which \
         `precast pull` gets out of a registry"
    )]
    NoLinker {
        /// How many there are to join.
        units: usize,
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

fn damage_hint(is_moved: bool) -> &'static str {
    if is_moved {
        "the damaged files are in the quarantine, and the next build without `--frozen` or `--locked` makes them again; `precast verify` \
         looks for more"
    } else {
        "the damaged files are still in place, since this user cannot write the store: its owner moves them away with `precast \
         verify`, and makes them again with `precast build`"
    }
}

/// A unit that does not compile.
#[derive(Debug)]
pub struct Failure {
    /// The unit: the signature of its first module, and how many more there are; and the ISA level.
    pub title: String,
    /// Why not.
    pub error: CompileError,
}

impl Failure {
    /// What is wrong, whatever dtypes and ISA level it was compiled for: places, since words name dtypes and modules.
    fn mistake(&self) -> String {
        if let CompileError::Rejected { diagnostics, .. } = &self.error
            && !diagnostics.is_empty()
        {
            let places = diagnostics.iter().map(|one| format!("{}:{}:{}", one.file, one.line, one.column));
            return places.collect::<Vec<_>>().join("\n");
        }
        let signature = self.title.split('`').nth(1).unwrap_or_default();
        precast_core::event::chain(&self.error).replace(signature, "")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot compile {}: {}", self.title, precast_core::event::chain(&self.error))
    }
}

/// Each failure, but what the compiler says alike of several units once.
fn render(failures: &[Failure]) -> String {
    let mut told: Vec<(&Failure, String, usize)> = Vec::new();
    for failure in failures {
        let words = failure.mistake();
        match told.iter_mut().find(|(_, known, _)| *known == words) {
            Some((.., others)) => *others += 1,
            None => told.push((failure, words, 0)),
        }
    }
    let line = |(failure, _, others): &(&Failure, String, usize)| match others {
        0 => failure.to_string(),
        others => format!("{failure}\n  the same for {others} other(s): other dtypes, other ISA levels"),
    };
    told.iter().map(line).collect::<Vec<_>>().join("\n")
}
