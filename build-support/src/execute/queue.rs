//! The order in which a build compiles its jobs while other processes build the same units.
//!
//! ```text
//! waiting ─ turn of the key is free ─▶ published meanwhile? ─ no ─▶ batch: compiled, published, turns released
//!    ▲            │ another process has it        └ yes ─▶ artifact
//!    └────────────┘ if no turn is free, wait for the first
//! ```
//! A build never waits for a turn while it holds one, so two builds cannot deadlock. A build that holds its results back
//! until all of it is accepted takes no turns, since other builds would wait in vain. After [`PATIENCE`] a build
//! stops using turns.

use super::ExecuteError;
use super::job::Job;
use precast_compile::Progress;
use precast_store::{BuildKey, Store, Turns};
use std::time::Duration;

/// The longest wait for another process that compiles the same unit. After that both compile and publish the same
/// bytes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The positions of jobs that wait to be compiled.
pub(super) struct Queue<'s> {
    waiting: Vec<usize>,
    total: usize,
    store: Option<&'s Store>,
    /// The turns of the current batch, released when the next batch is requested.
    turns: Option<Turns<'s>>,
    size: usize,
}

impl<'s> Queue<'s> {
    /// Queues jobs for batches of at most `size`. With a store, the queue coordinates with other processes.
    pub(super) fn new(jobs: &[usize], store: Option<&'s Store>, size: usize) -> Self {
        Self { waiting: jobs.to_vec(), total: jobs.len(), store, turns: None, size }
    }

    /// Returns the number of jobs that no longer wait.
    pub(super) fn done(&self) -> usize {
        self.total - self.waiting.len()
    }

    /// Returns the next jobs to compile; `None` if no job waits. Jobs that another process published get their
    /// artifacts.
    pub(super) fn next_batch(
        &mut self,
        jobs: &mut [Job<'_>],
        progress: &dyn Fn(Progress),
    ) -> Result<Option<Vec<usize>>, ExecuteError> {
        self.turns = None;
        let Some(store) = self.store else {
            let rest = self.waiting.split_off(self.size.min(self.waiting.len()));
            let batch = std::mem::replace(&mut self.waiting, rest);
            return Ok(Some(batch).filter(|batch| !batch.is_empty()));
        };
        while let Some(first) = self.waiting.first().copied() {
            let mut turns = Turns::new(store);
            let mut batch = self.take_free(jobs, &mut turns)?;
            if batch.is_empty() && self.waiting.first() == Some(&first) {
                progress(Progress::Waiting);
                if !turns.wait(&key(&jobs[first]), PATIENCE) {
                    // The other process hangs or is stopped; do not wait for it again.
                    self.store = None;
                }
                self.waiting.remove(0);
                jobs[first].look_up(Some(store), true)?;
                batch.extend(jobs[first].artifact.is_none().then_some(first));
            }
            if !batch.is_empty() {
                self.turns = Some(turns);
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// Takes the turns that are free, for at most one batch, and returns the jobs to compile.
    fn take_free(&mut self, jobs: &mut [Job<'_>], turns: &mut Turns<'_>) -> Result<Vec<usize>, ExecuteError> {
        let (mut batch, mut waiting) = (Vec::new(), Vec::new());
        for at in self.waiting.drain(..) {
            if batch.len() == self.size || !turns.take(&key(&jobs[at])) {
                waiting.push(at);
                continue;
            }
            jobs[at].look_up(self.store, true)?;
            if jobs[at].artifact.is_none() {
                batch.push(at);
            }
        }
        self.waiting = waiting;
        Ok(batch)
    }
}

/// Returns the key whose turn a job needs.
fn key(job: &Job<'_>) -> BuildKey {
    job.unit.members()[0].0
}
