//! Exceptions in calls whose caller cannot receive an error and continues: each is raised at once, or
//! kept until the caller returns.

use pyo3::prelude::*;
use std::cell::{Cell, RefCell};

thread_local! {
    /// Whether `restore` raised an exception in this thread after `stands` last found none set.
    static RAISED: Cell<bool> = const { Cell::new(false) };
    /// The exception raised during the [`watch`] that runs in this thread; `None` if no `watch` runs.
    static KEPT: RefCell<Option<Option<PyErr>>> = const { RefCell::new(None) };
}

/// Returns whether the exception of an earlier call in this thread is still set. If so, this call must do nothing:
/// Python must not run while an exception is set, and the first exception is the one to report.
pub(super) fn stands() -> bool {
    RAISED.get() && {
        // If the interpreter has shut down, the exception is gone.
        let stands = Python::try_attach(PyErr::occurred).unwrap_or(false);
        RAISED.set(stands);
        stands
    }
}

/// Raises an exception, unless one is set already.
pub(super) fn restore(make: impl FnOnce(Python<'_>) -> PyErr) {
    // After the interpreter has shut down, the error cannot be reported.
    let _ = Python::try_attach(|py| {
        // Another callback of the same caller may have raised an exception.
        if !PyErr::occurred(py) {
            make(py).restore(py);
        }
        RAISED.set(true);
    });
}

/// Runs `call`, and returns the exception that [`beneath`] kept during it.
pub(super) fn watch<T>(call: impl FnOnce() -> T) -> (T, Option<PyErr>) {
    let outer = KEPT.replace(Some(None));
    let result = call();
    (result, KEPT.replace(outer).flatten())
}

/// Runs `call`, unless the exception of an earlier call is still set. An error of `call` becomes an exception. A
/// running [`watch`] keeps it; otherwise it is raised.
pub(super) fn beneath<E>(call: impl FnOnce() -> Result<(), E>, make: impl FnOnce(Python<'_>, E) -> PyErr) {
    let kept = KEPT.take();
    // Functions called by `call` have their own watches.
    let kept = match kept {
        None if stands() => None,
        Some(Some(first)) => Some(Some(first)),
        _ => match (call(), kept) {
            (Ok(()), kept) => kept,
            (Err(failed), None) => {
                restore(|py| make(py, failed));
                None
            }
            (Err(failed), Some(_)) => Some(Python::try_attach(|py| make(py, failed))),
        },
    };
    KEPT.set(kept);
}
