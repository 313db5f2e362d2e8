//! Functions of masks, and of the positions of elements other than 0.

use super::operand::Operands;
use crate::declared::Declared;
use crate::index::{AdvancedIncSubtensor1, BooleanIndex, Nonzero};
use crate::rows::Row;
use precast_graph::{BuildError, DType, Operand, Props, VarId};

/// Builds `nonzero(x)`: NumPy's tuple as a matrix, so that `nonzero(x)[0]` has the same meaning. `flatnonzero(x)` is
/// a vector, `argwhere(x)` the transposed matrix.
pub(super) fn nonzero(operands: &mut Operands<'_>, row: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let mut mask = operands.cast_argument(0, DType::Bool)?;
    if row.name == "flatnonzero" {
        mask = operands.call("flatten", [mask.into()])?;
    }
    if row.name == "nonzero" && operands.ndim(mask) == 0 {
        return Err(operands.error("needs a tensor with dimensions\nhint: use `x != 0` for a number"));
    }
    let found = operands.apply(Nonzero, &[mask])?;
    match row.name {
        "flatnonzero" => operands.slice(found, 0, "i", &[0_i64.into()]),
        "argwhere" => operands.shuffled(found, [Some(1), Some(0)]),
        _ => Ok(found),
    }
}

/// Builds `boolean_index(x, mask)`, the same as `x[mask]`.
pub(super) fn boolean_index(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let inputs = [operands.variable(0)?, operands.variable(1)?];
    operands.apply(BooleanIndex, &inputs)
}

/// Builds `compress(condition, x, axis=0)`, whose condition may be shorter than the axis, and `extract(condition,
/// x)`, which flattens both.
pub(super) fn compress(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let axis = Declared::bound(operands.function, props).int("axis")?;
    let mut condition = operands.cast_argument(0, DType::Bool)?;
    if row.name == "extract" {
        condition = operands.call("flatten", [condition.into()])?;
    }
    if operands.ndim(condition) != 1 {
        return Err(operands
            .error("the condition must be a vector\nhint: use `x[mask]` for a mask of several dimensions"));
    }
    let tensor = operands.variable(1)?;
    let places = operands.call("flatnonzero", [condition.into()])?;
    let axis = axis.map_or(Operand::None, Operand::from);
    operands.call_with("take", &[tensor.into(), places.into()], &[("axis", axis)])
}

/// Builds `count_nonzero(x, axis=0)`.
pub(super) fn count_nonzero(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let mask = operands.cast_argument(0, DType::Bool)?;
    let named: Vec<(&str, Operand)> =
        props.iter().map(|(name, prop)| (name.as_str(), prop.clone().into())).collect();
    operands.call_with("sum", &[mask.into()], &named)
}

/// Builds `set_subtensor(x[mask], y)`: writes to the rows at the true elements, with the mask's dimensions merged
/// into one.
pub(super) fn write(
    operands: &mut Operands<'_>,
    whole: VarId,
    mask: VarId,
    values: VarId,
    set: bool,
) -> Result<VarId, BuildError> {
    let masked = operands.ndim(mask);
    let (extents, of_mask) = (operands.extents_of(whole)?, operands.extents_of(mask)?);
    let mut mask = mask;
    for (own, its) in extents.iter().zip(of_mask) {
        let same = operands.call("eq", [own.clone(), its])?;
        mask = operands.demand(mask, same, "boolean index did not match the shape of the indexed array")?;
    }
    let places = operands.call("flatnonzero", [mask.into()])?;
    let mut rows = whole;
    if masked != 1 {
        let mut count = Operand::from(1_i64);
        for extent in &extents[..masked] {
            count = operands.call("mul", [count, extent.clone()])?.into();
        }
        let shape = [&[whole.into(), count], &extents[masked..]].concat();
        rows = operands.call_with("reshape", &shape, &[])?;
    }
    let written = operands.apply(AdvancedIncSubtensor1 { set, in_place: false }, &[rows, values, places])?;
    if masked == 1 {
        return Ok(written);
    }
    operands.call_with("reshape", &[&[written.into()], extents.as_slice()].concat(), &[])
}
