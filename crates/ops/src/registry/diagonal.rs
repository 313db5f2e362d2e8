//! Functions of diagonals: `diagonal`, `trace`, `diag`, `tri`, `tril`, `triu`.
//!
//! A diagonal consists of elements at equal distances. In a matrix with m columns it is every (m + 1)th element. It
//! starts at element k for k ≥ 0, and at element −k · m for k < 0.

use super::operand::Operands;
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{Array, BuildError, DType, Operand, Prop, Props, VarId};

/// Returns the start of the k-th diagonal of an (n, m) matrix among all elements, and its length.
fn place(operands: &mut Operands<'_>, [n, m]: [Operand; 2], k: VarId) -> Result<(VarId, VarId), BuildError> {
    let down = operands.call("neg", [k.into()])?;
    let right = operands.call("maximum", [k.into(), 0_i64.into()])?;
    let down = operands.call("maximum", [down.into(), 0_i64.into()])?;
    let skipped = operands.call("mul", [down.into(), m.clone()])?;
    let start = operands.call("add", [right.into(), skipped.into()])?;
    let rows = operands.call("sub", [n, down.into()])?;
    let columns = operands.call("sub", [m, right.into()])?;
    let count = operands.call("minimum", [rows.into(), columns.into()])?;
    Ok((start, operands.call("maximum", [count.into(), 0_i64.into()])?))
}

/// Slices a diagonal from the flattened elements of matrices with this number of columns.
fn elements(
    operands: &mut Operands<'_>,
    flat: VarId,
    columns: Operand,
    (start, count): (VarId, VarId),
) -> Result<VarId, BuildError> {
    let axis = operands.ndim(flat) - 1;
    let step = operands.call("add", [columns, 1_i64.into()])?;
    let length = operands.call("mul", [count.into(), step.into()])?;
    let stop = operands.call("add", [start.into(), length.into()])?;
    operands.slice(flat, axis, "bes", &[start.into(), stop.into(), step.into()])
}

/// Returns the diagonals of the matrices in the last two axes.
fn last_axes(operands: &mut Operands<'_>, tensor: VarId, k: VarId) -> Result<VarId, BuildError> {
    let extents = operands.extents_of(tensor)?;
    let (outer, inner) = extents.split_at(extents.len() - 2);
    let (n, m) = (inner[0].clone(), inner[1].clone());
    let all = operands.call("mul", [n.clone(), m.clone()])?;
    let shape = [&[tensor.into()], outer, &[all.into()]].concat();
    let flat = operands.call_with("reshape", &shape, &[])?;
    let place = place(operands, [n, m.clone()], k)?;
    elements(operands, flat, m, place)
}

/// Builds `diagonal(x, offset=1, axis1=0, axis2=1)`, where a new last axis replaces the two axes, and `trace(x)`, its
/// sum.
pub(super) fn diagonal(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let declared = Declared::bound(operands.function, props);
    let tensor = operands.variable(0)?;
    let ndim = operands.ndim(tensor);
    if ndim < 2 {
        return Err(operands.error("needs a tensor of at least 2 dimensions"));
    }
    let axis = |name: &str, default| operands.axis(declared.int(name)?.unwrap_or(default), ndim);
    let (a, b) = (axis("axis1", 0)?, axis("axis2", 1)?);
    if a == b {
        return Err(operands.error("axis1 and axis2 cannot be the same"));
    }
    let others = (0..ndim).filter(|d| *d != a && *d != b);
    let turned = operands.shuffled(tensor, others.chain([a, b]).map(Some))?;
    let offset = operands.graph.constant(Array::from(declared.int("offset")?.unwrap_or(0)));
    let diagonal = last_axes(operands, turned, offset)?;
    if row.name == "diagonal" {
        return Ok(diagonal);
    }
    let dtype = declared.dtype("dtype")?.map_or(Operand::None, |dtype| Prop::DType(dtype).into());
    operands.call_with("sum", &[diagonal.into()], &[("axis", (-1_i64).into()), ("dtype", dtype)])
}

/// Builds `diag(x, k)`: the diagonal of a matrix, or a matrix of zeros with that diagonal.
pub(super) fn diag(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect_between(1, 2)?;
    let (tensor, k) = (operands.variable(0)?, operands.integer_or(1, 0)?);
    match operands.ndim(tensor) {
        1 => {}
        2 => return last_axes(operands, tensor, k),
        _ => return Err(operands.error("needs a vector or a matrix")),
    }
    let length = operands.extent(tensor, 0)?;
    let distance = operands.call("abs", [k.into()])?;
    let n = operands.call("add", [length, distance.into()])?;
    let all = operands.call("mul", [n.into(), n.into()])?;
    let zero = operands.graph.constant(Array::zeros(operands.graph.ty(tensor).dtype(), &[]));
    let zeros = operands.call("alloc", [zero.into(), all.into()])?;
    let place = place(operands, [n.into(), n.into()], k)?;
    let part = elements(operands, zeros, n.into(), place)?;
    let filled = operands.call("set_subtensor", [part.into(), tensor.into()])?;
    operands.call("reshape", [filled.into(), n.into(), n.into()])
}

/// Returns whether each element of an (n, m) matrix is on or below the k-th diagonal.
fn below(operands: &mut Operands<'_>, n: Operand, m: Operand, k: Operand) -> Result<VarId, BuildError> {
    let rows = operands.call("arange", [n])?;
    let columns = operands.call("arange", [m])?;
    let rows = operands.shuffled(rows, [Some(0), None])?;
    let last = operands.call("add", [rows.into(), k])?;
    operands.call("ge", [last.into(), columns.into()])
}

/// Builds `tri(n, m, k)`: ones on and below a diagonal, zeros above it.
pub(super) fn tri(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect_between(1, 3)?;
    let n = operands.integer(0)?;
    let m =
        if matches!(operands.args.get(1), None | Some(Operand::None)) { n } else { operands.integer(1)? };
    let k = operands.integer_or(2, 0)?;
    let mask = below(operands, n.into(), m.into(), k.into())?;
    let dtype = Declared::bound(operands.function, props).dtype("dtype")?.unwrap_or(DType::F64);
    operands.cast(mask, dtype)
}

/// Builds `tril(x, k)` and `triu(x, k)`, which set the elements above, or below, a diagonal to 0. A vector is
/// repeated as the rows of a matrix.
pub(super) fn triangle(operands: &mut Operands<'_>, row: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect_between(1, 2)?;
    let (tensor, mut k) = (operands.variable(0)?, operands.integer_or(1, 0)?);
    let ndim = operands.ndim(tensor);
    if ndim == 0 {
        return Err(operands.error("needs a tensor of at least 1 dimension"));
    }
    let (n, m) = (operands.extent(tensor, ndim.max(2) - 2)?, operands.extent(tensor, ndim - 1)?);
    let lower = row.name == "tril";
    if !lower {
        k = operands.call("sub", [k.into(), 1_i64.into()])?;
    }
    let mask = below(operands, n, m, k.into())?;
    let zero = Operand::Var(operands.graph.constant(Array::zeros(operands.graph.ty(tensor).dtype(), &[])));
    let (yes, no) = if lower { (tensor.into(), zero) } else { (zero, tensor.into()) };
    operands.call("where", [mask.into(), yes, no])
}
