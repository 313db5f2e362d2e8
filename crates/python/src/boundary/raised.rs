//! An exception that is raised where the caller cannot be told, and calls on.

use pyo3::prelude::*;
use std::cell::Cell;

thread_local! {
    /// Whether `restore` has raised one in this thread since `stands` last saw none.
    static RAISED: Cell<bool> = const { Cell::new(false) };
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
