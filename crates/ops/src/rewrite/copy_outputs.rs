//! `copy_outputs`: every output becomes a result of its own.
//!
//! An output that is an input, a constant, a view of anything, or another output once more would share memory with
//! something that is not the caller's to change; it is passed through a DeepCopy, a C scalar through an
//! identity. Modules may then rely on it.

use super::rebuild::{Rebuild, aliases, copy};
use precast_graph::{BuildError, FunctionGraph};

/// Copies outputs that are not results of their own.
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
