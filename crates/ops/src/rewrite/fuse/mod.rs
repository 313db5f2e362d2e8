//! `fuse`: elementwise chains, and the reduction that consumes one, become one loop with one or several results.
//!
//! | an elementwise Apply joins a group | if |
//! |---|---|
//! | and stays inside | the group alone uses it, and it has the rank and the broadcastable dimensions of the group's loop (else it would be computed once for each repetition) |
//! | and stays inside | the group alone uses it, it has no dimensions, and is cheap: the compiler takes it out of the loop |
//! | and is written out as well | others use it too, or it is an output of the graph, and it provably has the loop's shape at run time ([`shape`]) |
//!
//! Nothing of a size is computed twice. Bounds on operands, results and work keep blocks in the cache and gcc's time linear.
//!
//! Exact because a group runs the same scalar functions on the same elements in the same order; a reduction's order of
//! additions depends on the number of elements only.

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

/// Fuses elementwise groups.
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

/// The scalar op of an elementwise Apply on tensors that may join a group; a composite is a group already.
pub(super) fn elementwise<'a>(graph: &FunctionGraph, apply: &'a Apply) -> Option<&'a Arc<dyn ScalarOp>> {
    let op: &dyn Any = &*apply.op;
    let tensors = matches!(graph.ty(*apply.outputs.first()?), Type::Tensor(_)) && apply.outputs.len() == 1;
    let scalar = &op.downcast_ref::<Elemwise>().filter(|_| tensors)?.scalar;
    let any: &dyn Any = &**scalar;
    (!any.is::<Composite>()).then_some(scalar)
}

/// The reduction that may take a map.
pub(super) fn reduction(apply: &Apply) -> Option<&Reduce> {
    let op: &dyn Any = &*apply.op;
    op.downcast_ref::<Reduce>().filter(|reduce| reduce.map.is_none())
}

/// What an op adds to a group's weight.
fn weight(scalar: &dyn ScalarOp) -> usize {
    if scalar.is_cheap() { 1 } else { 4 }
}
