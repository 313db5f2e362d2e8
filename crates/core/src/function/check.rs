//! Checks of what a call is given, and of what it gives.

use super::CallError;
use crate::native::{ArrayRef, Targets};
use crate::program::Port;
use crate::value::{DType, Extent, TensorType, Type};

/// The error of room for another result than this one.
#[cold]
#[must_use]
pub fn misfit_error(
    ports: &[Port],
    position: usize,
    shape: &[usize],
    targets: &Targets<'_, '_>,
) -> CallError {
    let Port { name, ty } = &ports[position];
    let found = match targets {
        Targets::Into(arrays) => exact(arrays[position].dtype(), arrays[position].shape()),
        Targets::New(_) | Targets::Reuse(_) => String::new(),
    };
    CallError::Output { name: name.clone(), found, expected: exact(ty.dtype(), shape) }
}

/// Checks arrays against the declared types.
///
/// # Errors
/// Another number of inputs; one that its type does not admit.
pub fn check_inputs(ports: &[Port], inputs: &[ArrayRef<'_>]) -> Result<(), CallError> {
    if inputs.len() != ports.len() {
        return Err(CallError::Inputs { expected: ports.len(), found: inputs.len() });
    }
    let wrong = |(port, input): &(&Port, &ArrayRef<'_>)| !port.ty.admits(input.dtype(), input.shape());
    match ports.iter().zip(inputs).find(wrong) {
        None => Ok(()),
        Some((port, input)) => Err(CallError::Input {
            name: port.name.clone(),
            found: exact(input.dtype(), input.shape()),
            expected: port.ty.to_string(),
        }),
    }
}

/// Checks the dtypes of what results are written to.
pub(super) fn check_outputs(
    ports: &[Port],
    dtypes: impl ExactSizeIterator<Item = DType>,
) -> Result<(), CallError> {
    if dtypes.len() != ports.len() {
        return Err(CallError::Outputs { expected: ports.len(), found: dtypes.len() });
    }
    match ports.iter().zip(dtypes).find(|(port, dtype)| port.ty.dtype() != *dtype) {
        None => Ok(()),
        Some((port, dtype)) => Err(CallError::Output {
            name: port.name.clone(),
            found: dtype.to_string(),
            expected: port.ty.to_string(),
        }),
    }
}

/// The exact type of an array, for messages.
pub(super) fn exact(dtype: DType, shape: &[usize]) -> String {
    let extents = shape.iter().map(|n| Extent::Fixed(*n as u64)).collect();
    Type::Tensor(TensorType { dtype, shape: extents }).to_string()
}
