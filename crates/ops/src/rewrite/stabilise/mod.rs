//! `stabilise`: replaces numerically unstable formulas, which lose digits or overflow, by stable ones.
//!
//! ```text
//! pattern   recognises formulas in a graph: functions, constants, sums of exponentials
//! rules     functions of one element: log(1 + x), exp(x) - 1, 1/(1 + exp(-x)) …
//! sums      sums of exponentials: log(sum(exp(x))), exp(x)/sum(exp(x)) and its logarithm
//! ```
//! This is not a [`Pass`](super::Pass): a pass keeps every bit, but this rewrite moves results closer to the exact
//! value of the formula. It is therefore opt-in and runs before everything else. The rewritten graph is the declared
//! graph, and its bits are the same whether it is served whole, fused, op by op, or interpreted. It is the only
//! rewrite that looks at the values of constants, because it must recognise `1 + x`. `crates/ops/STABILISE.md` lists
//! the rules.

mod pattern;
mod rules;
mod sums;

use super::merge::merge;
use super::rebuild::Rebuild;
use crate::Elemwise;
use precast_graph::{BuildError, FunctionGraph, encode};
use std::any::Any;
use std::sync::Arc;

/// Replaces numerically unstable formulas of floats by stable ones. Results change in their last digits, or where
/// they were infinite, NaN or 0 only because of the formula. Types do not change. Special values change at most in
/// the sign of a zero.
///
/// # Examples
/// ```
/// use precast_graph::text::{parse, parse_input};
/// use precast_ops::{Ops, rewrite::stabilise};
///
/// let graph = parse(&["log(1 + exp(x))"], &[parse_input("x=f64[?]")?], &Ops::standard())?;
/// assert!(stabilise(&graph)?.to_string().contains("softplus(x)"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// An invalid graph.
pub fn stabilise(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    graph.validate()?;
    graph.check_edges()?;
    // The rules compare variables, so repeated `exp(x)` must be one variable.
    let merged = merge(graph)?;
    let mut rebuild = Rebuild::new(&merged)?;
    let mut changed = false;
    for apply in merged.applies() {
        let inputs = rebuild.get_all(&apply.inputs)?;
        let any: &dyn Any = &*apply.op;
        let stable = match any.downcast_ref::<Elemwise>() {
            Some(op) => stable(&mut rebuild.new, op.scalar.name(), &inputs)?,
            None => None,
        };
        // A constant that was broadcast against x could make the result larger than x, so the replacement must have
        // the same type.
        match stable.filter(|value| rebuild.new.ty(*value) == merged.ty(apply.outputs[0])) {
            Some(value) => {
                rebuild.stands_for(value, apply.outputs[0]);
                changed = true;
            }
            None => rebuild.apply_new(Arc::clone(&apply.op), &inputs, &apply.outputs)?,
        }
    }
    if !changed {
        return Ok(graph.clone());
    }
    Ok(encode::order(&rebuild.finish()?))
}

fn stable(
    graph: &mut FunctionGraph,
    name: &str,
    inputs: &[precast_graph::VarId],
) -> Result<Option<precast_graph::VarId>, BuildError> {
    if !inputs.iter().all(|input| graph.ty(*input).dtype().is_float()) {
        return Ok(None);
    }
    match sums::stable(graph, name, inputs)? {
        Some(value) => Ok(Some(value)),
        None => rules::stable(graph, name, inputs),
    }
}
