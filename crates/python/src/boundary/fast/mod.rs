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

use super::given::{self, Given};
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
        let is_map = function.is_map();
        Ok(Some(Self { inputs, outputs, descrs, is_map, classes: Classes::of(py) }))
    }

    /// Calls the function. Returns `None` if the call cannot use the fast path, or NULL with an exception set.
    ///
    /// # Safety
    /// The GIL is held, the caller holds references to all arguments, and `given` has an argument for each input.
    pub(super) unsafe fn call(&self, function: &Function, given: Given<'_>) -> Option<*mut PyObject> {
        // SAFETY: guaranteed by the caller.
        let py = unsafe { Python::assume_attached() };
        let mut room = [ptr::null_mut(); MOST];
        let rooms = match given.out {
            None => None,
            // SAFETY: the GIL is held, and the caller holds the argument.
            Some(out) => Some(unsafe { given::rooms(out, room.get_mut(..self.outputs.len())?) }.ok()?),
        };
        // SAFETY: guaranteed by the caller.
        let ended = match unsafe { self.direct(py, function, given.inputs, rooms) } {
            // SAFETY: as above.
            None => unsafe { self.views(py, function, given.inputs, rooms) }?,
            Some(ended) => ended,
        };
        Some(match (ended, given.out) {
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
