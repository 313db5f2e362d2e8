//! Rewrites: each pass maps a graph to a graph that computes the same bits.
//!
//! | pass | action | reason |
//! |---|---|---|
//! | [`simplify`](PASSES) | drops Applies without effect, replaces two Applies by one | no work is the fastest work |
//! | [`merge`](PASSES) | computes equal Applies once | a repeated expression need not be recomputed |
//! | [`constant_fold`](PASSES) | computes values that only depend on constants | once, not in each call |
//! | [`copy_outputs`](PASSES) | copies outputs that are inputs, constants, views or repeated | results belong to the caller |
//! | [`copy_overwritten`](PASSES) | copies overwritten inputs that have other uses | a graph describes values, not memory |
//! | [`order`](PASSES) | drops dead applies, orders from the outputs | fusion does not depend on how the graph was built |
//! | [`small_graphs`](PASSES) | merges Applies on small arrays of known extents into one op | calls cost more than a few elements |
//! | [`fuse`](PASSES) | merges elementwise chains, and a reduction of one, into one loop | memory is slower than arithmetic |
//! | [`row_programs`](PASSES) | merges reductions over the same axes, and maps that use them, into one op | reads a row once |
//! | [`normalise`](PASSES) | drops dead applies, renumbers from the outputs, forgets extents | equal graphs get equal keys |
//! | [`inplace`](PASSES) | lets ops overwrite inputs without later uses | no copy, no memory |
//!
//! No pass changes a bit of any result, and none looks at the value of a constant, so graphs that differ only in
//! constants share their modules. Each pass documents in its file why it is exact. `tests/it/rewrites.rs` checks this
//! for each pass alone and for all together, and requires that each pass changes some of the test graphs. To add a
//! pass, add its file, a [`Pass`] in [`PASSES`], and a row above.
//!
//! [`stabilise`] is not one of the passes: it changes results for the better, and must be requested before a graph is
//! declared.
//!
//! Modules are generated from one of five [`Form`]s of a graph. [`Passes`] selects the passes; [`trace`] shows each
//! step.

mod constant_fold;
mod copy_outputs;
mod copy_overwritten;
mod form;
mod fuse;
mod inplace;
mod memory;
mod merge;
mod passes;
mod rebuild;
mod row_programs;
mod simplify;
mod small_graphs;
mod stabilise;
mod unfuse;

pub use form::Form;
pub use passes::{Passes, UnknownPass};
pub use stabilise::stabilise;
pub use unfuse::{Joined, Parts, cut, join, unfuse, unfused};

use precast_core::native::DefaultFloats;
use precast_graph::{BuildError, FunctionGraph, encode};

/// A named rewrite.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// The name in `precast show` and in messages.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// Whether modules rely on the pass, so that it always runs.
    pub needed: bool,
    /// The function that rewrites a graph.
    pub run: fn(&FunctionGraph) -> Result<FunctionGraph, BuildError>,
}

/// All rewrites, in the order in which [`lower`] runs them.
pub const PASSES: &[Pass] = &[
    SIMPLIFY,
    MERGE,
    CONSTANT_FOLD,
    COPY_OUTPUTS,
    COPY_OVERWRITTEN,
    ORDER,
    SMALL_GRAPHS,
    FUSE,
    ROW_PROGRAMS,
    NORMALISE,
    INPLACE,
];

const SIMPLIFY: Pass = Pass {
    name: "simplify",
    about: "remove applies that change nothing, replace two applies by one",
    needed: false,
    run: simplify::simplify,
};
const MERGE: Pass =
    Pass { name: "merge", about: "compute equal applies once", needed: false, run: merge::merge };
const CONSTANT_FOLD: Pass = Pass {
    name: "constant_fold",
    about: "compute applies of constants ahead of time",
    needed: false,
    run: constant_fold::constant_fold,
};
const COPY_OUTPUTS: Pass = Pass {
    name: "copy_outputs",
    about: "copy outputs that alias inputs, constants, intermediate values or each other",
    needed: true,
    run: copy_outputs::copy_outputs,
};
const COPY_OVERWRITTEN: Pass = Pass {
    name: "copy_overwritten",
    about: "copy operands that an op overwrites but other ops still need",
    needed: true,
    run: copy_overwritten::copy_overwritten,
};
const ORDER: Pass = Pass {
    name: "order",
    about: "remove dead applies, order from the outputs, keep extents",
    needed: false,
    run: |graph| Ok(encode::order(graph)),
};
const SMALL_GRAPHS: Pass = Pass {
    name: "small_graphs",
    about: "compute small arrays of known extents without calls in between",
    needed: false,
    run: small_graphs::small_graphs,
};
const FUSE: Pass = Pass {
    name: "fuse",
    about: "fuse elementwise chains and the reductions that consume them",
    needed: false,
    run: fuse::fuse,
};
const ROW_PROGRAMS: Pass = Pass {
    name: "row_programs",
    about: "reduce and map each row while it is in the cache",
    needed: false,
    run: row_programs::row_programs,
};
const NORMALISE: Pass = Pass {
    name: "normalise",
    about: "remove dead applies, renumber from the outputs, forget extents",
    needed: true,
    run: |graph| Ok(encode::normalise(graph)),
};
const INPLACE: Pass = Pass {
    name: "inplace",
    about: "let ops overwrite inputs that are no longer needed",
    needed: false,
    run: inplace::inplace,
};

/// Rewrites a graph with all passes to the form for whole-graph modules: [`Form::Lowered`].
///
/// # Errors
/// As [`Form::of`].
pub fn lower(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    Form::Lowered.of(graph, &Passes::default())
}

/// Rewrites a graph with the passes that make it smaller, and keeps its ops.
///
/// # Errors
/// As [`run`].
pub(crate) fn simplified(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    run(graph, &[SIMPLIFY, MERGE, ORDER])
}

/// Runs some passes in order.
///
/// # Errors
/// A graph that breaks the memory rules, or an error while a pass rebuilds the graph.
pub fn run(graph: &FunctionGraph, passes: &[Pass]) -> Result<FunctionGraph, BuildError> {
    let _floats = DefaultFloats::set();
    graph.validate()?;
    graph.check_edges()?;
    passes.iter().try_fold(graph.clone(), |graph, pass| (pass.run)(&graph))
}

/// Returns the graph after each pass of [`lower`], in order, as printed by `precast show --passes`.
///
/// # Errors
/// As [`lower`].
pub fn trace(graph: &FunctionGraph) -> Result<Vec<(Pass, FunctionGraph)>, BuildError> {
    trace_of(graph, PASSES)
}

/// Returns the graph after each of some passes.
///
/// # Errors
/// As [`run`].
pub fn trace_of(graph: &FunctionGraph, passes: &[Pass]) -> Result<Vec<(Pass, FunctionGraph)>, BuildError> {
    let _floats = DefaultFloats::set();
    graph.validate()?;
    let mut steps: Vec<(Pass, FunctionGraph)> = Vec::new();
    for pass in passes {
        let before = steps.last().map_or(graph, |(_, after)| after);
        let after = (pass.run)(before)?;
        steps.push((*pass, after));
    }
    Ok(steps)
}
