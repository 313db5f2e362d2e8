//! The derivatives of ops that select parts, and of ops that write to them.

use super::rules::{expression, first, summed};
use crate::index::{
    AdvancedIncSubtensor1, AdvancedSubtensor1, BooleanIndex, IncSubtensor, Selector, Subtensor,
};
use precast_graph::{BuildError, Gradients, Pullback, VarId};

/// Returns the inputs of an op that writes `values` to a part of `whole`, which the inputs from `from` on select.
fn writing(at: &Pullback<'_>, whole: VarId, values: VarId, from: usize) -> Vec<VarId> {
    [whole, values].into_iter().chain(at.inputs[from..].iter().copied()).collect()
}

/// The gradient by the tensor of which a part was selected: zeros elsewhere.
pub(crate) fn subtensor(index: &[Selector], at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (g, x) = (at.gradient()?, at.inputs[0]);
    let zeros = at.call("zeros_like", &[x.into()])?;
    let write = IncSubtensor { index: index.to_vec(), set: true, in_place: false };
    let whole = at.apply(write, &writing(at, zeros, g, 1))?;
    Ok(first(at, [whole]))
}

/// The gradients by the tensor and the values that are written to a part of it.
pub(crate) fn inc_subtensor(op: &IncSubtensor, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (g, values) = (at.gradient()?, at.inputs[1]);
    let selected: Vec<VarId> = std::iter::once(g).chain(at.inputs[2..].iter().copied()).collect();
    let part = at.apply(Subtensor { index: op.index.clone() }, &selected)?;
    let of_values = summed(at, part, values)?;
    let mut of_whole = g;
    if op.set {
        let zero = at.call("zeros_like", &[values.into()])?;
        let write = IncSubtensor { index: op.index.clone(), set: true, in_place: false };
        of_whole = at.apply(write, &writing(at, g, zero, 2))?;
    }
    Ok(first(at, [of_whole, of_values]))
}

/// The gradient by the tensor of which rows were selected; rows that were selected twice have the sum.
pub(crate) fn take(at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (g, x) = (at.gradient()?, at.inputs[0]);
    let zeros = at.call("zeros_like", &[x.into()])?;
    let add = AdvancedIncSubtensor1 { set: false, in_place: false };
    let whole = at.apply(add, &writing(at, zeros, g, 1))?;
    Ok(first(at, [whole]))
}

/// The gradients by the tensor and by the rows that are written to it. Of several rows that are set at one position,
/// only the last has a gradient.
pub(crate) fn inc_take(op: AdvancedIncSubtensor1, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (g, values, positions) = (at.gradient()?, at.inputs[1], at.inputs[2]);
    let mut rows = at.apply(AdvancedSubtensor1, &[g, positions])?;
    let mut of_whole = g;
    if op.set {
        let zero = at.call("zeros_like", &[values.into()])?;
        let set = AdvancedIncSubtensor1 { set: true, in_place: false };
        of_whole = at.apply(set, &writing(at, g, zero, 2))?;
        let names = [("g", g), ("positions", positions)];
        let last = "take(set_subtensor(zeros(shape_i(g, i=0), dtype=i64)[positions], \
                    arange(shape_i(positions, i=0))), positions) == arange(shape_i(positions, i=0))";
        let last = expression(at, last, &names)?;
        let order: Vec<usize> = (1..at.graph.ty(rows).ndim()).collect();
        let last = if order.is_empty() {
            last
        } else {
            at.call_with("expand_dims", &[last.into()], &[("axis", super::rules::axes(order))])?
        };
        rows = at.call("where", &[last.into(), rows.into(), 0_i64.into()])?;
    }
    let of_values = summed(at, rows, values)?;
    Ok(first(at, [of_whole, of_values]))
}

/// The gradient by the tensor of which a mask selected parts.
pub(crate) fn boolean(at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (g, x, mask) = (at.gradient()?, at.inputs[0], at.inputs[1]);
    let zeros = at.call("zeros_like", &[x.into()])?;
    let part = at.apply(BooleanIndex, &[zeros, mask])?;
    let whole = at.call("set_subtensor", &[part.into(), g.into()])?;
    Ok(first(at, [whole]))
}
