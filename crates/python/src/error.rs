//! Errors of `precast-core` as exceptions. The exception classes are written in Python (`precast/errors.py`), since
//! each also derives from a built-in exception. The messages and hints come from the Rust errors.

use crate::graph::replay::ReplayError;
use crate::own::stash;
use precast_codegen::LinkError;
use precast_core::event::{chain, join, split_hints};
use precast_core::native::ErrorKind;
use precast_core::{CallError, LoadEntryError, OpenBundleError};
use precast_graph::{BuildError, InterpretError, MakeNodeError, PerformError};
use precast_runtime::{BuildRuntimeError, FunctionError};
use precast_store::OpenSignedError;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{
    PyAssertionError, PyException, PyIndexError, PyMemoryError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::error::Error;

/// Creates an exception of a class in `precast/errors.py`.
pub(crate) fn raise<'py>(py: Python<'py>, class: &str, args: impl PyCallArgs<'py>) -> PyErr {
    let made = py.import("precast.errors").and_then(|module| module.getattr(class)?.call1(args));
    made.map_or_else(|failed| failed, PyErr::from_value)
}

/// Returns the text of a Python object, or the name of its class if the text is empty or cannot be produced. `Display`
/// would print an exception in that case.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.str().map(|text| text.to_string_lossy().into_owned());
    let class = || value.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    text.ok().filter(|text| !text.is_empty()).unwrap_or_else(class)
}

fn told(py: Python<'_>, class: &str, error: &(dyn Error + 'static)) -> PyErr {
    raise(py, class, (text(error),))
}

/// Returns the message of an error, with Python's names in its hints.
pub(crate) fn text(error: &(dyn Error + 'static)) -> String {
    let told = chain(error);
    let mut causes = std::iter::successors(Some(error), |&cause| cause.source());
    if causes.any(|cause| matches!(cause.downcast_ref(), Some(LinkError::Half { .. }))) {
        let (said, _) = split_hints(&told);
        let hint =
            "convert with `npy_half_to_float` in the C code and set `_f16_ok = True`, or cast to f32 first";
        return format!("{said}\nhint: {hint}");
    }
    told
}

/// Returns the exception for a bundle that cannot be opened.
pub(crate) fn open(py: Python<'_>, error: &OpenBundleError) -> PyErr {
    // The errno values for which Python has exception classes, for errors that do not come from a system call.
    let (class, number, said, path) = match error {
        OpenBundleError::Missing { path } => {
            let (_, hints) = split_hints(&error.to_string());
            let said = format!("no such bundle ({})", hints.join("; "));
            ("BundleNotFoundError", 2, said, path)
        }
        OpenBundleError::Io { path, source } => {
            let number = source.raw_os_error().unwrap_or(5);
            ("BundleReadError", number, format!("cannot read the bundle: {source}"), path)
        }
        _ => return told(py, "BundleError", error),
    };
    raise(py, class, (number, said, path.display().to_string()))
}

/// Returns the exception for a bundle that cannot be opened under a keyring.
pub(crate) fn open_signed(py: Python<'_>, error: &OpenSignedError) -> PyErr {
    match error {
        OpenSignedError::Open(error) => open(py, error),
        _ => told(py, "BundleError", error),
    }
}

/// Returns the exception for an unknown graph, or for one that nothing in the bundle can serve. `damage` is appended to
/// its message, before the hints of both.
pub(crate) fn entry(py: Python<'_>, error: &LoadEntryError, damage: &str) -> PyErr {
    let class = match error {
        LoadEntryError::Unknown { .. } => "EntryError",
        LoadEntryError::Instance { source: CallError::Op { kind, .. }, .. } => class(*kind),
        _ => "MissError",
    };
    raise(py, class, (join(&[&*text(error), damage], "\n"),))
}

/// Returns the exception for a failed call. `types` is set if an argument has another dtype than its input.
pub(crate) fn call(py: Python<'_>, error: &CallError, types: bool) -> PyErr {
    if let (Some(raised), CallError::Filter { .. } | CallError::Other { .. }) = (stash::take(), error) {
        return because(py, error, raised);
    }
    let class = match error {
        CallError::Op { kind, .. } => class(*kind),
        CallError::Other { .. } => class(error.cause().and_then(interpreted).unwrap_or(ErrorKind::Runtime)),
        CallError::Inputs { .. } | CallError::Outputs { .. } => class(ErrorKind::Type),
        CallError::Input { .. } | CallError::Output { .. } if types => class(ErrorKind::Type),
        CallError::Input { .. }
        | CallError::Output { .. }
        | CallError::Filter { .. }
        | CallError::Extent { .. }
        | CallError::Result { .. } => class(ErrorKind::Value),
        _ => class(ErrorKind::Runtime),
    };
    told(py, class, error)
}

/// Converts an exception raised by a Python method: the result has the same kind, and the original as its cause. An
/// exception that is not an error, such as an interrupt, is returned unchanged.
fn because(py: Python<'_>, error: &CallError, raised: PyErr) -> PyErr {
    if !raised.is_instance_of::<PyException>(py) {
        return raised;
    }
    let is = |kind: &Bound<'_, PyType>| raised.get_type(py).is_subclass(kind).unwrap_or(false);
    let kinds = [
        (py.get_type::<PyTypeError>(), ErrorKind::Type),
        (py.get_type::<PyValueError>(), ErrorKind::Value),
        (py.get_type::<PyIndexError>(), ErrorKind::Index),
        (py.get_type::<PyMemoryError>(), ErrorKind::Memory),
        (py.get_type::<PyAssertionError>(), ErrorKind::Assert),
    ];
    let kind = kinds.iter().find(|(kind, _)| is(kind)).map_or(ErrorKind::Runtime, |(_, kind)| *kind);
    let made = told(py, class(kind), error);
    made.set_cause(py, Some(raised));
    made
}

/// Returns the kind of error that the op's C code would report for this failure of its reference.
fn interpreted(error: &InterpretError) -> Option<ErrorKind> {
    match error {
        InterpretError::Perform { source: PerformError::Value { kind, .. }, .. } => Some(*kind),
        _ => None,
    }
}

/// Returns the exception class for a kind of error.
fn class(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Type => "CallTypeError",
        ErrorKind::Value => "CallValueError",
        ErrorKind::Memory => "CallMemoryError",
        ErrorKind::Index => "CallIndexError",
        ErrorKind::Assert => "CallAssertionError",
        // The exception of the signal replaces this one.
        ErrorKind::Cancelled | ErrorKind::Runtime => "CallRuntimeError",
    }
}

/// Returns the exception for an argument of a type that the function does not accept.
pub(crate) fn wrong_type(py: Python<'_>, text: String) -> PyErr {
    raise(py, class(ErrorKind::Type), (text,))
}

/// Returns the exception for an argument with a value that the function does not accept.
pub(crate) fn wrong_value(py: Python<'_>, text: String) -> PyErr {
    raise(py, class(ErrorKind::Value), (text,))
}

/// Returns the exception for pickling an object that belongs to this process.
pub(crate) fn not_pickled(class: &str, hint: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "cannot pickle a `precast.{class}`: it belongs to this process\nhint: {hint}"
    ))
}

/// Returns the exception for an error in a graph, of a class in `precast/errors.py`.
pub(crate) fn graph_of(py: Python<'_>, class: &str, error: &(dyn Error + 'static)) -> PyErr {
    told(py, class, error)
}

/// Returns the exception for a call that a graph rejects.
pub(crate) fn graph(py: Python<'_>, error: &ReplayError) -> PyErr {
    let build = match error {
        ReplayError::Call { source, .. } | ReplayError::Graph(source) => source,
        ReplayError::Unknown { .. } | ReplayError::NoArray { .. } => {
            return told(py, "GraphTypeError", error);
        }
        ReplayError::Unbound { .. } | ReplayError::Leaked { .. } => {
            return told(py, "GraphValueError", error);
        }
    };
    let class = match build {
        BuildError::MakeNode(refused) => class_of(refused),
        _ => "GraphValueError",
    };
    told(py, class, build)
}

/// Returns the exception class for an op that rejects its arguments.
fn class_of(refused: &MakeNodeError) -> &'static str {
    match refused.innermost() {
        MakeNodeError::Arity { .. } | MakeNodeError::DType { .. } | MakeNodeError::Input { .. } => {
            "GraphTypeError"
        }
        MakeNodeError::Axis { .. } => "GraphAxisError",
        _ => "GraphValueError",
    }
}

/// Returns the exception for an argument of a type that graphs do not accept.
pub(crate) fn graph_type(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "GraphTypeError", (text,))
}

/// Returns the exception for an argument with a value that graphs do not accept.
pub(crate) fn graph_value(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "GraphValueError", (text,))
}

/// Returns the exception for layers that cannot be opened.
pub(crate) fn layers(py: Python<'_>, error: &BuildRuntimeError) -> PyErr {
    match error {
        BuildRuntimeError::Bundle { source, .. } => open(py, source),
        _ => told(py, "BundleError", error),
    }
}

/// Returns the exception for a graph that cannot be compiled to a function.
pub(crate) fn compile(py: Python<'_>, error: &FunctionError) -> PyErr {
    let class = match error {
        FunctionError::Graph(_) | FunctionError::Link(_) => "GraphValueError",
        FunctionError::Miss { .. } => "MissError",
        FunctionError::Instance(refused) => return call(py, refused, false),
        FunctionError::Layer(_) => "BundleError",
        _ => "CompileError",
    };
    told(py, class, error)
}
