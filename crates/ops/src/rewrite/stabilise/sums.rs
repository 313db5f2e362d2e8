//! Rules for sums of exponentials: the largest exponent is factored out, so that no term overflows and at least one
//! does not vanish.
//!
//! Let m be the largest exponent along the axes, or 0 if that is not finite:
//! ```text
//! log(sum(exp(x)))              log(sum(exp(x - m))) + m
//! exp(x)/sum(exp(x))            exp(x - m)/sum(exp(x - m))
//! log(exp(x)/sum(exp(x)))       x - log(sum(exp(x)))
//! ```
//! With m = 0 an infinity is kept, so results that are infinite or NaN for a valid reason stay so.

use super::pattern::{ExponentialSum, apply, argument, arguments, exponential_sum, is_shifted};
use crate::{DimShuffle, Reduce, ReduceKind};
use precast_graph::{Array, BuildError, FunctionGraph, Number, VarId};
use std::sync::Arc;

/// Returns the stable replacement of a function of these variables, if a rule matches.
pub(super) fn stable(
    graph: &mut FunctionGraph,
    name: &str,
    inputs: &[VarId],
) -> Result<Option<VarId>, BuildError> {
    match (name, inputs) {
        ("log", [x]) => match exponential_sum(graph, *x) {
            Some(sum) if is_shifted(graph, sum.of) => Ok(None),
            Some(sum) => log_sum(graph, &sum).map(Some),
            None => log_share(graph, *x),
        },
        ("div", [x, y]) => match exponential_sum(graph, *y) {
            Some(sum) if sum.powers == *x && keeps(graph, &sum) && !is_shifted(graph, sum.of) => {
                share(graph, &sum).map(Some)
            }
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// Returns whether the sum is aligned with its rows in the division. Missing leading dimensions are added.
fn keeps(graph: &FunctionGraph, sum: &ExponentialSum) -> bool {
    let ndim = graph.ty(sum.of).ndim();
    let wanted = DimShuffle::restoring(ndim, sum.axes.as_deref()).order;
    let left = wanted.iter().flatten().count();
    let found = sum.arranged.as_ref().map_or_else(|| (0..left).map(Some).collect(), |op| op.order.clone());
    let missing = ndim.saturating_sub(found.len());
    std::iter::repeat_n(None, missing).chain(found).eq(wanted)
}

/// A sum of exponentials with the largest exponent factored out.
struct Shifted {
    /// The shifted exponentials and their sum, without the reduced dimensions.
    powers: VarId,
    sum: VarId,
    /// The largest exponent, without the reduced dimensions.
    top: VarId,
}

fn shifted(graph: &mut FunctionGraph, sum: &ExponentialSum) -> Result<Shifted, BuildError> {
    let (x, axes) = (sum.of, sum.axes.clone());
    let top = graph.apply(Arc::new(Reduce::new(ReduceKind::Max, axes.clone())), &[x])?[0];
    let finite = apply(graph, "isfinite", &[top])?;
    let zero = constant(graph, 0.0, top);
    let top = apply(graph, "switch", &[finite, top, zero])?;
    let beside = row(graph, sum, top)?;
    let less = apply(graph, "sub", &[x, beside])?;
    let powers = apply(graph, "exp", &[less])?;
    let sum = graph.apply(Arc::new(Reduce::new(ReduceKind::Sum, axes)), &[powers])?[0];
    Ok(Shifted { powers, sum, top })
}

/// Creates a constant that broadcasts against a variable.
fn constant(graph: &mut FunctionGraph, value: f64, beside: VarId) -> VarId {
    let ty = graph.ty(beside);
    let one = Array::of(Number::Float(value), ty.dtype());
    let shape = vec![1; ty.ndim()];
    graph.constant(Array::from_bits(one.dtype(), &shape, &one.bits()).unwrap_or(one))
}

fn log_sum(graph: &mut FunctionGraph, of: &ExponentialSum) -> Result<VarId, BuildError> {
    let Shifted { sum, top, .. } = shifted(graph, of)?;
    let log = apply(graph, "log", &[sum])?;
    let whole = apply(graph, "add", &[log, top])?;
    match &of.arranged {
        Some(arranged) => Ok(graph.apply(Arc::new(arranged.clone()), &[whole])?[0]),
        None => Ok(whole),
    }
}

fn share(graph: &mut FunctionGraph, of: &ExponentialSum) -> Result<VarId, BuildError> {
    let Shifted { powers, sum, .. } = shifted(graph, of)?;
    let total = row(graph, of, sum)?;
    apply(graph, "div", &[powers, total])
}

/// Broadcasts a value of each row back to the dimensions of the rows.
fn row(graph: &mut FunctionGraph, sum: &ExponentialSum, value: VarId) -> Result<VarId, BuildError> {
    let keep = DimShuffle::restoring(graph.ty(sum.of).ndim(), sum.axes.as_deref());
    Ok(graph.apply(Arc::new(keep), &[value])?[0])
}

/// Matches `log(exp(x)/sum(exp(x)))`; the exponents may already be shifted.
fn log_share(graph: &mut FunctionGraph, shares: VarId) -> Result<Option<VarId>, BuildError> {
    let Some([powers, total]) = arguments(graph, shares, "div") else { return Ok(None) };
    let (powers, total) = (*powers, *total);
    let Some(of) = argument(graph, powers, "exp") else { return Ok(None) };
    // The exponentials in the sum and in the quotient may be different variables.
    let Some(sum) = exponential_sum(graph, total).filter(|sum| sum.of == of && keeps(graph, sum)) else {
        return Ok(None);
    };
    let log = apply(graph, "log", &[total])?;
    apply(graph, "sub", &[sum.of, log]).map(Some)
}
