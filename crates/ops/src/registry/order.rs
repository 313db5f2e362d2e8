//! Functions of the order of elements: `sort` and functions composed from it.

use super::operand::Operands;
use super::sets::Parts;
use crate::declared::Declared;
use crate::order::{SearchSorted, Sort};
use crate::rows::Row;
use precast_graph::{BuildError, Operand, Props, VarId};

/// Returns the first argument and the axis of a call; without an axis, the flattened tensor and axis 0.
fn line(operands: &mut Operands<'_>, declared: &Declared<'_>) -> Result<(VarId, usize), BuildError> {
    let tensor = operands.variable(0)?;
    match declared.int("axis")? {
        Some(axis) => Ok((tensor, operands.axis(axis, operands.ndim(tensor))?)),
        None => Ok((operands.call("flatten", [tensor.into()])?, 0)),
    }
}

/// Builds `sort(x, axis=-1)`, `argsort(x, axis=None)` and `sort(x, descending=True)`. Every `kind` gives the same,
/// stable result.
pub(super) fn sort(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(1)?;
    let declared = Declared::bound(operands.function, props);
    if declared.has("kind")
        && !["quicksort", "heapsort", "mergesort", "stable"].contains(&declared.text("kind")?)
    {
        return Err(declared.wrong("kind", "`quicksort`, `heapsort`, `mergesort` or `stable`").into());
    }
    declared.flag("stable")?;
    let (tensor, axis) = match operands.variable(0)? {
        // NumPy rejects `sort` of a number, but allows `argsort`.
        number if row.name == "argsort" && operands.ndim(number) == 0 => {
            (operands.call("flatten", [number.into()])?, 0)
        }
        _ => line(operands, &declared)?,
    };
    let sort = Sort { positions: row.name == "argsort", axis };
    if declared.flag("descending")? {
        descending(operands, tensor, sort)
    } else {
        operands.apply(sort, &[tensor])
    }
}

/// Builds a descending stable sort: the lines are reversed before and after sorting, so equal elements keep their
/// order.
fn descending(operands: &mut Operands<'_>, tensor: VarId, sort: Sort) -> Result<VarId, BuildError> {
    let turned = operands.slice(tensor, sort.axis, "s", &[(-1_i64).into()])?;
    let sorted = operands.apply(sort, &[turned])?;
    let descending = operands.slice(sorted, sort.axis, "s", &[(-1_i64).into()])?;
    if !sort.positions {
        return Ok(descending);
    }
    let extent = operands.extent(tensor, sort.axis)?;
    let last = operands.call("sub", [extent, 1_i64.into()])?;
    operands.call("sub", [last.into(), descending.into()])
}

/// Builds `topk(x, k, axis=-1, largest=True)` in descending order, and `argtopk`, which returns the first positions
/// of equal elements.
pub(super) fn topk(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect(2)?;
    let declared = Declared::bound(operands.function, props);
    let (tensor, axis) = line(operands, &declared)?;
    let (count, extent) = (operands.integer(1)?, operands.extent(tensor, axis)?);
    let least = operands.call("ge", [count.into(), 0_i64.into()])?;
    let most = operands.call("le", [count.into(), extent])?;
    let fits = operands.call("logical_and", [least.into(), most.into()])?;
    let message = format!("{}: there are not that many elements along the axis", row.name);
    let count = operands.demand(count, fits, &message)?;
    let sort = Sort { positions: row.name == "argtopk", axis };
    if !declared.flag("largest")? {
        let sorted = operands.apply(sort, &[tensor])?;
        return operands.slice(sorted, axis, "e", &[count.into()]);
    }
    let all = descending(operands, tensor, sort)?;
    operands.slice(all, axis, "e", &[count.into()])
}

/// Builds `searchsorted(sorted, x, side="right")` in the common dtype. `sorter` has the positions of the sorted
/// elements.
pub(super) fn searchsorted(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    operands.expect_between(2, 3)?;
    let declared = Declared::bound(operands.function, props);
    let right = match declared.text("side")? {
        "left" => false,
        "right" => true,
        _ => return Err(declared.wrong("side", "`left` or `right`").into()),
    };
    let dtype = operands.dtype(0).upcast(operands.dtype(1));
    let (mut sorted, x) = (operands.cast_argument(0, dtype)?, operands.cast_argument(1, dtype)?);
    if operands.args.get(2).is_some_and(|sorter| *sorter != Operand::None) {
        let sorter = operands.variable(2)?;
        if (operands.ndim(sorted), operands.ndim(sorter)) != (1, 1) {
            return Err(operands.error("takes a vector and a vector of positions as its `sorter`"));
        }
        let (own, all) = (operands.extent(sorter, 0)?, operands.extent(sorted, 0)?);
        let same = operands.call("eq", [own, all])?;
        let sorter =
            operands.demand(sorter, same, "searchsorted: `sorter` does not have the length of the vector")?;
        sorted = operands.call("take", [sorted.into(), sorter.into()])?;
    }
    operands.apply(SearchSorted { right }, &[sorted, x])
}

/// Returns a mask of the elements of a sorted vector that differ from their predecessor. With `alike`, only the first
/// NaN counts.
pub(super) fn firsts(operands: &mut Operands<'_>, sorted: VarId, alike: bool) -> Result<VarId, BuildError> {
    let after = operands.slice(sorted, 0, "b", &[1_i64.into()])?;
    let before = operands.slice(sorted, 0, "e", &[(-1_i64).into()])?;
    let mut differs = operands.call("ne", [after.into(), before.into()])?;
    if alike {
        // Only NaNs follow a NaN.
        let number = operands.call("isnan", [before.into()])?;
        let number = operands.call("logical_not", [number.into()])?;
        differs = operands.call("logical_and", [differs.into(), number.into()])?;
    }
    let extent = operands.extent(sorted, 0)?;
    let every = operands.call("alloc", [true.into(), extent])?;
    let rest = operands.slice(every, 0, "b", &[1_i64.into()])?;
    operands.call("set_subtensor", [rest.into(), differs.into()])
}

/// Builds `unique(x)`: the sorted elements that differ from their predecessor. It has at most one NaN unless
/// `equal_nan=False`; `unique_values(x)` keeps every NaN. Also returns the parts requested by `return_index=True` and
/// similar settings.
pub(super) fn unique(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect(1)?;
    let declared = Declared::bound(operands.function, props);
    let alike = row.name == "unique" && declared.flag("equal_nan")?;
    let parts = Parts {
        index: declared.flag("return_index")?,
        inverse: declared.flag("return_inverse")?,
        counts: declared.flag("return_counts")?,
    };
    if parts != Parts::default() {
        return parts.of(operands, alike);
    }
    let all = operands.call_with("sort", operands.args, &[("axis", Operand::None)])?;
    let first = firsts(operands, all, alike)?;
    operands.call("boolean_index", [all.into(), first.into()]).map(Operand::Var)
}
