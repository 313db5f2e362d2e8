//! Log densities of PyMC models with their gradients: exported, and compiled by PyMC.

use super::Bench;
use super::python::{calls, package};
use crate::measure::output;
use crate::peers::caches;
use crate::report::Found;
use anyhow::Result;

const ROUNDS: usize = 25;

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    script(bench, "PyMC", "models.py")
}

/// Runs a script that measures calls of functions of a package, line by line.
pub(super) fn script(bench: &Bench, of: &str, name: &str) -> Result<Found> {
    let mut found = Found::default();
    let Some(environment) = bench.environment(of, &mut found) else { return Ok(found) };
    let (package, place) = (package(environment)?, tempfile::tempdir()?);
    let mut command = environment.script(name);
    command.env("PYTHONPATH", &package).arg(place.path()).arg(bench.rounds(ROUNDS).to_string());
    command.args(&bench.line);
    caches(&mut command, &place.path().join("caches"));
    calls(&output(&mut command)?, &mut found)?;
    Ok(found)
}
