//! An exception that is raised where the caller cannot be told, and calls on: it is set, or kept until that caller is done.

use pyo3::prelude::*;
use std::cell::{Cell, RefCell};

thread_local! {
    /// Whether `restore` has raised one in this thread since `stands` last saw none.
    static RAISED: Cell<bool> = const { Cell::new(false) };
    /// What was raised beneath the [`watch`] that runs in this thread; `None` where none runs.
    static KEPT: RefCell<Option<Option<PyErr>>> = const { RefCell::new(None) };
}

/// Whether the exception of an earlier call in this thread still stands, so that this call is to do nothing: Python must not run
/// beneath an exception, and the first is the one.
pub(super) fn stands() -> bool {
    RAISED.get() && {
        // No interpreter is left whose exception it could be.
        let stands = Python::try_attach(PyErr::occurred).unwrap_or(false);
        RAISED.set(stands);
        stands
    }
}

/// Raises an exception, if there is none.
pub(super) fn restore(make: impl FnOnce(Python<'_>) -> PyErr) {
    // Nobody is left to be told where the interpreter is no longer one.
    let _ = Python::try_attach(|py| {
        // One that another callback of the same caller has raised.
        if !PyErr::occurred(py) {
            make(py).restore(py);
        }
        RAISED.set(true);
    });
}

/// Runs `call`, and gives the exception that was raised by [`beneath`] it.
pub(super) fn watch<T>(call: impl FnOnce() -> T) -> (T, Option<PyErr>) {
    let outer = KEPT.replace(Some(None));
    let result = call();
    (result, KEPT.replace(outer).flatten())
}

/// Runs `call`, if no exception of an earlier call stands; what it fails with is made an exception, which a [`watch`] keeps, and which
/// is raised where there is none.
pub(super) fn beneath<E>(call: impl FnOnce() -> Result<(), E>, make: impl FnOnce(Python<'_>, E) -> PyErr) {
    let kept = KEPT.take();
    // What `call` calls has its own watches.
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
