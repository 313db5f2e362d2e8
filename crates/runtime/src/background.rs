//! Background jobs, run one after the other on a thread that exists while there are jobs.

use precast_acquire::PerProcess;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A job.
type Job = Box<dyn FnOnce() + Send>;

/// The background jobs of a runtime. Dropping it discards jobs that have not started, and waits for the running one.
/// A forked child starts without jobs, because it does not inherit the thread.
#[derive(Default)]
pub(crate) struct Background(PerProcess<Arc<Shared>>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    idle: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    /// The thread, which ends when no job waits.
    worker: Option<JoinHandle<()>>,
    works: bool,
}

impl Background {
    /// Adds a job, which starts at once if no other job exists.
    ///
    /// # Errors
    /// Fails if the thread cannot be created.
    pub(crate) fn add(&self, job: Job) -> std::io::Result<()> {
        let mut state = self.0.get().lock();
        if state.works {
            state.waiting.push_back(job);
            return Ok(());
        }
        let shared = Arc::clone(self.0.get());
        let worker = std::thread::Builder::new().name("precast-compile".to_owned());
        state.worker = Some(worker.spawn(move || shared.work(job))?);
        state.works = true;
        Ok(())
    }

    /// Waits until all jobs are done.
    pub(crate) fn flush(&self) {
        let shared = self.0.get();
        let state = shared.idle.wait_while(shared.lock(), |state| state.works);
        drop(state);
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, first: Job) {
        let mut next = Some(first);
        while let Some(job) = next {
            // A panic fails only its own job; the remaining jobs still run.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
            let mut state = self.lock();
            next = state.waiting.pop_front();
            state.works = next.is_some();
        }
        self.idle.notify_all();
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let worker = {
            let mut state = self.0.get().lock();
            state.waiting.clear();
            state.worker.take()
        };
        // The thread cannot panic, and nothing could handle the error.
        let _ = worker.map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn jobs_run_in_order_despite_panics() {
        let (background, done) = (Background::default(), Arc::new(Mutex::new(Vec::new())));
        for round in 0..3 {
            for n in 0..10 {
                let done = Arc::clone(&done);
                let job = move || {
                    assert_ne!(n, 4, "a panic is told by the test, and is no failure");
                    done.lock().unwrap().push((round, n));
                };
                background.add(Box::new(job)).unwrap();
            }
            background.flush();
            assert_eq!(done.lock().unwrap().len(), 9 * (round + 1));
        }
        assert!(done.lock().unwrap().is_sorted());
    }

    #[test]
    fn drop_finishes_started_work_only() {
        let (begun, done) = (Arc::new(Barrier::new(2)), Arc::new(AtomicUsize::new(0)));
        let background = Background::default();
        for first in [true, false, false] {
            let (begun, done) = (Arc::clone(&begun), Arc::clone(&done));
            let job = move || {
                if first {
                    begun.wait();
                }
                done.fetch_add(1, Ordering::Relaxed);
            };
            background.add(Box::new(job)).unwrap();
        }
        let shared = Arc::clone(background.0.get());
        // Waiting jobs are discarded before the first one may continue.
        let dropped = std::thread::spawn(move || drop(background));
        while !shared.lock().waiting.is_empty() {
            std::thread::yield_now();
        }
        begun.wait();
        dropped.join().unwrap();
        assert_eq!(done.load(Ordering::Relaxed), 1);
    }
}
