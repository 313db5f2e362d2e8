//! Compiles a batch of jobs, and measures the time of each.

use super::job::Job;
use super::{Failure, Results};
use precast_compile::{Parallel, Progress, Toolchain, compile_all};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// The result of compiling a batch.
pub(super) struct Attempt {
    pub(super) compiled: Results,
    pub(super) failures: Vec<Failure>,
    /// The start and the compile time of each job.
    pub(super) took: Vec<(Instant, Duration)>,
}

/// Maps the progress of a batch to that of the whole build: `before` of `all` jobs precede the batch.
pub(super) fn shifted(progress: &dyn Fn(Progress), before: usize, all: usize) -> impl Fn(Progress) {
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
pub(super) fn attempt(
    jobs: &[Job<'_>],
    batch: &[usize],
    toolchain: &Toolchain,
    parallel: Parallel,
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
    Attempt { compiled, failures, took: times.into_inner() }
}
