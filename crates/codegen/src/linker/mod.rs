//! CLinker: a graph in, one module for each of its segments out.
//!
//! ```text
//! segments   which parts of a graph one module serves: an author's C stands alone
//! variables  roles of the graph's variables, their C names and failure ids
//! frame      what `run` is where all variables are tensors: a table, and the ops' code
//! run        the nested blocks: declare, extract or init, code, sync, cleanup behind labels
//! native     the same blocks as a plain C function of numbers, where nothing else is needed
//! instance   what lives longer than a call: slots, temporaries, the ops' struct members
//! exceptions C++ exceptions as errors of the call
//! reserved   names that an author's macros may not have, because the generated code says them
//! collect    what ops and types ask for: headers, sources, flags, libraries, support code
//! signature  what modules and Applies are called in messages
//! assemble   all of it in the module's text
//! cpython    what is another for an extension module of CPython
//! versions   what authors gave a version, and the digests it stands for
//! debug      functions to stop at in a debugger, one for each op
//! ```
//! The text of a module names no rank and no extent unless an op bakes one in, and never a constant's value: graphs that
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

/// Makes one module of a whole graph that is a single [segment](segments) (CLinker). One for CPython has all ops of its graph, as
/// Aesara's have.
///
/// # Errors
/// Ops without C; C of an author beside other ops, or for CPython, other ops beside it; outputs that alias inputs, constants or each
/// other.
pub fn link(graph: &FunctionGraph, library: &Library) -> Result<Module, LinkError> {
    // Whose inputs are overwritten is known where this graph was cut out of another.
    graph.validate_memory(contracts::Inputs::GivenUp)?;
    if *library.host() != Host::Native {
        return assemble::assemble(graph, library);
    }
    if let Some(apply) = segments::crowded(graph, library)? {
        return Err(LinkError::Crowded { apply, op: graph.applies()[apply].op.label() });
    }
    assemble::assemble(graph, library)
}

/// The signature of the native function that computes a graph, or why there is none: it is that of its only module, which takes and
/// gives what the graph does.
///
/// # Errors
/// As [`link`].
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
