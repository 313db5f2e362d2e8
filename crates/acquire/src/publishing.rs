//! Threads that publish compiled modules; the end of the process waits for them.
//!
//! A module is used from memory while it is published. If the process ended in between, the next process would miss
//! again. The normal end of a process therefore waits for pending modules, for at most [`PATIENCE`]. Runtimes in
//! statics, such as Python's, are never dropped, so only this wait covers them.

use crate::process::PerProcess;
use precast_core::native::at_exit;
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

/// The longest wait at the end of the process: a disk that hangs must not keep it alive.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of modules that this process is publishing.
#[derive(Default)]
struct Pending {
    count: Mutex<usize>,
    none: Condvar,
}

/// The count of each process: the parent's threads do not publish in a forked child.
static PENDING: PerProcess<Pending> = PerProcess::new();

/// A guard for a module that is being published.
pub(crate) struct Publishing(&'static Pending);

impl Publishing {
    /// Counts a module that the end of the process must wait for.
    pub(crate) fn start() -> Self {
        static REGISTERED: Once = Once::new();
        // If registering fails, the process ends without waiting.
        REGISTERED.call_once(|| {
            let _ = at_exit(finish);
        });
        let pending = PENDING.get();
        *pending.lock() += 1;
        Self(pending)
    }
}

impl Drop for Publishing {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.none.notify_all();
    }
}

impl Pending {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until no module is being published.
extern "C" fn finish() {
    let pending = PENDING.get();
    // The process ends even after a timeout.
    drop(pending.none.wait_timeout_while(pending.lock(), PATIENCE, |count| *count > 0));
}

#[cfg(test)]
mod tests {
    use super::{Publishing, finish};
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn end_waits_for_publishing_threads() {
        let (done, is_done) = mpsc::channel();
        let publishing = Publishing::start();
        let thread = thread::spawn(move || {
            done.send(()).unwrap();
            drop(publishing);
        });
        finish();
        // Other tests of this process may publish too, so the count itself is not checked.
        is_done.try_recv().unwrap();
        thread.join().unwrap();
    }
}
