//! What others have compiled: taken before anything is compiled, and given afterwards.
//!
//! What a cache gives was verified by itself, but not whether it is what the plan wants: that is seen here, where the unit is
//! known. It is published as it came, so that its signatures stay what they are.

use super::job::Job;
use super::{ExecuteError, Execution, Results};
use precast_store::{ActionCache, ActionKey, CachedAction, Record};
use std::collections::BTreeSet;

/// How many results a cache is asked for at once.
const BATCH: usize = 64;

/// Hands on what a cache has of some actions, a batch at a time. `job` finds the job that a record is about.
pub(super) fn collect<'p>(
    cache: Option<&dyn ActionCache>,
    jobs: &mut [Job<'p>],
    actions: &[ActionKey],
    mut job: impl FnMut(&mut [Job<'p>], &Record) -> Option<usize>,
    mut take: impl FnMut(&mut [Job<'p>], Results) -> Result<(), ExecuteError>,
) -> Result<(), ExecuteError> {
    for batch in actions.chunks(BATCH) {
        let mut results = Results::new();
        for found in cache.into_iter().flat_map(|cache| cache.find(batch)).flatten() {
            let Some(at) = job(jobs, &found.record) else { continue };
            if jobs[at].is_made_by(&found) && !jobs[at].passes_over("cache", &found.record) {
                results.push((at, jobs[at].vouched(found)));
            }
        }
        take(jobs, results)?;
    }
    Ok(())
}

/// The positions of the jobs that have neither an artifact nor a result.
pub(super) fn missing(jobs: &[Job<'_>], results: &Results) -> Vec<usize> {
    let found: BTreeSet<usize> = results.iter().map(|(at, _)| *at).collect();
    (0..jobs.len()).filter(|at| jobs[*at].artifact.is_none() && !found.contains(at)).collect()
}

/// Gives what was compiled to others.
pub(super) fn give(compiled: &[(usize, CachedAction)], execution: &Execution<'_>) {
    let Some(cache) = execution.cache else { return };
    cache.put(&compiled.iter().map(|(_, result)| result.clone()).collect::<Vec<_>>());
}
