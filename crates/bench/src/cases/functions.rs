//! Every elementwise function of the library in f64 and f32 over ranges of operands, and other operations on arrays.
//!
//! ```text
//! rows of the library ─▶ a graph for each dtype ─▶ ranges without NaN and infinities ─▶ one line, the mean over the ranges
//! ```
//! A function that NumPy does not have is `special`.

use super::built::built;
use super::{Bench, operations, texts};
use crate::measure::{Runner, once};
use crate::peers::{Input, Kind, Peer, Range, Spread, inputs};
use crate::report::{Found, Line, summary};
use anyhow::{Context as _, Result};
use precast::{Array, ArrayRef, DType, Function, FunctionGraph, threads};
use precast_build::Serve;
use precast_ops::{Ops, Row};
use std::hint::black_box;

const ROUNDS: usize = 5;
const ELEMENTS: usize = 1 << 16;

/// The peers: NumPy and SciPy write into an array, JAX returns a new one.
pub(super) const PEERS: [Peer; 3] =
    [("NumPy", "numpy-function"), ("SciPy", "scipy-function"), ("JAX", "jax-function")];
/// The reason of a peer that lacks a function.
const LACKS: &str = "no such function";

/// The largest difference of a peer's result that is measured, relative to the result. Peers have errors of many ulp.
const TOLERANCE: f64 = 1e-3;
/// The error of a peer, in ulp, from which on the line mentions it.
const INACCURATE: f64 = 2.0;
/// Calls of at least this duration, in nanoseconds, are measured once.
const SLOW: f64 = 1e8;

/// The ranges of f64. The exponents of f32 are an eighth of these.
const RANGES: [(&str, Spread, f64, f64); 9] = [
    ("tiny", Spread::Powers, -1000.0, -300.0),
    ("small", Spread::Even, 0.001, 1.0),
    ("unit", Spread::Even, -1.0, 1.0),
    ("whole", Spread::Whole, 1.0, 17.0),
    ("usual", Spread::Even, 1.0, 10.0),
    ("large", Spread::Even, 100.0, 700.0),
    ("huge", Spread::Powers, 200.0, 1000.0),
    ("negative", Spread::Even, -10.0, -0.1),
    ("mixed", Spread::Even, -20.0, 20.0),
];

/// The ranges of several operands, if they differ: of the last operand, after that of the operands before it.
const PAIRS: [[&str; 2]; 7] = [
    ["usual", "small"],
    ["large", "small"],
    ["whole", "small"],
    ["whole", "usual"],
    ["usual", "whole"],
    ["usual", "mixed"],
    ["mixed", "whole"],
];

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    threads::limit(1);
    let mut found = Found::default();
    for dtype in [DType::F64, DType::F32] {
        let mut lines = Vec::new();
        for row in Ops::rows() {
            let Some(graph) = elementwise(row, dtype) else { continue };
            let (names, one) = (names(row), vec![Input(Kind::Of(dtype), vec![1]); row.arguments.len()]);
            let numpy = bench.peers.prepare(PEERS[0].1, &names, &one)?;
            let is_special = numpy.is_some_and(|found| found.is_err_and(|why| why.contains(LACKS)));
            let what = format!("{}, {dtype}{}", row.name, if is_special { ", special" } else { "" });
            if bench.wants(&what) {
                eprintln!("  {what}"); // all take some twenty minutes
                let line = function(bench, (&what, &names, &graph), dtype, &mut found.skipped);
                lines.extend(line.with_context(|| format!("in `{what}`"))?);
            }
        }
        found.facts.extend(summary(dtype.name(), &lines));
        found.lines.extend(lines);
    }
    let lines = operations::lines(bench, &mut found.skipped)?;
    found.facts.extend(summary("operations", &lines));
    found.lines.extend(lines);
    Ok(found)
}

/// Returns the names of a function, by which peers find it.
fn names(row: &Row) -> String {
    std::iter::once(&row.name).chain(row.aliases).copied().collect::<Vec<_>>().join(" ")
}

/// Returns the graph of a function of vectors, if it is elementwise.
fn elementwise(row: &Row, dtype: DType) -> Option<FunctionGraph> {
    let inputs = vec![Input(Kind::Of(dtype), vec![ELEMENTS]); row.arguments.len()];
    let operands = ["x", "y", "z"].get(..inputs.len()).filter(|names| !names.is_empty())?.join(", ");
    let graph = texts::graph(&format!("{}({operands})", row.name), &inputs).ok()?;
    let applies = graph.applies();
    (!applies.is_empty() && applies.iter().all(|apply| apply.op.name() == "elemwise")).then_some(graph)
}

/// Returns the operands of a function in all ranges, with the names of the ranges.
fn operands(count: usize, dtype: DType) -> Vec<(String, Vec<Input>)> {
    let input = |name: &str| {
        let (_, spread, low, high) = RANGES.iter().find(|range| range.0 == name).copied()?;
        let scale = if spread == Spread::Powers && dtype == DType::F32 { 0.125 } else { 1.0 };
        let range = Range { dtype, spread, low: low * scale, high: high * scale };
        Some(Input(Kind::In(range), vec![ELEMENTS]))
    };
    let same = RANGES.iter().map(|(name, ..)| (*name, *name));
    let pairs = PAIRS.iter().filter(|_| count > 1).map(|[first, last]| (*first, *last));
    let ranges = same.chain(pairs).filter_map(|(first, last)| {
        let mut inputs = vec![input(first)?; count - 1];
        inputs.push(input(last)?);
        Some((if first == last { first.to_owned() } else { format!("{first} and {last}") }, inputs))
    });
    ranges.collect()
}

/// Measures a function in each range of its domain, with results reused; `None` without any.
fn function(
    bench: &Bench,
    (what, names, graph): (&str, &str, &FunctionGraph),
    dtype: DType,
    skipped: &mut Vec<String>,
) -> Result<Option<Line>> {
    let function = built(graph, Serve::Whole)?;
    let mut peers = PeersOfFunction::default();
    let mut parts: Vec<(String, Line)> = Vec::new();
    for (range, declared) in operands(function.inputs().len(), dtype) {
        let arrays = inputs(&declared);
        let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
        let (ns, out) = once(|| finite(&function, &refs));
        let Some(out) = out else { continue };
        let ready = peers.ready(bench, (what, names, &range), &declared, &out)?;
        let mut out = [out];
        // The inputs were accepted once already, so no call fails.
        let mut call = || _ = black_box(function.call_into(black_box(&refs), &mut out));
        let line = if ns < SLOW {
            let runners = std::iter::once(Runner::short("precast", call)).chain(ready).collect();
            Line::raced(what, bench.rounds(ROUNDS), runners)?
        } else {
            let ours = Runner::new("precast", || {
                call();
                Ok(())
            });
            Line::raced_cold(what, 1, std::iter::once(ours).chain(ready).collect())?
        };
        parts.push((range, line));
        if bench.quick {
            break;
        }
    }
    skipped.extend(peers.skipped());
    Ok(Line::joined(what, &parts).map(|line| line.noting(&peers.inaccurate)))
}

/// Returns the result of a call if all its elements are finite.
fn finite(function: &Function, operands: &[ArrayRef<'_>]) -> Option<Array> {
    let result = function.call(operands).ok()?.remove(0);
    let is_finite = |(re, im): (f64, f64)| re.is_finite() && im.is_finite();
    result.numbers().iter().all(|number| is_finite(number.parts())).then_some(result)
}

/// What is found out about the peers of a function while its ranges are measured.
#[derive(Default)]
struct PeersOfFunction {
    /// The errors above [`INACCURATE`] of peers.
    inaccurate: Vec<String>,
    /// The ranges in which a peer was not measured, with the first reason.
    left_out: Vec<(String, Vec<String>)>,
}

impl PeersOfFunction {
    /// Returns runners of the peers that have the function and compute nearly the same.
    fn ready<'a>(
        &mut self,
        bench: &'a Bench,
        (what, names, range): (&str, &str, &str),
        declared: &[Input],
        ours: &Array,
    ) -> Result<Vec<Runner<'a>>> {
        let mut runners = Vec::new();
        for (name, peer) in PEERS {
            let agrees = match bench.peers.prepare(peer, names, declared)? {
                None => continue,
                Some(Err(why)) if why.contains(LACKS) => continue,
                Some(Err(why)) => Err(why),
                Some(Ok(ready)) => match ready.agrees(ours, Some(TOLERANCE)) {
                    Ok(()) => Ok(ready),
                    Err(why) => Err(why.to_string()),
                },
            };
            match agrees {
                Ok(ready) => {
                    let error = ready.ulp().filter(|ulp| *ulp > INACCURATE);
                    let note = error.map(|ulp| match ulp < 1000.0 {
                        true => format!("{name} errs by {ulp:.0} ulp"),
                        false => format!("{name} errs by more than 1000 ulp"),
                    });
                    let new = note.filter(|note| !self.inaccurate.contains(note));
                    self.inaccurate.extend(new);
                    runners.push(ready.runner(name));
                }
                Err(why) => {
                    let (start, why) = (format!("{name} at `{what}`"), format!("{range}: {why}"));
                    match self.left_out.iter_mut().find(|(subject, _)| *subject == start) {
                        Some((_, ranges)) => ranges.push(range.to_owned()),
                        None => self.left_out.push((start, vec![why])),
                    }
                }
            }
        }
        Ok(runners)
    }

    /// Returns a sentence for each peer that was not measured in a range.
    fn skipped(&self) -> impl Iterator<Item = String> {
        self.left_out.iter().map(|(subject, ranges)| format!("{subject}, {}", ranges.join(", ")))
    }
}
