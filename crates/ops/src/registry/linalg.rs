//! Functions of linear algebra: `dot`, `a @ b` and `batched_dot`.

use super::elementwise::scalar_apply;
use super::operand::Operands;
use super::structural::Function;
use crate::linalg::{BatchedDot, Dot};
use precast_codegen::Library;
use precast_graph::{BuildError, DType, Props, VarId};

/// The functions by name.
pub(super) const FUNCTIONS: &[(&str, Function)] = &[("batched_dot", product), ("dot", product)];

/// Adds the ops.
pub(super) fn library(c: Library) -> Library {
    c.with_c::<BatchedDot>()
        .with_c::<Dot>()
        .with_name("batched_dot", BatchedDot::from_props)
        .with_name("dot", Dot::from_props)
}

/// A product of what both promote to; f16 and bf16 are computed in f32 and rounded once. A number times a tensor is a
/// multiplication, as in NumPy.
fn product(operands: &mut Operands<'_>, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    super::no_props(operands.function, props)?;
    let dtype = operands.common()?;
    let computed = if matches!(dtype, DType::F16 | DType::Bf16) { DType::F32 } else { dtype };
    let inputs = operands.cast_all(computed)?;
    let number = inputs.iter().any(|input| operands.graph.ty(*input).ndim() == 0);
    let product = match operands.function {
        "dot" if number => scalar_apply(operands, "mul", &inputs)?,
        "dot" => operands.apply(Dot, &inputs)?,
        _ => operands.apply(BatchedDot, &inputs)?,
    };
    operands.cast(product, dtype)
}
