//! What a lock file pins, taken where no compiler is.
//!
//! An action is derived from a toolchain, and a pin names it: so a store or a cache can be asked for it on a machine that has none.
//! What comes has the digest that is pinned, and is about a unit of the plan.

use super::cache::BATCH;
use super::job::{Job, is_about, lacking as without, passed_over, title};
use super::{ExecuteError, Executed, Results, publish, put_entries};
use crate::lock::{Lock, LockError, Pin};
use crate::plan::Plan;
use precast_compile::Variant;
use precast_store::{ActionCache, ActionKey, BuildKey, Event, Heard, Record, Store, event};
use std::collections::{BTreeMap, BTreeSet};
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
    let units: BTreeMap<BuildKey, usize> =
        plan.units.iter().enumerate().map(|(at, unit)| (unit.members()[0].0, at)).collect();
    // What a pin is about, by what a record says of its modules; and its place in the plan.
    let job_of = |pin: &Pin, variant: usize, record: &Record| {
        let at = *units.get(&record.members.first()?.key)?;
        let (unit, of) = (&plan.units[at], &variants[variant]);
        let job = Job {
            unit,
            variant: of,
            is_hermetic: record.outside.is_empty(),
            artifact: None,
            healed: false,
            action: pin.action,
            toolchain: pin.toolchain,
            passed_over: None,
            fingerprints: &plan.fingerprints,
        };
        is_about(record, unit, of).then_some(((at, variant), job))
    };
    let (mut places, mut jobs, mut lacking) = (Vec::new(), Vec::new(), Vec::new());
    let mut others = BTreeMap::new();
    for pin in &lock.pins {
        let is_of = |variant: &Variant| pin.target == variant.target && pin.isa == variant.isa.name();
        let Some(variant) = variants.iter().position(is_of) else { continue };
        let records = store.map(|store| store.find_action(&pin.action)).transpose()?.unwrap_or_default();
        for record in records.iter().filter(|record| record.digest != pin.digest) {
            others
                .extend(job_of(pin, variant, record).map(|(at, _)| (at, passed_over("store", record, pin))));
        }
        let mut pinned = records.iter().filter(|record| record.digest == pin.digest);
        let mut found = pinned.find_map(|record| job_of(pin, variant, record));
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
    let mut results: Results = Vec::new();
    for batch in lacking.chunks(BATCH) {
        let Some(cache) = cache else { break };
        let actions: Vec<ActionKey> = batch.iter().map(|(pin, _)| pin.action).collect();
        for ((pin, variant), found) in batch.iter().zip(cache.find(&actions)) {
            let Some(found) = found else { continue };
            let made = job_of(pin, *variant, &found.record).filter(|(_, job)| job.is_made_by(&found));
            let Some((place, job)) = made else { continue };
            if found.record.digest != pin.digest {
                others.insert(place, passed_over("cache", &found.record, pin));
                continue;
            }
            results.push((jobs.len(), job.vouched(found)));
            places.push(place);
            jobs.push(job);
        }
    }
    let fetched = jobs.len() - hits;
    is_whole(plan, variants, &places, (&others, path), lacking.len() > fetched)?;
    // Only now, as nothing of a build that is refused is published; the artifacts are in memory anyway.
    publish(&mut jobs, results, store)?;
    put_entries(plan, store.filter(|_| writes))?;
    let placed: BTreeMap<_, _> = places.into_iter().zip(jobs).collect();
    Ok(Executed { hits, fetched, ..Executed::of(plan, placed.into_values().collect()) })
}

/// Refuses a build without one of its archives: a pinned one that is nowhere, or one that is not pinned. `others` says what was
/// found in the place of which.
fn is_whole(
    plan: &Plan,
    variants: &[Variant],
    places: &[(usize, usize)],
    (others, path): (&BTreeMap<(usize, usize), String>, &Path),
    is_lacking: bool,
) -> Result<(), ExecuteError> {
    let all = (0..plan.units.len()).flat_map(|unit| (0..variants.len()).map(move |variant| (unit, variant)));
    let had: BTreeSet<(usize, usize)> = places.iter().copied().collect();
    let missing = all.filter(|place| !had.contains(place));
    let named = |place: (usize, usize)| {
        without(title(&plan.units[place.0], &variants[place.1]), others.get(&place).map(String::as_str))
    };
    let titles: Vec<String> = missing.map(named).collect();
    if !titles.is_empty() && is_lacking {
        return Err(ExecuteError::Lacking { titles });
    }
    if !titles.is_empty() {
        let lines = titles.iter().map(|title| format!("  {title}: nothing is pinned for it")).collect();
        return Err(LockError::Pinned { path: path.to_owned(), lines }.into());
    }
    Ok(())
}
