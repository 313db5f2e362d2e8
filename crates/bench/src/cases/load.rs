//! Resolves, verifies and loads one artifact, from a bundle and from a store.

use super::{Bench, compiled, graph};
use crate::measure::{Sample, once, output, process};
use crate::report::{Found, Line, Target};
use anyhow::Result;
use precast::{FunctionGraph, Policy, Runtime};
use precast_ops::GENERATOR;
use precast_store::archive::SHARED_OBJECT;
use precast_store::{Store, write_bundle};
use std::path::Path;
use std::process::Command;

const ROUNDS: usize = 200;

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let rounds = bench.rounds(ROUNDS);
    let directory = tempfile::tempdir()?;
    let place = directory.path();
    let graph = graph("out = sum(exp(-x*x)*y + z)", "xyz", "f64[?]")?;
    let compiled = compiled(&graph)?;
    let object = compiled.archive.get(SHARED_OBJECT).unwrap_or_default().to_vec();
    let size = object.len() / 1024;
    fs_err::write(place.join("unit.so"), &object)?;
    fs_err::write(place.join("bundle"), write_bundle(&[(compiled.record.clone(), object)], &[], GENERATOR)?)?;
    Store::create(place.join("store"))?.publish(&compiled.archive, &compiled.record)?;
    let bare = bare(place, rounds)?;
    let peer = format!("bare dlopen of the same .so, {size} KiB");
    let peers = [(peer.as_str(), &bare)];
    let bundle = || Runtime::builder().bundle_file(place.join("bundle")).policy(Policy::Strict);
    let store = || Runtime::builder().store(place.join("store")).policy(Policy::Strict);
    let mut lines = Vec::new();
    for (what, runtime) in [("from a bundle", bundle().build()?), ("from a store", store().build()?)] {
        let ours = loads(&runtime, &graph, rounds)?;
        lines.push(Line::new(what, &ours, &peers).target(Target::Below(0.3e6)));
    }
    let mut opened = Sample::default();
    for _ in 0..rounds {
        let (ns, function) = once(|| anyhow::Ok(bundle().build()?.function(&graph)?));
        drop(function?);
        opened.push(ns);
    }
    lines.push(Line::new("from a bundle file that is opened first", &opened, &peers));
    Ok(lines.into())
}

/// Measures loading a function repeatedly in one runtime. Each function is dropped, and its library unloaded, before
/// the next round.
fn loads(runtime: &Runtime, graph: &FunctionGraph, rounds: usize) -> Result<Sample> {
    let mut sample = Sample::default();
    for round in 0..=rounds {
        let (ns, function) = once(|| runtime.function(graph));
        drop(function?);
        if round > 0 {
            sample.push(ns);
        }
    }
    Ok(sample)
}

/// Measures the peer, a C program: opening an unverified library from Rust needs unsafe code.
fn bare(place: &Path, rounds: usize) -> Result<Sample> {
    let program = place.join("dlopen");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/dlopen.c");
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "gcc".into()));
    process(cc.arg("-O2").arg(source).arg("-o").arg(&program).arg("-ldl"))?;
    let printed = output(Command::new(&program).arg(place.join("unit.so")).arg((rounds + 1).to_string()))?;
    let mut sample = Sample::default();
    sample.extend(printed.lines().skip(1).filter_map(|line| line.parse::<f64>().ok()));
    Ok(sample)
}
