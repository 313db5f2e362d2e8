//! `median`, `quantile`, `percentile`: of sorted elements the one at a fraction of the way, or what lies between two.
//!
//! ```text
//! x ──▶ sorted along an axis, which comes first ──▶ the elements around q (n - 1) ──▶ between them in proportion
//! ```
//! As NumPy's with `method="linear"`, also in the dtype of the result; positions are computed in f64, of f32 arrays in f32. NaN if there is one; of nothing the median is NaN, a quantile an
//! index error.

use super::operand::Operands;
use super::reduce::averaged;
use crate::declared::Declared;
use crate::order::Sort;
use crate::rows::Row;
use precast_graph::{BuildError, DType, MakeNodeError, Operand, Props, VarId};

/// Sorted elements along the first axis, and the axes that went into it; `None`: all.
fn sorted(operands: &mut Operands<'_>, props: &Props) -> Result<(VarId, Option<Vec<usize>>), BuildError> {
    let tensor = operands.variable(0)?;
    let found = operands.graph.ty(tensor).dtype();
    if found.is_complex() {
        let (op, expected) = (operands.function.to_owned(), "real numbers".to_owned());
        return Err(MakeNodeError::DType { op, input: 0, found, expected }.into());
    }
    // As the sums and quotients that follow are computed.
    let computed = if found == DType::F32 { DType::F32 } else { DType::F64 };
    let tensor = operands.cast(tensor, computed)?;
    let ndim = operands.ndim(tensor);
    let axes = super::settings::axes(operands.function, "axis", props, ndim)?;
    let first = match &axes {
        None => operands.call("flatten", [tensor.into()])?,
        Some(axes) => {
            let others = (0..ndim).filter(|d| !axes.contains(d));
            let moved = operands.shuffled(tensor, axes.iter().copied().chain(others).map(Some))?;
            merged(operands, moved, axes.len())?
        }
    };
    Ok((operands.apply(Sort { positions: false, axis: 0 }, &[first])?, axes))
}

/// The first `count` axes as one.
fn merged(operands: &mut Operands<'_>, tensor: VarId, count: usize) -> Result<VarId, BuildError> {
    if count == 1 {
        return Ok(tensor);
    }
    let extents = operands.extents_of(tensor)?;
    let (gone, left) = extents.split_at(count);
    let mut all: Operand = 1_i64.into();
    for extent in gone {
        all = operands.call("mul", [all, extent.clone()])?.into();
    }
    let args: Vec<Operand> = [tensor.into(), all].into_iter().chain(left.iter().cloned()).collect();
    operands.call_with("reshape", &args, &[])
}

/// The element of each line at a position.
fn at(operands: &mut Operands<'_>, sorted: VarId, position: &Operand) -> Result<VarId, BuildError> {
    operands.call_with("take", &[sorted.into(), position.clone()], &[("axis", 0_i64.into())])
}

/// The result: NaN where there is one, the axis with extent 1 if it is kept, the dtype.
fn finish(
    operands: &mut Operands<'_>,
    (sorted, axes): (VarId, Option<Vec<usize>>),
    found: VarId,
    dtype: DType,
    keepdims: bool,
) -> Result<VarId, BuildError> {
    let input = operands.variable(0)?;
    let whole = operands.ndim(input);
    let last = operands.slice(sorted, 0, "b", &[(-1_i64).into()])?;
    let numbers = operands.call("eq", [last.into(), last.into()])?;
    let numbers = operands.call_with("all", &[numbers.into()], &[("axis", 0_i64.into())])?;
    let result = operands.call("where", [numbers.into(), found.into(), f64::NAN.into()])?;
    let result = operands.cast(result, dtype)?;
    if !keepdims {
        return Ok(result);
    }
    let of_fraction = operands.ndim(result) + axes.as_ref().map_or(whole, Vec::len) - whole;
    let mut kept = of_fraction..;
    let gone = |d: usize| axes.as_ref().is_none_or(|axes| axes.contains(&d));
    let order: Vec<_> = (0..whole).map(|d| if gone(d) { None } else { kept.next() }).collect();
    operands.shuffled(result, (0..of_fraction).map(Some).chain(order))
}

/// `median(x, axis=0, keepdims=True)`: the middle element, or the mean of the two in the middle.
pub(super) fn median(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let declared = Declared::bound(operands.function, props);
    let line = sorted(operands, props)?;
    let extent = operands.extent(line.0, 0)?;
    let less = operands.call("sub", [extent.clone(), 1_i64.into()])?;
    let low = operands.call("floor_div", [less.into(), 2_i64.into()])?;
    let half = operands.call("floor_div", [extent, 2_i64.into()])?;
    let behind = operands.call("add", [half.into(), 1_i64.into()])?;
    let middle = operands.slice(line.0, 0, "be", &[low.into(), behind.into()])?;
    let found = operands.call_with("mean", &[middle.into()], &[("axis", 0_i64.into())])?;
    let dtype = averaged(operands.dtype(0));
    finish(operands, line, found, dtype, declared.flag("keepdims")?)
}

/// The dtype of a result: arrays of fractions promote with the elements, a number takes the dtype of floats. Integers as fractions of 1
/// are the ends of the line, so nothing lies between.
fn result_dtype(operands: &Operands<'_>, percent: bool) -> DType {
    let (own, fractions) = (operands.dtype(0), operands.dtype(1));
    match &operands.args[1] {
        Operand::Literal(_) | Operand::Weak(_) => averaged(own),
        _ if fractions.is_float() => own.upcast(fractions),
        _ if percent => own.upcast(DType::F64),
        _ => own,
    }
}

/// `quantile(x, 0.9, axis=0)`, `percentile(x, [10, 90])`: the dimensions of the fractions come first.
pub(super) fn quantile(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let declared = Declared::bound(operands.function, props);
    let line = sorted(operands, props)?;
    let of = |operand: &Operand| match operand {
        Operand::Literal(literal) => literal.dtype(),
        Operand::Var(variable) | Operand::Weak(variable) => operands.graph.ty(*variable).dtype(),
        _ => DType::F64,
    };
    let fractions = match &operands.args[1] {
        Operand::List(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    if let Some(found) = fractions.iter().map(of).find(|dtype| dtype.is_complex()) {
        let (op, expected) = (operands.function.to_owned(), "real numbers".to_owned());
        return Err(MakeNodeError::DType { op, input: 1, found, expected }.into());
    }
    let found = operands.dtype(1);
    let computed = match operands.args[1] {
        Operand::Var(_) | Operand::List(_) if found == DType::F32 => DType::F32,
        _ => DType::F64,
    };
    let fraction = operands.cast_argument(1, computed)?;
    let whole = if row.name == "percentile" { 100.0 } else { 1.0 };
    let fraction = operands.call("div", [fraction.into(), whole.into()])?;
    let within = operands.call("clip", [fraction.into(), 0.0.into(), 1.0.into()])?;
    let within = operands.call("eq", [within.into(), fraction.into()])?;
    let message = format!("{}: fractions lie between 0 and {whole}", row.name);
    let fraction = operands.demand(fraction, within, &message)?;

    let extent = operands.extent(line.0, 0)?;
    let last = operands.call("sub", [extent, 1_i64.into()])?;
    let end = operands.cast(last, computed)?;
    let place = operands.call("mul", [fraction.into(), end.into()])?;
    let floor = operands.call("floor", [place.into()])?;
    let part = operands.call("sub", [place.into(), floor.into()])?;
    let low = operands.cast(floor, DType::I64)?;
    let next = operands.call("add", [low.into(), 1_i64.into()])?;
    let high = operands.call("minimum", [next.into(), last.into()])?;
    let (below, above) = (at(operands, line.0, &low.into())?, at(operands, line.0, &high.into())?);

    // The fractions stand before the dimensions that are left.
    let (of_fraction, all) = (operands.ndim(part), operands.ndim(below));
    let part = operands.shuffled(part, (0..all).map(|d| (d < of_fraction).then_some(d)))?;
    let result = result_dtype(operands, row.name == "percentile");
    let part = operands.cast(part, operands.graph.ty(below).dtype().upcast(result))?;
    let distance = operands.call("sub", [above.into(), below.into()])?;
    let step = operands.call("mul", [distance.into(), part.into()])?;
    let up = operands.call("add", [below.into(), step.into()])?;
    let rest = operands.call("sub", [1_i64.into(), part.into()])?;
    let step = operands.call("mul", [distance.into(), rest.into()])?;
    let down = operands.call("sub", [above.into(), step.into()])?;
    let nearer = operands.call("ge", [part.into(), 0.5.into()])?;
    let found = operands.call("where", [nearer.into(), down.into(), up.into()])?;
    finish(operands, line, found, result, declared.flag("keepdims")?)
}
