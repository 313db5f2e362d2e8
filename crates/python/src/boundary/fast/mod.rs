//! A call without detours: what it is given is read where it lies, and as a rule nothing is allocated but results.
//!
//! ```text
//! f(x, y), f(x, y, out=z), out=(z, w)   arrays of NumPy itself, of the declared dtypes and ranks; Python's floats and integers
//!   ├ direct   maps and whole reductions of what lies in C order: addresses ──▶ kernels
//!   └ views    any other graph or strides: descriptions ──▶ modules
//! anything else ──▶ Function::call, which says what is wrong or converts
//! ```
//! # When the interpreter is given free
//! Saving and restoring the thread costs as much as a small call. So it is kept where the work is known to be small, as NumPy's own
//! functions do: where every element that is computed is one of at most [`FEW_ELEMENTS`]. Whatever else a graph does may take long
//! whatever its arrays' size (`arange(n)`), so it never keeps the interpreter.
//!
//! # The contract
//! The caller of a vectorcall holds its arguments, and no code of Python's runs from the first that is looked at to the end of the call,
//! so the memory stays: nothing is converted here, a new array of NumPy starts no collection, and functions that run Python's code are
//! called the other way. Extents and strides are read while the interpreter is held, or copied, because another thread may replace
//! those of an array while a function runs without it. See `array` for what a module may read.

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

/// Most inputs of such a call, and most outputs.
const MOST: usize = 8;
/// Elements that are computed without giving the interpreter free.
const FEW_ELEMENTS: usize = 500;

/// What is compared in each call of a function.
pub(crate) struct Fast {
    inputs: Vec<Operand>,
    outputs: Vec<Operand>,
    /// NumPy's dtypes of the results.
    descrs: Vec<Py<PyArrayDescr>>,
    /// Whether each element of the results is computed of those of the inputs, and of nothing else.
    is_map: bool,
    classes: Classes,
    /// The interned text `out`, which `Function` holds.
    out: *mut PyObject,
}

/// How a call ends: with new results, or with nothing if there are arrays for them. `None`: it has to be made another way.
type Ended<'py> = Option<Result<Option<Bound<'py, PyAny>>, Raised>>;

/// Why a call failed.
enum Raised {
    Refused(CallError),
    Python(PyErr),
}

impl From<PyErr> for Raised {
    fn from(raised: PyErr) -> Self {
        Self::Python(raised)
    }
}

/// What a call is given: arguments in the order of the inputs, and arrays for the results.
#[derive(Clone, Copy)]
struct Given<'a> {
    args: &'a [*mut PyObject],
    out: Option<&'a [*mut PyObject]>,
}

impl Fast {
    /// How a function is called without detours; `None` if it never is.
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
        // NumPy's bools may be any byte.
        if !fits || inputs.iter().any(Operand::is_bool) {
            return Ok(None);
        }
        let descrs = function.descrs(py)?.iter().map(|descr| descr.clone_ref(py)).collect();
        let (is_map, out) = (function.is_map(), function.out_name().as_ptr());
        Ok(Some(Self { inputs, outputs, descrs, is_map, classes: Classes::of(py), out }))
    }

    /// Calls the function; `None` if it has to be called the other way. NULL: an exception is raised.
    ///
    /// # Safety
    /// The interpreter is held; the caller holds references to all arguments, of which `positional` have no name and the others
    /// have those of the tuple `names`, if it is not NULL.
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
        // SAFETY: the caller's promise.
        let py = unsafe { Python::assume_attached() };
        let (args, out) = match args.split_at_checked(positional)? {
            (args, []) => (args, None),
            (args, [out]) => {
                // SAFETY: a tuple of one name, and the interpreter is held.
                let name = unsafe { ffi::PyTuple_GetItem(names, 0) };
                (args, (name == self.out).then_some(Some(*out))?)
            }
            _ => return None,
        };
        let mut rooms = [ptr::null_mut(); MOST];
        let rooms = match out {
            None => None,
            // SAFETY: the interpreter is held, and the caller holds the argument.
            Some(out) => Some(unsafe { self.rooms(out, &mut rooms) }?),
        };
        let given = Given { args, out: rooms };
        // SAFETY: the caller's promise.
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

    /// The arrays for results: what is given as `out`, or the elements of that tuple; `None` if they are not as many as the results.
    ///
    /// # Safety
    /// The interpreter is held, and the caller holds the object.
    #[inline(always)]
    unsafe fn rooms<'a>(
        &self,
        out: *mut PyObject,
        rooms: &'a mut [*mut PyObject; MOST],
    ) -> Option<&'a [*mut PyObject]> {
        // SAFETY: the caller's promise.
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
            // SAFETY: a tuple of so many, which holds them.
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
