//! Executes a plan: reuses artifacts from the store, compiles missing units and publishes them.
//!
//! ```text
//! unit × variant ──▶ ActionKey ──▶ find_action ── hit ──▶ reuse (verified, healed) ────────────┐
//!                                       │ miss, or damaged (quarantined by the store)          ├▶ Artifact
//!                                       ├──▶ ActionCache ── hit ──▶ verified ──▶ publish ──────┤
//!                                       └──▶ compile_all ──▶ publish: object, then record ─────┘
//! ```
//! The result depends only on the plan, the variants and the toolchain. It does not depend on the content of the
//! store, on the order in which compilers finish, or on the number of parallel jobs: artifacts are ordered by unit,
//! then by variant, and documents and fingerprints come from the plan.
//!
//! A build can be rejected if archives are pinned, or if it must not compile and an artifact is missing. Such a build
//! publishes nothing, neither compiled units nor cache results, until all of it is accepted. Any other build
//! publishes cache results at once and compiled units in batches, so that an interrupted build can be continued.
//! Processes that build the same units at the same time share the work: see `queue.rs`.

mod attempt;
mod cache;
mod compilation;
mod error;
mod executed;
mod job;
mod jobs;
mod pack;
mod queue;

#[cfg(test)]
mod tests;

use crate::lock::{Lock, LockError};
use crate::plan::Plan;
use attempt::{attempt, shifted};
use job::Job;
use jobs::Jobs;
use precast_compile::{Parallel, Progress, Toolchain, Variant};
use precast_store::key::{KeyDocument, StaleVersion};
use precast_store::{ActionCache, CachedAction, Event, EventLog, Store, event};
use queue::Queue;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

pub use compilation::Compilation;
pub use error::{ExecuteError, Failure};
pub use executed::{Artifact, Executed, Library};

/// The handling of units that the store and the cache lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Compiles missing units.
    Compile,
    /// Fails if a unit is missing. A store that is not writable is only read.
    Reuse,
}

/// The lock file of a locked build: if it pins archives, only those are accepted, and corrupt files are an error.
#[derive(Debug, Clone, Copy)]
pub struct Locked<'a> {
    /// The parsed lock file.
    pub lock: &'a Lock,
    /// The file, for messages.
    pub path: &'a Path,
}

/// The settings for executing a plan.
#[derive(Clone, Copy)]
pub struct Execution<'a> {
    /// The store that artifacts are read from and published to; `None` compiles everything.
    pub store: Option<&'a Store>,
    /// The cache to query for units that the store lacks; it receives the compiled units.
    pub cache: Option<&'a dyn ActionCache>,
    /// The compilers. `None` looks archives up by the pins of a lock file, which contain their actions.
    pub toolchain: Option<&'a Toolchain>,
    /// The variants; each unit is compiled for each variant.
    pub variants: &'a [Variant],
    /// The handling of missing units.
    pub mode: Mode,
    /// The lock file to check the archives against.
    pub locked: Option<Locked<'a>>,
    /// The number of compilers that run in parallel.
    pub parallel: Parallel,
    /// A callback for each compile; it counts only compiled jobs, not store hits.
    pub progress: &'a dyn Fn(Progress),
}

impl<'a> Execution<'a> {
    /// Creates settings that compile everything without a store, one job per processor, without progress reports.
    #[must_use]
    pub fn new(toolchain: &'a Toolchain, variants: &'a [Variant]) -> Self {
        Self {
            store: None,
            cache: None,
            toolchain: Some(toolchain),
            variants,
            mode: Mode::Compile,
            locked: None,
            parallel: Parallel::Auto,
            progress: &|_| {},
        }
    }

    /// Returns the lock file if it pins archives.
    fn pinned(&self) -> Option<Locked<'a>> {
        self.locked.filter(|locked| !locked.lock.pins.is_empty())
    }

    /// Returns whether the store is written. A build that compiles must write; a build that only reuses need not.
    fn writes(&self) -> bool {
        self.mode == Mode::Compile || self.store.is_some_and(Store::is_writable)
    }
}

/// Executes a plan.
///
/// # Errors
/// Fails if units do not compile, if units are missing and compiling is not allowed, if an archive differs from its
/// pin, or if a store cannot be read or written. Corrupt files in the store are an error only for a locked build;
/// otherwise they are rebuilt.
pub fn execute(plan: &Plan, execution: &Execution<'_>) -> Result<Executed, ExecuteError> {
    let _session = execution.store.map(Store::begin);
    let listening = execution.store.map(Store::listening);
    let (store, events) = listening.as_ref().map(|(store, heard)| (store, heard)).unzip();
    let mut executed = carry_out(plan, &Execution { store, ..*execution })?;
    executed.events = events.map(EventLog::take).unwrap_or_default();
    Ok(executed)
}

fn carry_out(plan: &Plan, execution: &Execution<'_>) -> Result<Executed, ExecuteError> {
    let quiet = execution.store.filter(|_| execution.locked.is_some()).map(Store::quiet);
    let (store, heard) = quiet.as_ref().map(|(store, heard)| (store, heard)).unzip();
    let looking = Execution { store: store.or(execution.store), ..*execution };
    let mut build = Build { jobs: Jobs::new(plan, &looking)?, execution, held: Results::new() };
    build.look_up(looking.store)?;
    let heard = heard.map(EventLog::take).unwrap_or_default();
    check_damage(&heard)?;
    heard.iter().for_each(|event| execution.store.iter().for_each(|store| store.tell(event)));
    let hits = build.jobs.list.iter().filter(|job| job.artifact.is_some()).count();
    let fetched = build.fetch()?;
    let missing = cache::missing(&build.jobs.list, &build.held);
    if execution.mode == Mode::Reuse && !missing.is_empty() {
        return Err(build.refuse(&missing));
    }
    let stale = stale(&build.jobs.list, &missing, execution)?;
    let compilations = build.make(&missing)?;
    if let Some(Locked { lock, path }) = execution.pinned() {
        let found = build.jobs.list.iter().filter_map(|job| job.artifact.as_ref());
        let held = build.held.iter().map(|(_, result)| &result.record);
        lock.check_pins(found.map(|artifact| &artifact.record).chain(held), path)?;
        build.give(&missing);
    }
    build.release()?;
    put_entries(plan, execution)?;
    let fresh = compilations.iter().filter_map(|(at, _)| build.jobs.list[*at].action).collect();
    let compiled = compilations.len();
    Ok(Executed {
        hits: hits + missing.len() - compiled,
        fetched,
        compiled,
        compilations: compilations.into_iter().map(|(_, compilation)| compilation).collect(),
        fresh,
        stale,
        ..Executed::of(plan, build.jobs.list)
    })
}

/// Checks that no corrupt files were read. The error contains each distinct message once.
fn check_damage(heard: &[Event]) -> Result<(), ExecuteError> {
    let moved = heard.iter().filter_map(|event| match event {
        Event::Damaged { quarantined, .. } => Some(quarantined.is_some()),
        _ => None,
    });
    match moved.reduce(|all, one| all && one) {
        None => Ok(()),
        Some(is_moved) => Err(ExecuteError::Damaged { lines: event::lines(heard), is_moved }),
    }
}

/// The state of a plan's execution.
struct Build<'a> {
    jobs: Jobs<'a>,
    execution: &'a Execution<'a>,
    /// Results that are published once all of the build is accepted.
    held: Results,
}

impl Build<'_> {
    /// Looks up all jobs in the store.
    fn look_up(&mut self, store: Option<&Store>) -> Result<(), ExecuteError> {
        let writes = self.execution.writes();
        self.jobs.list.iter_mut().try_for_each(|job| job.look_up(store, writes))
    }

    /// Looks up the missing jobs in the cache; returns the number of results.
    fn fetch(&mut self) -> Result<usize, ExecuteError> {
        let may_be_refused = self.execution.pinned().is_some() || self.execution.mode == Mode::Reuse;
        let mut fetched = 0;
        for actions in self.jobs.lacking().chunks(cache::BATCH) {
            let found = cache::find(self.execution.cache, actions, &mut self.jobs);
            fetched += found.len();
            self.held.extend(found);
            if !may_be_refused {
                self.release()?;
            }
        }
        Ok(fetched)
    }

    /// Returns the error for missing units.
    fn refuse(&self, missing: &[usize]) -> ExecuteError {
        let titles: Vec<String> = missing.iter().map(|at| self.jobs.list[*at].lacking()).collect();
        match self.execution.pinned().filter(|_| self.jobs.are_all_found(&self.held)) {
            None => ExecuteError::MissingModules { titles },
            Some(Locked { path, .. }) => {
                let lines = titles.iter().map(|title| format!("  {title}: not pinned")).collect();
                LockError::Pinned { path: path.to_owned(), lines }.into()
            }
        }
    }

    /// Compiles jobs, except those that another process publishes in the meantime; these use the artifacts in the
    /// store. Results that may be rejected are held back; the rest is published in batches.
    fn make(&mut self, missing: &[usize]) -> Result<Vec<(usize, Compilation)>, ExecuteError> {
        let (execution, is_held) = (self.execution, self.execution.pinned().is_some());
        if !is_held {
            self.release()?;
        }
        let Some(toolchain) = execution.toolchain.filter(|_| !missing.is_empty()) else {
            return Ok(Vec::new());
        };
        let reasons = compilation::compilations(&self.jobs.list, missing, execution.store, toolchain)?;
        let mut reasons: BTreeMap<usize, Compilation> = missing.iter().copied().zip(reasons).collect();
        let (mut compilations, mut failures) = (Vec::new(), Vec::new());
        let first = Instant::now();
        let mut queue = Queue::new(missing, execution.store.filter(|_| !is_held), batch(execution.parallel));
        while let Some(batch) = queue.next_batch(&mut self.jobs.list, execution.progress)? {
            let progress = shifted(execution.progress, queue.done() - batch.len(), missing.len());
            let attempt = attempt(&self.jobs.list, &batch, toolchain, execution.parallel, &progress);
            failures.extend(attempt.failures);
            self.held.extend(attempt.compiled);
            if !is_held {
                self.give(&batch);
                self.release()?;
            }
            for (at, (start, took)) in batch.iter().zip(attempt.took) {
                let Some(mut compilation) = reasons.remove(at) else { continue };
                let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                compilation.start_millis = millis(start.saturating_duration_since(first));
                compilation.millis = millis(took);
                compilations.push((*at, compilation));
            }
        }
        compilations.sort_by_key(|(at, _)| *at);
        if failures.is_empty() { Ok(compilations) } else { Err(ExecuteError::Compile { failures }) }
    }

    /// Sends the results of compiled jobs, whose positions ascend, to the cache.
    fn give(&self, compiled: &[usize]) {
        let Some(cache) = self.execution.cache else { return };
        let results = self.held.iter().filter(|(at, _)| compiled.binary_search(at).is_ok());
        cache.put(&results.map(|(_, result)| result.clone()).collect::<Vec<_>>());
    }

    /// Publishes the results that were held back.
    fn release(&mut self) -> Result<(), ExecuteError> {
        publish(&mut self.jobs.list, std::mem::take(&mut self.held), self.execution.store)
    }
}

/// Publishes the named graphs if the store is writable.
fn put_entries(plan: &Plan, execution: &Execution<'_>) -> Result<(), ExecuteError> {
    let Some(store) = execution.store.filter(|_| execution.writes()) else { return Ok(()) };
    for entry in &plan.entries {
        store.put_entry(entry)?;
    }
    Ok(())
}

/// Finds op versions that were not raised, before new artifacts are published next to old ones. The store is read
/// only if an op has a version.
fn stale(
    jobs: &[Job<'_>],
    missing: &[usize],
    execution: &Execution<'_>,
) -> Result<Vec<StaleVersion>, ExecuteError> {
    let modules = missing.iter().flat_map(|at| jobs[*at].unit.members()).map(|(_, module)| module);
    let wanted: Vec<KeyDocument> = modules.filter(|m| !m.versions.is_empty()).map(|m| m.document()).collect();
    let Some(store) = execution.store.filter(|_| !wanted.is_empty()) else { return Ok(Vec::new()) };
    let mut known = Vec::new();
    for record in store.records() {
        let versioned = record?.members.into_iter().filter_map(|member| member.document);
        known.extend(versioned.filter(|document| !document.versions.is_empty()));
    }
    let found: BTreeSet<StaleVersion> =
        wanted.iter().flat_map(|wanted| precast_store::key::stale(wanted, &known)).collect();
    Ok(found.into_iter().collect())
}

/// Returns the batch size: large enough to keep every processor, or every compiler, busy.
fn batch(parallel: Parallel) -> usize {
    let asked = if let Parallel::Jobs(count) = parallel { count.get() } else { 1 };
    available_parallelism().map_or(1, NonZeroUsize::get).max(asked).saturating_mul(8).max(32)
}

/// Results of jobs, each with the position of its job.
type Results = Vec<(usize, CachedAction)>;

/// Publishes the results of jobs to the store, if any, and sets the jobs' artifacts.
fn publish(jobs: &mut [Job<'_>], results: Results, store: Option<&Store>) -> Result<(), ExecuteError> {
    if let Some(store) = store {
        let items: Vec<_> = results
            .iter()
            .map(|(_, CachedAction { archive, record, signatures })| (archive, record, signatures.as_str()))
            .collect();
        let refused = |(position, source): (Option<usize>, _)| {
            let title = match position {
                Some(position) => jobs[results[position].0].title(),
                None => format!("{} units", results.len()),
            };
            ExecuteError::Publish { title, source }
        };
        store.publish_signed(&items).map_err(refused)?;
    }
    for (at, CachedAction { record, archive, .. }) in results {
        jobs[at].accept(record, archive)?;
    }
    Ok(())
}
