//! What a plan became: artifacts, and the bundle or the library of them.

use super::job::Job;
use super::{Compilation, ExecuteError, pack};
use crate::plan::Plan;
use precast_compile::{Toolchain, Variant};
use precast_ops::GENERATOR;
use precast_store::key::StaleVersion;
use precast_store::{ActionKey, Entry, Record, write_bundle};
use std::collections::BTreeSet;

/// One unit, or several that are joined, for one variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The statement about it.
    pub record: Record,
    /// What it was compiled for.
    pub variant: Variant,
    /// Its object, for a static program.
    pub object: Vec<u8>,
    /// Its shared object.
    pub shared_object: Vec<u8>,
}

/// The code of a static program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Library {
    /// The bytes of a library for linkers, `lib….a`; all of it is linked. Empty where there is no code.
    pub bytes: Vec<u8>,
    /// Libraries of the system that it calls: `stdc++`.
    pub system_libraries: Vec<&'static str>,
}

/// What a plan became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executed {
    /// The artifacts, in the order of units, then variants.
    pub artifacts: Vec<Artifact>,
    /// The named graphs, sorted by name.
    pub entries: Vec<Entry>,
    /// How many artifacts the store had.
    pub hits: usize,
    /// How many of these readers would have missed: a pointer, say, was lost in a crash. All is put back.
    pub healed: usize,
    /// How many artifacts the cache had.
    pub fetched: usize,
    /// How many artifacts were compiled.
    pub compiled: usize,
    /// Each of them, why it was, and how long that took.
    pub compilations: Vec<Compilation>,
    /// The actions by which they were.
    pub fresh: BTreeSet<ActionKey>,
    /// Ops whose C changed while their version did not: what the store had of them was not used.
    pub stale: Vec<StaleVersion>,
    /// Whether every artifact is decided by its unit, flags and toolchain alone; not so where libraries or headers of the
    /// system enter.
    pub is_hermetic: bool,
}

impl Executed {
    /// What jobs give, in their order; nothing of it was compiled.
    pub(super) fn of(plan: &Plan, jobs: Vec<Job<'_>>) -> Self {
        Self {
            hits: 0,
            healed: jobs.iter().filter(|job| job.healed).count(),
            fetched: 0,
            compiled: 0,
            compilations: Vec::new(),
            fresh: BTreeSet::new(),
            is_hermetic: jobs.iter().all(|job| job.is_hermetic),
            artifacts: jobs.into_iter().filter_map(|job| job.artifact).collect(),
            entries: plan.entries.clone(),
            stale: Vec::new(),
        }
    }

    /// Joins what can be joined, so that a program opens a few shared objects, whatever the number of its modules.
    ///
    /// # Errors
    /// The linker cannot be run; or there is none, and something to join.
    pub fn packs<'t>(
        &self,
        toolchain: impl Into<Option<&'t Toolchain>>,
    ) -> Result<Vec<Artifact>, ExecuteError> {
        pack::packs(&self.artifacts, toolchain.into())
    }

    /// Renders the bundle of the packs: a function of the artifacts, the entries and the toolchain.
    ///
    /// # Errors
    /// As [`Executed::packs`]; a record contradicts itself, which the store would have refused.
    pub fn bundle<'t>(&self, toolchain: impl Into<Option<&'t Toolchain>>) -> Result<Vec<u8>, ExecuteError> {
        let packs = self.packs(toolchain)?.into_iter();
        self.bundle_of(packs.map(|pack| (pack.record, pack.shared_object)).collect())
    }

    /// Renders the bundle of a static program, and the library with its code.
    ///
    /// # Errors
    /// As [`Executed::bundle`]; a module takes something of the system that a static program has not.
    pub fn static_bundle(&self, toolchain: &Toolchain) -> Result<(Vec<u8>, Library), ExecuteError> {
        let packs = self.packs(toolchain)?;
        let library = pack::library(&packs, toolchain)?;
        let bundle = self.bundle_of(packs.into_iter().map(|pack| (pack.record, Vec::new())).collect())?;
        Ok((bundle, library))
    }

    /// Renders a bundle of records with their shared objects.
    pub(crate) fn bundle_of(&self, records: Vec<(Record, Vec<u8>)>) -> Result<Vec<u8>, ExecuteError> {
        Ok(write_bundle(&records, &self.entries, GENERATOR)?)
    }

    /// The statements about the artifacts.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.artifacts.iter().map(|artifact| &artifact.record)
    }

    /// The actions, sorted.
    #[must_use]
    pub fn actions(&self) -> BTreeSet<ActionKey> {
        self.records().map(|record| record.action).collect()
    }
}
