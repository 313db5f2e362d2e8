//! Samples PyMC models from the start of a process to the written draws: a package by a Rust program, and the same model by
//! nutpie and by PyMC.
//!
//! ```text
//! python/sampling.py export ─▶ model.precast ─▶ crates/density/examples/sampling (nuts-rs) ─▶ draws.zarr
//! python/sampling.py nutpie | pymc ──────────────────────────────────────────────────────▶ draws.zarr
//! ```
//! The package is exported once, ahead of time; peers compile in each process, as they do wherever they start.

use super::python::package;
use super::{Bench, cargo, root, target};
use crate::measure::{Runner, output, process};
use crate::peers::caches;
use crate::report::{Found, Line};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// Each round of a peer takes half a minute.
const ROUNDS: usize = 3;
const MODELS: [&str; 3] = ["eight schools", "hierarchical regression of 48", "negative binomial of 500"];
/// The names in the report, and those in `python/sampling.py`.
const PEERS: [(&str, &str); 2] = [("nutpie, numba", "nutpie"), ("PyMC, numba", "pymc")];

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let mut found = Found::default();
    let Some(environment) = bench.environment("PyMC", &mut found) else { return Ok(found) };
    let package = package(environment)?;
    let place = tempfile::tempdir()?;
    let script = |how: &str, model: &str, out: &Path| {
        let mut command = environment.script("sampling.py");
        command.env("PYTHONPATH", &package).args([how, model]).arg(out);
        caches(&mut command, &place.path().join("caches"));
        command
    };
    let sampler = sampler()?;
    for model in MODELS.into_iter().filter(|model| bench.wants(model)) {
        eprintln!("  {model}");
        let file = place.path().join("model.precast");
        output(&mut script("export", model, &file))?;
        let ours = || {
            let out = tempfile::tempdir_in(place.path())?;
            process(
                Command::new(&sampler).arg(&file).arg(out.path().join("draws.zarr")).args(["--threads", "2"]),
            )
        };
        let mut runners = vec![Runner::new("precast, nuts-rs", ours)];
        for (name, how) in PEERS {
            runners.push(Runner::new(name, || {
                let out = tempfile::tempdir_in(place.path())?;
                process(&mut script(how, model, &out.path().join("draws.zarr")))
            }));
        }
        let what = format!("{model}: 4 chains of 1000 + 1000");
        found.lines.push(Line::raced(&what, bench.rounds(ROUNDS), runners)?);
    }
    Ok(found)
}

/// Builds the example that samples packages, and returns its program.
fn sampler() -> Result<std::path::PathBuf> {
    let target = target()?.join("bench-sampling");
    let mut build = cargo(&root().join("crates/density/examples/sampling"), &target);
    output(build.args(["build", "--release", "--locked"]))?;
    Ok(target.join("release/precast-sampling"))
}
