//! `inplace`: an op that has a form which overwrites an input is replaced by it where nobody needs the input any more.
//!
//! Runs last: which input is needed later is a matter of the order of Applies, and `normalise` has settled that. An input may
//! be overwritten if all memory it may lie in was made inside the graph (no input, no constant), is no output of the graph,
//! and is read by no later Apply and by no other input of this one; what is written must not be an output either, which
//! belongs to the caller while an intermediate's memory is kept from call to call.
//!
//! Exact because [`Op::inplace`](precast_graph::Op::inplace) promises the same bits.
//!
//! Elementwise ops have no such form: within a group fusion leaves no intermediate to save, and between steps each keeps its
//! storage from call to call, so writing elsewhere costs no allocation.

use super::rebuild::Rebuild;
use precast_graph::contracts::Storages;
use precast_graph::{Apply, BuildError, FunctionGraph, Op, Origin, VarId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Replaces ops by the forms of them that overwrite inputs.
pub(super) fn inplace(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    if graph.applies().iter().all(|apply| apply.op.inplace().is_none()) {
        return Ok(graph.clone());
    }
    let memory = Memory::of(graph);
    let mut rebuild = Rebuild::new(graph)?;
    for (position, apply) in graph.applies().iter().enumerate() {
        let op = apply.op.inplace().filter(|op| memory.allows(graph, position, apply, &**op));
        rebuild.apply(op.unwrap_or_else(|| Arc::clone(&apply.op)), &apply.inputs, &apply.outputs)?;
    }
    let rewritten = rebuild.finish()?;
    rewritten.validate()?;
    Ok(rewritten)
}

/// Where variables lie, and how long what lies there is needed.
struct Memory {
    storages: Storages,
    /// The last Apply that reads a storage.
    last: BTreeMap<VarId, usize>,
}

impl Memory {
    fn of(graph: &FunctionGraph) -> Self {
        let storages = Storages::of(graph);
        let mut last = BTreeMap::new();
        for (position, apply) in graph.applies().iter().enumerate() {
            let read = apply.inputs.iter().flat_map(|v| storages.get(*v));
            last.extend(read.map(|storage| (*storage, position)));
        }
        let returned = graph.outputs().iter().flat_map(|v| storages.get(*v));
        last.extend(returned.map(|storage| (*storage, usize::MAX)));
        Self { storages, last }
    }

    /// Whether the Apply at `position` may become `op`.
    fn allows(&self, graph: &FunctionGraph, position: usize, apply: &Apply, op: &dyn Op) -> bool {
        op.destroy_map().iter().all(|(output, input)| {
            let (Some(output), Some(target)) = (apply.outputs.get(*output), apply.inputs.get(*input)) else {
                return false;
            };
            let own = |s: &VarId| matches!(graph.variable(*s).origin, Origin::Output { .. });
            let free = |s: &VarId| own(s) && self.last.get(s) == Some(&position);
            let others = apply.inputs.iter().enumerate().filter(|(i, _)| i != input);
            self.storages.get(*target).iter().all(free)
                && others.into_iter().all(|(_, other)| !self.storages.share(*other, *target))
                && self.last.get(output) != Some(&usize::MAX)
        })
    }
}
