//! `fuse`: elementwise chains, and the reduction that consumes one, become one loop.
//!
//! A group grows from its last Apply towards the inputs: a producer joins if it is elementwise, of the same rank and with
//! the same broadcastable dimensions as the group's loop (else it would be computed once for each repetition), no output
//! of the graph, and used by the group alone. Nothing is computed twice.

use super::rebuild::Rebuild;
use crate::composite::Composite;
use crate::scalar::ScalarOp;
use crate::{Elemwise, Reduce};
use precast_graph::{Apply, BuildError, Extent, FunctionGraph, Op, Origin, Type, VarId};
use std::any::Any;
use std::sync::Arc;

/// Most steps of a group.
const STEPS: usize = 96;
/// Most inputs of a group: each has a block of the first-level cache.
const INPUTS: usize = 12;

/// Fuses elementwise groups.
pub(super) fn fuse(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    let mut taken = vec![false; graph.applies().len()];
    // What each Apply becomes: itself, the root of a group, or nothing (inside a group).
    let mut roots: Vec<Option<Vec<usize>>> = vec![None; graph.applies().len()];
    for position in (0..graph.applies().len()).rev() {
        if !taken[position] {
            let group = grow(graph, position, &taken);
            group.iter().for_each(|member| taken[*member] = true);
            taken[position] = true;
            roots[position] = Some(group);
        }
    }
    let mut rebuild = Rebuild::new(graph)?;
    for (position, apply) in graph.applies().iter().enumerate() {
        if let Some(group) = &roots[position] {
            let (op, inputs) = fused(graph, apply, group);
            rebuild.apply(op, &inputs, &apply.outputs)?;
        }
    }
    rebuild.finish(|_, _, variable| Ok(variable))
}

/// The scalar op of an elementwise Apply on tensors.
fn elementwise<'a>(graph: &FunctionGraph, apply: &'a Apply) -> Option<&'a Arc<dyn ScalarOp>> {
    let op: &dyn Any = &*apply.op;
    let tensors = matches!(graph.ty(apply.outputs[0]), Type::Tensor(_)) && apply.outputs.len() == 1;
    op.downcast_ref::<Elemwise>().filter(|_| tensors).map(|elemwise| &elemwise.scalar)
}

fn reduction(apply: &Apply) -> Option<&Reduce> {
    let op: &dyn Any = &*apply.op;
    op.downcast_ref::<Reduce>().filter(|reduce| reduce.map.is_none())
}

/// The elementwise applies that join `root`, in topological order; with `root` itself if it is elementwise.
fn grow(graph: &FunctionGraph, root: usize, taken: &[bool]) -> Vec<usize> {
    let apply = &graph.applies()[root];
    let is_elementwise = elementwise(graph, apply).is_some();
    if !is_elementwise && reduction(apply).is_none() {
        return Vec::new();
    }
    // The shape of the loop: what an elementwise root gives, what a reduction takes.
    let shape = pattern(graph.ty(if is_elementwise { apply.outputs[0] } else { apply.inputs[0] }));
    let mut group = vec![root];
    let mut next = 0;
    while let Some(member) = group.get(next).copied() {
        next += 1;
        for variable in &graph.applies()[member].inputs {
            let Origin::Output { apply: producer, .. } = &graph.variable(*variable).origin else { continue };
            let producer = producer.index();
            let joins = !taken[producer]
                && !group.contains(&producer)
                && elementwise(graph, &graph.applies()[producer]).is_some()
                && pattern(graph.ty(*variable)) == shape
                && !graph.outputs().contains(variable)
                && clients(graph, *variable).all(|client| group.contains(&client));
            if joins {
                group.push(producer);
                if group.len() > STEPS || inputs(graph, &group).len() > INPUTS {
                    group.pop();
                } else {
                    // Producers passed over before may join now that all their clients are in.
                    next = 0;
                }
            }
        }
    }
    group.retain(|member| *member != root || is_elementwise);
    group.sort_unstable();
    group
}

/// Rank and broadcastable dimensions.
fn pattern(ty: &Type) -> Vec<bool> {
    ty.shape().iter().map(|extent| *extent == Extent::Fixed(1)).collect()
}

fn clients(graph: &FunctionGraph, variable: VarId) -> impl Iterator<Item = usize> + '_ {
    let applies = graph.applies().iter().enumerate();
    applies.filter(move |(_, apply)| apply.inputs.contains(&variable)).map(|(position, _)| position)
}

/// What a group reads from outside, in order of first use.
fn inputs(graph: &FunctionGraph, group: &[usize]) -> Vec<VarId> {
    let mut members = group.to_vec();
    members.sort_unstable();
    let made: Vec<VarId> = members.iter().flat_map(|m| graph.applies()[*m].outputs.clone()).collect();
    let mut read = Vec::new();
    for variable in members.iter().flat_map(|m| &graph.applies()[*m].inputs) {
        if !made.contains(variable) && !read.contains(variable) {
            read.push(*variable);
        }
    }
    read
}

/// The op that stands for a group, and its inputs.
fn fused(graph: &FunctionGraph, root: &Apply, group: &[usize]) -> (Arc<dyn Op>, Vec<VarId>) {
    let is_reduction = reduction(root).is_some();
    if group.is_empty() || (group.len() == 1 && !is_reduction) {
        return (root.op.clone(), root.inputs.clone());
    }
    let read = inputs(graph, group);
    let mut values = read.clone();
    let mut steps = Vec::new();
    for apply in group.iter().map(|member| &graph.applies()[*member]) {
        let Some(scalar) = elementwise(graph, apply) else { continue };
        let arguments =
            apply.inputs.iter().filter_map(|v| values.iter().position(|known| known == v)).collect();
        steps.push((Arc::clone(scalar), arguments));
        values.push(apply.outputs[0]);
    }
    let last = if is_reduction { root.inputs[0] } else { root.outputs[0] };
    let output = values.iter().position(|known| *known == last).unwrap_or(values.len() - 1);
    let composite: Arc<dyn ScalarOp> = Arc::new(Composite::new(read.len(), steps, vec![output]));
    match reduction(root) {
        Some(reduce) => (Arc::new(reduce.fused(composite)), read),
        None => (Arc::new(Elemwise::new(composite)), read),
    }
}
