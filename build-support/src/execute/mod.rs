//! Makes what a plan asks for: takes from the store what it has, compiles the rest, publishes that.
//!
//! ```text
//! unit × variant ──▶ ActionKey ──▶ find_action ── hit ──▶ reuse (verified, healed) ────────────┐
//!                                       │ miss, or damaged (quarantined by the store)          ├▶ Artifact
//!                                       ├──▶ ActionCache ── hit ──▶ verified ──▶ publish ──────┤
//!                                       └──▶ compile_all ──▶ publish: object, then record ─────┘
//! ```
//! What comes out depends on the plan, the variants and the toolchain only, never on what the store had, the order in which
//! compilers finish, or how many run at once: artifacts are in the order of units, then variants; documents and
//! fingerprints are the plan's own.
//!
//! A build may be refused where pins are held against it, and where it may compile nothing and something is missing: then nothing is
//! published before all of it is let through, neither what was compiled nor what a cache gave. Any other build publishes what a cache
//! gives at once and what it compiles every so often, so that one that is interrupted goes on where it was. Processes that build the
//! same at once share the work: see [`queue`].

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
use job::Job;
use jobs::Jobs;
use precast_acquire::{Reason, Reasons};
use precast_compile::{Parallel, Progress, Toolchain, Variant, compile_all};
use precast_store::key::{KeyDocument, StaleVersion};
use precast_store::{ActionCache, ActionKey, CachedAction, Event, Heard, Layer, Store, event};
use queue::Queue;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

pub use compilation::Compilation;
pub use error::{ExecuteError, Failure};
pub use executed::{Artifact, Executed, Library};

/// How far a build goes for what the store and the cache lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Compiles it.
    Compile,
    /// Compiles nothing: it is an error. A store that cannot be written is only read.
    Reuse,
}

/// A lock file that a build is held to: where it pins archives, no others pass, and damage that is found is an error.
#[derive(Debug, Clone, Copy)]
pub struct Locked<'a> {
    /// What the file says.
    pub lock: &'a Lock,
    /// The file, for messages.
    pub path: &'a Path,
}

/// How a plan is carried out.
#[derive(Clone, Copy)]
pub struct Execution<'a> {
    /// Where artifacts are taken from and published to; without one everything is compiled.
    pub store: Option<&'a Store>,
    /// What others have compiled, asked for what the store lacks, and given what is compiled.
    pub cache: Option<&'a dyn ActionCache>,
    /// What compiles. Without one, archives are looked up by the pins of a lock file, which name their actions.
    pub toolchain: Option<&'a Toolchain>,
    /// What is compiled for; each unit for each of them.
    pub variants: &'a [Variant],
    /// What becomes of units that are not there.
    pub mode: Mode,
    /// What the archives are held to.
    pub locked: Option<Locked<'a>>,
    /// How many compilers run at once.
    pub parallel: Parallel,
    /// Told of every compile; jobs are counted over those that are compiled, not those that hit.
    pub progress: &'a dyn Fn(Progress),
}

impl<'a> Execution<'a> {
    /// Compiles everything, without a store, as many at once as there are processors, and tells nobody.
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

    /// The lock file, if it pins archives.
    fn pinned(&self) -> Option<Locked<'a>> {
        self.locked.filter(|locked| !locked.lock.pins.is_empty())
    }

    /// Whether the store is written to. A build that compiles has to; another one reads what it cannot write.
    fn writes(&self) -> bool {
        self.mode == Mode::Compile || self.store.is_some_and(Store::is_writable)
    }
}

/// Carries out a plan.
///
/// # Errors
/// Units that do not compile, or are missing where nothing may be compiled; an archive is not the one that is pinned; a store cannot be
/// read or written. Damage in the store is an error only for a locked build: else what is damaged is made anew.
pub fn execute(plan: &Plan, execution: &Execution<'_>) -> Result<Executed, ExecuteError> {
    let _session = execution.store.map(Store::begin);
    let quiet = execution.store.filter(|_| execution.locked.is_some()).map(Store::quiet);
    let (store, heard) = quiet.as_ref().map(|(store, heard)| (store, heard)).unzip();
    let looking = Execution { store: store.or(execution.store), ..*execution };
    let mut build = Build { jobs: Jobs::new(plan, &looking)?, execution, held: Results::new() };
    build.look_up(looking.store)?;
    let heard = heard.map(Heard::take).unwrap_or_default();
    check_damage(&heard)?;
    heard.iter().for_each(|event| execution.store.iter().for_each(|store| store.tell(event)));
    let hits = build.jobs.list.iter().filter(|job| job.artifact.is_some()).count();
    let fetched = build.fetch()?;
    let missing = cache::missing(&build.jobs.list, &build.held);
    if execution.mode == Mode::Reuse && !missing.is_empty() {
        return Err(build.refuse(&missing));
    }
    let stale = stale(&build.jobs.list, &missing, execution)?;
    let compilations = build.compile(&missing)?;
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

/// Checks that nothing that was read is damaged. The error says all that was heard, once.
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

/// A plan that is being carried out.
struct Build<'a> {
    jobs: Jobs<'a>,
    execution: &'a Execution<'a>,
    /// Results that are published when all of the build is let through.
    held: Results,
}

impl Build<'_> {
    /// Takes what the store has.
    fn look_up(&mut self, store: Option<&Store>) -> Result<(), ExecuteError> {
        let writes = self.execution.writes();
        self.jobs.list.iter_mut().try_for_each(|job| job.look_up(store, writes))
    }

    /// Takes what the cache has; gives the number of results.
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

    /// Says why what is missing is an error.
    fn refuse(&self, missing: &[usize]) -> ExecuteError {
        let titles: Vec<String> = missing.iter().map(|at| self.jobs.list[*at].lacking()).collect();
        match self.execution.pinned().filter(|_| self.jobs.are_all_found(&self.held)) {
            None => ExecuteError::Lacking { titles },
            Some(Locked { path, .. }) => {
                let lines =
                    titles.iter().map(|title| format!("  {title}: nothing is pinned for it")).collect();
                LockError::Pinned { path: path.to_owned(), lines }.into()
            }
        }
    }

    /// Compiles jobs, but for those that another process publishes meanwhile; those get their artifacts from the store. What may be
    /// refused is held; the rest is published every so often.
    fn compile(&mut self, missing: &[usize]) -> Result<Vec<(usize, Compilation)>, ExecuteError> {
        let (execution, is_held) = (self.execution, self.execution.pinned().is_some());
        if !is_held {
            self.release()?;
        }
        let Some(toolchain) = execution.toolchain.filter(|_| !missing.is_empty()) else {
            return Ok(Vec::new());
        };
        let reasons = reasons(&self.jobs.list, missing, (execution.store, toolchain))?;
        let mut reasons: BTreeMap<usize, Compilation> = missing.iter().copied().zip(reasons).collect();
        let (mut compilations, mut failures) = (Vec::new(), Vec::new());
        let mut queue = Queue::new(missing, execution.store.filter(|_| !is_held), batch(execution.parallel));
        while let Some(batch) = queue.next_batch(&mut self.jobs.list, execution.progress)? {
            let progress = shifted(execution.progress, queue.done() - batch.len(), missing.len());
            let attempt = compile(&self.jobs.list, &batch, (toolchain, execution.parallel), &progress);
            failures.extend(attempt.failures);
            self.held.extend(attempt.compiled);
            if !is_held {
                self.give(&batch);
                self.release()?;
            }
            for (at, took) in batch.iter().zip(attempt.took) {
                let Some(mut compilation) = reasons.remove(at) else { continue };
                compilation.millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
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

    /// Publishes what was held.
    fn release(&mut self) -> Result<(), ExecuteError> {
        publish(&mut self.jobs.list, std::mem::take(&mut self.held), self.execution.store)
    }
}

/// Gives names their graphs, where the store can be written.
fn put_entries(plan: &Plan, execution: &Execution<'_>) -> Result<(), ExecuteError> {
    let Some(store) = execution.store.filter(|_| execution.writes()) else { return Ok(()) };
    for entry in &plan.entries {
        store.put_entry(entry)?;
    }
    Ok(())
}

/// Says why each missing unit is compiled, before anything is published.
fn reasons(
    jobs: &[Job<'_>],
    missing: &[usize],
    (store, toolchain): (Option<&Store>, &Toolchain),
) -> Result<Vec<Compilation>, ExecuteError> {
    let layer = store.map(|store| Layer::from(store.clone()));
    let reasons = layer.as_ref().and_then(|layer| Reasons::new(layer, toolchain));
    let made = missing.iter().filter_map(|at| Some((&jobs[*at], jobs[*at].action?)));
    let of = |(job, action): (&Job<'_>, ActionKey)| {
        let (signature, why) = match &reasons {
            Some(reasons) => reasons.find(job.unit, job.variant, &action)?,
            None => (job.unit.first().signature.clone(), Reason::NoLayer),
        };
        Ok(Compilation { title: job.title(), signature, why, millis: 0 })
    };
    made.map(of).collect()
}

/// Finds the versions that were not raised, before what is missing is published beside the old. The store is read for it
/// only where there is a version.
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

/// How many units are compiled before they are published: enough to keep every processor, or every compiler, busy.
fn batch(parallel: Parallel) -> usize {
    let asked = if let Parallel::Jobs(count) = parallel { count.get() } else { 1 };
    available_parallelism().map_or(1, NonZeroUsize::get).max(asked).saturating_mul(8).max(32)
}

/// The results of jobs, each with the position of its job.
type Results = Vec<(usize, CachedAction)>;

/// What came of a batch.
struct Attempt {
    compiled: Results,
    failures: Vec<Failure>,
    /// How long each job took.
    took: Vec<Duration>,
}

/// Reports the progress of a batch as that of the whole: `before` of `all` jobs came before it.
fn shifted(progress: &dyn Fn(Progress), before: usize, all: usize) -> impl Fn(Progress) {
    move |event| {
        progress(match event {
            Progress::Started { job } => Progress::Started { job: job + before },
            Progress::Finished { job, failed, done, .. } => {
                Progress::Finished { job: job + before, failed, done: done + before, total: all }
            }
            other => other,
        });
    }
}

/// Compiles some jobs.
fn compile(
    jobs: &[Job<'_>],
    batch: &[usize],
    (toolchain, parallel): (&Toolchain, Parallel),
    progress: &dyn Fn(Progress),
) -> Attempt {
    let times = RefCell::new(vec![(Instant::now(), Duration::ZERO); batch.len()]);
    let units: Vec<_> = batch.iter().map(|at| (jobs[*at].unit.clone(), jobs[*at].variant.clone())).collect();
    let timed = |event| {
        match event {
            Progress::Started { job } => times.borrow_mut()[job].0 = Instant::now(),
            Progress::Finished { job, .. } => {
                let started = times.borrow()[job].0;
                times.borrow_mut()[job].1 = started.elapsed();
            }
            _ => {}
        }
        progress(event);
    };
    let (mut compiled, mut failures) = (Results::new(), Vec::new());
    for (at, result) in batch.iter().zip(compile_all(&units, toolchain, parallel, &timed)) {
        match result {
            Ok(result) => compiled.push((*at, jobs[*at].completed(result))),
            Err(error) => failures.push(Failure { title: jobs[*at].title(), error }),
        }
    }
    let took = times.into_inner().into_iter().map(|(_, took)| took).collect();
    Attempt { compiled, failures, took }
}

/// Publishes the results of jobs, where there is a store, and takes them up.
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
