//! `copy_outputs`: every output becomes a result of its own.
//!
//! An output that is an input, a constant, a view of anything, or another output once more would share memory with
//! something that is not the caller's to change; it is passed through an identity. Modules may then rely on it.

use super::rebuild::{Rebuild, aliases};
use crate::{Elemwise, scalar};
use precast_graph::{BuildError, FunctionGraph};
use std::sync::Arc;

/// Copies outputs that are not results of their own.
pub(super) fn copy_outputs(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    let mut rebuild = Rebuild::new(graph)?;
    for apply in graph.applies() {
        rebuild.apply(apply.op.clone(), &apply.inputs, &apply.outputs)?;
    }
    let copy = Arc::new(Elemwise::new(Arc::new(scalar::Identity)));
    rebuild.finish(|new, position, variable| {
        if aliases(graph, position) { Ok(new.apply(copy.clone(), &[variable])?[0]) } else { Ok(variable) }
    })
}
