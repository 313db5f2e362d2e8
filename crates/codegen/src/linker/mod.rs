//! `CLinker`: turns a graph into one module for each of its segments.
//!
//! ```text
//! segments   splits a graph into parts with one module each: author-written C gets its own module
//! variables  roles of the variables of the graph and of the graphs that ops call, their C names and failure IDs
//! frame      `run` of a module with only tensor variables: a table, and the ops' code
//! run        the nested blocks: declare, extract or init, code, sync, cleanup after labels
//! native     the same blocks as a plain C function of numbers, if no instance is needed
//! instance   state that outlives a call: slots, temporaries, the ops' struct members
//! exceptions C++ exceptions as errors of the call
//! reserved   names that an author's macros must not have, because the generated code uses them
//! shared     one copy of each kernel
//! collect    requests of ops and types: headers, sources, flags, libraries, support code
//! signature  printable signatures of modules and Applies for messages
//! assemble   the complete text of the module
//! cpython    the differences of CPython extension modules
//! versions   authors' versions, and the digests of the code they cover
//! debug      functions to stop at in a debugger, one for each op
//! ```
//! The text of a module contains no rank or extent unless an op embeds one, and never a constant's value. Graphs that
//! differ only in those share a module. Names are positions in the graph, so equal graphs give equal texts.

mod assemble;
mod collect;
mod cpython;
mod debug;
mod exceptions;
mod frame;
mod instance;
mod native;
mod reserved;
mod run;
mod segments;
mod shared;
mod signature;
mod variables;
mod versions;

pub use segments::{Segment, segments, single};

use crate::error::LinkError;
use crate::extension::Host;
use crate::library::Library;
use crate::module::Module;
use precast_core::NoNative;
use precast_graph::{FunctionGraph, contracts};

/// Creates the module of a graph that is a single [segment](segments) (CLinker). A module for CPython contains all ops
/// of its graph, like Aesara's modules.
///
/// # Errors
/// Fails if an op has no C code, or if author-written C would share a module with other ops. Fails if outputs alias
/// inputs, constants or each other. For CPython it fails if the graph contains an op that is not an author's.
pub fn link(graph: &FunctionGraph, library: &Library) -> Result<Module, LinkError> {
    // If this graph was cut out of another graph, only that graph knows which inputs are overwritten.
    graph.validate_memory(contracts::Inputs::GivenUp)?;
    if *library.host() != Host::Native {
        return assemble::assemble(graph, library);
    }
    if let Some(apply) = segments::crowded(graph, library)? {
        return Err(LinkError::Crowded { apply, op: graph.applies()[apply].op.label() });
    }
    assemble::assemble(graph, library)
}

/// Returns the signature of the native function that computes a graph, or the reason why it has none. The signature is
/// that of the graph's only module, which must have the same inputs and outputs as the graph.
///
/// # Errors
/// See [`link`].
pub fn native(graph: &FunctionGraph, library: &Library) -> Result<Result<String, NoNative>, LinkError> {
    let segments = segments(graph, library)?;
    match segments.as_slice() {
        [one] if one.reads == graph.inputs() && one.writes == graph.outputs() => {
            Ok(link(&one.graph, library)?.native)
        }
        [_] => Ok(Err(NoNative::Arguments)),
        several => Ok(Err(NoNative::Modules { modules: several.len() })),
    }
}
