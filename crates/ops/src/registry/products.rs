//! Products of vectors: `vecdot`, `matvec`, `kron`, `cross`, `convolve`. Sums of products use `matmul`.

use super::operand::Operands;
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{BuildError, Operand, Props, VarId};

/// Returns both arguments as arrays; a complex first argument is conjugated on request.
fn pair(operands: &mut Operands<'_>, conjugated: bool) -> Result<(VarId, VarId), BuildError> {
    operands.expect(2)?;
    let (x, y) = (operands.variable(0)?, operands.variable(1)?);
    let turned = conjugated && operands.graph.ty(x).dtype().is_complex();
    Ok((if turned { operands.call("conj", [x.into()])? } else { x }, y))
}

/// Moves an axis to the end.
fn last(operands: &mut Operands<'_>, tensor: VarId, axis: i64) -> Result<VarId, BuildError> {
    operands.call_with(
        "moveaxis",
        &[tensor.into()],
        &[("source", axis.into()), ("destination", (-1_i64).into())],
    )
}

/// Inserts a new axis of extent 1 before or after the last one.
fn with_axis(operands: &mut Operands<'_>, tensor: VarId, behind: bool) -> Result<VarId, BuildError> {
    let axis = if behind { -1_i64 } else { -2 };
    if operands.ndim(tensor) == 0 {
        return Err(operands.error("needs vectors, found a number"));
    }
    operands.call_with("expand_dims", &[tensor.into()], &[("axis", axis.into())])
}

/// Drops one of the last axes, which has extent 1.
fn without(operands: &mut Operands<'_>, tensor: VarId, axis: i64) -> Result<VarId, BuildError> {
    operands.call_with("squeeze", &[tensor.into()], &[("axis", axis.into())])
}

/// Builds `vecdot(x, y, axis=-1)`.
pub(super) fn vecdot(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    let (x, y) = pair(operands, true)?;
    let axis = Declared::bound(operands.function, props).int("axis")?.unwrap_or(-1);
    let (x, y) = (last(operands, x, axis)?, last(operands, y, axis)?);
    let (row, column) = (with_axis(operands, x, false)?, with_axis(operands, y, true)?);
    let product = operands.call("matmul", [row.into(), column.into()])?;
    let product = without(operands, product, -1)?;
    without(operands, product, -1).map(Operand::Var)
}

/// Builds `matvec(x, y)` of matrices and vectors, and `vecmat` of conjugated vectors and matrices.
pub(super) fn matvec(operands: &mut Operands<'_>, row: &Row, _: &Props) -> Result<Operand, BuildError> {
    let first = row.name == "vecmat";
    let (x, y) = pair(operands, first)?;
    let (x, y) = if first { (with_axis(operands, x, false)?, y) } else { (x, with_axis(operands, y, true)?) };
    if operands.ndim(x).min(operands.ndim(y)) < 2 {
        return Err(operands.error("needs a matrix and a vector"));
    }
    let product = operands.call("matmul", [x.into(), y.into()])?;
    without(operands, product, if first { -2 } else { -1 }).map(Operand::Var)
}

/// Builds `kron(x, y)`. Both operands get the same rank; the lower rank gets new leading axes.
pub(super) fn kron(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    let (x, y) = pair(operands, false)?;
    let ndim = operands.ndim(x).max(operands.ndim(y));
    let (mut shape, mut spread) = (Vec::new(), Vec::new());
    for (tensor, first) in [(x, true), (y, false)] {
        let own = operands.ndim(tensor);
        let extents = operands.extents_of(tensor)?;
        let axis = |d: usize| d.checked_sub(ndim - own);
        let pairs = (0..ndim).flat_map(|d| if first { [axis(d), None] } else { [None, axis(d)] });
        spread.push(operands.shuffled(tensor, pairs.collect::<Vec<_>>())?);
        let ones = std::iter::repeat_n(Operand::from(1_i64), ndim - own);
        shape.push(ones.chain(extents).collect::<Vec<_>>());
    }
    let product = operands.call("mul", [spread[0].into(), spread[1].into()])?;
    let mut reshaped = vec![Operand::Var(product)];
    for (a, b) in shape[0].iter().zip(&shape[1]) {
        reshaped.push(operands.call("mul", [a.clone(), b.clone()])?.into());
    }
    operands.call_with("reshape", &reshaped, &[]).map(Operand::Var)
}

/// Builds `cross(x, y, axis=-1)` of vectors with three elements.
pub(super) fn cross(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    let (x, y) = pair(operands, false)?;
    let axis = Declared::bound(operands.function, props).int("axis")?.unwrap_or(-1);
    let mut parts = Vec::new();
    for tensor in [x, y] {
        let tensor = last(operands, tensor, axis)?;
        let place = operands.ndim(tensor) - 1;
        let extent = operands.extent(tensor, place)?;
        let three = operands.call("eq", [extent, 3_i64.into()])?;
        let tensor = operands.demand(tensor, three, "cross: vectors have three elements")?;
        let part = [0_i64, 1, 2].map(|at| operands.slice(tensor, place, "i", &[at.into()]));
        let [a, b, c] = part;
        parts.push([a?, b?, c?]);
    }
    let mut product = |i: usize, j: usize| {
        let up = operands.call("mul", [parts[0][i].into(), parts[1][j].into()])?;
        let down = operands.call("mul", [parts[0][j].into(), parts[1][i].into()])?;
        operands.call("sub", [up.into(), down.into()]).map(Operand::Var)
    };
    let results = [product(1, 2)?, product(2, 0)?, product(0, 1)?];
    operands.call_with("stack", &results, &[("axis", axis.into())]).map(Operand::Var)
}

/// Builds `convolve(x, y, 'same')` and `correlate(x, y)`: windows of the zero-padded first vector, times the second.
pub(super) fn convolve(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let declared = Declared::bound(operands.function, props);
    let mode = declared.text("mode")?;
    if !["full", "same", "valid"].contains(&mode) {
        return Err(declared.wrong("mode", "`full`, `same` or `valid`").into());
    }
    let correlates = row.name == "correlate";
    let dtype = operands.common_array();
    let (x, mut y) = (operands.cast_argument(0, dtype)?, operands.cast_argument(1, dtype)?);
    if operands.ndim(x).max(operands.ndim(y)) > 1 {
        return Err(operands.error("needs two vectors"));
    }
    // A number counts as a vector of one element; in NumPy this holds for `convolve` only.
    if correlates && operands.ndim(x).min(operands.ndim(y)) == 0 {
        return Err(operands.error("needs two vectors"));
    }
    let x = operands.call("atleast_1d", [x.into()])?;
    y = operands.call("atleast_1d", [y.into()])?;
    let (n, m) = (operands.extent(x, 0)?, operands.extent(y, 0)?);
    let some = operands.call("mul", [n.clone(), m.clone()])?;
    let some = operands.call("gt", [some.into(), 0_i64.into()])?;
    let x = operands.demand(x, some, "convolve: vectors cannot be empty")?;
    if correlates && dtype.is_complex() {
        y = operands.call("conj", [y.into()])?;
    } else if !correlates {
        y = operands.slice(y, 0, "s", &[(-1_i64).into()])?;
    }
    let before = operands.call("sub", [m.clone(), 1_i64.into()])?;
    let zero = operands.graph.constant(precast_graph::Array::zeros(dtype, &[]));
    let zeros = operands.call("alloc", [zero.into(), before.into()])?;
    let padded = operands.call("join", [zeros.into(), x.into(), zeros.into()])?;
    let count = operands.call("add", [n.clone(), before.into()])?;
    let starts = operands.call("arange", [count.into()])?;
    let starts = operands.shuffled(starts, [Some(0), None])?;
    let steps = operands.call("arange", [m.clone()])?;
    let places = operands.call("add", [starts.into(), steps.into()])?;
    let windows = operands.call("take", [padded.into(), places.into()])?;
    let full = operands.call("matmul", [windows.into(), y.into()])?;
    match mode {
        "full" => Ok(full.into()),
        _ => middle(operands, full, [n, m], mode == "same", correlates).map(Operand::Var),
    }
}

/// Returns the part of a full convolution where the vectors overlap completely, or a part with the length of the
/// longer vector.
fn middle(
    operands: &mut Operands<'_>,
    full: VarId,
    [n, m]: [Operand; 2],
    same: bool,
    correlates: bool,
) -> Result<VarId, BuildError> {
    let long = operands.call("maximum", [n.clone(), m.clone()])?;
    let short = operands.call("minimum", [n.clone(), m.clone()])?;
    let rest = operands.call("sub", [short.into(), 1_i64.into()])?;
    let (mut start, mut length) = (rest, long);
    if same {
        start = operands.call("floor_div", [rest.into(), 2_i64.into()])?;
        if correlates {
            // If the second vector is longer, NumPy swaps the vectors and reverses the result.
            let other = operands.call("sub", [rest.into(), start.into()])?;
            let exchanged = operands.call("gt", [m, n])?;
            start = operands.call("where", [exchanged.into(), other.into(), start.into()])?;
        }
    } else {
        length = operands.call("sub", [long.into(), rest.into()])?;
    }
    let stop = operands.call("add", [start.into(), length.into()])?;
    operands.slice(full, 0, "be", &[start.into(), stop.into()])
}
