//! The array API standard's names for cumulative sums and norms.

use super::operand::Operands;
use super::settings::axes as axes_by_name;
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{BuildError, Operand, Prop, Props, VarId};

/// Returns a setting of a call, for the function it is composed of.
fn setting(props: &Props, name: &str) -> Operand {
    props.get(name).map_or(Operand::None, |prop| prop.clone().into())
}

/// Builds `cumulative_sum(x, axis=0, include_initial=True)` and `cumulative_prod(x)`.
pub(super) fn cumulative(
    operands: &mut Operands<'_>,
    row: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect(1)?;
    let declared = Declared::bound(operands.function, props);
    let x = operands.variable(0)?;
    let x = operands.call("atleast_1d", [x.into()])?;
    let ndim = operands.ndim(x);
    let axis = match declared.int("axis")? {
        Some(axis) => operands.axis(axis, ndim)?,
        None if ndim == 1 => 0,
        None => return Err(operands.error("needs an `axis` unless the tensor has one dimension")),
    };
    let (running, start) = if row.name == "cumulative_sum" { ("cumsum", 0_i64) } else { ("cumprod", 1_i64) };
    let along = i64::try_from(axis).unwrap_or(i64::MAX);
    let named = [("axis", Operand::from(along)), ("dtype", setting(props, "dtype"))];
    let total = operands.call_with(running, &[x.into()], &named)?;
    if !declared.flag("include_initial")? {
        return Ok(total.into());
    }
    let mut extents = operands.extents_of(x)?;
    extents[axis] = 1_i64.into();
    let dtype = Prop::DType(operands.graph.ty(total).dtype()).into();
    let first = operands.call_with("full", &[Operand::List(extents), start.into()], &[("dtype", dtype)])?;
    operands.call_with("join", &[first.into(), total.into()], &[("axis", along.into())]).map(Operand::Var)
}

/// Builds `vector_norm(x, axis=(0, 1), ord=2)`, which merges the axes into one.
pub(super) fn vector_norm(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect(1)?;
    let x = operands.variable(0)?;
    let ndim = operands.ndim(x);
    let axes = axes_by_name(operands.function, "axis", props, ndim)?.unwrap_or_else(|| (0..ndim).collect());
    let others: Vec<usize> = (0..ndim).filter(|d| !axes.contains(d)).collect();
    let moved = operands.shuffled(x, axes.iter().chain(&others).copied().map(Some))?;
    let extents = operands.extents_of(moved)?;
    let (gone, left) = extents.split_at(axes.len());
    let mut all = Operand::from(1_i64);
    for extent in gone {
        all = operands.call("mul", [all, extent.clone()])?.into();
    }
    let lines = operands.call_with("reshape", &[&[moved.into(), all], left].concat(), &[])?;
    let named = [("axis", Operand::from(0_i64)), ("ord", setting(props, "ord"))];
    let norm = operands.call_with("norm", &[lines.into()], &named)?;
    if !Declared::bound(operands.function, props).flag("keepdims")? {
        return Ok(norm.into());
    }
    let place = |d: usize| others.iter().position(|other| *other == d);
    operands.shuffled(norm, (0..ndim).map(place)).map(Operand::Var)
}

/// Builds `matrix_norm(x, ord='fro')` over the last two axes.
pub(super) fn matrix_norm(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect(1)?;
    let x: VarId = operands.variable(0)?;
    let axes = Operand::List(vec![(-2_i64).into(), (-1_i64).into()]);
    let named = [("axis", axes), ("ord", setting(props, "ord")), ("keepdims", setting(props, "keepdims"))];
    operands.call_with("norm", &[x.into()], &named).map(Operand::Var)
}
