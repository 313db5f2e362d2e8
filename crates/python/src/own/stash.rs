//! Stores the exception of a Python method while the corresponding Rust error passes through
//! code without access to Python.

use crate::error;
use pyo3::prelude::*;
use std::cell::RefCell;

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Stores an exception and returns its text for the Rust error.
pub(crate) fn put(py: Python<'_>, raised: PyErr) -> String {
    let text = error::shown(raised.value(py));
    RAISED.with(|slot| slot.replace(Some(raised)));
    text
}

/// Takes the exception that was stored last in this thread.
pub(crate) fn take() -> Option<PyErr> {
    RAISED.with(RefCell::take)
}
