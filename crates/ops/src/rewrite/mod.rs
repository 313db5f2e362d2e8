//! Rewrites: a graph in, a graph that computes the same bits out.
//!
//! | pass | what it does | why |
//! |---|---|---|
//! | [`copy_outputs`](PASSES) | copies outputs that are inputs, constants, views or repeated | results belong to the caller |
//! | [`fuse`](PASSES) | elementwise chains, and the reduction that consumes one, into one loop | memory is slower than arithmetic |
//! | [`normalise`](PASSES) | drops dead applies, renumbers from the outputs | equal graphs get equal keys |
//!
//! No pass changes a bit of any result: fused and unfused graphs call the same scalar functions in the same order.

mod copy_outputs;
mod fuse;
mod rebuild;
mod unfuse;

pub use unfuse::{Parts, cut, join, unfuse, unfused};

use precast_graph::{BuildError, FunctionGraph, encode};

/// A rewrite, by name.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// The name in `precast show` and messages.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// The rewrite itself.
    pub run: fn(&FunctionGraph) -> Result<FunctionGraph, BuildError>,
}

/// All rewrites, in the order in which [`lower`] runs them.
pub const PASSES: &[Pass] = &[COPY_OUTPUTS, FUSE, NORMALISE];

const COPY_OUTPUTS: Pass = Pass {
    name: "copy_outputs",
    about: "copy outputs that alias inputs, constants, intermediate values or each other",
    run: copy_outputs::copy_outputs,
};
const FUSE: Pass = Pass {
    name: "fuse",
    about: "fuse elementwise chains and the reductions that consume them",
    run: fuse::fuse,
};
const NORMALISE: Pass =
    Pass { name: "normalise", about: "drop dead applies, renumber from the outputs", run: normalise };

/// The graph that whole-graph modules are made of: all passes.
///
/// # Errors
/// None in practice: the ops accepted the same types before.
pub fn lower(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    run(graph, PASSES)
}

/// The graph that is served op by op: all passes but fusion.
///
/// # Errors
/// None in practice: the ops accepted the same types before.
pub fn plain(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    run(graph, &[COPY_OUTPUTS, NORMALISE])
}

/// Runs some passes in order.
///
/// # Errors
/// What a pass cannot rebuild.
pub fn run(graph: &FunctionGraph, passes: &[Pass]) -> Result<FunctionGraph, BuildError> {
    graph.validate()?;
    graph.check_edges()?;
    passes.iter().try_fold(graph.clone(), |graph, pass| (pass.run)(&graph))
}

fn normalise(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    Ok(encode::normalise(graph))
}
