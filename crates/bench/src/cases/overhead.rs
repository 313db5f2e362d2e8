//! The cost of a call of a small graph, by how it is served: whole, by groups, op by op, through a dispatcher, and
//! with several outputs. The peer does the same arithmetic on ndarray's arrays, without a call, in reused memory.

use super::Bench;
use super::built::built;
use crate::measure::Runner;
use crate::report::{Found, Line, Target};
use anyhow::Result;
use ndarray::{Array1, Zip};
use precast::{Array, ArrayRef, Dispatcher, FunctionGraph, Ops, Policy, Runtime};
use precast_build::Serve;
use precast_graph::text::{parse, parse_input};
use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Arc;

const ROUNDS: usize = 25;

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let rounds = bench.rounds(ROUNDS);
    let mut lines = Vec::new();
    for n in [1, 10] {
        let one = graph(&["sum(exp(-x*x)*y + z)"], "f64[?]")?;
        let three = graph(&["x + y", "sum(x*y)", "max(z - x)"], "f64[?]")?;
        let ten = graph(&["((((x + y)*x - y)*x + y)*x - y)*x + y*z"], "f64[?]")?;
        lines.extend(graph_lines(("sum(exp(-x*x)*y + z)", rounds), &one, n, &score(n))?);
        let three = graph_lines(("three outputs", rounds), &three, n, &several(n))?;
        lines.extend(three.into_iter().map(|line| line.target(Target::Below(60.0))));
        let ten = graph_lines(("ten ops", rounds), &ten, n, &long(n))?;
        lines.extend(ten.into_iter().map(|line| line.target(Target::BelowPeerPlus(100.0))));
    }
    lines.push(dispatched(rounds)?);
    Ok(lines.into())
}

type Peer = Box<dyn Fn()>;

fn graph_lines(
    (name, rounds): (&str, usize),
    graph: &FunctionGraph,
    n: usize,
    peer: &Peer,
) -> Result<Vec<Line>> {
    let inputs = vectors(n);
    let refs: Vec<ArrayRef<'_>> = inputs.iter().map(|array| array.view().into()).collect();
    let mut lines = Vec::new();
    for serve in Serve::ALL {
        let function = built(graph, serve)?;
        let mut out: Vec<Array> = function.call(&refs)?;
        // The arguments were accepted once already, so no call fails.
        let ours = Runner::short("precast", || {
            _ = black_box(function.call_into(black_box(&refs), &mut out).is_ok());
        });
        let modules = function.provenance().len();
        let what = format!("{name}, {n} element(s), {}: {modules} module(s)", serve.name());
        lines.push(Line::raced(&what, rounds, vec![ours, Runner::short("ndarray", peer)])?);
    }
    Ok(lines)
}

fn dispatched(rounds: usize) -> Result<Line> {
    let runtime = Arc::new(Runtime::builder().policy(Policy::Jit).build()?);
    let inputs = vectors(4);
    let refs: [ArrayRef<'_>; 2] = [inputs[0].view().into(), inputs[1].view().into()];
    let dispatcher = Dispatcher::new(runtime, "add");
    let mut out = [Array::from(Array1::<f64>::zeros(4).into_dyn())];
    dispatcher.function(&refs)?.call_into(&refs, &mut out)?;
    let ours = Runner::short("precast", || {
        if let Ok(function) = dispatcher.function(black_box(&refs)) {
            _ = black_box(function.call_into(&refs, &mut out).is_ok());
        }
    });
    let mut into = Array1::<f64>::zeros(4);
    let theirs = Runner::short("ndarray", || {
        Zip::from(black_box(&mut into)).and(&inputs[0]).and(&inputs[1]).for_each(|o, a, b| *o = a + b);
    });
    Line::raced("x + y of 4, dispatched and called", rounds, vec![ours, theirs])
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

fn long(n: usize) -> Peer {
    let (inputs, into) = (vectors(n), RefCell::new(Array1::<f64>::zeros(n)));
    Box::new(move || {
        let [x, y, z] = black_box(&inputs[..]) else { return };
        let mut into = into.borrow_mut();
        Zip::from(&mut *into).and(x).and(y).and(z).for_each(|out, x, y, z| {
            *out = ((((x + y) * x - y) * x + y) * x - y) * x + y * z;
        });
        black_box(&mut *into);
    })
}

fn graph(outputs: &[&str], ty: &str) -> Result<FunctionGraph> {
    let inputs = ["x", "y", "z"].iter().map(|name| parse_input(&format!("{name}={ty}")));
    Ok(parse(outputs, &inputs.collect::<Result<Vec<_>, _>>()?, &Ops::standard())?)
}
