//! Calls of maps and whole reductions on operands in C order: the addresses of the arrays go directly to the kernels.

use super::operand::{Found, Operand};
use super::{Ended, FEW_ELEMENTS, Fast, MOST};
use crate::boundary::array::{self, Number};
use crate::function::Function;
use precast_core::native::{Call, Direct, Strided};
use pyo3::ffi::PyObject;
use pyo3::prelude::*;

/// A new result.
enum Made<'py> {
    Array(Bound<'py, PyAny>),
    Number(Number),
}

impl Fast {
    /// Calls the function. Returns `None` also if a kernel rejects the arguments.
    ///
    /// # Safety
    /// The GIL is held, and the caller holds the arguments.
    #[inline(always)]
    pub(super) unsafe fn direct<'py>(
        &self,
        py: Python<'py>,
        function: &Function,
        inputs: &[*mut PyObject],
        rooms: Option<&[*mut PyObject]>,
    ) -> Ended<'py> {
        let direct = &**function.inner().direct()?;
        let mut call = Call::new();
        let mut numbers = [0; MOST];
        let operands = inputs.iter().zip(&self.inputs).zip(&mut numbers);
        for (at, ((object, operand), number)) in operands.enumerate() {
            // SAFETY: guaranteed by the caller.
            let found = unsafe { operand.look(self.classes, *object, number) }?;
            // SAFETY: see the contract.
            if !direct.take(&mut call, at, unsafe { strided(operand, &found) }) {
                return None;
            }
        }
        let Some(rooms) = rooms else { return self.direct_new(py, direct, &mut call) };
        for (at, (room, operand)) in rooms.iter().zip(&self.outputs).enumerate() {
            // SAFETY: guaranteed by the caller.
            let found = unsafe { operand.array(self.classes, *room) }.filter(|found| !found.readonly)?;
            // SAFETY: see the contract.
            if !direct.give(&mut call, at, unsafe { strided(operand, &found) }) {
                return None;
            }
        }
        // SAFETY: all inputs were taken, and all outputs given.
        unsafe { run(py, direct, &mut call) }.then_some(Ok(None))
    }

    /// Calls the function like [`Fast::direct`], but with new results. The inputs were taken already.
    fn direct_new<'py>(&self, py: Python<'py>, direct: &Direct, call: &mut Call<'_>) -> Ended<'py> {
        let mut results: [Option<Made<'py>>; MOST] = [const { None }; MOST];
        for (at, ((operand, descr), result)) in
            self.outputs.iter().zip(&self.descrs).zip(&mut results).enumerate()
        {
            let shape = direct.output(at)?.shape(call.shape());
            if shape.is_empty() {
                let Made::Number(number) = result.insert(Made::Number(Number::default())) else {
                    return None;
                };
                // SAFETY: there is space for any element, and it is written before it is read.
                let room = unsafe { Strided::raw(operand.dtype, number.data(), &[], &[]) };
                direct.give(call, at, room).then_some(())?;
                continue;
            }
            let made = match array::empty(py, self.classes.array, descr.bind(py), shape) {
                Ok(made) => made,
                Err(raised) => return Some(Err(raised.into())),
            };
            // SAFETY: the GIL is held, and so is the array.
            let found = unsafe { operand.array(self.classes, made.as_ptr()) }?;
            // SAFETY: a new array, which has no other user.
            direct.give(call, at, unsafe { strided(operand, &found) }).then_some(())?;
            *result = Some(Made::Array(made));
        }
        // SAFETY: all inputs were taken, and all outputs given.
        if !unsafe { run(py, direct, call) } {
            return None;
        }
        let objects = results.iter_mut().zip(&self.descrs).filter_map(|(made, descr)| {
            Some(match made.take()? {
                Made::Array(array) => Ok(array),
                Made::Number(number) => number.into_object(descr.bind(py)),
            })
        });
        Some(array::all(py, self.outputs.len(), objects).map(Some).map_err(Into::into))
    }
}

/// Describes an array for a kernel.
///
/// # Safety
/// NumPy's extents and strides stay within the memory of the array, which the caller of a call holds and whose elements
/// NumPy initialises. Any bytes are a valid number, and no input is a bool array. See the contract.
#[inline(always)]
unsafe fn strided<'a>(operand: &Operand, found: &Found<'a>) -> Strided<'a> {
    // SAFETY: guaranteed by the caller.
    unsafe { Strided::raw(operand.dtype, found.data, found.shape, found.strides_bytes) }
}

/// Runs a call. Returns `false` if it cannot be served.
///
/// # Safety
/// All inputs were taken, and all outputs given.
#[inline(always)]
unsafe fn run(py: Python<'_>, direct: &Direct, call: &mut Call<'_>) -> bool {
    let elements = call.elements();
    if elements <= FEW_ELEMENTS {
        // SAFETY: guaranteed by the caller.
        return unsafe { direct.run_apart(call, elements) };
    }
    py.detach(|| {
        // SAFETY: guaranteed by the caller.
        unsafe { direct.run_apart(call, elements) }
    })
}
