//! From a declared graph to the program of each way to serve it, and whether a stored program is one of them.
//!
//! ```text
//! declared ─ lower ─▶ lowered ─┬ whole   segments                        ┐
//!                              ├ groups  each Apply                      ├▶ keys of their modules ─▶ program
//!                              └ ops     each Apply, with groups undone  ┘
//! ```
//! The builder of an entry and those who check one stand on the same derivation, so that "an entry runs what was declared" is
//! an equation between programs: keys, registers, constants, interface.

use crate::rewrite::Form;
use crate::{Ops, Piece, Serve, program, rewrite};
use precast_codegen::{LinkError, link, segments, single};
use precast_core::{BuildKey, Program};
use precast_graph::json::ParseJsonError;
use precast_graph::{BuildError, FunctionGraph, json};
use precast_store::Entry;

/// Derives the program that computes `declared`, which became `lowered`, by modules of the parts that `serve` says. Of each
/// part `key` gives the key of the module that is linked of it.
///
/// # Errors
/// Parts that no module can be made of; what `key` says.
pub fn derive<E: From<BuildError> + From<LinkError>>(
    declared: &FunctionGraph,
    lowered: &FunctionGraph,
    serve: Serve,
    ops: &Ops,
    mut key: impl FnMut(&FunctionGraph) -> Result<BuildKey, E>,
) -> Result<Program, E> {
    let mut applies = |graph: &FunctionGraph, groups: &[usize]| -> Result<Program, E> {
        let mut pieces = Vec::new();
        for (position, group) in groups.iter().enumerate() {
            let key = key(&single(graph, position, ops.c())?)?;
            pieces.push(Piece::apply(graph, position, key, *group, ops)?);
        }
        Ok(program(declared, graph, &pieces))
    };
    match serve {
        Serve::Whole => {
            let mut pieces = Vec::new();
            for segment in segments(lowered, ops.c())? {
                let group = segment.applies.start;
                pieces.push(Piece::segment(&segment, key(&segment.graph)?, group, ops)?);
            }
            Ok(program(declared, lowered, &pieces))
        }
        Serve::Groups => applies(lowered, &(0..lowered.applies().len()).collect::<Vec<_>>()),
        Serve::Ops => {
            let (graph, groups) = rewrite::unfused(lowered)?;
            applies(&graph, &groups)
        }
    }
}

/// Says that an entry was not found to run what was declared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckEntryError {
    /// Its program is none that its graph has.
    #[error("it calls something else than the graph that was declared")]
    Other,
    /// Its graph cannot be read, so nothing is known of its program.
    #[error("its graph cannot be read")]
    Declared(#[from] Box<ParseJsonError>),
    /// Its graph cannot be rewritten.
    #[error("its graph is not valid")]
    Graph(#[from] BuildError),
    /// No module can be made of a part of its graph.
    #[error("no code can be generated for its graph")]
    Link(#[from] LinkError),
}

/// Checks that an entry can only run what was declared: that its program is that of its graph, in one of the ways to serve it.
/// Keys that `known` gives for parts of the graph are believed, others are those of the modules that are generated. Entries
/// of another generator are not judged: only what made them can say.
///
/// # Errors
/// It runs something else, or it cannot be known what it runs.
pub fn check_entry(
    entry: &Entry,
    ops: &Ops,
    known: impl Fn(&FunctionGraph, &Ops) -> Option<BuildKey>,
) -> Result<(), CheckEntryError> {
    let Some(ops) = &ops.clone().with_recipe(&entry.recipe) else { return Ok(()) };
    let declared = json::parse(&entry.declared, ops).map_err(Box::new)?;
    let lowered = ops.lower(&declared, Form::Lowered)?;
    let key = |part: &FunctionGraph| match known(part, ops) {
        Some(key) => Ok(key),
        None => Ok::<_, CheckEntryError>(link(part, ops.c())?.key()),
    };
    for serve in Serve::ALL {
        if derive(&declared, &lowered, serve, ops, key)? == entry.program {
            return Ok(());
        }
    }
    Err(CheckEntryError::Other)
}
