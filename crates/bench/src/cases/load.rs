//! Resolve, verify and load one artifact, from a bundle and from a store.

use super::{Found, compiled, graph};
use crate::measure::{Sample, once, output, process};
use crate::report::{Row, Target};
use anyhow::Result;
use precast::{FunctionGraph, Policy, Runtime};
use precast_ops::GENERATOR;
use precast_store::{Store, write_bundle};
use std::path::Path;
use std::process::Command;

const ROUNDS: usize = 200;

pub(crate) fn run() -> Result<Found> {
    let directory = tempfile::tempdir()?;
    let place = directory.path();
    let graph = graph("out = sum(exp(-x*x)*y + z)", "xyz", "f64[?]")?;
    let compiled = compiled(&graph)?;
    let object = compiled.archive.get("unit.so").unwrap_or_default().to_vec();
    let size = object.len() / 1024;
    fs_err::write(place.join("unit.so"), &object)?;
    fs_err::write(place.join("bundle"), write_bundle(&[(compiled.record.clone(), object)], &[], GENERATOR)?)?;
    Store::create(place.join("store"))?.publish(&compiled.archive, &compiled.record)?;
    let bare = bare(place)?;
    let peer = format!("bare dlopen of the same .so, {size} KiB");
    let bundle = || Runtime::builder().bundle_file(place.join("bundle")).policy(Policy::Strict);
    let store = || Runtime::builder().store(place.join("store")).policy(Policy::Strict);
    let mut rows = Vec::new();
    for (what, runtime) in [("from a bundle", bundle().build()?), ("from a store", store().build()?)] {
        let what = format!("resolve + verify + load {what}");
        rows.push(
            Row::new("load", &what, &loads(&runtime, &graph)?, &peer, &bare).target(Target::Below(0.3e6)),
        );
    }
    let mut opened = Sample::default();
    for _ in 0..ROUNDS {
        let (ns, function) = once(|| anyhow::Ok(bundle().build()?.function(&graph)?));
        drop(function?);
        opened.push(ns);
    }
    rows.push(Row::new("load", "the same, opening the bundle file too", &opened, &peer, &bare));
    Ok(rows.into())
}

/// Functions of one runtime; each is dropped, and with it the loaded library, before the next.
fn loads(runtime: &Runtime, graph: &FunctionGraph) -> Result<Sample> {
    let mut sample = Sample::default();
    for round in 0..=ROUNDS {
        let (ns, function) = once(|| runtime.function(graph));
        drop(function?);
        if round > 0 {
            sample.push(ns);
        }
    }
    Ok(sample)
}

/// The peer is a program in C: opening a library that nobody verified is unsafe in Rust.
fn bare(place: &Path) -> Result<Sample> {
    let program = place.join("dlopen");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/dlopen.c");
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "gcc".into()));
    process(cc.arg("-O2").arg(source).arg("-o").arg(&program).arg("-ldl"))?;
    let printed = output(Command::new(&program).arg(place.join("unit.so")).arg((ROUNDS + 1).to_string()))?;
    let mut sample = Sample::default();
    sample.extend(printed.lines().skip(1).filter_map(|line| line.parse::<f64>().ok()));
    Ok(sample)
}
