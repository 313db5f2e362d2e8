//! Measures the time from process start to the first result: `sum(exp(-x*x)*y+z)` of 1000 elements, with the number
//! printed.
//!
//! ```text
//! artifacts cached   ours: a bundle, or the store that the JIT filled      peers: their caches, filled by the same script
//! nothing cached     ours: an empty store and a compiler                   peers: empty caches
//! ```
//! Peers are Python scripts. Interpreter start and imports count, as they do where such a script is deployed.

use super::built::write;
use super::{Bench, graph};
use crate::measure::{Runner, once};
use crate::peers::caches;
use crate::report::{Found, Line, Target};
use anyhow::{Context as _, Result, bail, ensure};
use precast::{Array, ArrayRef, Policy, Runtime};
use precast_build::Serve;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// The argument that starts this program as the measured child process.
pub(crate) const CHILD: &str = "--first-result";
const SCORE: &str = "sum(exp(-x*x)*y + z)";
const WARM: usize = 9;
const EMPTY: usize = 3;

/// The peers: the name in the report, the name in `python/cold.py`, and whether the peer keeps a cache between
/// processes.
const SCRIPTS: [(&str, &str, bool); 4] = [
    ("NumPy", "numpy", false),
    ("numba, cache=True", "numba", true),
    ("PyTensor, C", "pytensor-c", true),
    ("PyTensor, numba", "pytensor-numba", true),
];

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let place = tempfile::tempdir()?;
    let place = place.path();
    write(&[("graph".to_owned(), graph(SCORE, "xyz", "f64[?]")?)], Serve::Whole, &place.join("bundle"))?;
    let ours = |kind: &str, at: &Path| -> Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(CHILD).arg(kind).arg(at);
        Ok(command)
    };
    let mut found = Found::default();
    let (bundle, store) = (place.join("bundle"), place.join("store"));
    first_result(&mut ours("jit", &store)?)?;
    let mut runners = vec![
        Runner { name: "bundle".to_owned(), round: Box::new(|| first_result(&mut ours("bundle", &bundle)?)) },
        Runner { name: "store".to_owned(), round: Box::new(|| first_result(&mut ours("jit", &store)?)) },
    ];
    let mut empty = vec![emptied("precast", place, move |at| ours("jit", at))];
    match &bench.peers.environment {
        Err(why) => found.skipped.push(format!("peers in Python: {why}")),
        Ok(environment) => {
            for (name, script, keeps) in SCRIPTS {
                let warm = place.join("warm").join(script);
                let command = move |at: &Path| {
                    fs_err::create_dir_all(at)?;
                    let mut command = environment.script("cold.py");
                    caches(command.arg(script), at);
                    Ok(command)
                };
                let round = Box::new(move || first_result(&mut command(&warm)?));
                runners.push(Runner { name: name.to_owned(), round });
                if keeps {
                    empty.push(emptied(name, place, command));
                }
            }
        }
    }
    // The warm-up round, which does not count, fills the caches.
    let samples = crate::measure::race(bench.rounds(WARM), &mut runners)?;
    let peers: Vec<_> = runners.iter().zip(&samples).skip(2).map(|(r, s)| (r.name.as_str(), s)).collect();
    let bundled = Line::new("artifact in a bundle file; peers' caches warm", &samples[0], &peers);
    found.lines.push(bundled.pictured().target(Target::Below(5e6)));
    found.lines.push(Line::new("artifact in the store that the JIT filled", &samples[1], &peers));
    let line = Line::raced("empty store: compiled first", bench.rounds(EMPTY), empty)?;
    found.lines.push(line.pictured().target(Target::Below(150e6)));
    Ok(found)
}

/// Returns a runner that starts each round with an empty directory.
fn emptied<'a>(name: &str, place: &'a Path, command: impl Fn(&Path) -> Result<Command> + 'a) -> Runner<'a> {
    let round = move || {
        let at = tempfile::tempdir_in(place)?;
        first_result(&mut command(&at.path().join("caches"))?)
    };
    Runner { name: name.to_owned(), round: Box::new(round) }
}

/// Returns the nanoseconds from process start until the result is printed.
fn first_result(command: &mut Command) -> Result<f64> {
    let (ns, result) = until_printed(command)?;
    ensure!((result - expected()).abs() < 1e-6, "{command:?} gives {result}, not {}", expected());
    Ok(ns)
}

/// Returns the nanoseconds from process start until a number is printed, and that number.
pub(super) fn until_printed(command: &mut Command) -> Result<(f64, f64)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (ns, started) = once(|| -> Result<_> {
        let mut child = command.spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("a child without an output")?).read_line(&mut line)?;
        Ok((child, line))
    });
    let (mut child, line) = started.with_context(|| format!("cannot run {command:?}"))?;
    let mut said = String::new();
    child.stderr.take().context("a child without an output")?.read_to_string(&mut said)?;
    let status = child.wait()?;
    ensure!(status.success(), "{command:?} failed with {status}: {said}");
    Ok((ns, line.trim().parse().with_context(|| format!("no number but `{line}`"))?))
}

/// Returns element `i` of the arrays in `python/cold.py`.
fn element(i: usize) -> [f64; 3] {
    [0.001, 0.002, 0.003].map(|step| i as f64 * step)
}

fn expected() -> f64 {
    (0..1000).map(element).map(|[x, y, z]| (-x * x).exp() * y + z).sum()
}

/// Runs the child process with the arguments `KIND PLACE`.
pub(crate) fn child(names: &[String]) -> Result<()> {
    let [kind, place] = names else { bail!("a kind and a place") };
    let function = match kind.as_str() {
        "bundle" => Runtime::builder().bundle_file(place).policy(Policy::Strict).build()?.entry("graph")?,
        "jit" => {
            let runtime = Runtime::builder().writable(place).policy(Policy::Jit).build()?;
            runtime.function(&graph(SCORE, "xyz", "f64[?]")?)?
        }
        other => bail!("unknown kind `{other}`"),
    };
    let arrays = [0, 1, 2].map(|which| ndarray::Array1::from_shape_fn(1000, |i| element(i)[which]));
    let refs = arrays.each_ref().map(|array| ArrayRef::from(array.view()));
    let result = function.call(&refs)?.remove(0);
    let Array::F64(result) = result else { bail!("another dtype") };
    println!("{}", result.sum());
    Ok(())
}
