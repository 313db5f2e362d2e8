//! Marks the steps at which processes can interleave. A store calls [`step`] before each file-system call that other
//! processes can observe, or that can observe theirs. Any process may act between two steps. In the unit tests
//! (`store/interleave.rs`), a scheduler decides at each step which thread continues.

/// Marks a point where other processes can interleave; does nothing outside tests.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn step() {}

/// Waits before a retry.
#[cfg(not(test))]
pub(crate) fn pause(time: std::time::Duration) {
    std::thread::sleep(time);
}

#[cfg(test)]
pub(crate) use scheduled::{die_after, pause, scheduled, step};

#[cfg(test)]
mod scheduled {
    use std::cell::Cell;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    thread_local! {
        /// Whether a scheduler controls this thread. All scheduled code runs on one OS thread.
        static SCHEDULED: Cell<bool> = const { Cell::new(false) };

        /// The number of steps before this thread panics, if a test sets it.
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    }

    /// Hands every further step of this thread to the scheduler.
    pub(crate) fn scheduled() {
        SCHEDULED.set(true);
    }

    /// Makes this thread panic after `steps` steps, as if its process were killed there; `None` removes the limit.
    pub(crate) fn die_after(steps: Option<usize>) {
        LEFT.set(steps);
    }

    pub(crate) fn step() {
        if let Some(left) = LEFT.get() {
            LEFT.set(left.checked_sub(1));
            assert!(left > 0, "killed at this step");
        }
        // The atomic load only lets the scheduler switch threads. A yield would claim that this thread is blocked, and
        // force a switch.
        if SCHEDULED.get() {
            shuttle::sync::atomic::AtomicBool::new(false).load(Ordering::SeqCst);
        }
    }

    pub(crate) fn pause(time: Duration) {
        if SCHEDULED.get() { shuttle::thread::yield_now() } else { std::thread::sleep(time) }
    }
}
