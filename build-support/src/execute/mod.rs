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
//! gives at once and what it compiles every so often, so that one that is interrupted goes on where it was.

mod cache;
mod error;
mod executed;
mod job;
mod pack;
mod pinned;
mod why;

#[cfg(test)]
mod tests;

use crate::lock::Lock;
use crate::plan::Plan;
use job::Job;
use precast_compile::{Parallel, Progress, Toolchain, Variant, compile_all};
use precast_store::key::{KeyDocument, StaleVersion};
use precast_store::{ActionCache, ActionKey, CachedAction, Event, Heard, Record, Store, event};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

pub use error::{ExecuteError, Failure};
pub use executed::{Artifact, Executed, Library};
pub use pinned::take_pinned;
pub use why::{Compilation, Why};

/// How a plan is carried out.
#[derive(Clone, Copy)]
pub struct Execution<'a> {
    /// Where artifacts are taken from and published to; without one everything is compiled.
    pub store: Option<&'a Store>,
    /// What others have compiled, asked for what the store lacks, and given what is compiled.
    pub cache: Option<&'a dyn ActionCache>,
    /// What compiles.
    pub toolchain: &'a Toolchain,
    /// What is compiled for; each unit for each of them.
    pub variants: &'a [Variant],
    /// How many compilers run at once.
    pub parallel: Parallel,
    /// Told of every compile; jobs are counted over those that are compiled, not those that hit.
    pub progress: &'a dyn Fn(Progress),
}

impl<'a> Execution<'a> {
    /// Compiles everything, without a store, as many at once as there are processors, and tells nobody.
    #[must_use]
    pub fn new(toolchain: &'a Toolchain, variants: &'a [Variant]) -> Self {
        Self { store: None, cache: None, toolchain, variants, parallel: Parallel::Auto, progress: &|_| {} }
    }
}

/// Carries out a plan.
///
/// # Errors
/// Units that do not compile; a store that cannot be read or written. Damage in the store is none: what is damaged is
/// made anew.
pub fn execute(plan: &Plan, execution: &Execution<'_>) -> Result<Executed, ExecuteError> {
    carry_out(plan, execution, true, (None, None))
}

/// Carries out a plan with what the store has, and compiles nothing. A store that cannot be written is only read.
///
/// # Errors
/// As [`execute`]; the store lacks something: [`ExecuteError::Lacking`].
pub fn take(plan: &Plan, execution: &Execution<'_>) -> Result<Executed, ExecuteError> {
    carry_out(plan, execution, false, (None, None))
}

/// Carries out a plan with the archives that a lock file pins where it pins any, and with no others; what the store lacks is
/// compiled if `compiles` says so. The path is what messages call the lock file.
///
/// # Errors
/// As [`execute`] and [`take`]; an archive is not the one that is pinned, or something is damaged that is looked for. Then nothing
/// was published.
pub fn execute_locked(
    plan: &Plan,
    execution: &Execution<'_>,
    (lock, path): (&Lock, &Path),
    compiles: bool,
) -> Result<Executed, ExecuteError> {
    let pins = Some((lock, path)).filter(|(lock, _)| !lock.pins.is_empty());
    let Some(store) = execution.store else { return carry_out(plan, execution, compiles, (None, pins)) };
    let (store, heard) = store.listening();
    carry_out(plan, &Execution { store: Some(&store), ..*execution }, compiles, (Some(&heard), pins))
}

fn carry_out(
    plan: &Plan,
    execution: &Execution<'_>,
    compiles: bool,
    (heard, pins): (Option<&Heard>, Option<(&Lock, &Path)>),
) -> Result<Executed, ExecuteError> {
    let lock = pins.map(|(lock, _)| lock);
    let mut jobs = job::jobs(plan, execution, lock)?;
    let _session = execution.store.map(Store::begin);
    // What compiles has to write; what only takes may read from where nothing can be put back.
    let writes = compiles || execution.store.is_some_and(Store::is_writable);
    for job in &mut jobs {
        job.look_up(execution.store, writes)?;
    }
    let damage = heard.map(Heard::take).unwrap_or_default();
    if damage.iter().any(|event| matches!(event, Event::Damaged { .. })) {
        return Err(ExecuteError::Damaged { lines: event::lines(&damage) });
    }
    // A build that pins takes nothing else.
    let lacking = jobs.iter().enumerate().filter(|(_, job)| job.artifact.is_none());
    let lacking = lacking.filter(|(_, job)| lock.is_none() || job.pin.is_some());
    let asked: BTreeMap<ActionKey, usize> = lacking.filter_map(|(at, job)| Some((job.action?, at))).collect();
    let hits = jobs.iter().filter(|job| job.artifact.is_some()).count();
    let actions: Vec<ActionKey> = asked.keys().copied().collect();
    let (mut taken, mut fetched) = (Results::new(), 0);
    let may_be_refused = pins.is_some() || !compiles;
    let job = |_: &mut [Job<'_>], record: &Record| asked.get(&record.action).copied();
    cache::collect(execution.cache, &mut jobs, &actions, job, |jobs, found| {
        fetched += found.len();
        if may_be_refused {
            taken.extend(found);
            return Ok(());
        }
        publish(jobs, found, execution.store)
    })?;
    let missing = cache::missing(&jobs, &taken);
    if !compiles && !missing.is_empty() {
        return Err(ExecuteError::Lacking { titles: missing.iter().map(|at| jobs[*at].lacking()).collect() });
    }
    if pins.is_none() {
        publish(&mut jobs, std::mem::take(&mut taken), execution.store)?;
    }
    let stale = stale(&jobs, &missing, execution)?;
    let mut compilations = reasons(&jobs, &missing, execution)?;
    let (mut done, mut failures, mut waiting) = (0, Vec::new(), Vec::new());
    for batch in missing.chunks(batch(execution.parallel)) {
        let (compiled, failed, took) = compile(&jobs, batch, (done, missing.len()), execution);
        failures.extend(failed);
        waiting.extend(compiled);
        if pins.is_none() {
            cache::give(&waiting, execution);
            publish(&mut jobs, std::mem::take(&mut waiting), execution.store)?;
        }
        for (compilation, took) in compilations[done..].iter_mut().zip(took) {
            compilation.millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        }
        done += batch.len();
    }
    if !failures.is_empty() {
        return Err(ExecuteError::Compile { failures });
    }
    if let Some((lock, path)) = pins {
        let found = jobs.iter().filter_map(|job| job.artifact.as_ref()).map(|artifact| &artifact.record);
        let waits = taken.iter().chain(&waiting).map(|(_, result)| &result.record);
        lock.check_pins(found.chain(waits), path)?;
        cache::give(&waiting, execution);
        taken.extend(waiting);
        publish(&mut jobs, taken, execution.store)?;
    }
    put_entries(plan, execution.store.filter(|_| writes))?;
    let fresh = missing.iter().filter_map(|at| jobs[*at].action).collect();
    let compiled = missing.len();
    Ok(Executed { hits, fetched, compiled, compilations, fresh, stale, ..Executed::of(plan, jobs) })
}

fn put_entries(plan: &Plan, store: Option<&Store>) -> Result<(), ExecuteError> {
    let Some(store) = store else { return Ok(()) };
    for entry in &plan.entries {
        store.put_entry(entry)?;
    }
    Ok(())
}

/// Says why each missing unit is compiled, before anything is published.
fn reasons(
    jobs: &[Job<'_>],
    missing: &[usize],
    execution: &Execution<'_>,
) -> Result<Vec<Compilation>, ExecuteError> {
    let mut reasons = why::Reasons::new(execution.store, execution.toolchain);
    let made = missing.iter().filter_map(|at| Some((&jobs[*at], jobs[*at].action?)));
    let of = |(job, action): (&Job<'_>, ActionKey)| {
        let why = reasons.of(job.unit, job.variant, &action)?;
        Ok(Compilation { title: job.title(), why, millis: 0 })
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

/// What came of a batch: what was compiled, what failed, and how long each job took.
type Attempt = (Results, Vec<Failure>, Vec<Duration>);

/// Compiles some jobs.
fn compile(
    jobs: &[Job<'_>],
    batch: &[usize],
    (before, all): (usize, usize),
    execution: &Execution<'_>,
) -> Attempt {
    let times = RefCell::new(vec![(Instant::now(), Duration::ZERO); batch.len()]);
    let units: Vec<_> = batch.iter().map(|at| (jobs[*at].unit.clone(), jobs[*at].variant.clone())).collect();
    let progress = |progress| {
        match progress {
            Progress::Started { job } => times.borrow_mut()[job].0 = Instant::now(),
            Progress::Finished { job, .. } => {
                let started = times.borrow()[job].0;
                times.borrow_mut()[job].1 = started.elapsed();
            }
            _ => {}
        }
        (execution.progress)(match progress {
            Progress::Started { job } => Progress::Started { job: job + before },
            Progress::Finished { job, failed, done, .. } => {
                Progress::Finished { job: job + before, failed, done: done + before, total: all }
            }
            other => other,
        });
    };
    let results = compile_all(&units, execution.toolchain, execution.parallel, &progress);
    let mut failures = Vec::new();
    let mut compiled = Vec::new();
    for (at, result) in batch.iter().zip(results) {
        match result {
            Ok(result) => compiled.push((*at, jobs[*at].completed(result))),
            Err(error) => failures.push(Failure { title: jobs[*at].title(), error }),
        }
    }
    (compiled, failures, times.into_inner().into_iter().map(|(_, took)| took).collect())
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
