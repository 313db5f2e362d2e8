//! Derives the program of a declared graph for each way to serve it, and checks whether a stored program is one of
//! them.
//!
//! ```text
//! declared ─ lower ─▶ lowered ─┬ whole   segments                        ┐
//!                              ├ groups  each Apply                      ├▶ keys of their modules ─▶ program
//!                              └ ops     each Apply, with groups undone  ┘
//! ```
//! The builder of an entry and the checks of an entry use the same derivation. The claim "an entry runs the declared
//! graph" is therefore an equation between programs: keys, registers, constants, interface.

use crate::rewrite::Form;
use crate::{Ops, Piece, Serve, program, rewrite};
use precast_codegen::{LinkError, link, segments, single};
use precast_core::{BuildKey, Program};
use precast_graph::json::ParseJsonError;
use precast_graph::{BuildError, FunctionGraph, json};
use precast_store::Entry;

/// Derives the program that computes `declared`, whose lowered form is `lowered`. `serve` selects the parts; `key`
/// returns the key of the module linked from each part.
///
/// # Errors
/// A part from which no module can be generated, or an error of `key`.
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

/// Why an entry does not provably run its declared graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckEntryError {
    /// The entry's program is not one that its graph can have.
    #[error("its calls differ from those of the declared graph")]
    Other,
    /// The entry's graph cannot be parsed, so its program cannot be derived.
    #[error("cannot parse its graph")]
    Declared(#[from] Box<ParseJsonError>),
    /// The entry's graph cannot be rewritten.
    #[error("invalid graph")]
    Graph(#[from] BuildError),
    /// No module can be generated for a part of the entry's graph.
    #[error("cannot generate code for its graph")]
    Link(#[from] LinkError),
}

/// Checks that an entry can only run its declared graph: its program must equal the derived program for one of the
/// ways to serve it. Keys returned by `known` for parts of the graph are trusted; other keys come from newly
/// generated modules. Entries of another generator are accepted unchecked, because only that generator can derive
/// their programs.
///
/// # Errors
/// The entry runs something else, or its program cannot be derived.
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
