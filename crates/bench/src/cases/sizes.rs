//! The sizes of what a host of a model needs: PyMC's packages, and precast for Python, C and clients of BridgeStan.

use super::python::package;
use super::{Bench, cargo, root, target};
use crate::measure::output;
use crate::report::Found;
use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

/// A Python package and all packages that it requires.
#[derive(Deserialize)]
#[serde(untagged)]
enum Installed {
    Found { name: String, packages: usize, bytes: u64, largest: Vec<String> },
    Missing { name: String, why: String },
}

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let mut found = Found::default();
    let Some(environment) = bench.environment("Python packages", &mut found) else { return Ok(found) };
    for line in output(environment.script("sizes.py").args(["pymc", "pytensor", "numpy"]))?.lines() {
        match serde_json::from_str(line)? {
            Installed::Found { name, packages: 1, bytes, .. } => {
                found.facts.push(format!("{name}: {} MB", megabytes(bytes)));
            }
            Installed::Found { name, packages, bytes, largest } => found.facts.push(format!(
                "{name} with all that it requires: {packages} packages, {} MB, most of them {}",
                megabytes(bytes),
                largest.join(", ")
            )),
            Installed::Missing { name, why } => found.skipped.push(format!("{name}: {why}")),
        }
    }
    let package = package(environment)?.join("precast");
    let mut bytes = stripped(&package.join("_native.abi3.so"))?;
    for file in walkdir::WalkDir::new(&package).follow_links(true) {
        let file = file?;
        let is_source = file.path().extension().is_some_and(|end| end == "py" || end == "pyi");
        bytes += if is_source { file.metadata()?.len() } else { 0 };
    }
    found.facts.push(format!("precast for Python, which needs NumPy: {} MB", megabytes(bytes)));
    output(cargo(&root(), &target()?).args([
        "build",
        "--release",
        "-p",
        "precast-capi",
        "-p",
        "precast-bridgestan",
    ]))?;
    for (library, use_) in [("libprecast.so", "C"), ("libprecast_bridgestan.so", "clients of BridgeStan")] {
        let bytes = stripped(&target()?.join("release").join(library))?;
        found.facts.push(format!("precast for {use_}: {} MB", megabytes(bytes)));
    }
    Ok(found)
}

/// Returns the size of a library without its symbols.
fn stripped(library: &Path) -> Result<u64> {
    let place = tempfile::tempdir()?;
    let copy = place.path().join("library");
    output(Command::new("strip").arg("-o").arg(&copy).arg(library)).context("`strip` is part of binutils")?;
    Ok(fs_err::metadata(&copy)?.len())
}

/// Formats a size in units of 10⁶ bytes.
fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}
