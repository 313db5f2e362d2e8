//! The Python package, called from Python next to its peers: calls, callbacks, starts, and PyTensor's link step.
//!
//! ```text
//! cargo build --release -p precast-python ─▶ <target>/bench-python/package/precast/ ─PYTHONPATH─▶ python/{calls,start,linked}.py
//! ```

use super::built::write;
use super::cold::until_printed;
use super::{Bench, cargo, graph, root, target};
use crate::measure::{Runner, Sample, output};
use crate::peers::{Environment, caches};
use crate::report::{Found, Line, Target};
use anyhow::{Context as _, Result, ensure};
use precast_build::Serve;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROUNDS: usize = 25;
/// Each start takes seconds, so medians come from few rounds.
const STARTS: usize = 5;
const COLD_STARTS: usize = 3;

/// The target of each line, by the prefix of its name.
const TARGETS: [(&str, Target); 3] = [
    ("x + y of 4 with out=", Target::Below(100.0)),
    ("log-density and gradient", Target::TimesPeer(1.0)),
    ("logp_dlogp of PyMC", Target::TimesPeer(1.0)),
];

/// The graphs of the bundle: a name, an expression, the names of its inputs and their type.
const GRAPHS: [(&str, &str, &str, &str); 3] = [
    ("add", "x + y", "xy", "f64[?]"),
    ("score", "sum(exp(-x*x)*y + z)", "xyz", "f64[?]"),
    ("gauss", "exp(-x*x)*0.5", "x", "f64"),
];

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let mut found = Found::default();
    let Some(environment) = bench.environment("the Python package", &mut found) else { return Ok(found) };
    let package = package(environment)?;
    let place = tempfile::tempdir()?;
    let bundle = place.path().join("bundle");
    let graphs = GRAPHS.map(|(name, text, inputs, ty)| Ok((name.to_owned(), graph(text, inputs, ty)?)));
    write(&graphs.into_iter().collect::<Result<Vec<_>>>()?, Serve::Whole, &bundle)?;
    let script = |name: &str| {
        let mut command = environment.script(name);
        command.env("PYTHONPATH", &package);
        command
    };
    let rounds = bench.rounds(ROUNDS).to_string();
    eprintln!("  calls");
    calls(&output(script("calls.py").arg(&bundle).arg(rounds))?, &mut found)?;
    for size in ["small", "big"] {
        prepare(&script, size, place.path())?;
        // Warm starts use the caches that the last cold round filled.
        for is_warm in [false, true] {
            found.lines.push(start(bench, &script, size, is_warm, place.path())?);
        }
        found.lines.push(bounded(bench, &script, size, place.path())?);
        found.lines.push(link_step(bench, &script, size, place.path())?);
    }
    Ok(found)
}

/// Builds the extension and arranges the package like an installed one.
pub(super) fn package(environment: &Environment) -> Result<PathBuf> {
    let target = target()?;
    eprintln!("  building the package, optimised; the first time that takes minutes");
    let mut build = cargo(&root(), &target);
    build.env("PYO3_PYTHON", environment.python());
    output(build.args(["build", "--release", "-p", "precast-python"]))?;
    let sources = root().join("crates/python/python/precast").canonicalize()?;
    let package = target.join("bench-python/package");
    let place = package.join("precast");
    if place.exists() {
        fs_err::remove_dir_all(&place)?;
    }
    fs_err::create_dir_all(&place)?;
    for entry in fs_err::read_dir(sources)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with("_native") {
            fs_err::os::unix::fs::symlink(entry.path(), place.join(entry.file_name()))?;
        }
    }
    fs_err::copy(target.join("release/lib_native.so"), place.join("_native.abi3.so"))?;
    Ok(package)
}

/// One measurement of `python/calls.py`; the first sample is ours.
#[derive(Deserialize)]
struct Measured {
    what: String,
    samples: Vec<(String, Vec<f64>)>,
    skipped: Vec<String>,
}

pub(super) fn calls(printed: &str, found: &mut Found) -> Result<()> {
    for line in printed.lines().filter(|line| line.starts_with('{')) {
        let measured: Measured = serde_json::from_str(line)?;
        let samples: Vec<(String, Sample)> = measured.samples.into_iter().map(sample).collect();
        found.skipped.extend(measured.skipped);
        // Without any samples, the reasons are already in `skipped`.
        let Some((ours, peers)) = samples.split_first() else { continue };
        let peers: Vec<(&str, &Sample)> =
            peers.iter().map(|(name, sample)| (name.as_str(), sample)).collect();
        let line = Line::new(&measured.what, &ours.1, &peers);
        let target = TARGETS.iter().find(|(what, _)| measured.what.starts_with(what));
        found.lines.push(match target {
            Some((_, target)) => line.target(*target),
            None => line,
        });
    }
    Ok(())
}

fn sample((name, ns): (String, Vec<f64>)) -> (String, Sample) {
    let mut sample = Sample::default();
    sample.extend(ns);
    (name, sample)
}

/// Returns the path of a bundle that a process loads, as written by [`prepare`].
fn bundle(place: &Path, size: &str, kind: &str) -> PathBuf {
    place.join(format!("start-{size}-{kind}"))
}

/// Writes the bundles for our processes.
fn prepare(script: &dyn Fn(&str) -> Command, size: &str, place: &Path) -> Result<()> {
    for (kind, command) in [("frozen", "freeze"), ("beneath", "record")] {
        let mut prepare = script("start.py");
        caches(prepare.args([command, size]).arg(bundle(place, size, kind)), &place.join("prepared"));
        output(&mut prepare)?;
    }
    Ok(())
}

/// Measures processes from start to first result. In a cold start only the bundles written by [`prepare`] are kept
/// between processes.
struct Starts<'a> {
    script: &'a dyn Fn(&str) -> Command,
    size: &'static str,
    is_warm: bool,
    place: &'a Path,
    expected: f64,
}

impl<'a> Starts<'a> {
    fn new(
        script: &'a dyn Fn(&str) -> Command,
        size: &'static str,
        is_warm: bool,
        place: &'a Path,
    ) -> Result<Self> {
        let (_, expected) = until_printed(script("start.py").args(["numpy", size]).arg(place))?;
        Ok(Self { script, size, is_warm, place, expected })
    }

    fn runner(&self, name: &str, kind: &'static str) -> Runner<'a> {
        let Self { script, size, is_warm, place, expected } = *self;
        let (kept, bundle) = (place.join("kept").join(size).join(kind), bundle(place, size, kind));
        let round = move || {
            if !is_warm && kept.exists() {
                fs_err::remove_dir_all(&kept)?;
            }
            fs_err::create_dir_all(&kept)?;
            let mut command = script("start.py");
            caches(command.args([kind, size]).arg(&bundle), &kept);
            let (ns, result) = until_printed(&mut command)?;
            ensure!((result - expected).abs() < 1e-6, "{command:?} gives {result}, not {expected}");
            Ok(ns)
        };
        Runner { name: name.to_owned(), round: Box::new(round) }
    }
}

/// Measures processes from start to first result, ours and the peers'.
fn start(
    bench: &Bench,
    script: &dyn Fn(&str) -> Command,
    size: &'static str,
    is_warm: bool,
    place: &Path,
) -> Result<Line> {
    let starts = Starts::new(script, size, is_warm, place)?;
    let runners = vec![
        starts.runner("precast, frozen", "frozen"),
        starts.runner("NumPy", "numpy"),
        starts.runner("precast below PyTensor", "beneath"),
        starts.runner("PyTensor, C", "pytensor-c"),
        starts.runner("PyTensor, numba", "pytensor-numba"),
        starts.runner("JAX", "jax"),
    ];
    let what = format!(
        "a process to its first result, {size} graph, caches {}",
        if is_warm { "warm" } else { "cold" }
    );
    eprintln!("  {what}");
    let rounds = processes(bench, if is_warm { STARTS } else { COLD_STARTS });
    let line = Line::raced_cold(&what, rounds, runners)?;
    Ok(line.target(Target::BelowPeerPlus(10e6)))
}

/// Compares a process that uses PyTensor with one that only imports it; the import should take most of the time.
fn bounded(
    bench: &Bench,
    script: &dyn Fn(&str) -> Command,
    size: &'static str,
    place: &Path,
) -> Result<Line> {
    let starts = Starts::new(script, size, true, place)?;
    let runners = vec![
        starts.runner("precast below PyTensor", "beneath"),
        starts.runner("`import pytensor` alone", "import"),
        starts.runner("PyTensor, C", "pytensor-c"),
    ];
    let what = format!("a process with PyTensor to its first result, {size} graph, caches warm");
    eprintln!("  {what}");
    Ok(Line::raced(&what, processes(bench, STARTS), runners)?.target(Target::TimesPeer(2.0)))
}

/// Returns the number of process rounds; one is enough for a smoke test.
fn processes(bench: &Bench, rounds: usize) -> usize {
    if bench.quick { 1 } else { rounds }
}

/// Measures PyTensor's linker when everything is compiled already.
fn link_step(
    bench: &Bench,
    script: &dyn Fn(&str) -> Command,
    size: &'static str,
    place: &Path,
) -> Result<Line> {
    let bundle = place.join(format!("{size}.bundle"));
    let seconds = |kind: &str| -> Result<f64> {
        let mut command = script("linked.py");
        caches(command.args([kind, size]).arg(&bundle), &place.join("linked"));
        let printed = output(&mut command)?;
        let number = printed.lines().find_map(|line| line.trim().parse::<f64>().ok());
        number.with_context(|| format!("no time but {printed}")).map(|seconds| seconds * 1e9)
    };
    seconds("record")?;
    let runners = vec![
        Runner { name: "precast".to_owned(), round: Box::new(|| seconds("precast")) },
        Runner { name: "PyTensor, C".to_owned(), round: Box::new(|| seconds("stock")) },
    ];
    let what = format!("PyTensor's link step, {size} graph, warm");
    eprintln!("  {what}");
    let line = Line::raced(&what, processes(bench, STARTS), runners)?;
    Ok(line.target(Target::TimesPeer(0.05)))
}
