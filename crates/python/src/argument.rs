//! Arguments of a call: values are converted to arrays, and then their memory is accessed.
//!
//! ```text
//! value ── convert ──▶ Argument ── take ──▶ Taken ── read ──▶ ArrayRef
//! out   ── rooms ────▶ arrays ──── lend ──▶ Lent ─── write ─▶ ArrayMut
//!          runs Python code        runs none, up to the end of the call
//! ```
//! Converting a value may run any Python code, which may free the memory of every other argument. So a call converts
//! all its arguments, and `out`, before it takes the first. See the contract of [`array`](crate::boundary::array).

use crate::boundary::array::Lent;
use crate::boundary::given::held_rooms;
use crate::{dtypes, error, number};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use precast_core::native::RawArrayError;
use precast_core::program::Port;
use precast_core::{Array, ArrayMut, ArrayRef, CallError};
use pyo3::exceptions::{PyException, PyMemoryError, PyOverflowError, PyRecursionError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::Cell;

/// A converted value.
pub(crate) enum Argument<'py> {
    Number(Array),
    Array(Bound<'py, PyUntypedArray>),
}

/// An argument whose memory can be read.
pub(crate) enum Taken<'py> {
    Own(Array),
    Lent(Lent<'py>),
}

impl<'py> Argument<'py> {
    /// Converts a value. Its type is checked later, by the call.
    pub(crate) fn convert(value: Bound<'py, PyAny>, port: &Port) -> PyResult<Self> {
        let py = value.py();
        let value = match value.cast_into::<PyUntypedArray>() {
            Ok(array) => {
                // The conversion would silently drop the mask.
                if !array.is_exact_instance_of::<PyUntypedArray>() && array.hasattr("filled")? {
                    let text = format!("input `{}` is a masked array\nhint: pass `x.filled(…)`", port.name);
                    return Err(error::wrong_type(py, text));
                }
                return Ok(Self::Array(array));
            }
            Err(other) => other.into_inner(),
        };
        let number = number::find(&value, port.ty.dtype()).map_err(|cause| refused(py, port, cause))?;
        match number {
            Some(number) => Ok(Self::Number(number)),
            None => borrowed(&value).map(Self::Array).map_err(|cause| refused(py, port, cause)),
        }
    }

    /// Looks up the memory of the argument. Does not run Python code.
    pub(crate) fn take(self, port: &Port) -> PyResult<Taken<'py>> {
        match self {
            Self::Number(array) => Ok(Taken::Own(array)),
            Self::Array(array) => {
                let hint = "pass `x.astype(x.dtype.newbyteorder(\"=\"))`";
                lent(array, "input", port, hint).map(Taken::Lent)
            }
        }
    }
}

impl Taken<'_> {
    /// Returns the array to read from.
    pub(crate) fn read(&self, py: Python<'_>, port: &Port) -> PyResult<ArrayRef<'_>> {
        match self {
            Self::Own(array) => Ok(ArrayRef::from(array)),
            Self::Lent(lent) => match lent.read() {
                Ok(Some(array)) => Ok(array),
                Ok(None) => {
                    let text = "has bools that are neither 0 nor 1\nhint: pass `x != 0`";
                    Err(error::wrong_value(py, format!("input `{}` {text}", port.name)))
                }
                Err(refused) => Err(description(py, "input", port, &refused)),
            },
        }
    }

    /// Returns a copy, which Python code cannot change.
    pub(crate) fn copied(&self, py: Python<'_>, port: &Port) -> PyResult<Self> {
        self.read(py, port).map(|array| Self::Own(array.to_array()))
    }
}

/// Returns the arrays that were passed as `out`.
pub(crate) fn rooms<'py>(
    out: &Bound<'py, PyAny>,
    ports: &[Port],
) -> PyResult<Vec<Bound<'py, PyUntypedArray>>> {
    let py = out.py();
    let outputs = |found| error::call(py, &CallError::Outputs { expected: ports.len(), found }, true);
    let given = held_rooms(out, ports.len()).map_err(outputs)?;
    let arrays = given.into_iter().zip(ports).map(|(value, port)| {
        let is_none =
            |_| error::wrong_type(py, format!("`out` for output `{}` is not a NumPy array", port.name));
        value.cast_into::<PyUntypedArray>().map_err(is_none)
    });
    let arrays: Vec<_> = arrays.collect::<PyResult<_>>()?;
    check_apart(&arrays, ports)?;
    Ok(arrays)
}

/// The number of steps that NumPy may take to find an element that two arrays share.
const SHARES_WORK: u32 = 10_000;

/// Checks that no two arrays share an element. If they did, one of the results would be overwritten.
fn check_apart(arrays: &[Bound<'_, PyUntypedArray>], ports: &[Port]) -> PyResult<()> {
    for (at, (array, port)) in arrays.iter().zip(ports).enumerate() {
        for (other, earlier) in arrays[..at].iter().zip(ports) {
            if shares(array, other)? {
                let text = format!(
                    "the arrays of `out` for `{}` and `{}` share memory\nhint: give each result an array of its own",
                    earlier.name, port.name
                );
                return Err(error::wrong_value(array.py(), text));
            }
        }
    }
    Ok(())
}

/// Returns whether two arrays share an element; `false` if the check takes too long.
fn shares(one: &Bound<'_, PyUntypedArray>, other: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
    let py = one.py();
    let settings = PyDict::new(py);
    settings.set_item("max_work", SHARES_WORK)?;
    let found = py.import("numpy")?.getattr("shares_memory")?.call((one, other), Some(&settings));
    match found {
        // NumPy's `TooHardError`.
        Err(raised) if raised.is_instance_of::<PyRuntimeError>(py) => Ok(false),
        found => found?.is_truthy(),
    }
}

/// Looks up the memory of arrays for results. Does not run Python code.
pub(crate) fn lend<'py>(rooms: Vec<Bound<'py, PyUntypedArray>>, ports: &[Port]) -> PyResult<Vec<Lent<'py>>> {
    let rooms = rooms.into_iter().zip(ports);
    let lent = rooms.map(|(array, port)| {
        let hint = format!("pass `numpy.empty(shape, \"{}\")`", dtypes::name(port.ty.dtype()));
        lent(array, "output", port, &hint)
    });
    lent.collect()
}

/// Returns the arrays to write results to.
pub(crate) fn writable<'a>(
    py: Python<'_>,
    rooms: &'a mut [Lent<'_>],
    ports: &[Port],
) -> PyResult<Vec<ArrayMut<'a>>> {
    let rooms = rooms.iter_mut().zip(ports);
    let arrays =
        rooms.map(|(room, port)| room.write().map_err(|refused| description(py, "output", port, &refused)));
    arrays.collect()
}

/// Looks up the memory of an array that was passed for an input or output. `hint` is shown if
/// the array has another byte order.
fn lent<'py>(
    array: Bound<'py, PyUntypedArray>,
    role: &str,
    Port { name, ty }: &Port,
    hint: &str,
) -> PyResult<Lent<'py>> {
    let (py, descr) = (array.py(), array.dtype());
    Lent::find(array).ok_or_else(|| {
        let swapped = descr.is_native_byteorder() == Some(false);
        let hint = if swapped { format!("\nhint: {hint}") } else { String::new() };
        let found = error::shown(&descr);
        error::wrong_type(py, format!("{role} `{name}` is of dtype `{found}`, expected `{ty}`{hint}"))
    })
}

/// Returns the exception for a value that cannot be converted. An exception that is not an error, such as an
/// interrupt, is returned unchanged.
fn refused(py: Python<'_>, port: &Port, cause: PyErr) -> PyErr {
    if !cause.is_instance_of::<PyException>(py) {
        return cause;
    }
    let text = format!("input `{}`: {}", port.name, error::shown(cause.value(py)));
    let made = if cause.is_instance_of::<PyOverflowError>(py) {
        error::wrong_value(py, text)
    } else if cause.is_instance_of::<PyMemoryError>(py) {
        error::raise(py, "CallMemoryError", (text,))
    } else {
        error::wrong_type(py, text)
    };
    made.set_cause(py, Some(cause));
    made
}

/// The maximum depth of nested calls in which objects that provide memory call functions on similar objects. Programs
/// raise Python's own recursion limit, which then no longer protects the stack.
const DEEPEST: u32 = 100;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Returns the array of another object that provides memory.
fn borrowed<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let depth = DEPTH.get();
    if depth == DEEPEST {
        let text = format!("maximum depth of nested array conversions exceeded ({DEEPEST})");
        return Err(PyRecursionError::new_err(text));
    }
    DEPTH.set(depth + 1);
    let array =
        value.py().import("precast._foreign").and_then(|module| module.call_method1("borrow", (value,)));
    DEPTH.set(depth);
    array?.cast_into::<PyUntypedArray>().map_err(PyErr::from)
}

/// Returns the exception for an array that precast cannot read from or write to.
#[cold]
fn description(py: Python<'_>, role: &str, port: &Port, refused: &RawArrayError) -> PyErr {
    error::wrong_value(py, format!("{role} `{}`: {refused}", port.name))
}
