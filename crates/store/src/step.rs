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
pub(crate) use scheduled::{pause, scheduled, step};

#[cfg(test)]
mod scheduled {
    use std::cell::Cell;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    thread_local! {
        /// Whether this thread runs what a scheduler decides about. All that it schedules runs on one thread.
        static SCHEDULED: Cell<bool> = const { Cell::new(false) };
    }

    /// Hands every step of this thread to the scheduler, from now on.
    pub(crate) fn scheduled() {
        SCHEDULED.set(true);
    }

    pub(crate) fn step() {
        // Another may go on here. To yield would say that this one has to wait, and another go on in any case.
        if SCHEDULED.get() {
            shuttle::sync::atomic::AtomicBool::new(false).load(Ordering::SeqCst);
        }
    }

    pub(crate) fn pause(time: Duration) {
        if SCHEDULED.get() { shuttle::thread::yield_now() } else { std::thread::sleep(time) }
    }
}
