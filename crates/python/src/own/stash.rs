//! The exception of a method of Python's, while an error of Rust's travels through code that knows no Python.

use crate::error;
use pyo3::prelude::*;
use std::cell::RefCell;

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps an exception for the error that it becomes; gives its text.
pub(crate) fn put(py: Python<'_>, raised: PyErr) -> String {
    let text = error::shown(raised.value(py));
    RAISED.with(|slot| slot.replace(Some(raised)));
    text
}

/// The exception that was put last in this thread, once.
pub(crate) fn take() -> Option<PyErr> {
    RAISED.with(RefCell::take)
}
