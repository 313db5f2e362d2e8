//! A JAX program, frozen and called from JAX, next to JAX itself: a process to its first result, and calls.
//!
//! ```text
//! python/jax_program.py write ─▶ PLACE/model.precast, PLACE/model.export ─▶ processes that load them
//! ```

use super::Bench;
use super::cold::until_printed;
use super::python::{calls, package};
use crate::measure::{Runner, output};
use crate::peers::caches;
use crate::report::{Found, Line, Target};
use anyhow::{Result, ensure};
use std::path::Path;
use std::process::Command;

const ROUNDS: usize = 25;
/// Each start takes seconds, so medians come from few rounds.
const STARTS: usize = 5;

/// The processes: the name in the report, and in `python/jax_program.py`. The first is ours.
const PROCESSES: [(&str, &str); 4] = [
    ("precast", "precast"),
    ("jax.jit, its cache warm", "jit"),
    ("jax.export, its cache warm", "exported"),
    ("precast, from JAX", "called"),
];

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let mut found = Found::default();
    let Some(environment) = bench.environment("JAX", &mut found) else { return Ok(found) };
    let package = package(environment)?;
    let place = tempfile::tempdir()?;
    let script = |who: &str| {
        let mut command = environment.script("jax_program.py");
        caches(command.env("PYTHONPATH", &package).arg(who).arg(place.path()), &place.path().join("caches"));
        command
    };
    output(&mut script("write"))?;
    found.lines.push(start(bench, &script, place.path())?);
    eprintln!("  calls");
    calls(&output(script("calls").arg(bench.rounds(ROUNDS).to_string()))?, &mut found)?;
    Ok(found)
}

/// Measures processes from start to first result.
fn start(bench: &Bench, script: &dyn Fn(&str) -> Command, place: &Path) -> Result<Line> {
    eprintln!("  starts");
    let (_, expected) = until_printed(&mut script("precast"))?;
    let runners = PROCESSES.map(|(name, who)| {
        let round = move || {
            let mut command = script(who);
            let (ns, result) = until_printed(&mut command)?;
            ensure!((result - expected).abs() < 1e-6, "{command:?} gives {result}, not {expected}");
            Ok(ns)
        };
        Runner { name: name.to_owned(), round: Box::new(round) }
    });
    ensure!(place.join("model.precast").is_file(), "no bundle was written");
    let rounds = if bench.quick { 1 } else { STARTS };
    let what = "a process to its first log-density and gradient";
    Ok(Line::raced(what, rounds, runners.into())?.target(Target::TimesPeer(0.5)))
}
