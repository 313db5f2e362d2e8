//! CLinker: a graph in, one module out. OpWiseCLinker: one module for each Apply.
//!
//! ```text
//! variables  roles of the graph's variables, their C names and failure ids
//! run        the nested blocks: declare, extract or init, code, sync, cleanup behind labels
//! instance   what lives longer than a call: slots, kept temporaries, the ops' struct members
//! collect    what ops and types ask for: headers, sources, flags, libraries, support code
//! assemble   all of it in the module's text
//! ```
//! The text of a module names no rank and no extent unless an op bakes one in, and never a constant's value: graphs that
//! differ only in those share a module. Names are positions in the graph, so equal graphs give equal texts.

mod assemble;
mod collect;
mod instance;
mod run;
mod variables;

use crate::library::Library;
use crate::module::Module;
use precast_graph::{BuildError, FunctionGraph, Origin};

/// Why no module can be made of a graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The graph itself is not valid.
    #[error("cannot generate code for an invalid graph")]
    Graph(#[from] BuildError),
    /// An op without a C side.
    #[error("apply {apply}: no C code for op `{op}`: it is not in the library of C ops")]
    NoC {
        /// Position of the Apply.
        apply: usize,
        /// The op.
        op: String,
    },
    /// An op that has no C for these types.
    #[error("no C code for `{signature}`: {problem}")]
    Unsupported {
        /// The Apply.
        signature: String,
        /// What is missing, in words.
        problem: String,
    },
    /// An output that is an input, a constant or another output.
    #[error("output {output} would alias `{with}`; the copy_outputs rewrite must run first")]
    AliasedOutput {
        /// Position of the output.
        output: usize,
        /// What it is.
        with: String,
    },
}

/// Makes one module of a whole graph (CLinker).
///
/// # Errors
/// Ops without C; outputs that alias inputs, constants or each other.
pub fn link(graph: &FunctionGraph, library: &Library) -> Result<Module, LinkError> {
    graph.validate()?;
    assemble::assemble(graph, library)
}

/// Makes one module for each Apply, in the order of the graph's applies (OpWiseCLinker).
///
/// # Errors
/// Ops without C.
pub fn link_opwise(graph: &FunctionGraph, library: &Library) -> Result<Vec<Module>, LinkError> {
    (0..graph.applies().len()).map(|position| link(&single(graph, position)?, library)).collect()
}

/// The graph of one Apply alone: its distinct inputs become inputs (constants stay constants), its outputs outputs.
///
/// # Errors
/// None in practice: the op accepted the same types before.
pub fn single(graph: &FunctionGraph, position: usize) -> Result<FunctionGraph, LinkError> {
    let apply = &graph.applies()[position];
    let mut alone = FunctionGraph::new();
    let mut known = Vec::new();
    for variable in &apply.inputs {
        if known.iter().any(|(old, _)| old == variable) {
            continue;
        }
        let ty = graph.ty(*variable).clone();
        let fresh = match &graph.variable(*variable).origin {
            Origin::Constant(value) => alone.constant_of(value.clone(), ty),
            _ => alone.input(&format!("x{}", alone.inputs().len()), ty)?,
        };
        known.push((*variable, fresh));
    }
    let inputs: Vec<_> = apply
        .inputs
        .iter()
        .filter_map(|v| known.iter().find(|(old, _)| old == v).map(|(_, fresh)| *fresh))
        .collect();
    for output in alone.apply(apply.op.clone(), &inputs)? {
        alone.output(output, None)?;
    }
    Ok(alone)
}
