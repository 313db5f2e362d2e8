//! Calls of any graph, on operands with any strides.

use super::operand::{FEW, Found, Operand};
use super::{Ended, FEW_ELEMENTS, Fast, MOST, Raised};
use crate::boundary::array;
use crate::function::Function;
use crate::interrupt::detached;
use crate::own::stash;
use precast_core::native::RawArray;
use precast_core::{ArrayMut, ArrayRef, CallError};
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use std::mem::MaybeUninit;
use std::slice;

/// Copies of the extents and strides of an array, or a number.
#[derive(Default)]
struct Place {
    extents: [usize; FEW],
    strides: [isize; FEW],
    number: u64,
}

impl Fast {
    /// Calls the function.
    ///
    /// # Safety
    /// The GIL is held, and the caller holds the arguments.
    pub(super) unsafe fn views<'py>(
        &self,
        py: Python<'py>,
        function: &Function,
        args: &[*mut PyObject],
        rooms: Option<&[*mut PyObject]>,
    ) -> Ended<'py> {
        // Dropping an exception may run Python code, so it happens before arguments are accessed.
        drop(stash::take());
        let mut places = [const { MaybeUninit::uninit() }; MOST];
        let mut inputs = [const { MaybeUninit::uninit() }; MOST];
        let rows = args.iter().zip(&self.inputs).zip(places.iter_mut().zip(&mut inputs));
        let mut elements = 1_usize;
        for ((object, operand), (place, input)) in rows {
            // SAFETY: guaranteed by the caller.
            let found = unsafe { self.place(*object, operand, place) }?;
            elements = elements.saturating_mul(found.shape.iter().product());
            // SAFETY: NumPy's extents and strides stay within the memory of the array, which the caller holds and whose
            // elements NumPy initialises. Any bytes are a valid number, and there are no bools. See the contract.
            input.write(unsafe { found.read() }.ok()?);
        }
        // SAFETY: `args.len()` elements were written. (They borrow the places, and own nothing that must be dropped.)
        let inputs = unsafe { slice::from_raw_parts(inputs.as_ptr().cast::<ArrayRef<'_>>(), args.len()) };
        // A broadcast result has at most as many elements as the product of all element counts.
        let is_short = self.is_map && elements <= FEW_ELEMENTS;
        let Some(rooms) = rooms else {
            let results = work(py, is_short, || function.inner().call(inputs));
            return Some(results.and_then(|results| {
                let made = results.into_iter().zip(&self.descrs);
                let made = made.map(|(result, descr)| array::give(py, result, descr.bind(py), true));
                Ok(Some(array::all(py, self.outputs.len(), made)?))
            }));
        };
        // SAFETY: guaranteed by the caller.
        let ended = unsafe {
            self.into(rooms, |rooms| work(py, is_short, || function.inner().call_views(inputs, rooms)))
        };
        Some(ended?.map(|()| None))
    }

    /// Calls a function and writes its results to arrays.
    ///
    /// # Safety
    /// The GIL is held, and the caller holds the arrays.
    unsafe fn into(
        &self,
        rooms: &[*mut PyObject],
        call: impl FnOnce(&mut [ArrayMut<'_>]) -> Result<(), Raised>,
    ) -> Option<Result<(), Raised>> {
        let mut places = [const { MaybeUninit::uninit() }; MOST];
        let mut outputs = [const { MaybeUninit::uninit() }; MOST];
        let rows = rooms.iter().zip(&self.outputs).zip(places.iter_mut().zip(&mut outputs));
        for ((object, operand), (place, output)) in rows {
            // SAFETY: guaranteed by the caller.
            let found = unsafe { operand.array(self.classes, *object) }?;
            let Place { extents, strides, .. } = place.write(Place::default());
            let found = described(operand, &found, extents, strides);
            // SAFETY: NumPy's extents and strides stay within the memory of the array, which the caller holds. Other
            // users of the memory are arguments of this call, or violate the contract.
            output.write(unsafe { found.write() }.ok()?);
        }
        // SAFETY: `rooms.len()` elements were written, as above.
        let outputs =
            unsafe { slice::from_raw_parts_mut(outputs.as_mut_ptr().cast::<ArrayMut<'_>>(), rooms.len()) };
        // Results that share elements are rejected.
        (!ArrayMut::overlap(outputs, &[])).then(|| call(outputs))
    }

    /// Looks up the memory of an argument. Its extents, strides or number are copied to `place`.
    ///
    /// # Safety
    /// The GIL is held, and the caller holds the object.
    unsafe fn place<'a>(
        &self,
        object: *mut PyObject,
        operand: &Operand,
        place: &'a mut MaybeUninit<Place>,
    ) -> Option<RawArray<'a>> {
        let Place { extents, strides, number } = place.write(Place::default());
        // SAFETY: guaranteed by the caller.
        let found = unsafe { operand.look(self.classes, object, number) }?;
        Some(described(operand, &found, extents, strides))
    }
}

/// Describes an array with copies of its extents and strides.
fn described<'a>(
    operand: &Operand,
    found: &Found<'_>,
    extents: &'a mut [usize; FEW],
    strides: &'a mut [isize; FEW],
) -> RawArray<'a> {
    let (ndim, readonly) = (found.shape.len(), found.readonly);
    extents[..ndim].copy_from_slice(found.shape);
    strides[..ndim].copy_from_slice(found.strides_bytes);
    let (shape, strides_bytes) = (&extents[..ndim], &strides[..ndim]);
    RawArray { data: found.data.cast(), dtype: operand.dtype, shape, strides_bytes, readonly }
}

/// Runs work, without the GIL unless the work is short.
fn work<T: Send>(
    py: Python<'_>,
    is_short: bool,
    work: impl FnOnce() -> Result<T, CallError> + Send,
) -> Result<T, Raised> {
    let result = if is_short { work() } else { detached(py, work)? };
    result.map_err(Raised::Refused)
}
