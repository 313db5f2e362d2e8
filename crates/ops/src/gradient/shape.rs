//! The derivatives of ops that move elements.

use super::rules::{extent, extents, first, ndim, summed};
use crate::DimShuffle;
use crate::shape::{Alloc, MakeVector, Reshape, Shape, Split};
use precast_graph::{BuildError, DType, Gradients, Operand, Prop, Pullback};
use std::sync::Arc;

/// The gradient by the input of a DimShuffle, in the order of its dimensions.
pub(crate) fn dimshuffle(op: &DimShuffle, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let gradient = at.gradient()?;
    let place = |d| op.order.iter().position(|from| *from == Some(d));
    let back = DimShuffle::new((0..ndim(at, at.inputs[0])).map(place).collect());
    Ok(vec![Some(at.apply(back, &[gradient])?)])
}

/// The gradient by the tensor of a Reshape, in its shape.
pub(crate) fn reshape(at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (gradient, x) = (at.gradient()?, at.inputs[0]);
    let shape = at.apply(Shape, &[x])?;
    let back = at.apply(Reshape { ndim: ndim(at, x) }, &[gradient, shape])?;
    Ok(first(at, [back]))
}

/// The gradient by the first input, which was broadcast.
pub(crate) fn broadcast(at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (gradient, value) = (at.gradient()?, at.inputs[0]);
    let sum = summed(at, gradient, value)?;
    Ok(first(at, [sum]))
}

/// The gradient by the tensor of a SumTo, broadcast again.
pub(crate) fn sum_to(at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (gradient, x) = (at.gradient()?, at.inputs[0]);
    let mut args = vec![Operand::Var(gradient)];
    args.extend(extents(at, x)?);
    let whole = at.call("alloc", &args)?;
    Ok(first(at, [whole]))
}

/// The gradients by the tensors of a Join: the pieces.
pub(crate) fn join(axis: usize, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (gradient, pieces) = (at.gradient()?, at.inputs.len());
    let mut extents = Vec::new();
    for input in at.inputs {
        extents.push(extent(at, *input, axis)?.variable(at.graph)?);
    }
    let extents = at.apply(MakeVector { dtype: DType::I64 }, &extents)?;
    let pieces = at.graph.apply(Arc::new(Split { axis, pieces }), &[gradient, extents])?;
    Ok(pieces.into_iter().map(Some).collect())
}

/// The gradient by the tensor of a Split: the pieces, joined.
pub(crate) fn split(axis: usize, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let mut pieces = Vec::new();
    for (output, gradient) in at.outputs.iter().zip(at.gradients) {
        let zeros = |at: &mut Pullback<'_>| at.call("zeros_like", &[(*output).into()]);
        pieces.push(gradient.map_or_else(|| zeros(at), Ok)?.into());
    }
    let whole = at.call_with("join", &pieces, &[("axis", (axis as i64).into())])?;
    Ok(first(at, [whole]))
}

/// The gradients by the numbers of a MakeVector.
pub(crate) fn make_vector(at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (gradient, count) = (at.gradient()?, at.inputs.len());
    let index = Prop::List(vec![Prop::Str("i".to_owned())]);
    let element = |position: usize| {
        let args = [gradient.into(), (position as i64).into()];
        at.call_with("subtensor", &args, &[("index", index.clone().into())]).map(Some)
    };
    (0..count).map(element).collect()
}

/// The gradient by the tensor of a C scalar.
pub(crate) fn scalar_from_tensor(at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let gradient = at.gradient()?;
    Ok(vec![Some(at.apply(Alloc, &[gradient])?)])
}
