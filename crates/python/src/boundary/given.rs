//! The arguments of a call, sorted: a value for each input, and `out`. Both call paths begin here, so the rules of names,
//! numbers of arguments and `out` exist once.
//!
//! ```text
//! vectorcall's values ── in_order ──▶ Given   all inputs by position, at most `out` by name: nothing is allocated
//!                    └── by_name ───▶ Sorted  any other call, or an exception
//! out ── rooms ──▶ an array for each result
//! ```
//! Dtype, rank and layout are checked later, where the memory of an array is looked up. There the fast path only recognises
//! arrays that it can use. For all others, the general path converts the value or raises the exception.

use crate::function::Function;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use std::ptr;

/// The arguments of a call in the order of the inputs, and `out` unless it is `None`. The caller of the function holds them.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) inputs: &'a [*mut PyObject],
    pub(super) out: Option<*mut PyObject>,
}

impl<'a> Given<'a> {
    /// Returns the arguments of a call that passes all inputs by position, and nothing but `out` by name. The first
    /// `positional` values have no name; the tuple `names` names the rest, if it is not NULL.
    ///
    /// # Safety
    /// The GIL is held, and `names` is NULL or a tuple of names.
    #[inline(always)]
    pub(super) unsafe fn in_order(
        function: &Function,
        values: &'a [*mut PyObject],
        positional: usize,
        names: *mut PyObject,
    ) -> Option<Self> {
        if positional != function.names().len() {
            return None;
        }
        let (inputs, out) = match values.split_at_checked(positional)? {
            (inputs, []) => (inputs, None),
            (inputs, [out]) => {
                // SAFETY: a tuple of one name, and the GIL is held.
                let name = unsafe { ffi::PyTuple_GetItem(names, 0) };
                (inputs, (name == function.out_name().as_ptr()).then_some(Some(*out))?)
            }
            _ => return None,
        };
        // SAFETY: the GIL is held.
        Some(Self { inputs, out: out.filter(|out| *out != unsafe { ffi::Py_None() }) })
    }

    /// Returns references to the arguments.
    ///
    /// # Safety
    /// The caller holds the arguments.
    pub(super) unsafe fn sorted<'py>(&self, py: Python<'py>) -> Sorted<'py> {
        // SAFETY: guaranteed by the caller.
        let held = |object: &*mut PyObject| unsafe { Bound::from_borrowed_ptr(py, *object) };
        Sorted { inputs: self.inputs.iter().map(held).collect(), out: self.out.as_ref().map(held) }
    }
}

/// The arguments of a call in the order of the inputs, and `out` unless it is `None`.
pub(crate) struct Sorted<'py> {
    pub(crate) inputs: Vec<Bound<'py, PyAny>>,
    pub(crate) out: Option<Bound<'py, PyAny>>,
}

impl<'py> Sorted<'py> {
    /// Sorts the values of any call. The last values belong to `names`.
    pub(super) fn by_name(
        py: Python<'py>,
        function: &Function,
        mut values: Vec<Bound<'py, PyAny>>,
        names: Option<&Bound<'py, PyTuple>>,
    ) -> PyResult<Self> {
        let wrong = |what: &str| function.misused(py, what);
        let own = function.names();
        let named = values.split_off(values.len() - names.map_or(0, PyTupleMethods::len));
        if values.len() > own.len() {
            return Err(wrong(&format!("takes {} argument(s) but {} were given", own.len(), values.len())));
        }
        let mut inputs: Vec<Option<Bound<'py, PyAny>>> = values.into_iter().map(Some).collect();
        inputs.resize(own.len(), None);
        let mut out = None;
        for (name, value) in names.into_iter().flatten().zip(named) {
            let is = |own: &Py<PyString>| name.eq(own).unwrap_or(false);
            match own.iter().position(is) {
                Some(position) if inputs[position].is_some() => {
                    return Err(wrong(&format!("got multiple values for argument `{name}`")));
                }
                Some(position) => inputs[position] = Some(value),
                None if is(function.out_name()) => out = Some(value).filter(|out| !out.is_none()),
                None => return Err(wrong(&format!("got an unexpected keyword argument `{name}`"))),
            }
        }
        let ports = inputs.into_iter().zip(function.inner().inputs());
        let inputs = ports.map(|(value, port)| {
            value.ok_or_else(|| wrong(&format!("missing required argument `{}`", port.name)))
        });
        Ok(Self { inputs: inputs.collect::<PyResult<_>>()?, out })
    }
}

/// Does the same as [`rooms`], with references to the arrays.
pub(crate) fn held_rooms<'py>(
    out: &Bound<'py, PyAny>,
    count: usize,
) -> Result<Vec<Bound<'py, PyAny>>, usize> {
    let mut room = vec![ptr::null_mut(); count];
    // SAFETY: the GIL is held, and so is the object.
    let rooms = unsafe { rooms(out.as_ptr(), &mut room) }?;
    // SAFETY: `out` holds its elements.
    let held = |object: &*mut PyObject| unsafe { Bound::from_borrowed_ptr(out.py(), *object) };
    Ok(rooms.iter().map(held).collect())
}

/// Returns the arrays for results: `out` itself, or the elements of the tuple `out`. There are as many results as elements in
/// `rooms`, which are overwritten. Fails with the number of arrays if it is another.
///
/// # Safety
/// The GIL is held, and the caller holds the object.
#[inline(always)]
pub(super) unsafe fn rooms(
    out: *mut PyObject,
    rooms: &mut [*mut PyObject],
) -> Result<&[*mut PyObject], usize> {
    // SAFETY: guaranteed by the caller.
    if unsafe { ffi::PyTuple_Check(out) } == 0 {
        let [room] = rooms else { return Err(1) };
        *room = out;
        return Ok(rooms);
    }
    // SAFETY: it is a tuple.
    let found = unsafe { ffi::PyTuple_Size(out) }.cast_unsigned();
    if found != rooms.len() {
        return Err(found);
    }
    for (at, room) in (0..).zip(rooms.iter_mut()) {
        // SAFETY: the tuple has this many elements, and holds them.
        *room = unsafe { ffi::PyTuple_GetItem(out, at) };
    }
    Ok(rooms)
}
