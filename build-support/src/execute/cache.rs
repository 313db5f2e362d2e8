//! What others have compiled: taken before anything is compiled, and given afterwards.
//!
//! What a cache gives was verified by itself, but not whether it is what the plan wants: that is seen here, where the unit is
//! known. It is published as it came, so that its signatures stay what they are.

use super::job::{Job, passed_over};
use super::{ExecuteError, Execution, Results, publish};
use crate::lock::Lock;
use precast_store::{ActionKey, CachedAction};
use std::path::Path;

/// How many results are in memory at once.
pub(super) const BATCH: usize = 64;

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
        let mut results: Results = Vec::new();
        for (at, found) in found {
            let Some(found) = found.filter(|found| jobs[*at].is_made_by(found)) else { continue };
            let found = jobs[*at].vouched(found);
            // A build that pins takes nothing else.
            if let Some((lock, _)) = pins {
                let Some(pin) = lock.pin(&found.record.action) else { continue };
                if pin.digest != found.record.digest {
                    jobs[*at].passed_over = Some(passed_over("cache", &found.record, pin));
                    continue;
                }
            }
            results.push((*at, found));
        }
        fetched += results.len();
        publish(jobs, results, execution.store)?;
    }
    Ok(fetched)
}

/// Gives what was compiled to others.
pub(super) fn give(compiled: &[(usize, CachedAction)], execution: &Execution<'_>) {
    let Some(cache) = execution.cache else { return };
    cache.put(&compiled.iter().map(|(_, result)| result.clone()).collect::<Vec<_>>());
}
