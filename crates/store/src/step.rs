//! Steps: a store takes one before each of its calls to the file system that others can see, or can be seen by. Between two of
//! them another process may do anything, and in the unit tests does (`store/interleave.rs`): there a scheduler decides at each
//! step who goes on.

/// Lets others come in between, in tests.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn step() {}

/// Waits before something is looked at again.
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
        /// Whether this thread runs what a scheduler decides about. All that it schedules runs on one thread.
        static SCHEDULED: Cell<bool> = const { Cell::new(false) };

        /// How many steps this thread takes before it panics, if a test wants that.
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    }

    /// Hands every step of this thread to the scheduler, from now on.
    pub(crate) fn scheduled() {
        SCHEDULED.set(true);
    }

    /// Lets this thread panic after so many steps, as if its process were killed there; `None` lets it go on.
    pub(crate) fn die_after(steps: Option<usize>) {
        LEFT.set(steps);
    }

    pub(crate) fn step() {
        if let Some(left) = LEFT.get() {
            LEFT.set(left.checked_sub(1));
            assert!(left > 0, "killed at this step");
        }
        // Another may go on here. To yield would say that this one has to wait, and another go on in any case.
        if SCHEDULED.get() {
            shuttle::sync::atomic::AtomicBool::new(false).load(Ordering::SeqCst);
        }
    }

    pub(crate) fn pause(time: Duration) {
        if SCHEDULED.get() { shuttle::thread::yield_now() } else { std::thread::sleep(time) }
    }
}
