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

use super::memory::Memory;
use super::rebuild::Rebuild;
use precast_graph::contracts::Inputs;
use precast_graph::{BuildError, FunctionGraph};
use std::sync::Arc;

/// Replaces ops by the forms of them that overwrite inputs.
pub(super) fn inplace(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    if graph.applies().iter().all(|apply| apply.op.inplace().is_none()) {
        return Ok(graph.clone());
    }
    let memory = Memory::of(graph);
    let mut rebuild = Rebuild::new(graph)?;
    for (position, apply) in graph.applies().iter().enumerate() {
        let op = apply.op.inplace().filter(|op| {
            op.destroy_map().into_iter().all(|(output, input)| {
                // What is written belongs to the caller if it is an output, while an intermediate's memory is kept.
                let returned = apply.outputs.get(output).is_none_or(|output| memory.is_returned(*output));
                !returned && memory.is_free(graph, position, input)
            })
        });
        rebuild.apply(op.unwrap_or_else(|| Arc::clone(&apply.op)), &apply.inputs, &apply.outputs)?;
    }
    let rewritten = rebuild.finish()?;
    rewritten.validate_memory(Inputs::Preserved)?;
    Ok(rewritten)
}
