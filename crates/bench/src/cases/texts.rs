//! Lines about the text of a graph, whose outputs are lines of the text, and peers that compute the same.

use super::built::built;
use super::{Bench, outputs};
use crate::measure::Runner;
use crate::peers::{Input, Peer, inputs};
use crate::report::Line;
use anyhow::{Context as _, Result};
use precast::{ArrayRef, FunctionGraph};
use precast_build::Serve;
use std::hint::black_box;

/// Peers that run the text with their own functions.
pub(super) const NUMPY: Peer = ("NumPy", "numpy-text");
pub(super) const SCIPY: Peer = ("SciPy", "scipy-text");

/// Returns the graph of a text whose inputs are named `x`, `y` and `z`.
pub(super) fn graph(text: &str, inputs: &[Input]) -> Result<FunctionGraph> {
    let types: Vec<(char, String)> = "xyz".chars().zip(inputs.iter().map(Input::ty)).collect();
    outputs(&text.lines().collect::<Vec<_>>(), &types)
}

/// Measures a text next to peers, which compute `case`; both sides return new results.
pub(super) fn line(
    bench: &Bench,
    (what, text): (&str, &str),
    declared: &[Input],
    (peers, case): (&[Peer], &str),
    rounds: usize,
    skipped: &mut Vec<String>,
) -> Result<Line> {
    let mut measured = || {
        let function = built(&graph(text, declared)?, Serve::Whole)?;
        let arrays = inputs(declared);
        let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
        let result = function.call(&refs)?.remove(0);
        // The inputs were accepted once already, so no call fails.
        let ours = Runner::short("precast", || drop(black_box(function.call(black_box(&refs)))));
        let mut runners = vec![ours];
        runners.extend(bench.peers.runners(peers, case, declared, &result, skipped)?);
        Line::raced(what, bench.rounds(rounds), runners)
    };
    measured().with_context(|| format!("in `{what}`"))
}
