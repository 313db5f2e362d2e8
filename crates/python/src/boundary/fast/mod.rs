//! The fast path of calls: arguments are read in place, and usually only the results are allocated.
//!
//! ```text
//! f(x, y), f(x, y, out=z), out=(z, w)   plain NumPy arrays of the declared dtypes and ranks; Python's floats and integers
//!   ├ direct   maps and whole reductions of operands in C order: addresses ──▶ kernels
//!   └ views    any other graph or strides: descriptions ──▶ modules
//! anything else ──▶ Function::call, which converts the arguments or raises an exception
//! ```
//! # When the GIL is released
//! Saving and restoring the thread state costs as much as a small call. So, as in NumPy's own functions, the GIL is
//! kept for small work: a map or a reduction of at most [`FEW_ELEMENTS`] elements. Any other graph may take long for
//! arrays of any size (`arange(n)`), so its calls always release the GIL.
//!
//! # The contract
//! The caller of a vectorcall holds its arguments. No Python code runs from the first access of an argument to the end
//! of the call, so the memory stays valid: no argument is converted here, creating a NumPy array does not start a
//! garbage collection, and functions that run Python code do not use the fast path. Extents and strides are read while
//! the GIL is held, or copied. Another thread may replace those of an array while a function runs without the GIL. See
//! `array` for the memory that a module may read.

mod direct;
mod operand;
mod views;

use crate::error;
use crate::function::Function;
use numpy::PyArrayDescr;
use operand::{Classes, Operand};
use precast_core::CallError;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use std::ptr;

/// The maximum number of inputs, and of outputs.
const MOST: usize = 8;
/// The maximum number of elements that are computed without releasing the GIL.
const FEW_ELEMENTS: usize = 500;

/// Data for the fast calls of a function.
pub(crate) struct Fast {
    inputs: Vec<Operand>,
    outputs: Vec<Operand>,
    /// NumPy's dtypes of the results.
    descrs: Vec<Py<PyArrayDescr>>,
    /// Whether each element of the results depends only on the corresponding elements of the inputs.
    is_map: bool,
    classes: Classes,
    /// The interned text `out`, which `Function` holds.
    out: *mut PyObject,
}

/// The outcome of a call: new results, or nothing if they were written to given arrays. `None` if
/// the call cannot use this path.
type Ended<'py> = Option<Result<Option<Bound<'py, PyAny>>, Raised>>;

/// The reason why a call failed.
enum Raised {
    Refused(CallError),
    Python(PyErr),
}

impl From<PyErr> for Raised {
    fn from(raised: PyErr) -> Self {
        Self::Python(raised)
    }
}

/// The arguments of a call in the order of the inputs, and arrays for the results.
#[derive(Clone, Copy)]
struct Given<'a> {
    args: &'a [*mut PyObject],
    out: Option<&'a [*mut PyObject]>,
}

impl Fast {
    /// Prepares the fast path of a function. Returns `None` if the function cannot use it.
    pub(crate) fn of(py: Python<'_>, function: &Function) -> PyResult<Option<Self>> {
        if function.runs_python() {
            return Ok(None);
        }
        let (inputs, outputs) = (function.inner().inputs(), function.inner().outputs());
        let operands = |ports: &[precast_core::program::Port]| {
            ports.iter().map(|port| Operand::of(&port.ty)).collect::<Option<Vec<_>>>()
        };
        let (Some(inputs), Some(outputs)) = (operands(inputs), operands(outputs)) else { return Ok(None) };
        let fits = inputs.len() <= MOST && (1..=MOST).contains(&outputs.len());
        // The bytes of NumPy's bools may be invalid.
        if !fits || inputs.iter().any(Operand::is_bool) {
            return Ok(None);
        }
        let descrs = function.descrs(py)?.iter().map(|descr| descr.clone_ref(py)).collect();
        let (is_map, out) = (function.is_map(), function.out_name().as_ptr());
        Ok(Some(Self { inputs, outputs, descrs, is_map, classes: Classes::of(py), out }))
    }

    /// Calls the function. Returns `None` if the call cannot use the fast path, or NULL with an exception set.
    ///
    /// # Safety
    /// The GIL is held, and the caller holds references to all arguments. The first `positional` arguments have no
    /// name; the tuple `names` names the rest, if it is not NULL.
    pub(crate) unsafe fn call(
        &self,
        function: &Function,
        args: &[*mut PyObject],
        positional: usize,
        names: *mut PyObject,
    ) -> Option<*mut PyObject> {
        if positional != self.inputs.len() {
            return None;
        }
        // SAFETY: guaranteed by the caller.
        let py = unsafe { Python::assume_attached() };
        let (args, out) = match args.split_at_checked(positional)? {
            (args, []) => (args, None),
            (args, [out]) => {
                // SAFETY: a tuple of one name, and the GIL is held.
                let name = unsafe { ffi::PyTuple_GetItem(names, 0) };
                (args, (name == self.out).then_some(Some(*out))?)
            }
            _ => return None,
        };
        let mut rooms = [ptr::null_mut(); MOST];
        let rooms = match out {
            None => None,
            // SAFETY: the GIL is held, and the caller holds the argument.
            Some(out) => Some(unsafe { self.rooms(out, &mut rooms) }?),
        };
        let given = Given { args, out: rooms };
        // SAFETY: guaranteed by the caller.
        let ended = match unsafe { self.direct(py, function, given) } {
            // SAFETY: as above.
            None => unsafe { self.views(py, function, given) }?,
            Some(ended) => ended,
        };
        Some(match (ended, out) {
            (Ok(Some(made)), _) => made.into_ptr(),
            (Ok(None), Some(out)) => {
                // SAFETY: the caller has a reference to it.
                unsafe { ffi::Py_INCREF(out) };
                out
            }
            (Ok(None), None) => return None,
            (Err(raised), _) => raised.restore(py),
        })
    }

    /// Returns the arrays for results: `out` itself, or the elements of the tuple `out`. Returns `None` if their number
    /// differs from that of the results.
    ///
    /// # Safety
    /// The GIL is held, and the caller holds the object.
    #[inline(always)]
    unsafe fn rooms<'a>(
        &self,
        out: *mut PyObject,
        rooms: &'a mut [*mut PyObject; MOST],
    ) -> Option<&'a [*mut PyObject]> {
        // SAFETY: guaranteed by the caller.
        if unsafe { ffi::PyTuple_Check(out) } == 0 {
            rooms[0] = out;
            return (self.outputs.len() == 1).then_some(&rooms[..1]);
        }
        let rooms = rooms.get_mut(..self.outputs.len())?;
        // SAFETY: it is a tuple.
        let count = unsafe { ffi::PyTuple_Size(out) };
        if count.cast_unsigned() != rooms.len() {
            return None;
        }
        for (at, room) in (0..).zip(rooms.iter_mut()) {
            // SAFETY: the tuple has this many elements, and holds them.
            *room = unsafe { ffi::PyTuple_GetItem(out, at) };
        }
        Some(rooms)
    }
}

impl Raised {
    /// Raises the exception.
    #[cold]
    fn restore(self, py: Python<'_>) -> *mut PyObject {
        match self {
            Self::Refused(refused) => error::call(py, &refused, false).restore(py),
            Self::Python(raised) => raised.restore(py),
        }
        ptr::null_mut()
    }
}
