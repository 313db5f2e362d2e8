//! Interrupts of running calls: Ctrl-C ends the loops of a graph.

use precast_core::cancellable;
use pyo3::prelude::*;
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// The time between two looks at the signals.
const PERIOD: Duration = Duration::from_millis(20);

/// The number of calls between two looks at the clock.
const CALLS: u32 = 16;

/// Runs work without the GIL. A signal handler that raises an exception cancels the loops of the work, and its
/// exception is returned.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let (result, raised) = py.detach(|| {
        let (calls, looked, raised) = (Cell::new(0_u32), Cell::new(Instant::now()), RefCell::new(None));
        let is_cancelled = || {
            calls.set(calls.get().wrapping_add(1));
            if calls.get() % CALLS != 0 || looked.get().elapsed() < PERIOD {
                return false;
            }
            looked.set(Instant::now());
            let error = Python::try_attach(|py| py.check_signals().err()).flatten();
            let is_raised = error.is_some();
            if is_raised {
                raised.replace(error);
            }
            is_raised
        };
        let result = cancellable(&is_cancelled, work);
        (result, raised.into_inner())
    });
    raised.map_or(Ok(result), Err)
}
