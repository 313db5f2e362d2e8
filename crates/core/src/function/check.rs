//! Checks the arguments and the results of calls.

use super::{CallError, extents};
use crate::native::{ArrayRef, Targets};
use crate::program::Port;
use crate::value::{DType, Extent, TensorType, Type};

/// Returns the error for an output whose shape does not match the result.
#[cold]
#[must_use]
pub fn misfit_error(
    ports: &[Port],
    position: usize,
    shape: &[usize],
    targets: &Targets<'_, '_>,
) -> CallError {
    let Port { name, ty } = &ports[position];
    let found = targets.array(position).map(|(dtype, shape)| exact(dtype, shape)).unwrap_or_default();
    CallError::Output { name: name.clone(), found, expected: exact(ty.dtype(), shape) }
}

/// Checks arrays against the declared types.
///
/// # Errors
/// The number of inputs differs, a type does not admit its input, or extents of one name differ.
pub fn check_inputs(ports: &[Port], inputs: &[ArrayRef<'_>]) -> Result<(), CallError> {
    if inputs.len() != ports.len() {
        return Err(CallError::Inputs { expected: ports.len(), found: inputs.len() });
    }
    let wrong = |(port, input): &(&Port, &ArrayRef<'_>)| !port.ty.admits(input.dtype(), input.shape());
    match ports.iter().zip(inputs).find(wrong) {
        None => extents::check_inputs(ports, inputs),
        Some((port, input)) => Err(CallError::Input {
            name: port.name.clone(),
            found: exact(input.dtype(), input.shape()),
            expected: port.ty.to_string(),
        }),
    }
}

/// Checks the number and the dtypes of output arrays, if the caller passed any.
pub(super) fn check_outputs(ports: &[Port], targets: &Targets<'_, '_>) -> Result<(), CallError> {
    if let Targets::New(_) = targets {
        return Ok(());
    }
    if targets.len() != ports.len() {
        return Err(CallError::Outputs { expected: ports.len(), found: targets.len() });
    }
    for (position, Port { name, ty }) in ports.iter().enumerate() {
        if let Some((dtype, _)) = targets.array(position)
            && dtype != ty.dtype()
        {
            let (found, expected) = (dtype.to_string(), ty.to_string());
            return Err(CallError::Output { name: name.clone(), found, expected });
        }
    }
    Ok(())
}

/// Checks that every result has its declared type. `maker` returns the signatures of the Applies that made the output at a
/// position.
pub(super) fn check_results(
    ports: &[Port],
    targets: &Targets<'_, '_>,
    maker: impl Fn(usize) -> String,
) -> Result<(), CallError> {
    for (position, Port { name, ty }) in ports.iter().enumerate() {
        let found = targets.array(position);
        if let Some((dtype, shape)) = found.filter(|(dtype, shape)| !ty.admits(*dtype, shape)) {
            let (name, found, expected) = (name.clone(), exact(dtype, shape), ty.to_string());
            return Err(if dtype == ty.dtype() && shape.len() == ty.ndim() {
                CallError::Result { name, found, expected }
            } else {
                CallError::Undeclared { signature: maker(position), name, found, expected }
            });
        }
    }
    Ok(())
}

/// Renders the exact type of an array for messages.
pub(super) fn exact(dtype: DType, shape: &[usize]) -> String {
    let extents = shape.iter().map(|n| Extent::Fixed(*n as u64)).collect();
    Type::Tensor(TensorType { dtype, shape: extents }).to_string()
}
