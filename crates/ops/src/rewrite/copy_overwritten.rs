//! `copy_overwritten`: ensures that an op only overwrites memory without other uses.
//!
//! A graph describes the computation, not whether an op works in the memory of an input. The pass inserts a copy if
//! the memory is a graph input, a constant or an output, or if it has another reader: a later Apply, or another input
//! of the same Apply. Modules may rely on this.

use super::memory::Memory;
use super::rebuild::{Rebuild, copy};
use precast_graph::{BuildError, FunctionGraph};

/// Copies overwritten inputs whose memory has other uses.
pub(super) fn copy_overwritten(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    if graph.applies().iter().all(|apply| apply.op.destroy_map().is_empty()) {
        return Ok(graph.clone());
    }
    let memory = Memory::of(graph);
    let mut rebuild = Rebuild::new(graph)?;
    for (position, apply) in graph.applies().iter().enumerate() {
        let mut inputs = rebuild.get_all(&apply.inputs)?;
        let mut overwritten: Vec<usize> =
            apply.op.destroy_map().into_iter().map(|(_, input)| input).collect();
        overwritten.sort_unstable();
        overwritten.dedup();
        for input in overwritten {
            if !memory.is_free(graph, position, input) {
                inputs[input] = copy(&mut rebuild.new, inputs[input])?;
            }
        }
        rebuild.apply_new(apply.op.clone(), &inputs, &apply.outputs)?;
    }
    rebuild.finish()
}
