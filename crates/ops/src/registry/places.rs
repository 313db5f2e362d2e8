//! Selects elements at several positions at once: `take_along_axis(x, p)`, `x[i, j]` with arrays.
//!
//! The positions along single axes are combined to one position among all elements, so a single `take` finds them.
//! Each position is looked up in `arange` first, which resolves negative positions and rejects positions out of
//! bounds.

use super::operand::Operands;
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{BuildError, DType, MakeNodeError, Operand, Props, VarId};

/// Resolves positions along an axis of this extent, so that all count from the front.
fn counted(operands: &mut Operands<'_>, extent: &Operand, index: VarId) -> Result<VarId, BuildError> {
    let numbers = operands.call("arange", [extent.clone()])?;
    let numbers = operands.cast(numbers, DType::I64)?;
    operands.call("take", [numbers.into(), index.into()])
}

/// Returns the position among all elements in C order, given the positions along each axis.
fn among_all(
    operands: &mut Operands<'_>,
    extents: &[Operand],
    places: &[VarId],
) -> Result<VarId, BuildError> {
    let mut all = places[0];
    for (extent, place) in extents.iter().zip(places).skip(1) {
        let before = operands.call("mul", [all.into(), extent.clone()])?;
        all = operands.call("add", [before.into(), (*place).into()])?;
    }
    Ok(all)
}

/// Rejects indices that are not integers.
fn expect_integers(operands: &Operands<'_>, input: usize, index: VarId) -> Result<(), MakeNodeError> {
    let found = operands.graph.ty(index).dtype();
    if found.is_integer() {
        return Ok(());
    }
    let (op, expected) = (operands.function.to_owned(), "integers".to_owned());
    Err(MakeNodeError::DType { op, input, found, expected })
}

/// Builds `take_along_axis(x, positions, axis=0)`; without an axis, it takes from all elements.
pub(super) fn take_along_axis(
    operands: &mut Operands<'_>,
    _: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let (mut x, positions) = (operands.variable(0)?, operands.variable(1)?);
    expect_integers(operands, 1, positions)?;
    let axis = Declared::bound(operands.function, props).int("axis")?;
    if axis.is_none() {
        x = operands.call("flatten", [x.into()])?;
    }
    let ndim = operands.ndim(x);
    let axis = operands.axis(axis.unwrap_or(0), ndim)?;
    if operands.ndim(positions) != ndim {
        let problem = format!("positions must have {ndim} dimension(s), found {}", operands.ndim(positions));
        return Err(operands.error(problem));
    }
    let (extents, mut places) = (operands.extents_of(x)?, Vec::new());
    for (d, extent) in extents.iter().enumerate() {
        places.push(if d == axis {
            counted(operands, extent, positions)?
        } else {
            let numbers = operands.call("arange", [extent.clone()])?;
            let numbers = operands.cast(numbers, DType::I64)?;
            operands.shuffled(numbers, (0..ndim).map(|own| (own == d).then_some(0)))?
        });
    }
    let all = among_all(operands, &extents, &places)?;
    let flat = operands.call("flatten", [x.into()])?;
    operands.call("take", [flat.into(), all.into()]).map(Operand::Var)
}

/// Takes the elements at broadcast indices of the first axes. The dimensions of the indices come first.
pub(super) fn taken_together(
    operands: &mut Operands<'_>,
    tensor: VarId,
    indices: &[VarId],
) -> Result<VarId, BuildError> {
    let extents = operands.extents_of(tensor)?;
    if indices.len() > extents.len() {
        let problem = format!("has {} indices for {} dimension(s)", indices.len(), extents.len());
        return Err(operands.error(problem));
    }
    let (first, rest) = extents.split_at(indices.len());
    let (mut places, mut count) = (Vec::new(), Operand::from(1_i64));
    for (extent, index) in first.iter().zip(indices) {
        expect_integers(operands, 0, *index)?;
        places.push(counted(operands, extent, *index)?);
        count = operands.call("mul", [count, extent.clone()])?.into();
    }
    let all = among_all(operands, first, &places)?;
    let rows = operands.call_with("reshape", &[&[tensor.into(), count], rest].concat(), &[])?;
    operands.call_with("take", &[rows.into(), all.into()], &[("axis", 0_i64.into())])
}
