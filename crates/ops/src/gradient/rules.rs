//! The derivatives of elementwise ops, and what the derivatives of other ops have in common.

use crate::rows;
use crate::scalar::{Cast, ScalarOp};
use crate::shape::ShapeI;
use precast_graph::{BuildError, Extent, Gradients, Operand, Prop, Pullback, VarId};
use std::any::Any;

/// The result of [`precast_graph::Op::pullback`].
pub(crate) type Pulled = Option<Result<Gradients, BuildError>>;

/// Builds the gradients by the operands of an elementwise op. They may have the shape to which operands are broadcast,
/// or extents of 1 where all elements are equal.
pub(crate) fn elementwise(scalar: &dyn ScalarOp, at: &mut Pullback<'_>) -> Pulled {
    let any: &dyn Any = scalar;
    if any.is::<Cast>() {
        return Some(cast(at));
    }
    let row = rows::find(scalar.name())?;
    let derivatives = row.scalar.as_ref()?.derivatives;
    (!derivatives.is_empty()).then(|| evaluated(row.name, row.arguments, derivatives, at))
}

/// Builds the gradient by the operand of a cast between floats.
fn cast(at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (gradient, dtype) = (at.gradient()?, at.graph.ty(at.inputs[0]).dtype());
    Ok(vec![Some(at.call(dtype.name(), &[gradient.into()])?)])
}

/// Evaluates the expressions of derivatives, in which the operands have these names.
fn evaluated(
    function: &str,
    names: &[&str],
    derivatives: &[&str],
    at: &mut Pullback<'_>,
) -> Result<Gradients, BuildError> {
    let mut operands: Vec<(&str, Operand)> =
        names.iter().copied().zip(at.inputs.iter().map(|input| Operand::Var(*input))).collect();
    operands.push(("out", at.outputs[0].into()));
    operands.push(("g", at.gradient()?.into()));
    let mut gradients = Vec::new();
    for (position, text) in derivatives.iter().enumerate() {
        gradients.push(match *text {
            _ if !at.wanted[position] => None,
            "0" => None,
            "" => {
                let operand = names[position];
                return Err(Pullback::error(format!("`{function}` has no derivative by `{operand}`")));
            }
            text => Some(at.evaluate(text, &operands).map_err(|error| Pullback::error(error.to_string()))?),
        });
    }
    Ok(gradients)
}

/// Builds the gradient of an op that returns its first input unchanged.
pub(crate) fn same(at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let mut gradients = vec![None; at.inputs.len()];
    gradients[0] = Some(at.gradient()?);
    Ok(gradients)
}

/// Returns the gradients by some of the first inputs; integers and truth values have none.
pub(super) fn first<const N: usize>(at: &Pullback<'_>, gradients: [VarId; N]) -> Gradients {
    let mut all = vec![None; at.inputs.len()];
    for (slot, gradient) in all.iter_mut().zip(gradients) {
        *slot = Some(gradient);
    }
    all
}

/// Returns an extent of a variable, which promotes like a Python integer.
pub(super) fn extent(at: &mut Pullback<'_>, variable: VarId, axis: usize) -> Result<Operand, BuildError> {
    Ok(match at.graph.ty(variable).shape()[axis] {
        Extent::Fixed(n) => i64::try_from(n).unwrap_or(i64::MAX).into(),
        Extent::Unknown => Operand::Weak(at.apply(ShapeI { axis }, &[variable])?),
    })
}

/// Returns the extents of a variable.
pub(super) fn extents(at: &mut Pullback<'_>, variable: VarId) -> Result<Vec<Operand>, BuildError> {
    (0..at.graph.ty(variable).ndim()).map(|axis| extent(at, variable, axis)).collect()
}

/// Returns the number of dimensions.
pub(super) fn ndim(at: &Pullback<'_>, variable: VarId) -> usize {
    at.graph.ty(variable).ndim()
}

/// Returns axes as an argument.
pub(super) fn axes(axes: impl IntoIterator<Item = usize>) -> Operand {
    Prop::List(axes.into_iter().map(|axis| Prop::Int(axis as i64)).collect()).into()
}

/// Sums a gradient over the dimensions to which `like` was broadcast.
pub(super) fn summed(at: &mut Pullback<'_>, gradient: VarId, like: VarId) -> Result<VarId, BuildError> {
    let (mut gradient, own) = (gradient, at.graph.ty(like).shape().to_vec());
    let extra = ndim(at, gradient) - own.len();
    if extra > 0 {
        gradient = at.call_with("sum", &[gradient.into()], &[("axis", axes(0..extra))])?;
    }
    let one = |extent: &Extent| *extent == Extent::Fixed(1);
    let found = at.graph.ty(gradient).shape().to_vec();
    let stretched: Vec<usize> = (0..own.len()).filter(|d| one(&own[*d]) && !one(&found[*d])).collect();
    if !stretched.is_empty() {
        let named = [("axis", axes(stretched)), ("keepdims", true.into())];
        gradient = at.call_with("sum", &[gradient.into()], &named)?;
    }
    if own.iter().all(|extent| *extent != Extent::Unknown) {
        return Ok(gradient);
    }
    let mut args = vec![Operand::Var(gradient)];
    args.extend(extents(at, like)?);
    at.call("sum_to", &args)
}

/// Evaluates an expression in which names stand for variables.
pub(super) fn expression(
    at: &mut Pullback<'_>,
    text: &str,
    names: &[(&str, VarId)],
) -> Result<VarId, BuildError> {
    let names: Vec<(&str, Operand)> =
        names.iter().map(|(name, value)| (*name, Operand::Var(*value))).collect();
    value(at, text, &names)
}

/// Evaluates an expression in which names stand for operands.
pub(super) fn value(
    at: &mut Pullback<'_>,
    text: &str,
    names: &[(&str, Operand)],
) -> Result<VarId, BuildError> {
    at.evaluate(text, names).map_err(|error| Pullback::error(error.to_string()))
}
