//! `fuse`: merges elementwise chains, and a reduction that consumes one, into a single loop with one or more results.
//!
//! | an elementwise Apply joins a group | if |
//! |---|---|
//! | as an internal value | only the group uses it; its rank and broadcastable dimensions are the loop's (else recomputed) |
//! | as an internal value | only the group uses it, it has no dimensions, and is cheap: the compiler hoists it out of the loop |
//! | as a result in memory | it has other uses or is an output, and provably has the loop's shape at run time ([`shape`]) |
//!
//! No tensor is computed twice. Limits on operands, results and work keep blocks in the cache and gcc's time linear.
//!
//! The pass is exact: a group runs the same scalar functions on the same elements in the same order. The order of
//! additions in a reduction only depends on the number of elements.

mod group;
pub(super) mod shape;

use super::rebuild::Rebuild;
use super::unfuse::{Joined, Uses, join_with};
use crate::composite::Composite;
use crate::scalar::ScalarOp;
use crate::{Elemwise, Reduce};
use precast_graph::{Apply, BuildError, FunctionGraph, Type};
use std::any::Any;
use std::sync::Arc;

pub(super) fn fuse(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    let (mut rebuild, uses) = (Rebuild::new(graph)?, Uses::of(graph));
    for group in group::groups(graph) {
        let members: Vec<usize> = group.members.into_iter().collect();
        if let Some(Joined { op, reads, writes }) = join_with(graph, &uses, &members) {
            rebuild.apply(op, &reads, &writes)?;
        }
    }
    rebuild.finish()
}

/// Returns the scalar op of an elementwise Apply on tensors that may join a group. A composite is already a group and
/// is excluded.
pub(super) fn elementwise<'a>(graph: &FunctionGraph, apply: &'a Apply) -> Option<&'a Arc<dyn ScalarOp>> {
    let op: &dyn Any = &*apply.op;
    let tensors = matches!(graph.ty(*apply.outputs.first()?), Type::Tensor(_)) && apply.outputs.len() == 1;
    let scalar = &op.downcast_ref::<Elemwise>().filter(|_| tensors)?.scalar;
    let any: &dyn Any = &**scalar;
    (!any.is::<Composite>()).then_some(scalar)
}

/// Returns the reduction if it has no map yet.
pub(super) fn reduction(apply: &Apply) -> Option<&Reduce> {
    let op: &dyn Any = &*apply.op;
    op.downcast_ref::<Reduce>().filter(|reduce| reduce.map.is_none())
}

/// Returns the weight of an op in a group.
fn weight(scalar: &dyn ScalarOp) -> usize {
    if scalar.is_cheap() { 1 } else { 4 }
}
