//! What others have compiled: taken before anything is compiled, and given afterwards.
//!
//! What a cache gives was verified by itself, but not whether it is what the plan wants: that is seen here, where the unit is
//! known. It is published as it came, so that its signatures stay what they are.

use super::Results;
use super::job::Job;
use super::jobs::Jobs;
use precast_store::{ActionCache, ActionKey};
use std::collections::BTreeSet;

/// How many results a cache is asked for at once.
pub(super) const BATCH: usize = 64;

/// Finds what a cache has of some actions.
pub(super) fn find(cache: Option<&dyn ActionCache>, actions: &[ActionKey], jobs: &mut Jobs<'_>) -> Results {
    let mut results = Results::new();
    for found in cache.into_iter().flat_map(|cache| cache.find(actions)).flatten() {
        let Some(at) = jobs.subject_of(&found.record) else { continue };
        let job = &mut jobs.list[at];
        if job.is_made_by(&found) && !job.passes_over("cache", &found.record) {
            results.push((at, job.vouched(found)));
        }
    }
    results
}

/// The positions of the jobs that have neither an artifact nor a result.
pub(super) fn missing(jobs: &[Job<'_>], results: &Results) -> Vec<usize> {
    let found: BTreeSet<usize> = results.iter().map(|(at, _)| *at).collect();
    (0..jobs.len()).filter(|at| jobs[*at].artifact.is_none() && !found.contains(at)).collect()
}
