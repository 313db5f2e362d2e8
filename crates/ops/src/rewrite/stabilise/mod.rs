//! `stabilise`: formulas that lose digits or overflow become those that do not.
//!
//! ```text
//! pattern   what a graph says: which function of what, which constant, which sum of exponentials
//! rules     functions of one element: log(1 + x), exp(x) - 1, 1/(1 + exp(-x)) …
//! sums      sums of exponentials: log(sum(exp(x))), exp(x)/sum(exp(x)) and its logarithm
//! ```
//! This is no [`Pass`](super::Pass): those keep every bit, and this changes results, to ones that are closer to what the formula
//! means. So nobody gets it who has not asked for it, and it comes before everything else: whoever asks declares the graph that
//! it gives, and whole, fused, op by op and interpreted that graph has the same bits. It is the one rewrite that looks at
//! the values of constants, since `1 + x` says nothing else. What each rule does is in `crates/ops/STABILISE.md`.

mod pattern;
mod rules;
mod sums;

use super::merge::merge;
use super::rebuild::Rebuild;
use crate::Elemwise;
use precast_graph::{BuildError, FunctionGraph, encode};
use std::any::Any;
use std::sync::Arc;

/// Rewrites formulas of floats that lose digits or overflow into those that do not. Results change in their last digits, or
/// where they were infinite, NaN or 0 for no reason of theirs; types do not, and special values by the sign of a zero at most.
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
/// A graph that is not valid.
pub fn stabilise(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    graph.validate()?;
    graph.check_edges()?;
    // `exp(x)` that is written twice is one value: the rules compare variables.
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
        // A constant of the shape of something else would make the result another shape.
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
