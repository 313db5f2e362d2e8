//! The exception of a method of Python's, while an error of Rust's travels through code that knows no Python.

use pyo3::prelude::*;
use std::cell::RefCell;

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps an exception for the error that it becomes; gives its text.
pub(crate) fn put(py: Python<'_>, raised: PyErr) -> String {
    let kind = raised.get_type(py).name().map_or_else(|_| "exception".to_owned(), |name| name.to_string());
    let text = raised.value(py).to_string();
    RAISED.with(|slot| slot.replace(Some(raised)));
    if text.is_empty() { kind } else { text }
}

/// The exception that was put last in this thread, once.
pub(crate) fn take() -> Option<PyErr> {
    RAISED.with(RefCell::take)
}
