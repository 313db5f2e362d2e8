//! `copy_overwritten`: what an op overwrites is nobody else's.
//!
//! A graph says what is computed; that an op computes in the memory of an input is its own affair. Where that memory is
//! the caller's or a constant's, is read later, is given out, or is read by the same Apply as another input, a copy of it is
//! overwritten instead. Modules may then rely on it.

use super::memory::Memory;
use super::rebuild::{Rebuild, copy};
use precast_graph::{BuildError, FunctionGraph};

/// Copies inputs that are overwritten and not free to be.
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
