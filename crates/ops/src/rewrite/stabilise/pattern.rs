//! Recognises variables: a function of other variables, a constant, a sum of exponentials.

use crate::scalar::{self, ScalarOp};
use crate::{DimShuffle, Elemwise, Reduce, ReduceKind};
use precast_graph::{BuildError, FunctionGraph, Op, Origin, Props, VarId};
use std::any::Any;
use std::sync::Arc;

fn made_by<T: Op>(graph: &FunctionGraph, variable: VarId) -> Option<(&T, &[VarId])> {
    let apply = graph.producer(variable)?;
    let op: &dyn Any = &*apply.op;
    Some((op.downcast_ref::<T>()?, &apply.inputs))
}

/// Returns the argument if a variable is this function of one argument.
pub(super) fn argument(graph: &FunctionGraph, variable: VarId, name: &str) -> Option<VarId> {
    match arguments(graph, variable, name)? {
        [only] => Some(*only),
        _ => None,
    }
}

/// Returns the arguments if a variable is this function.
pub(super) fn arguments<'g>(graph: &'g FunctionGraph, variable: VarId, name: &str) -> Option<&'g [VarId]> {
    let (op, inputs) = made_by::<Elemwise>(graph, variable)?;
    (op.scalar.name() == name).then_some(inputs)
}

/// Returns whether every element of a variable is this number for all inputs of the graph.
pub(super) fn is_number(graph: &FunctionGraph, variable: VarId, number: f64) -> bool {
    if let Origin::Constant(value) = &graph.variable(variable).origin {
        let numbers = value.numbers();
        return !numbers.is_empty() && numbers.iter().all(|found| found.parts() == (number, 0.0));
    }
    let through = made_by::<DimShuffle>(graph, variable).map(|(_, inputs)| inputs[0]);
    // Other dtypes cannot represent -1: it wraps, or becomes true.
    let cast = || argument(graph, variable, "cast").filter(|_| graph.ty(variable).dtype().is_float());
    through.or_else(cast).is_some_and(|from| is_number(graph, from, number))
}

/// Returns the other operand if one of two operands is this number.
pub(super) fn beside(graph: &FunctionGraph, inputs: &[VarId], number: f64) -> Option<VarId> {
    let [x, y] = inputs else { return None };
    if is_number(graph, *x, number) {
        return Some(*y);
    }
    is_number(graph, *y, number).then_some(*x)
}

/// A sum of exponentials over axes, with an optional rearrangement of its dimensions.
pub(super) struct ExponentialSum {
    /// The exponents.
    pub(super) of: VarId,
    /// The exponentials.
    pub(super) powers: VarId,
    pub(super) axes: Option<Vec<usize>>,
    pub(super) arranged: Option<DimShuffle>,
}

/// Returns the sum of exponentials if a variable is one.
pub(super) fn exponential_sum(graph: &FunctionGraph, variable: VarId) -> Option<ExponentialSum> {
    let (sum, arranged) = match made_by::<DimShuffle>(graph, variable) {
        Some((op, inputs)) => (inputs[0], Some(op.clone())),
        None => (variable, None),
    };
    let (reduce, inputs) = made_by::<Reduce>(graph, sum)?;
    let powers = inputs[0];
    let is_sum = reduce.kind == ReduceKind::Sum && reduce.map.is_none();
    let of = argument(graph, powers, "exp").filter(|_| is_sum)?;
    Some(ExponentialSum { of, powers, axes: reduce.axes.clone(), arranged })
}

/// Returns whether the largest exponent has already been subtracted, as in `softmax` and `logsumexp`.
pub(super) fn is_shifted(graph: &FunctionGraph, exponents: VarId) -> bool {
    let Some([x, top]) = arguments(graph, exponents, "sub") else { return false };
    let mut top = *top;
    loop {
        if let Some((_, inputs)) = made_by::<DimShuffle>(graph, top) {
            top = inputs[0];
        } else if let Some([_, largest, _]) = arguments(graph, top, "switch") {
            top = *largest;
        } else {
            let reduced = made_by::<Reduce>(graph, top);
            return reduced.is_some_and(|(op, inputs)| op.kind == ReduceKind::Max && inputs[0] == *x);
        }
    }
}

/// Applies a function of the library elementwise.
pub(super) fn apply(graph: &mut FunctionGraph, name: &str, inputs: &[VarId]) -> Result<VarId, BuildError> {
    let op: Arc<dyn ScalarOp> = match scalar::from_props(name, &Props::new()) {
        Some(op) => op?,
        None => unreachable!("`{name}` is a row of the library"),
    };
    Ok(graph.apply(Arc::new(Elemwise::new(op)), inputs)?[0])
}
