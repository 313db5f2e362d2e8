//! What a lock file pins, taken where no compiler is.
//!
//! An action is derived from a toolchain, and a pin names it: so a store or a cache can be asked for it on a machine that has none.
//! What comes has the digest that is pinned, and is about a unit of the plan.

use super::cache::BATCH;
use super::job::{Job, has_members, title};
use super::{ExecuteError, Executed, Results, publish, put_entries};
use crate::lock::{Lock, LockError, Pin};
use crate::plan::Plan;
use precast_compile::Variant;
use precast_store::{ActionCache, ActionKey, BuildKey, Event, Heard, Record, Store, event};
use std::collections::BTreeMap;
use std::path::Path;

/// Carries out a plan with the archives that a lock file pins, from a store, which gets what only the cache has, and needs no
/// compiler for it. The path is what messages call the lock file.
///
/// # Errors
/// As [`super::execute_locked`]: neither has an archive, or nothing is pinned for a unit.
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
    let units: BTreeMap<BuildKey, usize> =
        plan.units.iter().enumerate().map(|(at, unit)| (unit.members()[0].0, at)).collect();
    // What a pin is about, by what a record says of its modules; and its place in the plan.
    let job_of = |pin: &Pin, variant: usize, record: &Record| {
        let at = *units.get(&record.members.first()?.key)?;
        let (unit, of) = (&plan.units[at], &variants[variant]);
        let is_of = has_members(record, unit) && record.target == of.target && record.isa == of.isa.name();
        let job = Job {
            unit,
            variant: of,
            is_hermetic: record.outside.is_empty(),
            artifact: None,
            healed: false,
            action: pin.action,
            toolchain: pin.toolchain,
            fingerprints: &plan.fingerprints,
        };
        is_of.then_some(((at, variant), job))
    };
    let (mut places, mut jobs, mut lacking) = (Vec::new(), Vec::new(), Vec::new());
    for pin in &lock.pins {
        let is_of = |variant: &Variant| pin.target == variant.target && pin.isa == variant.isa.name();
        let Some(variant) = variants.iter().position(is_of) else { continue };
        let records = store.map(|store| store.find_action(&pin.action)).transpose()?.unwrap_or_default();
        let mut found = records.iter().find_map(|record| job_of(pin, variant, record));
        if let Some((_, job)) = &mut found {
            job.look_up(store, Some(pin), writes)?;
        }
        match found.filter(|(_, job)| job.artifact.is_some()) {
            Some((place, job)) => {
                places.push(place);
                jobs.push(job);
            }
            None => lacking.push((pin, variant)),
        }
    }
    let damage = heard.map(Heard::take).unwrap_or_default();
    if damage.iter().any(|event| matches!(event, Event::Damaged { .. })) {
        return Err(ExecuteError::Damaged { lines: event::lines(&damage) });
    }
    let hits = jobs.len();
    for batch in lacking.chunks(BATCH) {
        let Some(cache) = cache else { break };
        let actions: Vec<ActionKey> = batch.iter().map(|(pin, _)| pin.action).collect();
        let mut results: Results = Vec::new();
        for ((pin, variant), found) in batch.iter().zip(cache.find(&actions)) {
            let Some(found) = found.filter(|found| found.record.digest == pin.digest) else { continue };
            let made = job_of(pin, *variant, &found.record).filter(|(_, job)| job.is_made_by(&found));
            let Some((place, job)) = made else { continue };
            results.push((jobs.len(), job.vouched(found)));
            places.push(place);
            jobs.push(job);
        }
        publish(&mut jobs, results, store)?;
    }
    let fetched = jobs.len() - hits;
    let mut placed: BTreeMap<_, _> = places.into_iter().zip(jobs).collect();
    let all = (0..plan.units.len()).flat_map(|unit| (0..variants.len()).map(move |variant| (unit, variant)));
    let (ordered, missing): (Vec<_>, Vec<_>) = all
        .map(|place| placed.remove(&place).ok_or_else(|| title(&plan.units[place.0], &variants[place.1])))
        .partition(Result::is_ok);
    let titles: Vec<String> = missing.into_iter().filter_map(Result::err).collect();
    if !titles.is_empty() && lacking.len() > fetched {
        return Err(ExecuteError::Lacking { titles });
    }
    if !titles.is_empty() {
        let lines = titles.iter().map(|title| format!("  {title}: nothing is pinned for it")).collect();
        return Err(LockError::Pinned { path: path.to_owned(), lines }.into());
    }
    put_entries(plan, store.filter(|_| writes))?;
    let ordered = ordered.into_iter().filter_map(Result::ok).collect();
    Ok(Executed { hits, fetched, ..Executed::of(plan, ordered) })
}
