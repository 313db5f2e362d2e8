//! Arguments of a call: values as arrays, then their memory.
//!
//! ```text
//! value ── convert ──▶ Argument ── take ──▶ Taken ── read ──▶ ArrayRef
//! out   ── rooms ────▶ arrays ──── lend ──▶ Lent ─── write ─▶ ArrayMut
//!          runs Python's code      runs none, up to the end of the call
//! ```
//! A value that is converted may run any code of Python's, which may free the memory of every other argument. So a call converts all
//! its arguments, and `out`, before it takes the first. See the contract of [`array`](crate::boundary::array).

use crate::boundary::array::Lent;
use crate::{dtypes, error, number};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use precast_core::native::RawArrayError;
use precast_core::program::Port;
use precast_core::{Array, ArrayMut, ArrayRef, CallError};
use pyo3::exceptions::{PyException, PyMemoryError, PyOverflowError, PyRecursionError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::cell::Cell;

/// A value that was converted.
pub(crate) enum Argument<'py> {
    Number(Array),
    Array(Bound<'py, PyUntypedArray>),
}

/// An argument whose memory is read.
pub(crate) enum Taken<'py> {
    Own(Array),
    Lent(Lent<'py>),
}

impl<'py> Argument<'py> {
    /// Converts a value; its type is compared by the call.
    pub(crate) fn convert(value: Bound<'py, PyAny>, port: &Port) -> PyResult<Self> {
        let py = value.py();
        let value = match value.cast_into::<PyUntypedArray>() {
            Ok(array) => {
                // A mask would be lost in silence.
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

    /// Finds its memory. Runs no code of Python's.
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
    /// The array to read from.
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

    /// A copy, which no code of Python's can change.
    pub(crate) fn copied(&self, py: Python<'_>, port: &Port) -> PyResult<Self> {
        self.read(py, port).map(|array| Self::Own(array.to_array()))
    }
}

/// The arrays that are given as `out`.
pub(crate) fn rooms<'py>(
    out: &Bound<'py, PyAny>,
    ports: &[Port],
) -> PyResult<Vec<Bound<'py, PyUntypedArray>>> {
    let py = out.py();
    let given = match out.cast::<PyTuple>() {
        Ok(several) => several.iter().collect(),
        Err(_) => vec![out.clone()],
    };
    if given.len() != ports.len() {
        let error = CallError::Outputs { expected: ports.len(), found: given.len() };
        return Err(error::call(py, &error, true));
    }
    let arrays = given.into_iter().zip(ports).map(|(value, port)| {
        let is_none =
            |_| error::wrong_type(py, format!("`out` for output `{}` is not a NumPy array", port.name));
        value.cast_into::<PyUntypedArray>().map_err(is_none)
    });
    let arrays: Vec<_> = arrays.collect::<PyResult<_>>()?;
    check_apart(&arrays, ports)?;
    Ok(arrays)
}

/// Steps that NumPy may take to find an element that two arrays share.
const SHARES_WORK: u32 = 10_000;

/// Checks that no two arrays share an element: one of the results would be lost.
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

/// Whether two arrays share an element; `false` where that takes too long to find out.
fn shares(one: &Bound<'_, PyUntypedArray>, other: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
    let py = one.py();
    let settings = PyDict::new(py);
    settings.set_item("max_work", SHARES_WORK)?;
    let found = py.import("numpy")?.getattr("shares_memory")?.call((one, other), Some(&settings));
    match found {
        // `TooHardError`.
        Err(raised) if raised.is_instance_of::<PyRuntimeError>(py) => Ok(false),
        found => found?.is_truthy(),
    }
}

/// The memory of arrays for results. Runs no code of Python's.
pub(crate) fn lend<'py>(rooms: Vec<Bound<'py, PyUntypedArray>>, ports: &[Port]) -> PyResult<Vec<Lent<'py>>> {
    let rooms = rooms.into_iter().zip(ports);
    let lent = rooms.map(|(array, port)| {
        let hint = format!("pass `numpy.empty(shape, \"{}\")`", dtypes::name(port.ty.dtype()));
        lent(array, "output", port, &hint)
    });
    lent.collect()
}

/// The arrays to write results to.
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

/// The memory of an array that is given for an input or output; `hint` is for one of another byte order.
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

/// The exception of a value that cannot be converted. One that is no error, such as an interrupt, passes.
fn refused(py: Python<'_>, port: &Port, cause: PyErr) -> PyErr {
    if !cause.is_instance_of::<PyException>(py) {
        return cause;
    }
    let text = format!("input `{}` is refused: {}", port.name, error::shown(cause.value(py)));
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

/// How deep objects that are asked for their memory may call functions that ask others. Programs raise Python's own limit, which
/// then no longer keeps the stack from its end.
const DEEPEST: u32 = 100;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// The array of something else that has memory.
fn borrowed<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let depth = DEPTH.get();
    if depth == DEEPEST {
        let text = format!("an array whose memory is that of calls within calls, {DEEPEST} deep");
        return Err(PyRecursionError::new_err(text));
    }
    DEPTH.set(depth + 1);
    let array =
        value.py().import("precast._foreign").and_then(|module| module.call_method1("borrow", (value,)));
    DEPTH.set(depth);
    array?.cast_into::<PyUntypedArray>().map_err(PyErr::from)
}

/// The exception of an array that precast cannot read from or write to.
#[cold]
fn description(py: Python<'_>, role: &str, port: &Port, refused: &RawArrayError) -> PyErr {
    error::wrong_value(py, format!("{role} `{}`: {refused}", port.name))
}
