//! What a lock file pins, taken where no compiler is.
//!
//! An action is derived from a toolchain, and a pin names it: so a store or a cache can be asked for it on a machine that has none.
//! What comes has the digest that is pinned, and is about a unit of the plan.

use super::job::{Job, unmade};
use super::{ExecuteError, Executed, Results, cache, publish, put_entries};
use crate::lock::{Lock, LockError, Pin};
use crate::plan::Plan;
use precast_compile::Variant;
use precast_store::{ActionCache, BuildKey, Event, Heard, Record, Store, event};
use std::collections::BTreeMap;
use std::path::Path;

/// Carries out a plan with the archives that a lock file pins, from a store, which gets what only the cache has, and needs no
/// compiler for it. The path is what messages call the lock file.
///
/// # Errors
/// As [`super::execute_locked`]: neither has an archive, or nothing is pinned for a unit. Then nothing was published.
pub fn take_pinned(
    plan: &Plan,
    (store, cache): (Option<&Store>, Option<&dyn ActionCache>),
    variants: &[Variant],
    (lock, path): (&Lock, &Path),
) -> Result<Executed, ExecuteError> {
    let listening = store.map(Store::listening);
    let (store, heard) = listening.as_ref().map(|(store, heard)| (store, heard)).unzip();
    let _session = store.map(Store::begin);
    let writes = store.is_some_and(Store::is_writable);
    let mut jobs = unmade(plan, variants);
    let units: BTreeMap<BuildKey, usize> =
        plan.units.iter().enumerate().map(|(at, unit)| (unit.members()[0].0, at)).collect();
    let adopt = |jobs: &mut [_], record: &Record| adopt(jobs, record, (lock, &units, variants));
    let mut lacking = Vec::new();
    let is_wanted = |pin: &&Pin| variants.iter().any(|variant| pin.is_for(variant));
    for pin in lock.pins.iter().filter(is_wanted) {
        let mut records = store.map(|store| store.find_action(&pin.action)).transpose()?.unwrap_or_default();
        records.sort_by_key(|record| record.digest != pin.digest);
        let found = records.iter().find_map(|record| adopt(&mut jobs, record));
        if let Some(at) = found {
            jobs[at].look_up(store, writes)?;
        }
        if found.is_none_or(|at| jobs[at].artifact.is_none()) {
            lacking.push(pin.action);
        }
    }
    let damage = heard.map(Heard::take).unwrap_or_default();
    if damage.iter().any(|event| matches!(event, Event::Damaged { .. })) {
        return Err(ExecuteError::Damaged { lines: event::lines(&damage) });
    }
    let hits = jobs.iter().filter(|job| job.artifact.is_some()).count();
    let mut taken = Results::new();
    cache::collect(cache, &mut jobs, &lacking, adopt, |_, found| {
        taken.extend(found);
        Ok(())
    })?;
    let (missing, fetched) = (cache::missing(&jobs, &taken), taken.len());
    if !missing.is_empty() {
        let titles: Vec<String> = missing.iter().map(|at| jobs[*at].lacking()).collect();
        if lacking.len() > fetched {
            return Err(ExecuteError::Lacking { titles });
        }
        let lines = titles.iter().map(|title| format!("  {title}: nothing is pinned for it")).collect();
        return Err(LockError::Pinned { path: path.to_owned(), lines }.into());
    }
    publish(&mut jobs, taken, store)?;
    put_entries(plan, store.filter(|_| writes))?;
    Ok(Executed { hits, fetched, ..Executed::of(plan, jobs) })
}

/// Gives the job that a record is about the action of the record's pin, since a pin names no unit; tells the position of the job.
fn adopt<'p>(
    jobs: &mut [Job<'p>],
    record: &Record,
    (lock, units, variants): (&'p Lock, &BTreeMap<BuildKey, usize>, &[Variant]),
) -> Option<usize> {
    let pin = lock.pin(&record.action)?;
    let variant = variants.iter().position(|variant| pin.is_for(variant))?;
    let at = units.get(&record.members.first()?.key)? * variants.len() + variant;
    let is_known = |action: Option<_>| action.is_none_or(|known| known == pin.action);
    let job = jobs.get_mut(at).filter(|job| job.is_subject(record) && is_known(job.action))?;
    (job.action, job.toolchain, job.pin) = (Some(pin.action), pin.toolchain, Some(pin));
    job.is_hermetic = record.outside.is_empty();
    Some(at)
}
