//! An array among the indices: integers on any axis, `x[:, v]`, or a mask, `x[mask]`, as NumPy has them.
//!
//! ```text
//! x[i, :, v]  ──▶  the view x[i, :, :]  ──▶  take along the axis of v  ──▶  its dimensions to their place
//! ```
//! NumPy takes single integers beside an array as arrays, too: where slices stand between them, the dimensions of the array
//! come first. A mask stands for the indices of its true elements, with its dimensions as one.

use super::index::{Item, basic, taken};
use super::operand::Operands;
use super::shape::number_of;
use crate::index::{AdvancedIncSubtensor1, Entry, Subtensor};
use crate::reduce::CumOp;
use crate::shape::{ARange, Alloc, MakeVector, Reshape, ShapeI};
use crate::{Reduce, ReduceKind};
use precast_graph::{Array, BuildError, DType, MakeNodeError, Operand, VarId};

/// An array among the indices: its item, its argument, and its value.
pub(super) struct ArrayIndex {
    item: usize,
    argument: usize,
    value: VarId,
}

/// The array among the indices, if there is one.
pub(super) fn array_index(
    operands: &mut Operands<'_>,
    items: &[Item],
) -> Result<Option<ArrayIndex>, BuildError> {
    let (mut found, mut argument) = (None, 1);
    for (item, entry) in items.iter().enumerate() {
        let Item::Entry(entry) = entry else { continue };
        let is_array = match operands.args.get(argument) {
            Some(Operand::Var(v)) => {
                let ty = operands.graph.ty(*v);
                ty.ndim() > 0 || ty.dtype() == DType::Bool
            }
            Some(Operand::List(_)) => true,
            _ => false,
        };
        if is_array && *entry == Entry::Index {
            if found.is_some() {
                let problem = "takes one array among the indices\nhint: index in two steps, `x[i][:, j]`, or take \
                     from `ravel(x)` what stands at `i*x.shape[1] + j`";
                let op = operands.function.to_owned();
                return Err(MakeNodeError::Value { op, problem: problem.to_owned() }.into());
            }
            let value = match &operands.args[argument] {
                // Without items it has no dtype of its own.
                Operand::List(items) if items.is_empty() => {
                    operands.graph.constant(Array::zeros(DType::I64, &[0]))
                }
                _ => operands.variable(argument)?,
            };
            found = Some(ArrayIndex { item, argument, value });
        }
        argument += entry.integers();
    }
    Ok(found)
}

/// The part of a tensor that indices with one array among them name.
pub(super) fn gather(
    operands: &mut Operands<'_>,
    tensor: VarId,
    mut items: Vec<Item>,
    index: &ArrayIndex,
) -> Result<VarId, BuildError> {
    let ty = operands.graph.ty(index.value);
    let (is_mask, rank) = (ty.dtype() == DType::Bool, ty.ndim());
    let dimensions = if is_mask { rank } else { 1 };
    if !is_mask && !ty.dtype().is_integer() || dimensions == 0 {
        let (op, found) = (operands.function.to_owned(), ty.to_string());
        let expected = "integers, or a mask of bool with dimensions".to_owned();
        return Err(MakeNodeError::Input { op, input: index.argument, found, expected }.into());
    }
    let apart = is_apart(&items);
    items.splice(index.item..=index.item, vec![Item::Entry(Entry::ALL); dimensions]);
    let axis = axis_of(&items, index.item, operands.graph.ty(tensor).ndim());
    let others: Vec<Operand> = operands
        .args
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != index.argument)
        .map(|(_, arg)| arg.clone())
        .collect();
    let mut rest = Operands { graph: operands.graph, function: operands.function, args: &others };
    let mut part = basic(&mut rest, tensor, items)?;
    let mut indices = index.value;
    if is_mask {
        (part, indices) = masked(operands, part, indices, axis)?;
    }
    let rank = if is_mask { 1 } else { rank };
    let part = taken(operands, part, indices, Some(i64::try_from(axis).unwrap_or(i64::MAX)))?;
    if !apart {
        return Ok(part);
    }
    let ndim = operands.graph.ty(part).ndim();
    let order: Vec<usize> = (axis..axis + rank).chain(0..axis).chain(axis + rank..ndim).collect();
    operands.shuffle(part, &order)
}

/// Whether a slice or a new axis stands between the array and a single integer.
fn is_apart(items: &[Item]) -> bool {
    let single = |item: &Item| *item == Item::Entry(Entry::Index);
    let singles: Vec<usize> = (0..items.len()).filter(|at| single(&items[*at])).collect();
    let (Some(first), Some(last)) = (singles.first(), singles.last()) else { return false };
    items[*first..=*last].iter().any(|item| !single(item))
}

/// The dimension of the result that an item stands for, which is a slice of a whole dimension.
fn axis_of(items: &[Item], item: usize, ndim: usize) -> usize {
    let used = items.iter().filter(|item| matches!(item, Item::Entry(_))).count();
    let dimensions = |item: &Item| match item {
        Item::Entry(Entry::Index) => 0,
        Item::Entry(Entry::Slice { .. }) | Item::NewAxis => 1,
        Item::Rest => ndim.saturating_sub(used),
    };
    items[..item].iter().map(dimensions).sum()
}

/// A tensor with the dimensions of a mask as one, and the positions in it where the mask is true.
fn masked(
    operands: &mut Operands<'_>,
    tensor: VarId,
    mask: VarId,
    axis: usize,
) -> Result<(VarId, VarId), BuildError> {
    let (rank, ndim) = (operands.graph.ty(mask).ndim(), operands.graph.ty(tensor).ndim());
    let mut checked = mask;
    for d in 0..rank {
        let of_mask = operands.apply(ShapeI { axis: d }, &[mask])?;
        let of_tensor = operands.apply(ShapeI { axis: axis + d }, &[tensor])?;
        let same = super::elementwise::scalar_apply(operands, "eq", &[of_mask, of_tensor])?;
        let message = "the mask has other extents than the dimensions that it stands for".to_owned();
        checked = operands.apply(crate::shape::Assert { message }, &[checked, same])?;
    }
    if rank == 1 {
        return Ok((tensor, positions(operands, checked)?));
    }
    let flat = operands.reshape(checked, &[-1])?;
    let count = operands.apply(ShapeI { axis: 0 }, &[flat])?;
    let mut extents = Vec::new();
    for d in (0..axis).chain(axis + rank..ndim) {
        extents.push(operands.apply(ShapeI { axis: d }, &[tensor])?);
    }
    extents.insert(axis, count);
    let shape = operands.apply(MakeVector { dtype: DType::I64 }, &extents)?;
    let merged = operands.apply(Reshape { ndim: extents.len() }, &[tensor, shape])?;
    Ok((merged, positions(operands, flat)?))
}

/// Where a vector of truth values is true: each such position is written to the slot that the running sum counts, all
/// others to one slot behind those.
fn positions(operands: &mut Operands<'_>, mask: VarId) -> Result<VarId, BuildError> {
    let ones = operands.cast(mask, DType::I64)?;
    let total = operands.apply(Reduce::new(ReduceKind::Sum, None), &[ones])?;
    let counted = operands.apply(CumOp { product: false, axis: Some(0) }, &[ones])?;
    let [zero, one] = [0, 1].map(|n| number_of(operands, n, DType::I64));
    let (zero, one) = (zero?, one?);
    let slot = super::elementwise::scalar_apply(operands, "sub", &[counted, one])?;
    let slot = super::elementwise::scalar_apply(operands, "switch", &[mask, slot, total])?;
    let room = super::elementwise::scalar_apply(operands, "add", &[total, one])?;
    let slots = operands.apply(Alloc, &[zero, room])?;
    let extent = operands.apply(ShapeI { axis: 0 }, &[mask])?;
    let all = operands.apply(ARange { dtype: DType::I64 }, &[zero, extent, one])?;
    let written =
        operands.apply(AdvancedIncSubtensor1 { set: true, in_place: false }, &[slots, all, slot])?;
    let before = Entry::Slice { start: false, stop: true, step: false };
    operands.apply(Subtensor { index: vec![before] }, &[written, total])
}
