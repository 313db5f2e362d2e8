//! Calls with arrays of the caller.

use super::managed::{Managed, into_managed};
use super::{Out, guard, reference, slice};
use crate::array::{ArrayError, CallerArray, Described, ndim};
use crate::dlpack::Tensor;
use crate::failure::{ArgumentError, Failure, Status};
use crate::handle::FunctionHandle;
use precast_core::program::Port;
use precast_core::{ArrayMut, ArrayRef, CallError};

/// See `precast.h`.
///
/// # Safety
/// [The contract](super), and for every array: its elements are where the description says, and are initialised in
/// inputs. During the call no other code writes to the arrays or reads the elements of an output.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_call(
    function: *const FunctionHandle,
    inputs: *const Described,
    input_count: usize,
    outputs: *const Described,
    output_count: usize,
) -> Status {
    guard(|| {
        // SAFETY: guaranteed by the contract of this module.
        let function = &unsafe { reference(function, "function") }?.function;
        // SAFETY: guaranteed by the contract of this module.
        let inputs = unsafe { arrays((inputs, input_count), "input", function.inputs()) }?;
        // SAFETY: guaranteed by the contract of this module.
        let inputs = unsafe { read(&inputs, function.inputs()) }?;
        // SAFETY: guaranteed by the contract of this module.
        let outputs = unsafe { arrays((outputs, output_count), "output", function.outputs()) }?;
        // SAFETY: guaranteed by the contract of this module.
        let mut outputs = unsafe { write(&outputs, function.outputs()) }?;
        Ok(function.call_views(&inputs, &mut outputs)?)
    })
}

/// See `precast.h`.
///
/// # Safety
/// Same as for [`precast_call`].
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_call_new(
    function: *const FunctionHandle,
    inputs: *const Described,
    input_count: usize,
    outputs: *mut *mut Managed,
    output_count: usize,
) -> Status {
    guard(|| {
        // SAFETY: guaranteed by the contract of this module.
        let function = &unsafe { reference(function, "function") }?.function;
        if outputs.is_null() && output_count > 0 {
            return Err(ArgumentError::Null("outputs").into());
        }
        let expected = function.outputs().len();
        if output_count != expected {
            return Err(CallError::Outputs { expected, found: output_count }.into());
        }
        // SAFETY: guaranteed by the contract of this module.
        let inputs = unsafe { arrays((inputs, input_count), "input", function.inputs()) }?;
        // SAFETY: guaranteed by the contract of this module.
        let inputs = unsafe { read(&inputs, function.inputs()) }?;
        for (index, result) in function.call(&inputs)?.into_iter().enumerate() {
            // SAFETY: a function returns one result per output, and `outputs` has space for all of them.
            let to = unsafe { outputs.add(index) };
            // SAFETY: guaranteed by the contract of this module; the pointer is not NULL.
            unsafe { to.write(into_managed(result)) };
        }
        Ok(())
    })
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_array_from_dlpack(
    tensor: *const Tensor,
    flags: u64,
    array: *mut Described,
) -> Status {
    guard(|| {
        // SAFETY: guaranteed by the contract of this module.
        let out = unsafe { Out::new(array, "array") }?;
        // SAFETY: guaranteed by the contract of this module.
        let tensor = unsafe { reference(tensor, "tensor") }?;
        out.put(tensor.describe(flags)?);
        Ok(())
    })
}

/// Converts the caller's arrays.
///
/// # Safety
/// There are `count` descriptions, and their pointers are valid.
unsafe fn arrays(
    (first, count): (*const Described, usize),
    what: &'static str,
    ports: &[Port],
) -> Result<Vec<CallerArray>, Failure> {
    let name = if what == "input" { "inputs" } else { "outputs" };
    // SAFETY: guaranteed by the caller.
    let described = unsafe { slice(first, count, name) }?;
    let array = |(index, described): (usize, &Described)| {
        let what = || named(what, index, ports);
        let ndim = ndim(described, what)?;
        // SAFETY: guaranteed by the caller.
        let shape = unsafe { slice(described.shape, ndim, "shape") }?;
        let strides = match described.strides.is_null() {
            true => None,
            // SAFETY: guaranteed by the caller.
            false => Some(unsafe { slice(described.strides, ndim, "strides") }?),
        };
        Ok(CallerArray::new(described, shape, strides, what)?)
    };
    described.iter().enumerate().map(array).collect()
}

/// Borrows inputs for a call.
///
/// # Safety
/// Same as for [`precast_call`].
unsafe fn read<'a>(arrays: &'a [CallerArray], ports: &[Port]) -> Result<Vec<ArrayRef<'a>>, ArrayError> {
    let read = |(index, array): (usize, &'a CallerArray)| {
        // SAFETY: guaranteed by the caller.
        let read = unsafe { array.raw().read() };
        read.map_err(|source| ArrayError::Raw { what: named("input", index, ports), source })
    };
    arrays.iter().enumerate().map(read).collect()
}

/// Borrows outputs for a call.
///
/// # Safety
/// Same as for [`precast_call`].
unsafe fn write<'a>(arrays: &'a [CallerArray], ports: &[Port]) -> Result<Vec<ArrayMut<'a>>, ArrayError> {
    let write = |(index, array): (usize, &'a CallerArray)| {
        // SAFETY: guaranteed by the caller.
        let write = unsafe { array.raw().write() };
        write.map_err(|source| ArrayError::Raw { what: named("output", index, ports), source })
    };
    arrays.iter().enumerate().map(write).collect()
}

/// Returns the name of an array in messages: ``input `x` ``.
#[cold]
fn named(what: &str, index: usize, ports: &[Port]) -> String {
    ports.get(index).map_or_else(|| format!("{what} {index}"), |port| format!("{what} `{}`", port.name))
}
