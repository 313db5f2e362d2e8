//! `copy_outputs`: gives every output its own memory.
//!
//! An output may be an input, a constant, a view, or a repeated output. Such an output would share memory that the
//! caller must not change. The pass inserts a DeepCopy, or for a C scalar an identity. Modules may rely on this.

use super::rebuild::{Rebuild, aliases, copy};
use precast_graph::{BuildError, FunctionGraph};

/// Copies outputs that do not have their own memory.
pub(super) fn copy_outputs(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    let mut rebuild = Rebuild::new(graph)?;
    for apply in graph.applies() {
        rebuild.apply(apply.op.clone(), &apply.inputs, &apply.outputs)?;
    }
    rebuild.finish_each(|new, position, variable| {
        if !aliases(graph, position) {
            return Ok(variable);
        }
        copy(new, variable)
    })
}
