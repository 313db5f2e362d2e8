//! Arrays among the indices: integers on any axis, `x[:, v]`, or a mask, `x[mask]`, with NumPy's semantics.
//!
//! ```text
//! x[i, :, v]  ──▶  the view x[i, :, :]  ──▶  take along the axis of v, or apply the mask  ──▶  move its dimensions into place
//! ```
//! NumPy treats single integers next to an array as arrays too: if slices separate them, the dimensions of the array
//! come first. A mask stands for the indices of its true elements, with its dimensions merged into one.

use super::index::{Item, basic, taken};
use super::operand::Operands;
use crate::index::{BooleanIndex, Nonzero, Selector};
use crate::shape::View;
use precast_graph::{Array, BuildError, DType, FunctionGraph, MakeNodeError, Operand, VarId};
use std::any::Any;

/// An array among the indices: the position of its item, its argument, and its value.
pub(super) struct ArrayIndex {
    item: usize,
    argument: usize,
    value: VarId,
}

/// Returns the arrays among the indices.
pub(super) fn array_indices(
    operands: &mut Operands<'_>,
    items: &[Item],
) -> Result<Vec<ArrayIndex>, BuildError> {
    let (mut found, mut argument) = (Vec::new(), 1);
    for (number, item) in items.iter().enumerate() {
        let Item::Selector(selector) = item else { continue };
        let is_array = match operands.args.get(argument) {
            Some(Operand::Var(v)) => {
                let ty = operands.graph.ty(*v);
                ty.ndim() > 0 || ty.dtype() == DType::Bool
            }
            Some(Operand::List(_)) => true,
            _ => false,
        };
        if is_array && *selector == Selector::Index {
            let value = match &operands.args[argument] {
                // An empty list has no dtype of its own.
                Operand::List(items) if items.is_empty() => {
                    operands.graph.constant(Array::zeros(DType::I64, &[0]))
                }
                _ => operands.variable(argument)?,
            };
            found.push(ArrayIndex { item: number, argument, value });
        }
        argument += selector.integers();
    }
    Ok(found)
}

/// Returns the part of a tensor for indices with one array among them.
pub(super) fn gather(
    operands: &mut Operands<'_>,
    tensor: VarId,
    mut items: Vec<Item>,
    index: &ArrayIndex,
) -> Result<VarId, BuildError> {
    let ty = operands.graph.ty(index.value);
    let (is_mask, rank) = (ty.dtype() == DType::Bool, ty.ndim());
    let dimensions = if is_mask { rank } else { 1 };
    if !is_mask && !ty.dtype().is_integer() {
        let (op, found) = (operands.function.to_owned(), ty.to_string());
        let expected = "integers, or a mask of bool".to_owned();
        return Err(MakeNodeError::Input { op, input: index.argument, found, expected }.into());
    }
    if is_nonzero(operands.graph, index.value) {
        let problem = "takes the matrix of `nonzero` as indices of the first axis only\nhint: use the mask itself, \
                       `x[mask]`";
        let op = operands.function.to_owned();
        return Err(MakeNodeError::Value { op, problem: problem.to_owned() }.into());
    }
    let apart = is_apart(&items);
    items.splice(index.item..=index.item, vec![Item::Selector(Selector::ALL); dimensions]);
    let axis = axis_of(&items, index.item, operands.graph.ty(tensor).ndim());
    let others: Vec<Operand> = operands
        .args
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != index.argument)
        .map(|(_, arg)| arg.clone())
        .collect();
    let mut rest = operands.with(&others);
    let part = basic(&mut rest, tensor, items)?;
    let (mut found, rank) = match is_mask {
        true => (masked(operands, part, index.value, axis)?, 1),
        false => {
            let axis = Some(i64::try_from(axis).unwrap_or(i64::MAX));
            (taken(operands, part, index.value, axis)?, rank)
        }
    };
    if apart {
        let ndim = operands.graph.ty(found).ndim();
        let order: Vec<usize> = (axis..axis + rank).chain(0..axis).chain(axis + rank..ndim).collect();
        found = operands.shuffle(found, &order)?;
    }
    // `x[i, v]` is a part of a part. The View rejects writes to it, which would return the outer part and not all of x.
    if part == tensor { Ok(found) } else { operands.apply(View, &[found]) }
}

/// Returns the part of a tensor for several integer arrays, broadcast together with any single integers. Dimensions
/// without such an index follow, or stay in place if the indexed axes are adjacent.
pub(super) fn gather_together(
    operands: &mut Operands<'_>,
    tensor: VarId,
    mut items: Vec<Item>,
    arrays: &[ArrayIndex],
) -> Result<VarId, BuildError> {
    let apart = is_apart(&items);
    let (mut indices, mut places, mut others) = (Vec::new(), Vec::new(), vec![operands.args[0].clone()]);
    let mut argument = 1;
    for (number, item) in items.iter_mut().enumerate() {
        let Item::Selector(selector) = item else { continue };
        let count = selector.integers();
        if *selector == Selector::Index {
            let array = arrays.iter().find(|array| array.item == number);
            indices.push(array.map_or_else(|| operands.integer(argument), |array| Ok(array.value))?);
            places.push(number);
            *selector = Selector::ALL;
        } else {
            others.extend_from_slice(&operands.args[argument..argument + count]);
        }
        argument += count;
    }
    if indices.iter().any(|index| operands.graph.ty(*index).dtype() == DType::Bool) {
        return Err(
            operands.error("takes a mask as the only array among the indices\nhint: index in two steps")
        );
    }
    let mut rest = operands.with(&others);
    let part = basic(&mut rest, tensor, items.clone())?;
    let ndim = operands.graph.ty(part).ndim();
    let axes: Vec<usize> =
        places.iter().map(|place| axis_of(&items, *place, operands.graph.ty(tensor).ndim())).collect();
    let front: Vec<usize> = axes.iter().copied().chain((0..ndim).filter(|d| !axes.contains(d))).collect();
    let turned = operands.shuffle(part, &front)?;
    let mut found = super::places::taken_together(operands, turned, &indices)?;
    if !apart {
        let (rank, all) =
            (operands.graph.ty(found).ndim() + axes.len() - ndim, operands.graph.ty(found).ndim());
        let order: Vec<usize> = (rank..rank + axes[0]).chain(0..rank).chain(rank + axes[0]..all).collect();
        found = operands.shuffle(found, &order)?;
    }
    // The View rejects writes to the result, a part of a part: they would not return the whole tensor.
    operands.apply(View, &[found])
}

/// Returns whether the index is the complete result of `nonzero`. NumPy's result is a tuple, which would index every
/// axis.
fn is_nonzero(graph: &FunctionGraph, value: VarId) -> bool {
    graph.producer(value).is_some_and(|apply| {
        let op: &dyn Any = &*apply.op;
        op.is::<Nonzero>()
    })
}

/// Returns whether a slice or a new axis separates the array from a single integer.
fn is_apart(items: &[Item]) -> bool {
    let single = |item: &Item| *item == Item::Selector(Selector::Index);
    let singles: Vec<usize> = (0..items.len()).filter(|at| single(&items[*at])).collect();
    let (Some(first), Some(last)) = (singles.first(), singles.last()) else { return false };
    items[*first..=*last].iter().any(|item| !single(item))
}

/// Returns the dimension of the result for an item that is a full slice.
fn axis_of(items: &[Item], item: usize, ndim: usize) -> usize {
    let used = items.iter().filter(|item| matches!(item, Item::Selector(_))).count();
    let dimensions = |item: &Item| match item {
        Item::Selector(Selector::Index) => 0,
        Item::Selector(Selector::Slice { .. }) | Item::NewAxis => 1,
        Item::Rest => ndim.saturating_sub(used),
    };
    items[..item].iter().map(dimensions).sum()
}

/// Returns the elements where a mask is true. `axis` is the first dimension that the mask covers.
fn masked(operands: &mut Operands<'_>, tensor: VarId, mask: VarId, axis: usize) -> Result<VarId, BuildError> {
    let (rank, ndim) = (operands.graph.ty(mask).ndim(), operands.graph.ty(tensor).ndim());
    if axis + rank > ndim {
        let problem =
            format!("takes a mask of at most {} dimension(s) here, found {rank}", ndim.saturating_sub(axis));
        return Err(MakeNodeError::Value { op: operands.function.to_owned(), problem }.into());
    }
    let front: Vec<usize> = (axis..axis + rank).chain(0..axis).chain(axis + rank..ndim).collect();
    let turned = operands.shuffle(tensor, &front)?;
    let found = operands.apply(BooleanIndex, &[turned, mask])?;
    let order: Vec<usize> = (1..=axis).chain([0]).chain(axis + 1..=ndim - rank).collect();
    operands.shuffle(found, &order)
}
