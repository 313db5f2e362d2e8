//! Functions that select parts of a tensor, and functions that write to them.
//!
//! `x[1:n, None, ::-1]` is a call of `subtensor` with the numbers as arguments and `index=["be", "n", "s"]`. The
//! items are the selectors of [`crate::index::selector`], `n` for a new axis, and `...` for all dimensions in
//! between. A vector of integers as the only index becomes [`AdvancedSubtensor1`]; `gather` handles all other arrays
//! among the indices.

use super::operand::Operands;
use super::{gather, mask};
use crate::DimShuffle;
use crate::declared::Declared;
use crate::index::{
    AdvancedIncSubtensor1, AdvancedSubtensor1, BooleanIndex, IncSubtensor, Selector, Subtensor,
};
use crate::rows::Row;
use crate::shape::{MakeVector, Reshape, ShapeI};
use precast_graph::{BuildError, DType, MakeNodeError, Op, Prop, Props, VarId};
use std::any::Any;
use std::sync::Arc;

/// One item between the brackets of an index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Selector(Selector),
    NewAxis,
    Rest,
}

fn items(declared: &Declared<'_>) -> Result<Vec<Item>, MakeNodeError> {
    let wrong = || declared.wrong("index", "a list of `i`, slices such as `be`, `n` and at most one `...`");
    let item = |item: &Prop| match item {
        Prop::Str(text) if text == "n" => Ok(Item::NewAxis),
        Prop::Str(text) if text == "..." => Ok(Item::Rest),
        Prop::Str(text) => Selector::parse(text).map(Item::Selector).ok_or_else(wrong),
        _ => Err(wrong()),
    };
    let items = declared.list("index").ok_or_else(wrong)?.iter().map(item).collect::<Result<Vec<_>, _>>()?;
    let rests = items.iter().filter(|item| matches!(item, Item::Rest)).count();
    if rests > 1 { Err(wrong()) } else { Ok(items) }
}

impl Operands<'_> {
    /// Reorders the dimensions of a tensor.
    pub(super) fn shuffle(&mut self, tensor: VarId, order: &[usize]) -> Result<VarId, BuildError> {
        if order.is_sorted() {
            return Ok(tensor);
        }
        self.apply(DimShuffle::new(order.iter().copied().map(Some).collect()), &[tensor])
    }

    /// Reshapes a tensor.
    pub(super) fn reshape(&mut self, tensor: VarId, shape: &[i64]) -> Result<VarId, BuildError> {
        let vector = self.vector(shape);
        self.apply(Reshape { ndim: shape.len() }, &[tensor, vector])
    }

    /// Returns whether a result is an extent, `shape(x)[0]` or `shape_i(x, i=0)`, which is a Python integer in NumPy.
    pub(super) fn is_extent(&self, result: VarId) -> bool {
        let Some(apply) = self.graph.producer(result) else { return false };
        let of_shape = || self.graph.producer(apply.inputs[0]).is_some_and(|made| made.op.name() == "shape");
        let part = apply.op.name() == "subtensor" && self.graph.ty(result).ndim() == 0 && of_shape();
        part || apply.op.name() == "shape_i"
    }
}

pub(super) fn subtensor(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let items = items(&Declared::bound(operands.function, props))?;
    operands.expect_between(1, usize::MAX)?;
    let tensor = operands.variable(0)?;
    match gather::array_indices(operands, &items)?.as_slice() {
        [index] => gather::gather(operands, tensor, items, index),
        arrays @ [_, ..] => gather::gather_together(operands, tensor, items, arrays),
        [] => match basic(operands, tensor, items)? {
            // The whole tensor must also be a part, so that it can be written to.
            part if part == tensor => operands.apply(Subtensor { index: Vec::new() }, &[tensor]),
            part => Ok(part),
        },
    }
}

/// Builds a view by integers, slices and new axes. The numbers are the arguments after the first.
pub(super) fn basic(
    operands: &mut Operands<'_>,
    tensor: VarId,
    mut items: Vec<Item>,
) -> Result<VarId, BuildError> {
    let ndim = operands.graph.ty(tensor).ndim();
    // `...` stands for the dimensions without an item of their own.
    let used = items.iter().filter(|item| matches!(item, Item::Selector(_))).count();
    if let Some(at) = items.iter().position(|item| matches!(item, Item::Rest)) {
        let rest = (used..ndim).map(|_| Item::Selector(Selector::ALL));
        items.splice(at..=at, rest);
    }
    let selectors = items
        .iter()
        .filter_map(|item| if let Item::Selector(selector) = item { Some(*selector) } else { None });
    let mut selectors: Vec<Selector> = selectors.collect();
    while selectors.last() == Some(&Selector::ALL) {
        selectors.pop();
    }
    let mut part = tensor;
    if !selectors.is_empty() {
        let mut inputs = vec![tensor];
        inputs.extend(operands.integers(1)?);
        part = operands.apply(Subtensor { index: selectors }, &inputs)?;
    }
    if !items.iter().any(|item| matches!(item, Item::NewAxis)) {
        return Ok(part);
    }
    let mut kept = 0..operands.graph.ty(part).ndim();
    let mut order = Vec::new();
    for item in &items {
        match item {
            Item::NewAxis => order.push(None),
            Item::Selector(Selector::Index) | Item::Rest => {}
            Item::Selector(Selector::Slice { .. }) => order.extend(kept.next().map(Some)),
        }
    }
    order.extend(kept.map(Some));
    operands.apply(DimShuffle::new(order), &[part])
}

/// Selects rows by a vector of integers.
pub(super) fn rows(operands: &mut Operands<'_>, tensor: VarId, indices: VarId) -> Result<VarId, BuildError> {
    let found = operands.graph.ty(indices);
    if !found.dtype().is_integer() {
        let (op, found) = (operands.function.to_owned(), found.to_string());
        let expected = "a vector of integers".to_owned();
        return Err(MakeNodeError::Input { op, input: 1, found, expected }.into());
    }
    let indices = operands.cast(indices, DType::I64)?;
    operands.apply(AdvancedSubtensor1, &[tensor, indices])
}

/// Builds `take(x, indices, axis=0)`; without an axis, it takes from all elements in C order. The shape of the
/// indices replaces the axis in the result.
pub(super) fn take(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    let axis = Declared::bound(operands.function, props).int("axis")?;
    operands.expect(2)?;
    let (tensor, indices) = (operands.variable(0)?, operands.variable(1)?);
    taken(operands, tensor, indices, axis)
}

/// Takes the elements at some indices along an axis.
pub(super) fn taken(
    operands: &mut Operands<'_>,
    mut tensor: VarId,
    indices: VarId,
    axis: Option<i64>,
) -> Result<VarId, BuildError> {
    if axis.is_none() || operands.graph.ty(tensor).ndim() == 0 {
        tensor = operands.reshape(tensor, &[-1])?;
    }
    let ndim = operands.graph.ty(tensor).ndim();
    let axis = operands.axis(axis.unwrap_or(0), ndim)?;
    let rank = operands.graph.ty(indices).ndim();
    let truth = operands.graph.ty(indices).dtype() == DType::Bool;
    let indices = if truth { operands.cast(indices, DType::I64)? } else { indices };
    let vector = if rank == 1 { indices } else { operands.reshape(indices, &[-1])? };
    let front: Vec<usize> = std::iter::once(axis).chain((0..ndim).filter(|d| *d != axis)).collect();
    let turned = operands.shuffle(tensor, &front)?;
    let mut taken = rows(operands, turned, vector)?;
    if rank == 0 {
        taken = operands.apply(DimShuffle::new((1..ndim).map(Some).collect()), &[taken])?;
    } else if rank > 1 {
        let of_indices = (0..rank).map(|axis| operands.apply(ShapeI { axis }, &[indices]));
        let mut extents = of_indices.collect::<Result<Vec<_>, _>>()?;
        for axis in 1..ndim {
            extents.push(operands.apply(ShapeI { axis }, &[taken])?);
        }
        let shape = operands.apply(MakeVector { dtype: DType::I64 }, &extents)?;
        taken = operands.apply(Reshape { ndim: extents.len() }, &[taken, shape])?;
    }
    // The dimensions of the indices move to the place of the axis, after the dimensions before it.
    let order: Vec<usize> = (rank..rank + axis).chain(0..rank).chain(rank + axis..rank + ndim - 1).collect();
    operands.shuffle(taken, &order)
}

/// Builds `set_subtensor(x[1:3], y)` and `inc_subtensor(x[indices], y)`: x with the part set to y, or with y added to
/// it.
pub(super) fn write(operands: &mut Operands<'_>, row: &Row, props: &Props) -> Result<VarId, BuildError> {
    super::settings::no_props(operands.function, props)?;
    operands.expect(2)?;
    let part = operands.variable(0)?;
    let set = row.name == "set_subtensor";
    let no_part = || MakeNodeError::Input {
        op: operands.function.to_owned(),
        input: 0,
        found: "something else".to_owned(),
        expected: "an unmodified part of a tensor, `x[1:3]`, `x[indices]` or `x[mask]`".to_owned(),
    };
    let apply = operands.graph.producer(part).cloned().ok_or_else(no_part)?;
    let op: &dyn Any = &*apply.op;
    let writer: Option<Arc<dyn Op>> = if let Some(op) = op.downcast_ref::<Subtensor>() {
        Some(Arc::new(IncSubtensor { index: op.index.clone(), set, in_place: false }))
    } else if op.downcast_ref::<AdvancedSubtensor1>().is_some() {
        Some(Arc::new(AdvancedIncSubtensor1 { set, in_place: false }))
    } else if op.is::<BooleanIndex>() {
        None
    } else {
        return Err(no_part().into());
    };
    let whole = apply.inputs[0];
    let dtype = operands.graph.ty(whole).dtype();
    let common = operands.common();
    if common != dtype {
        let found = common;
        let (op, expected) = (operands.function.to_owned(), format!("values that promote to `{dtype}`"));
        return Err(MakeNodeError::DType { op, input: 1, found, expected }.into());
    }
    let values = operands.cast_argument(1, dtype)?;
    let Some(writer) = writer else {
        return mask::write(operands, whole, apply.inputs[1], values, set);
    };
    let inputs: Vec<VarId> = [whole, values].into_iter().chain(apply.inputs[1..].iter().copied()).collect();
    super::variables::first(operands.results(writer, &inputs)?, operands.function)
}
