//! The result of a plan: artifacts, and the bundle or the library built from them.

use super::job::Job;
use super::{Compilation, ExecuteError, pack};
use crate::plan::Plan;
use precast_compile::{Toolchain, Variant};
use precast_core::Metadata;
use precast_ops::GENERATOR;
use precast_store::bundle::Contents;
use precast_store::key::StaleVersion;
use precast_store::{ActionKey, Entry, Event, Record, event};
use std::collections::{BTreeMap, BTreeSet};

/// The artifact of one unit, or of several joined units, for one variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The artifact's record.
    pub record: Record,
    /// The variant that it was compiled for.
    pub variant: Variant,
    /// The object file, for static programs.
    pub object: Vec<u8>,
    /// The shared object.
    pub shared_object: Vec<u8>,
}

/// The code of a static program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Library {
    /// The bytes of a static library, `lib….a`, which is linked as a whole. Empty without code.
    pub bytes: Vec<u8>,
    /// The system libraries to link: `stdc++`.
    pub system_libraries: Vec<&'static str>,
}

/// The result of executing a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Executed {
    /// The artifacts, ordered by unit, then by variant.
    pub artifacts: Vec<Artifact>,
    /// The named graphs, sorted by name.
    pub entries: Vec<Entry>,
    /// The metadata of functions of several entries, and of the bundle, whose name is empty.
    pub functions: BTreeMap<String, Metadata>,
    /// The number of artifacts found in the store.
    pub hits: usize,
    /// The number of these artifacts that readers would have missed, e.g. because a crash lost a pointer. They were
    /// repaired.
    pub healed: usize,
    /// The number of artifacts found in the cache.
    pub fetched: usize,
    /// The number of compiled artifacts.
    pub compiled: usize,
    /// The compiled units, with the reason and the compile time of each.
    pub compilations: Vec<Compilation>,
    /// The actions that compiled them.
    pub fresh: BTreeSet<ActionKey>,
    /// Ops whose C changed without a new version: their modules in the store were not used.
    pub stale: Vec<StaleVersion>,
    /// The events of the store: damage and repairs. The observer of the store, if any, has received them.
    pub events: Vec<Event>,
    /// The warnings of the plan.
    pub planned: Vec<String>,
    /// Whether every artifact depends only on its unit, flags and toolchain; false if system libraries or headers are
    /// used.
    pub is_hermetic: bool,
}

impl Executed {
    /// Collects the artifacts of jobs, in order, without any compiled ones.
    pub(super) fn of(plan: &Plan, jobs: Vec<Job<'_>>) -> Self {
        Self {
            healed: jobs.iter().filter(|job| job.healed).count(),
            is_hermetic: jobs.iter().all(|job| job.is_hermetic),
            artifacts: jobs.into_iter().filter_map(|job| job.artifact).collect(),
            entries: plan.entries.clone(),
            functions: plan.functions.clone(),
            planned: plan.warnings().collect(),
            ..Self::default()
        }
    }

    /// Returns the warnings for the user: the events of the store, then [`Executed::remarks`].
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        event::lines(&self.events).into_iter().chain(self.remarks()).collect()
    }

    /// Returns the warnings about declarations: those of the plan, and versions that were not raised.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        self.planned.iter().cloned().chain(self.stale.iter().map(ToString::to_string))
    }

    /// Joins artifacts so that a program opens a few shared objects, whatever the number of its modules.
    ///
    /// # Errors
    /// Fails if the linker cannot be run, or if artifacts must be joined without a toolchain.
    pub fn packs<'t>(
        &self,
        toolchain: impl Into<Option<&'t Toolchain>>,
    ) -> Result<Vec<Artifact>, ExecuteError> {
        pack::packs(&self.artifacts, toolchain.into())
    }

    /// Renders the bundle of the packs: a function of the artifacts, the entries and the toolchain.
    ///
    /// # Errors
    /// As [`Executed::packs`]; also fails if a record is inconsistent, which the store would have rejected.
    pub fn bundle<'t>(&self, toolchain: impl Into<Option<&'t Toolchain>>) -> Result<Vec<u8>, ExecuteError> {
        let packs = self.packs(toolchain)?.into_iter();
        self.bundle_of(packs.map(|pack| (pack.record, pack.shared_object)).collect())
    }

    /// Renders the bundle of a static program, and the library with its code.
    ///
    /// # Errors
    /// As [`Executed::bundle`]; also fails if a module needs a system library that cannot be linked statically.
    pub fn static_bundle(&self, toolchain: &Toolchain) -> Result<(Vec<u8>, Library), ExecuteError> {
        let packs = self.packs(toolchain)?;
        let library = pack::library(&packs, toolchain)?;
        let bundle = self.bundle_of(packs.into_iter().map(|pack| (pack.record, Vec::new())).collect())?;
        Ok((bundle, library))
    }

    /// Renders a bundle of records with their shared objects.
    pub(crate) fn bundle_of(&self, records: Vec<(Record, Vec<u8>)>) -> Result<Vec<u8>, ExecuteError> {
        let Self { entries, functions, .. } = self;
        Ok(Contents { records: &records, entries, functions, generator: GENERATOR }.write()?)
    }

    /// Returns the records of the artifacts.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.artifacts.iter().map(|artifact| &artifact.record)
    }

    /// Returns the actions of the artifacts, sorted.
    #[must_use]
    pub fn actions(&self) -> BTreeSet<ActionKey> {
        self.records().map(|record| record.action).collect()
    }
}
