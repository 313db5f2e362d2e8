//! What others have compiled: taken before anything is compiled, and given afterwards.
//!
//! What a cache gives was verified by itself, but not whether it is what the plan wants: that is seen here, where the unit is
//! known. It is published as it came, so that its signatures stay what they are.

use super::job::Job;
use super::{ExecuteError, Execution, Results, publish};
use crate::lock::Lock;
use precast_store::archive::{OBJECT, SHARED_OBJECT};
use precast_store::key::ActionKind;
use precast_store::{ActionKey, CachedAction};
use std::path::Path;

/// How many results are in memory at once.
const BATCH: usize = 64;

/// Takes up what the cache has of some jobs, and tells how many that were.
pub(super) fn fetch(
    jobs: &mut [Job<'_>],
    lacking: &[usize],
    execution: &Execution<'_>,
    pins: Option<(&Lock, &Path)>,
) -> Result<usize, ExecuteError> {
    let Some(cache) = execution.cache else { return Ok(0) };
    let mut fetched = 0;
    for batch in lacking.chunks(BATCH) {
        let actions: Vec<ActionKey> = batch.iter().map(|at| jobs[*at].action).collect();
        let found = batch.iter().zip(cache.find(&actions));
        let found: Results = found
            .filter_map(|(at, found)| Some((*at, found?)))
            .filter(|(at, found)| is_wanted(&jobs[*at], found, execution))
            .map(|(at, mut found)| {
                // Nobody vouches for what leads to its modules: the plan knows. What is signed stays as it was signed.
                if found.signatures.is_empty() {
                    jobs[at].complete(&mut found.record);
                }
                (at, found)
            })
            .filter(|(_, CachedAction { record, .. })| match pins {
                // A build that pins takes nothing else.
                Some((lock, _)) => lock.pin(&record.action).is_some_and(|pin| pin.digest == record.digest),
                None => true,
            })
            .collect();
        fetched += found.len();
        publish(jobs, found, execution)?;
    }
    Ok(fetched)
}

/// Whether a result is about the unit and the variant; its key alone is what somebody says.
fn is_wanted(job: &Job<'_>, found: &CachedAction, execution: &Execution<'_>) -> bool {
    let (record, variant) = (&found.record, job.variant);
    let slots = record.members.iter().map(|member| (member.slot as usize, member.key));
    let members = job.unit.members().iter().enumerate().map(|(slot, (key, _))| (slot, *key));
    record.kind == ActionKind::Compile
        && slots.eq(members)
        && record.target == variant.target
        && record.isa == variant.isa.name()
        && record.profile == variant.profile
        && record.language == job.unit.language()
        && record.toolchain == execution.toolchain.id(record.language).ok()
        && record.host_abi == job.unit.first().build_inputs().host_abi
        && record.requires.cpu.iter().eq(variant.isa.cpu_features())
        && found.archive.get(job.unit.file_name()) == Some(job.unit.text().as_bytes())
        && [OBJECT, SHARED_OBJECT].iter().all(|name| found.archive.get(name).is_some())
}

/// Gives what was compiled to others.
pub(super) fn give(compiled: &[(usize, CachedAction)], execution: &Execution<'_>) {
    let Some(cache) = execution.cache else { return };
    cache.put(&compiled.iter().map(|(_, result)| result.clone()).collect::<Vec<_>>());
}
