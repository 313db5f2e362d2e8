//! `inplace`: replaces an op by its in-place form if the overwritten input has no later use.
//!
//! The pass runs last: the order of Applies determines which inputs have later uses, and `normalise` has fixed that
//! order. An input may be overwritten under these conditions:
//! * All memory it may lie in was allocated inside the graph (no input, no constant) and is not an output of the
//!   graph.
//! * No later Apply and no other input of this Apply reads it.
//! * The result is not an output of the graph either. An output belongs to the caller, while the memory of an
//!   intermediate is kept between calls.
//!
//! The pass is exact, because [`Op::inplace`](precast_graph::Op::inplace) guarantees the same bits.
//!
//! Elementwise ops have no in-place form. Within a group, fusion leaves no intermediate to save. Between steps, each
//! intermediate keeps its storage from call to call, so writing to separate memory costs no allocation.

use super::memory::Memory;
use super::rebuild::Rebuild;
use precast_graph::contracts::Inputs;
use precast_graph::{BuildError, FunctionGraph};
use std::sync::Arc;

/// Replaces ops by their in-place forms.
pub(super) fn inplace(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    if graph.applies().iter().all(|apply| apply.op.inplace().is_none()) {
        return Ok(graph.clone());
    }
    let memory = Memory::of(graph);
    let mut rebuild = Rebuild::new(graph)?;
    for (position, apply) in graph.applies().iter().enumerate() {
        let op = apply.op.inplace().filter(|op| {
            op.destroy_map().into_iter().all(|(output, input)| {
                // An output belongs to the caller, while an intermediate's memory is kept.
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
