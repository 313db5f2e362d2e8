//! The time from a graph to its first result with nothing cached: texts of few and of many ops, log densities of PyMC
//! models, and a graph in JSON with as many Applies as this form may have.

use super::python::package;
use super::{Bench, compiled, texts};
use crate::measure::{Runner, once, output};
use crate::peers::{Environment, Input, Peer, caches, inputs};
use crate::report::{Found, Line};
use anyhow::{Context as _, Result, ensure};
use precast::build::Graph;
use precast::{ArrayRef, FunctionGraph, Policy, Runtime};
use precast_graph::json::{parse, render};
use precast_ops::Ops;
use precast_store::archive::SHARED_OBJECT;
use std::path::Path;
use std::process::Command;

pub(super) const PEERS: [Peer; 2] = [("numba", "numba-compiling"), ("JAX", "jax-compiling")];
const ROUNDS: usize = 3;
/// Graphs of so many ops take seconds, and in numba many minutes.
const LONG: usize = 1000;
const LONG_ROUNDS: usize = 1;

/// The elements of each input.
const ELEMENTS: usize = 100;

/// The models of `python/models.py`, and the contenders of `python/first_result.py`; ours is first.
const MODELS: [&str; 8] = [
    "eight schools",
    "negative binomial of 500",
    "zero-inflated Poisson of 300",
    "mixture of three, 300",
    "Gaussian process of 30",
    "ordinal, 200 of 5 levels",
    "LKJ covariance, 100",
    "random walk of 100",
];
const CONTENDERS: [(&str, &str); 4] =
    [("precast", "precast"), ("PyMC, numba", "NUMBA"), ("PyMC, C", "CVM"), ("PyMC, JAX", "JAX")];

/// The argument that starts this program as the process that reads the graph in JSON.
pub(crate) const CHILD: &str = "--large-graph";
/// The number of Applies in JSON.
const APPLIES: usize = 100_000;

/// Returns the texts: a name, the text, the number of inputs, and the number of ops.
fn programs() -> Vec<(String, String, usize, usize)> {
    let product = ("(x + y)*z".to_owned(), "(x + y) * z".to_owned(), 3, 2);
    let chain = |ops: usize| {
        let step =
            |k: usize| format!("v{k} = v{} {}; ", k - 1, if k.is_multiple_of(2) { "* y" } else { "+ z" });
        let text = format!("v1 = x * y; {}v{ops}", (2..=ops).map(step).collect::<String>());
        (format!("chain of {ops} ops"), text, 3, ops)
    };
    let sums = |count: usize| {
        let step = |k: usize| format!("s{k} = s{} + sum(x * 0.{k:04}); ", k - 1);
        let text = format!("s1 = sum(x * 0.0001); {}s{count}", (2..=count).map(step).collect::<String>());
        (format!("{count} equal reductions"), text, 1, 3 * count)
    };
    let scan = |steps: usize| {
        let step = |k: usize| format!("\nv{k} = v{}*y + z", k - 1);
        let text = format!("v1 = x*y + z{}", (2..=steps).map(step).collect::<String>());
        (format!("unrolled scan of {steps} steps with outputs"), text, 3, 2 * steps)
    };
    vec![product, chain(10), chain(1000), sums(16), sums(1600), scan(10), scan(100), scan(1000)]
}

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let mut found = Found::default();
    for (what, text, count, ops) in programs() {
        if bench.wants(&what) && !(bench.quick && ops >= LONG) {
            let line = line(bench, (&what, &text), count, ops, &mut found);
            found.lines.push(line.with_context(|| format!("in `{what}`"))?);
        }
    }
    models(bench, &mut found)?;
    if bench.line.is_none() {
        found.facts.push(output(Command::new(std::env::current_exe()?).arg(CHILD))?.trim().to_owned());
    }
    Ok(found)
}

/// Measures a text, and adds the sizes of compiled code to the facts.
fn line(
    bench: &Bench,
    (what, text): (&str, &str),
    count: usize,
    ops: usize,
    found: &mut Found,
) -> Result<Line> {
    eprintln!("  {what}");
    let declared = vec![Input::f64(&[ELEMENTS]); count];
    let arrays = inputs(&declared);
    let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
    let first_result = || -> Result<_> {
        let runtime = Runtime::builder().policy(Policy::Jit).build()?;
        let results = runtime.function(&texts::graph(text, &declared)?)?.call(&refs)?;
        ensure!(runtime.stats().compiled > 0, "that was no miss");
        Ok(results)
    };
    let reference = Runtime::builder().policy(Policy::Interpret).build()?;
    let ours = reference.function(&texts::graph(text, &declared)?)?.call(&refs)?.remove(0);
    let module = compiled(&texts::graph(text, &declared)?)?;
    let shared = module.archive.get(SHARED_OBJECT).context("an archive without a shared object")?;
    let mut sizes = vec![format!("precast {:.1} KB", shared.len() as f64 / 1e3)];
    let mut runners = vec![Runner::new("precast", || first_result().map(drop))];
    for (name, peer) in PEERS {
        if name == "numba" && ops >= LONG {
            found.skipped.push(format!("numba at `{what}`: it takes many minutes"));
            continue;
        }
        match bench.peers.prepare(peer, text, &declared)? {
            None => {}
            Some(Err(why)) => found.skipped.push(format!("{name} at `{what}`: {why}")),
            Some(Ok(ready)) => {
                ready.agrees(&ours, None).with_context(|| format!("{name} computes something else"))?;
                sizes.extend(ready.code_bytes().map(|bytes| format!("{name} {:.1} KB", bytes as f64 / 1e3)));
                runners.push(ready.runner(name));
            }
        }
    }
    found.facts.push(format!("Compiled code of {what}: {}.", sizes.join(", ")));
    let rounds = if ops < LONG { ROUNDS } else { LONG_ROUNDS };
    Line::raced_cold(what, bench.rounds(rounds), runners)
}

/// Measures the log densities of PyMC models with their gradients, from the model on, each in a process of its own.
fn models(bench: &Bench, found: &mut Found) -> Result<()> {
    let most = if bench.quick { 1 } else { MODELS.len() };
    let wanted: Vec<&str> = MODELS.into_iter().filter(|name| bench.wants(name)).take(most).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let Some(environment) = bench.environment("PyMC", found) else { return Ok(()) };
    if !bench.peers.versions.contains_key("PyMC") {
        found.skipped.push("models of PyMC: it is not installed".to_owned());
        return Ok(());
    }
    let package = package(environment)?;
    for name in wanted {
        eprintln!("  {name}");
        let (_, expected) = first_result(environment, &package, "precast", name)?;
        let runners = CONTENDERS.map(|(contender, mode)| {
            let (environment, package) = (environment, &package);
            let round = move || {
                let (ns, result) = first_result(environment, package, mode, name)?;
                let near = (result - expected).abs() <= 1e-6 * expected.abs().max(1.0);
                ensure!(near, "its result is {result}, ours {expected}");
                Ok(ns)
            };
            Runner { name: contender.to_owned(), round: Box::new(round) }
        });
        let what = format!("PyMC's {name}");
        found.lines.push(Line::raced_cold(&what, LONG_ROUNDS, runners.into())?);
    }
    Ok(())
}

/// Runs `python/first_result.py` with empty caches. Returns the nanoseconds from the model to its first result, and the
/// sum of that.
fn first_result(environment: &Environment, package: &Path, mode: &str, name: &str) -> Result<(f64, f64)> {
    let place = tempfile::tempdir()?;
    let mut command = environment.script("first_result.py");
    caches(
        command.env("PYTHONPATH", package).args([mode, name]).arg(place.path()),
        &place.path().join("caches"),
    );
    let printed = output(&mut command)?;
    let numbers: Option<Vec<f64>> = printed
        .lines()
        .find(|line| line.starts_with("first "))
        .and_then(|line| line.split(' ').skip(1).map(|number| number.parse().ok()).collect());
    let numbers = numbers.filter(|numbers| numbers.len() == 2);
    let [seconds, sum] = numbers.as_deref().with_context(|| format!("no result but {printed}"))? else {
        unreachable!("two numbers")
    };
    Ok((seconds * 1e9, *sum))
}

/// Builds a chain of Applies, writes it as JSON, reads it again, interprets it, and prints the time of each step.
pub(crate) fn child() -> Result<()> {
    let place = tempfile::tempdir()?;
    let file = place.path().join("graph.json");
    let (built, graph) = once(|| -> Result<FunctionGraph> {
        let g = Graph::new();
        let (x, y) = (g.input("x", "f64[?]"), g.input("y", "f64[?]"));
        let chain = (0..APPLIES).fold(x, |v, k| if k.is_multiple_of(2) { v * &y } else { v + &y });
        g.output("out", &chain);
        Ok(g.finish()?)
    });
    let graph = graph?;
    ensure!(graph.applies().len() == APPLIES, "{} Applies", graph.applies().len());
    let (saved, written) = once(|| fs_err::write(&file, render(&graph)));
    written?;
    drop(graph);
    let (loaded, graph) =
        once(|| -> Result<FunctionGraph> { Ok(parse(&fs_err::read_to_string(&file)?, &Ops::standard())?) });
    let graph = graph?;
    let (run, result) = once(|| -> Result<_> {
        let runtime = Runtime::builder().policy(Policy::Interpret).build()?;
        let arrays = inputs(&[Input::f64(&[ELEMENTS]), Input::f64(&[ELEMENTS])]);
        let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
        Ok(runtime.function(&graph)?.call(&refs)?)
    });
    ensure!(result?.len() == 1, "another number of results");
    let status = fs_err::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no peak of memory")?;
    let peak: f64 = peak.trim().trim_end_matches(" kB").parse()?;
    println!(
        "A graph of {APPLIES} Applies: built in {:.0} ms, saved as JSON of {:.1} MB in {:.0} ms, loaded in {:.0} ms, \
         first interpreted result after {:.0} ms; peak memory {:.0} MB.",
        built / 1e6,
        fs_err::metadata(&file)?.len() as f64 / 1e6,
        saved / 1e6,
        loaded / 1e6,
        run / 1e6,
        peak / 1e3
    );
    Ok(())
}
