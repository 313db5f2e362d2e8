//! The action cache: queried before anything is compiled, and filled afterwards.
//!
//! A cache verifies each result by itself, but does not know the plan. This module checks that a result matches its
//! unit. Results are published unchanged, so that their signatures stay valid.

use super::Results;
use super::job::Job;
use super::jobs::Jobs;
use precast_store::{ActionCache, ActionKey};
use std::collections::BTreeSet;

/// The number of actions in one cache query.
pub(super) const BATCH: usize = 64;

/// Looks up actions in the cache.
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

/// Returns the positions of jobs with neither an artifact nor a result.
pub(super) fn missing(jobs: &[Job<'_>], results: &Results) -> Vec<usize> {
    let found: BTreeSet<usize> = results.iter().map(|(at, _)| *at).collect();
    (0..jobs.len()).filter(|at| jobs[*at].artifact.is_none() && !found.contains(at)).collect()
}
