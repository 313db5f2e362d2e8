//! Errors of executing a plan.

use crate::lock::LockError;
use precast_compile::{CompileError, Isa};
use precast_store::{BuildKey, FindError, PublishError, PutEntryError, WriteBundleError};
use std::fmt;

/// The reason why a plan was not executed. Artifacts that were already published are complete, and the next build
/// uses them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// Units failed to compile.
    #[error("{}", render(failures))]
    Compile {
        /// The failed units; never empty.
        failures: Vec<Failure>,
    },
    /// The store lacks units, and compiling is not allowed.
    #[error("missing in the store, and compiling is not allowed:\n{}\nhint: build without `--frozen`, or get the \
             artifacts with `precast import`, `--remote` or `--remote-cache`", titles.iter().map(|title| format!("  {title}")).collect::<Vec<_>>().join("\n"))]
    MissingModules {
        /// The missing units; never empty.
        titles: Vec<String>,
    },
    /// The store is corrupt, and the build must not change anything.
    #[error("the store is damaged, and changes are not allowed:\n{}\nhint: {}", lines.join("\n"), damage_hint(*is_moved))]
    Damaged {
        /// The store's messages.
        lines: Vec<String>,
        /// Whether all corrupt files were moved to the quarantine.
        is_moved: bool,
    },
    /// An archive differs from its pin in the lock file.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Searching the store failed.
    #[error("cannot search the store")]
    Find(#[from] FindError),
    /// Writing to the store failed.
    #[error("cannot publish {title}")]
    Publish {
        /// The unit, or the number of units.
        title: String,
        /// The store's error.
        source: PublishError,
    },
    /// Publishing a named graph failed.
    #[error("cannot publish a named graph")]
    Entry(#[from] PutEntryError),
    /// A file is missing in an archive.
    #[error("the archive of module `{}` has no `{file}`", key.short())]
    NoFile {
        /// The unit's first module.
        key: BuildKey,
        /// The missing file.
        file: &'static str,
    },
    /// Artifacts could not be joined for the bundle.
    #[error("cannot join the modules for `{isa}`")]
    Join {
        /// The ISA level.
        isa: Isa,
        /// The reason.
        source: CompileError,
    },
    /// Artifacts must be joined for the bundle, but this machine has no toolchain.
    #[error(
        "cannot bundle {units} units: joining them needs the compiler of the release, which was not found\nhint: use \
         the store as a layer, or `precast pull` the bundle of the release from a registry"
    )]
    NoLinker {
        /// The number of units to join.
        units: usize,
    },
    /// A module of a static program needs a shared library, which cannot be linked statically.
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
    /// The bundle could not be written.
    #[error("cannot write the bundle")]
    Bundle(#[from] WriteBundleError),
}

fn damage_hint(is_moved: bool) -> &'static str {
    if is_moved {
        "build without `--frozen` or `--locked` to recreate the quarantined files, and run `precast verify` to check \
         the rest"
    } else {
        "run `precast verify` and `precast build` as the owner of the store to quarantine and recreate the damaged \
         files"
    }
}

/// A unit that failed to compile.
#[derive(Debug)]
pub struct Failure {
    /// The unit: the signature of its first module, the number of further modules, and the ISA level.
    pub title: String,
    /// The compiler's error.
    pub error: CompileError,
}

impl Failure {
    /// Identifies the mistake independently of dtypes and ISA level: by source positions, since messages name dtypes
    /// and modules.
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

/// Renders each failure; the same mistake in several units is shown once.
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
        others => format!("{failure}\n  same error in {others} more (other dtypes or ISA levels)"),
    };
    told.iter().map(line).collect::<Vec<_>>().join("\n")
}
