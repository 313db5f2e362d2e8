//! One expression at three sizes, served whole, by fused groups, and op by op; and a product with a result as long as
//! its inputs.

use super::built::built;
use super::{Bench, graph};
use crate::measure::{Runner, race};
use crate::peers::{Input, PEERS, Peer, inputs};
use crate::report::{Found, Line, Target};
use anyhow::{Context as _, Result};
use precast::{Array, ArrayRef, Function};
use precast_build::Serve;
use std::hint::black_box;

/// The number of elements, its text, and the number of rounds.
const SIZES: [(usize, &str, usize); 3] = [(1_000, "1e3", 25), (100_000, "1e5", 25), (10_000_000, "1e7", 9)];
/// NumPy as an expert writes it, without allocating arrays.
const EXPERT: [Peer; 1] = [("NumPy, out=", "numpy-out")];
const FLOOR: &str = "reading the inputs";
const SCORE: &str = "sum(exp(-x*x)*y + z)";
const WAYS: [(Serve, &str); 3] =
    [(Serve::Whole, "whole"), (Serve::Groups, "by groups"), (Serve::Ops, "op by op")];

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let mut found = Found::default();
    for (size, name, rounds) in SIZES {
        score(bench, (size, name, bench.rounds(rounds)), &mut found)?;
    }
    product(bench, &mut found)?;
    Ok(found)
}

fn score(bench: &Bench, (size, name, rounds): (usize, &str, usize), found: &mut Found) -> Result<()> {
    let declared = vec![Input::f64(&[size]); 3];
    let arrays = inputs(&declared);
    let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
    let graph = graph(SCORE, "xyz", "f64[?]")?;
    let functions = WAYS.iter().map(|(serve, _)| built(&graph, *serve)).collect::<Result<Vec<Function>>>()?;
    let result = functions[0].call(&refs)?.remove(0);
    let slices = arrays.iter().map(slice).collect::<Result<Vec<&[f64]>>>()?;
    let [x, y, z] = slices[..] else { anyhow::bail!("three inputs") };
    let mut runners: Vec<Runner<'_>> = Vec::new();
    for (function, (_, way)) in functions.iter().zip(WAYS) {
        let mut out = [Array::from(0.0_f64)];
        let refs = &refs;
        // The inputs were accepted once already, so no call fails.
        runners
            .push(Runner::short(way, move || drop(black_box(function.call_into(black_box(refs), &mut out)))));
    }
    runners.extend(bench.peers.runners(&PEERS, "score", &declared, &result, &mut found.skipped)?);
    runners.extend(bench.peers.runners(&EXPERT, "score", &declared, &result, &mut found.skipped)?);
    runners.push(Runner::short("Rust loop", || {
        let terms = x.iter().zip(y).zip(z).map(|((x, y), z)| (-x * x).exp() * y + z);
        black_box(terms.sum::<f64>());
    }));
    runners.push(Runner::short(FLOOR, || {
        black_box(read(black_box(&slices)));
    }));
    let samples = race(rounds, &mut runners)?;
    let names: Vec<&str> = runners.iter().map(|runner| runner.name.as_str()).collect();
    let peers: Vec<_> = names.into_iter().zip(&samples).skip(WAYS.len()).collect();
    for ((function, (serve, way)), ours) in functions.iter().zip(WAYS).zip(&samples) {
        let parts = function.provenance().len();
        let what = if parts == 1 {
            format!("{name} elements, {way}")
        } else {
            format!("{name} elements, {way} ({parts} modules)")
        };
        let line = Line::new(&what, ours, &peers).pictured();
        let has_numpy = peers.first().is_some_and(|(name, _)| *name == "NumPy");
        found.lines.push(match serve {
            Serve::Whole if size == 10_000_000 => line.target(Target::Below(12e6)),
            Serve::Ops if has_numpy => line.target(Target::TimesPeer(1.0)),
            _ => line,
        });
    }
    Ok(())
}

fn product(bench: &Bench, found: &mut Found) -> Result<()> {
    let size = 10_000_000;
    let declared = vec![Input::f64(&[size]); 3];
    let arrays = inputs(&declared);
    let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
    let function = built(&graph("(x + y) * z", "xyz", "f64[?]")?, Serve::Whole)?;
    let result = function.call(&refs)?.remove(0);
    let mut out = [result.clone()];
    let rounds = bench.rounds(9);
    let mut runners = vec![Runner::new("precast", || {
        black_box(function.call(&refs)?);
        Ok(())
    })];
    runners.extend(bench.peers.runners(&PEERS, "product", &declared, &result, &mut found.skipped)?);
    found.lines.push(Line::raced("(x+y)*z of 1e7, new array", rounds, runners)?.pictured());
    let slices = arrays.iter().map(slice).collect::<Result<Vec<&[f64]>>>()?;
    let [x, y, z] = slices[..] else { anyhow::bail!("three inputs") };
    let mut looped = vec![0.0; size];
    let mut runners = vec![Runner::new("precast", || Ok(function.call_into(&refs, &mut out)?))];
    runners.extend(bench.peers.runners(&EXPERT, "product", &declared, &result, &mut found.skipped)?);
    runners.push(Runner::new("Rust loop", || {
        for (((o, x), y), z) in looped.iter_mut().zip(x).zip(y).zip(z) {
            *o = (x + y) * z;
        }
        black_box(&looped);
        Ok(())
    }));
    runners.push(Runner::new(FLOOR, || {
        black_box(read(&slices));
        Ok(())
    }));
    found.lines.push(Line::raced("(x+y)*z of 1e7, result reused", rounds, runners)?);
    Ok(())
}

/// Returns the elements of an input.
fn slice(array: &Array) -> Result<&[f64]> {
    let Array::F64(array) = array else { anyhow::bail!("another dtype") };
    array.as_slice().context("an input that is not contiguous")
}

/// Reads every element once, in eight independent sums over all arrays side by side: the lower bound that memory
/// sets.
fn read(slices: &[&[f64]]) -> f64 {
    let mut sums = [0.0; 8];
    for start in (0..slices[0].len()).step_by(8) {
        for lanes in slices.iter().filter_map(|slice| slice.get(start..start + 8)) {
            sums.iter_mut().zip(lanes).for_each(|(sum, x)| *sum += x);
        }
    }
    sums.iter().sum()
}
