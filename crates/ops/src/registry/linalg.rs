//! Functions of linear algebra: `dot`, `matmul` (`a @ b`) and `batched_dot`.

use super::operand::Operands;
use super::variables::scalar_apply;
use crate::DimShuffle;
use crate::linalg::{BatchedDot, Dot, Matmul};
use crate::rows::Row;
use precast_graph::{BuildError, DType, Props, VarId};

/// Builds a product in the common dtype; f16 and bf16 are computed in f32 and rounded once. A number times a tensor
/// is a multiplication, as in NumPy.
pub(super) fn product(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    super::settings::no_props(operands.function, props)?;
    let dtype = operands.common_array();
    let computed = if matches!(dtype, DType::F16 | DType::Bf16) { DType::F32 } else { dtype };
    let inputs = operands.cast_all(computed)?;
    let number = inputs.iter().any(|input| operands.graph.ty(*input).ndim() == 0);
    let product = match row.name {
        "dot" if number => scalar_apply(operands, "mul", &inputs)?,
        "dot" => operands.apply(Dot, &inputs)?,
        "matmul" => matmul(operands, &inputs)?,
        _ => operands.apply(BatchedDot, &inputs)?,
    };
    operands.cast(product, dtype)
}

/// Builds `matmul`: a Dot for vectors and matrices. With a stack of matrices, a vector becomes a matrix of one row or
/// one column, and that dimension is dropped again.
fn matmul(operands: &mut Operands<'_>, inputs: &[VarId]) -> Result<VarId, BuildError> {
    let ranks = [operands.graph.ty(inputs[0]).ndim(), operands.graph.ty(inputs[1]).ndim()];
    if ranks[0].min(ranks[1]) > 0 && ranks[0].max(ranks[1]) <= 2 {
        return operands.apply(Dot, inputs);
    }
    let mut matrices = inputs.to_vec();
    for (position, order) in [(0, [None, Some(0)]), (1, [Some(0), None])] {
        if ranks[position] == 1 {
            matrices[position] = operands.apply(DimShuffle::new(order.to_vec()), &[inputs[position]])?;
        }
    }
    let product = operands.apply(Matmul, &matrices)?;
    let ndim = operands.graph.ty(product).ndim();
    let gone = if ranks[0] == 1 { ndim - 2 } else { ndim - 1 };
    if ranks[0].min(ranks[1]) > 1 {
        return Ok(product);
    }
    let order = (0..ndim).filter(|d| *d != gone).map(Some).collect();
    operands.apply(DimShuffle::new(order), &[product])
}
