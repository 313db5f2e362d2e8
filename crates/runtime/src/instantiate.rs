//! Builds a function from a graph and the modules that serve it.
//!
//! ```text
//! answer ─▶ cut graph ─▶ pieces: a call of each module ─▶ program ─▶ bound to the loaded modules
//! ```

use crate::cover::{Answer, ApplyCover, By, Segment};
use crate::error::FunctionError;
use precast_codegen::segments;
use precast_core::native::LoadedModule;
use precast_core::{Function, Provenance};
use precast_graph::FunctionGraph;
use precast_ops::{Ops, Piece, program, rewrite};
use std::borrow::Cow;
use std::sync::Arc;

/// Builds the function of a graph that an answer fully serves; `None` if a module is not loaded.
pub(crate) fn function(
    declared: &FunctionGraph,
    answer: &Answer,
    ops: &Ops,
) -> Result<Option<Function>, FunctionError> {
    let (graph, of) = cut(answer)?;
    let (mut pieces, mut loaded) = (Vec::new(), Vec::new());
    // Each Apply was split within its segment, so the segments are the same.
    for (segment, covered) in segments(&graph, ops.c())?.into_iter().zip(&answer.segments) {
        match &covered.by {
            By::Own(key) => {
                pieces.push(Piece::segment(&segment, *key, of[segment.applies.start], ops)?);
                loaded.push(answer.loaded(key));
            }
            By::Applies(covers) => {
                let keys = covers.iter().flatten().flat_map(ApplyCover::keys);
                for (position, key) in segment.applies.zip(keys) {
                    pieces.push(Piece::apply(&graph, position, key, of[position], ops)?);
                    loaded.push(answer.loaded(&key));
                }
            }
        }
    }
    let served: usize = pieces.iter().map(|piece| piece.applies.len()).sum();
    let loaded: Option<Vec<(LoadedModule, Provenance)>> = loaded.into_iter().collect();
    let Some(loaded) = loaded.filter(|_| served == graph.applies().len()) else { return Ok(None) };
    let program = program(declared, &graph, &pieces);
    let (modules, served) = loaded.into_iter().map(|(module, from)| (module, Arc::new(from.served))).unzip();
    Ok(Some(Function::new(program, modules, served)?))
}

/// Splits fused Applies into the served parts; also returns the original Apply of each part.
pub(crate) fn cut(answer: &Answer) -> Result<(Cow<'_, FunctionGraph>, Vec<usize>), FunctionError> {
    let members = |segment: &Segment| match &segment.by {
        By::Own(_) => vec![None; segment.applies.len()],
        By::Applies(covers) => {
            covers.iter().map(|cover| cover.as_ref().and_then(ApplyCover::members)).collect()
        }
    };
    let taken: Vec<Option<rewrite::Parts>> = answer.segments.iter().flat_map(members).collect();
    if taken.iter().all(Option::is_none) {
        return Ok((Cow::Borrowed(&answer.lowered), (0..taken.len()).collect()));
    }
    let (graph, of) = rewrite::cut(&answer.lowered, &taken)?;
    Ok((Cow::Owned(graph), of))
}
