//! Functions that treat arrays as sets: `isin`, `unique_all`, `unique_counts`, `unique_inverse`. No NaN equals
//! another, as in the array API standard.

use super::operand::Operands;
use super::order::firsts;
use super::parts::list;
use crate::declared::Declared;
use crate::rows::Row;
use precast_graph::{BuildError, Operand, Prop, Props, VarId};

/// Builds `isin(x, others, invert=True)`: an element is found if its left and right insertion positions differ.
pub(super) fn isin(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect(2)?;
    let declared = Declared::bound(operands.function, props);
    // Neither setting changes the result.
    declared.flag("assume_unique")?;
    if declared.has("kind") && !["sort", "table"].contains(&declared.text("kind")?) {
        return Err(declared.wrong("kind", "`sort` or `table`").into());
    }
    let x = operands.variable(0)?;
    let others = operands.call_with("sort", &operands.args[1..], &[("axis", Operand::None)])?;
    let mut place = |side: &str| {
        let side = Prop::Str(side.to_owned()).into();
        operands.call_with("searchsorted", &[others.into(), x.into()], &[("side", side)])
    };
    let (left, right) = (place("left")?, place("right")?);
    let found = operands.call("lt", [left.into(), right.into()])?;
    let number = operands.call("eq", [x.into(), x.into()])?;
    let found = operands.call("logical_and", [found.into(), number.into()])?;
    if declared.flag("invert")? { operands.call("logical_not", [found.into()]) } else { Ok(found) }
        .map(Operand::Var)
}

/// Builds `unique_all(x)`, `unique_counts(x)` and `unique_inverse(x)`.
pub(super) fn unique_parts(operands: &mut Operands<'_>, row: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect(1)?;
    let all = row.name == "unique_all";
    let (inverse, counts) = (all || row.name == "unique_inverse", all || row.name == "unique_counts");
    Parts { index: all, inverse, counts }.of(operands, false)
}

/// The results to return in addition to the unique elements.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Parts {
    pub(super) index: bool,
    pub(super) inverse: bool,
    pub(super) counts: bool,
}

impl Parts {
    /// Returns the unique elements and these results; with `alike` all NaNs count as equal.
    pub(super) fn of(self, operands: &mut Operands<'_>, alike: bool) -> Result<Operand, BuildError> {
        let x = operands.variable(0)?;
        let flat = operands.call("flatten", [x.into()])?;
        let order = operands.call("argsort", [flat.into()])?;
        let sorted = operands.call("take", [flat.into(), order.into()])?;
        let first = firsts(operands, sorted, alike)?;
        let starts = operands.call("flatnonzero", [first.into()])?;
        let mut results = vec![operands.call("take", [sorted.into(), starts.into()])?];
        if self.index {
            results.push(operands.call("take", [order.into(), starts.into()])?);
        }
        if self.inverse {
            results.push(inverse(operands, x, order, first)?);
        }
        if self.counts {
            let extent = operands.extent(sorted, 0)?;
            let end = operands.call_with("make_vector", &[extent], &[])?;
            let ends = operands.call("join", [starts.into(), end.into()])?;
            results.push(operands.call("diff", [ends.into()])?);
        }
        Ok(list(results))
    }
}

/// Returns for each element the index of its unique element.
fn inverse(operands: &mut Operands<'_>, x: VarId, order: VarId, first: VarId) -> Result<VarId, BuildError> {
    let number = operands.call("cumsum", [first.into()])?;
    let number = operands.call("sub", [number.into(), 1_i64.into()])?;
    let places = operands.call("take", [order.into(), order.into()])?;
    let part = operands.call("take", [places.into(), order.into()])?;
    let inverse = operands.call("set_subtensor", [part.into(), number.into()])?;
    let extents = operands.extents_of(x)?;
    operands.call_with("reshape", &[&[inverse.into()], extents.as_slice()].concat(), &[])
}
