//! The derivatives of reductions, running sums and sorts.

use super::rules::{axes, expression, extent, ndim};
use crate::reduce::CumOp;
use crate::{Reduce, ReduceKind, Sort};
use precast_graph::{BuildError, Gradients, Operand, Prop, Pullback, VarId};

/// The gradient by the operand of a reduction without a map. That of a sum has extents of 1.
pub(crate) fn reduce(op: &Reduce, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let x = at.inputs[0];
    let reduced: Vec<usize> = (0..ndim(at, x)).filter(|d| op.reduces(*d)).collect();
    let (g, out) = (at.gradient()?, at.outputs[0]);
    let (g, out) = (spread(at, g, &reduced)?, spread(at, out, &reduced)?);
    let gradient = match op.kind {
        ReduceKind::Sum => g,
        ReduceKind::Mean => {
            let mut gradient = g;
            for axis in &reduced {
                let extent = extent(at, x, *axis)?;
                gradient = at.call("div", &[gradient.into(), extent])?;
            }
            gradient
        }
        ReduceKind::Max | ReduceKind::Min => {
            let hit = at.call("eq", &[x.into(), out.into()])?;
            let count = [("axis", axes(reduced.iter().copied())), ("keepdims", true.into())];
            let count = at.call_with("sum", &[hit.into()], &count)?;
            let dtype = at.graph.ty(x).dtype();
            let count = at.call(dtype.name(), &[count.into()])?;
            expression(at, "where(hit, g / count, 0)", &[("hit", hit), ("g", g), ("count", count)])?
        }
        ReduceKind::Prod => product(at, x, g, &reduced)?,
        ReduceKind::Any | ReduceKind::All => return Err(Pullback::error("truth values have no gradient")),
    };
    Ok(vec![Some(gradient)])
}

/// The gradient by the factors of products. For one zero among the factors, only its own gradient differs from 0; for
/// two, only second derivatives do. So the zeros are left out of the product, and come back as factors.
fn product(at: &mut Pullback<'_>, x: VarId, g: VarId, reduced: &[usize]) -> Result<VarId, BuildError> {
    let along = [("axis", axes(reduced.iter().copied())), ("keepdims", true.into())];
    let zero = expression(at, "x == 0", &[("x", x)])?;
    let rest = expression(at, "where(zero, 1, x)", &[("zero", zero), ("x", x)])?;
    let rest_product = at.call_with("prod", &[rest.into()], &along)?;
    let zeros = expression(at, "where(zero, x, 0)", &[("zero", zero), ("x", x)])?;
    let zeros = at.call_with("sum", &[zeros.into()], &along)?;
    let count = at.call_with("sum", &[zero.into()], &along)?;
    let names = [
        ("x", x),
        ("g", g),
        ("zero", zero),
        ("p", rest_product),
        ("zeros", zeros),
        ("count", count),
        ("rest", rest),
    ];
    let text = "g * where(zero, where(count == 1, p, where(count == 2, (zeros - x) * p, 0)), \
                where(count == 0, p / rest, where(count == 1, zeros * p / rest, 0)))";
    expression(at, text, &names)
}

/// Inserts the reduced axes with extents of 1.
fn spread(at: &mut Pullback<'_>, reduced: VarId, inserted: &[usize]) -> Result<VarId, BuildError> {
    if inserted.is_empty() {
        return Ok(reduced);
    }
    at.call_with("expand_dims", &[reduced.into()], &[("axis", axes(inserted.iter().copied()))])
}

/// The gradient by the operand of running sums or products: the running sums from the other end. For products it is
/// divided by the operand, so it is NaN from the first zero on.
pub(crate) fn cumulative(op: CumOp, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (g, x, out) = (at.gradient()?, at.inputs[0], at.outputs[0]);
    let weighted = if op.product { expression(at, "g * out", &[("g", g), ("out", out)])? } else { g };
    let axis = op.axis.unwrap_or(0) as i64;
    let along: [(&str, Operand); 1] = [("axis", axis.into())];
    let turned = at.call_with("flip", &[weighted.into()], &along)?;
    let sums = at.call_with("cumsum", &[turned.into()], &along)?;
    let mut gradient = at.call_with("flip", &[sums.into()], &along)?;
    if op.axis.is_none() && ndim(at, x) != 1 {
        let shape = at.call("shape", &[x.into()])?;
        let ndim = ndim(at, x) as i64;
        gradient = at.call_with("reshape", &[gradient.into(), shape.into()], &[("ndim", ndim.into())])?;
    }
    if op.product {
        gradient = expression(at, "gradient / x", &[("gradient", gradient), ("x", x)])?;
    }
    Ok(vec![Some(gradient)])
}

/// The gradient by the elements of a sort, each at its place before.
pub(crate) fn sort(op: Sort, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (g, x) = (at.gradient()?, at.inputs[0]);
    let order = Sort { positions: true, axis: op.axis };
    let places = at.apply(order, &[x])?;
    let back = at.apply(order, &[places])?;
    let along = [("axis", Prop::Int(op.axis as i64).into())];
    Ok(vec![Some(at.call_with("take_along_axis", &[g.into(), back.into()], &along)?)])
}
