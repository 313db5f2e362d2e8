//! What a call of a small graph costs, by how it is served: whole, by groups, op by op; through a dispatcher; with several
//! outputs. The peer is the same arithmetic on ndarray's arrays, without a call, in memory that is reused.

use super::{Found, variant};
use crate::measure::short;
use crate::report::Row;
use anyhow::{Result, bail};
use ndarray::{Array1, Zip};
use precast::{Array, ArrayRef, Dispatcher, Function, FunctionGraph, Ops, Policy, Runtime};
use precast_codegen::{Unit, link, single};
use precast_compile::{Parallel, Toolchain, compile_all};
use precast_graph::text::{parse, parse_input};
use precast_ops::rewrite;
use precast_store::write_bundle;
use std::hint::black_box;
use std::sync::Arc;

const ROUNDS: usize = 40;

/// How a graph is cut into modules.
#[derive(Clone, Copy)]
enum Cut {
    Whole,
    Groups,
    Ops,
}

pub(crate) fn run() -> Result<Found> {
    let mut rows = Vec::new();
    for n in [1, 10] {
        let one = graph(&["sum(exp(-x*x)*y + z)"], "f64[?]")?;
        let three = graph(&["x + y", "sum(x*y)", "max(z - x)"], "f64[?]")?;
        rows.extend(graph_rows("sum(exp(-x*x)*y + z)", &one, n, &score(n))?);
        rows.extend(graph_rows("three outputs", &three, n, &several(n))?);
    }
    rows.push(dispatched()?);
    Ok(rows.into())
}

type Peer = Box<dyn Fn()>;

fn graph_rows(name: &str, graph: &FunctionGraph, n: usize, peer: &Peer) -> Result<Vec<Row>> {
    let inputs = vectors(n);
    let refs: Vec<ArrayRef<'_>> = inputs.iter().map(|array| array.view().into()).collect();
    let mut rows = Vec::new();
    for (how, cut) in [("whole", Cut::Whole), ("groups", Cut::Groups), ("ops", Cut::Ops)] {
        let function = served(graph, cut)?;
        let mut out: Vec<Array> = function.call(&refs)?;
        let ours = short(ROUNDS, || {
            // The arguments were accepted once already, so no call fails.
            let _ = black_box(function.call_into(black_box(&refs), &mut out));
        });
        let theirs = short(ROUNDS, peer);
        let calls = function.provenance().len();
        rows.push(Row::new(
            "overhead",
            &format!("{name}, {n} element(s), {how}: {calls} module(s)"),
            &ours,
            "ndarray",
            &theirs,
        ));
    }
    Ok(rows)
}

fn dispatched() -> Result<Row> {
    let runtime = Arc::new(Runtime::builder().policy(Policy::Jit).build()?);
    let inputs = vectors(4);
    let refs: [ArrayRef<'_>; 2] = [inputs[0].view().into(), inputs[1].view().into()];
    let dispatcher = Dispatcher::new(runtime, "add");
    let mut out = [Array::from(Array1::<f64>::zeros(4).into_dyn())];
    dispatcher.function(&refs)?.call_into(&refs, &mut out)?;
    let ours = short(ROUNDS, || {
        if let Ok(function) = dispatcher.function(black_box(&refs)) {
            let _ = black_box(function.call_into(&refs, &mut out));
        }
    });
    let mut into = Array1::<f64>::zeros(4);
    let theirs = short(ROUNDS, || {
        Zip::from(black_box(&mut into)).and(&inputs[0]).and(&inputs[1]).for_each(|o, a, b| *o = a + b);
    });
    Ok(Row::new("overhead", "x + y of 4, dispatched and called", &ours, "ndarray", &theirs))
}

fn vectors(n: usize) -> Vec<Array1<f64>> {
    vec![Array1::linspace(0.0, 1.0, n), Array1::linspace(2.0, 3.0, n), Array1::linspace(-1.0, 1.0, n)]
}

fn score(n: usize) -> Peer {
    let inputs = vectors(n);
    Box::new(move || {
        let [x, y, z] = black_box(&inputs[..]) else { return };
        let mut sum = 0.0;
        Zip::from(x).and(y).and(z).for_each(|x, y, z| sum += (-x * x).exp() * y + z);
        black_box(sum);
    })
}

fn several(n: usize) -> Peer {
    let inputs = vectors(n);
    Box::new(move || {
        let [x, y, z] = black_box(&inputs[..]) else { return };
        black_box(x + y);
        black_box(Zip::from(x).and(y).fold(0.0, |sum, x, y| sum + x * y));
        black_box(Zip::from(z).and(x).fold(f64::NEG_INFINITY, |most: f64, z, x| most.max(z - x)));
    })
}

fn graph(outputs: &[&str], ty: &str) -> Result<FunctionGraph> {
    let inputs = ["x", "y", "z"].iter().map(|name| parse_input(&format!("{name}={ty}")));
    Ok(parse(outputs, &inputs.collect::<Result<Vec<_>, _>>()?, &Ops::standard())?)
}

/// The function of a graph, served by the modules of one cut and no others.
fn served(graph: &FunctionGraph, cut: Cut) -> Result<Function> {
    let ops = Ops::standard();
    let lowered = rewrite::lower(graph)?;
    let parts = match cut {
        Cut::Whole => vec![lowered],
        Cut::Groups => alone(&lowered, &ops)?,
        Cut::Ops => alone(&rewrite::unfused(&lowered)?, &ops)?,
    };
    let modules = parts.iter().map(|part| Ok(Arc::new(link(part, ops.c())?))).collect::<Result<_>>()?;
    let toolchain = Toolchain::find(None)?;
    let variant = variant(&toolchain)?;
    let jobs: Vec<_> = Unit::batches(modules).into_iter().map(|unit| (unit, variant.clone())).collect();
    let mut records = Vec::new();
    for compiled in compile_all(&jobs, &toolchain, Parallel::Auto, &|_| {}) {
        let compiled = compiled?;
        let Some(object) = compiled.archive.get("unit.so") else { bail!("an archive without its object") };
        records.push((compiled.record.clone(), object.to_vec()));
    }
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("overhead.bundle");
    fs_err::write(&path, write_bundle(&records, &[], precast::GENERATOR)?)?;
    let runtime = Runtime::builder().bundle_file(&path).policy(Policy::Strict).build()?;
    Ok(runtime.function(graph)?)
}

fn alone(graph: &FunctionGraph, ops: &Ops) -> Result<Vec<FunctionGraph>> {
    (0..graph.applies().len()).map(|at| Ok(single(graph, at, ops.c())?)).collect()
}
