//! Matrices with a structure: `vander`, `toeplitz`, `block_diag`.

use super::operand::Operands;
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{BuildError, DType, Operand, Prop, Props, VarId};

/// Returns an argument as a vector.
fn vector(operands: &mut Operands<'_>, position: usize) -> Result<VarId, BuildError> {
    let x = operands.variable(position)?;
    if operands.ndim(x) == 1 { Ok(x) } else { Err(operands.error("needs vectors")) }
}

/// Builds `vander(x, N, increasing)`: the powers of the elements, in the common dtype with i64.
pub(super) fn vander(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect(1)?;
    let declared = Declared::bound(operands.function, props);
    let x = vector(operands, 0)?;
    let dtype = operands.graph.ty(x).dtype().upcast(DType::I64);
    let x = operands.cast(x, dtype)?;
    let count = if declared.has("N") {
        i64::try_from(declared.count("N")?).unwrap_or(i64::MAX).into()
    } else {
        operands.extent(x, 0)?
    };
    let names = [("x", x.into()), ("n", count)];
    let powers = operands.expression("cumprod(where(arange(n) == 0, 1, x[:, None]), axis=1)", &names)?;
    if declared.flag("increasing")? {
        return Ok(powers.into());
    }
    operands.call_with("flip", &[powers.into()], &[("axis", 1_i64.into())]).map(Operand::Var)
}

/// Builds `toeplitz(c, r)`: the first column and the first row. Without a row, the conjugated column is the row.
pub(super) fn toeplitz(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect_between(1, 2)?;
    let column = vector(operands, 0)?;
    let row = if operands.args.len() > 1 {
        vector(operands, 1)?
    } else {
        operands.call("conj", [column.into()])?
    };
    let names = [("c", column.into()), ("r", row.into())];
    let values = operands.expression("concatenate([c[::-1], r[1:]])", &names)?;
    let names = [&names[..], &[("values", values.into())]].concat();
    let places = "shape(c)[0] - 1 - arange(shape(c)[0])[:, None] + arange(shape(r)[0])";
    let places = operands.expression(places, &names)?;
    operands.call("take", [values.into(), places.into()]).map(Operand::Var)
}

/// Builds `block_diag(a, b, …)`: the matrices on the diagonal, and otherwise zeros. A vector is a matrix of one row.
pub(super) fn block_diag(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    let dtype = operands.common_array();
    let mut blocks = Vec::new();
    for position in 0..operands.args.len() {
        let block = operands.cast_argument(position, dtype)?;
        let block = operands.call("atleast_2d", [block.into()])?;
        if operands.ndim(block) != 2 {
            return Err(operands.error("needs matrices"));
        }
        blocks.push(block);
    }
    if blocks.is_empty() {
        return Err(operands.error("needs at least one matrix"));
    }
    let mut rows = Vec::new();
    for (position, block) in blocks.iter().enumerate() {
        let height = operands.extent(*block, 0)?;
        let mut parts = Vec::new();
        for (other, beside) in blocks.iter().enumerate() {
            if other == position {
                parts.push(Operand::Var(*block));
                continue;
            }
            let extents = Operand::List(vec![height.clone(), operands.extent(*beside, 1)?]);
            let named = [("dtype", Prop::DType(dtype).into())];
            parts.push(operands.call_with("zeros", &[extents], &named)?.into());
        }
        let row = operands.call_with("join", &[Operand::List(parts)], &[("axis", 1_i64.into())])?;
        rows.push(Operand::Var(row));
    }
    operands.call_with("join", &[Operand::List(rows)], &[("axis", 0_i64.into())]).map(Operand::Var)
}
