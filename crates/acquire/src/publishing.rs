//! Threads that publish compiled modules, and the end of the process, which waits for them.
//!
//! A module is used from memory while it is published. A process that ends meanwhile would leave a store in which the next
//! process misses, so its normal end waits for what is under way, for at most [`PATIENCE`]. Runtimes in statics, as Python's
//! are, are never dropped: this is their only chance.

use crate::process::PerProcess;
use precast_core::native::at_exit;
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

/// The longest that the end of a process waits: a disk that hangs must not keep it alive.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of modules that this process is publishing.
#[derive(Default)]
struct Pending {
    count: Mutex<usize>,
    none: Condvar,
}

/// By process: the parent's threads do not publish in a forked child.
static PENDING: PerProcess<Pending> = PerProcess::new();

/// A module that is being published, until it is dropped.
pub(crate) struct Publishing(&'static Pending);

impl Publishing {
    /// Counts a module, and has the end of the process wait for it.
    pub(crate) fn start() -> Self {
        static REGISTERED: Once = Once::new();
        // Where no function can be registered, the process ends as it would without one.
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

/// Waits until nothing is being published.
extern "C" fn finish() {
    let pending = PENDING.get();
    // Whether time is up or not, the process ends.
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
        // Other tests of this process may publish too, so the count itself says nothing.
        is_done.try_recv().unwrap();
        thread.join().unwrap();
    }
}
