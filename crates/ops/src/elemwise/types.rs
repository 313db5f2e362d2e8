//! The type rule of elementwise maps, shared with fused reductions.

use crate::scalar::{self, ScalarOp};
use precast_graph::{DType, Extent, MakeNodeError, TensorType, Type};

/// The maximum number of operands of one kernel, including results: `PC_LOOP_OPERANDS`.
pub(crate) const MAX_OPERANDS: usize = 64;

/// Returns the extents of the result; `None` if all inputs are C scalars, so that the result is a C scalar too.
pub(crate) fn broadcast(
    scalar: &dyn ScalarOp,
    inputs: &[Type],
) -> Result<Option<Vec<Extent>>, MakeNodeError> {
    let op = scalar.name();
    MakeNodeError::expect_inputs(op, scalar.arity(), inputs)?;
    if let Some(input) = inputs.iter().position(|ty| ty.as_user().is_some()) {
        let (found, expected) = (inputs[input].to_string(), "a tensor or a C scalar".to_owned());
        return Err(MakeNodeError::Input { op: op.to_owned(), input, found, expected });
    }
    let tensors: Vec<&Type> = inputs.iter().filter(|ty| matches!(ty, Type::Tensor(_))).collect();
    if tensors.is_empty() {
        return Ok(None);
    }
    let ndim = tensors.iter().map(|ty| ty.ndim()).max().unwrap_or(0);
    let mut shape = vec![Extent::Fixed(1); ndim];
    for ty in &tensors {
        let offset = ndim - ty.ndim();
        for (d, extent) in ty.shape().iter().enumerate() {
            let known = shape[offset + d];
            shape[offset + d] = known.broadcast(*extent).ok_or_else(|| MakeNodeError::Broadcast {
                op: op.to_owned(),
                dimension: offset + d,
                extents: format!("{known} and {extent}"),
            })?;
        }
    }
    Ok(Some(shape))
}

/// Returns the dtypes of the results.
pub(crate) fn outputs(scalar: &dyn ScalarOp, inputs: &[Type]) -> Result<Vec<DType>, MakeNodeError> {
    let dtypes: Vec<DType> = inputs.iter().map(Type::dtype).collect();
    if let Some(results) = scalar.outputs(&dtypes) {
        if inputs.len() + results.len() > MAX_OPERANDS {
            let expected = format!("at most {MAX_OPERANDS} inputs and outputs together");
            return Err(MakeNodeError::Arity {
                op: scalar.name().to_owned(),
                expected,
                found: inputs.len() + results.len(),
            });
        }
        return Ok(results);
    }
    // Blames the first input that fits no supported signature, given the inputs before it.
    let all = scalar::signatures(scalar);
    let fits = |n: usize| all.iter().any(|signature| signature[..n] == dtypes[..n]);
    let input = (0..dtypes.len()).find(|n| !fits(n + 1)).unwrap_or(0);
    Err(MakeNodeError::DType {
        op: scalar.name().to_owned(),
        input,
        found: dtypes.get(input).copied().unwrap_or(DType::F64),
        expected: scalar::supported(scalar),
    })
}

/// Returns the type of a result.
pub(crate) fn of(dtype: DType, shape: Option<&[Extent]>) -> Type {
    match shape {
        None => Type::Scalar(dtype),
        Some(shape) => Type::Tensor(TensorType { dtype, shape: shape.to_vec() }),
    }
}
