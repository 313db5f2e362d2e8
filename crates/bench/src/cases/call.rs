//! Calls on a few elements: the cost of a call apart from its arithmetic.
//!
//! Each side is called the way its users call it: precast from Rust, the Python peers from Python with positional
//! arguments and no wrapper. The interpreter's share therefore counts for the peers. Results are only checked for
//! being errors, as `?` does: moving the space for an error takes as long as some of these calls.

use super::{Bench, graph};
use crate::measure::Runner;
use crate::peers::{Input, PEERS, Peer, inputs};
use crate::report::{Found, Line, Target};
use anyhow::{Context as _, Result};
use ndarray::{Array1, Zip};
use precast::{Array, ArrayRef, Dispatcher, Function, Policy, Runtime};
use std::hint::black_box;
use std::sync::Arc;

const ROUNDS: usize = 25;
const SIZES: [usize; 3] = [1, 4, 10];
const TRUSTED: [Peer; 3] = [
    ("PyTensor's run_cthunk", "pytensor-cthunk"),
    ("PyTensor, C, trust_input", "pytensor-c-trusted"),
    ("PyTensor, numba, trust_input", "pytensor-numba-trusted"),
];

/// A function behind a pointer, opaque to the compiler.
type Pointer = fn(&[ArrayRef<'_>]) -> usize;
/// Like [`Pointer`], for a plain loop.
type Add = fn(&Array1<f64>, &Array1<f64>, &mut Array1<f64>);

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let runtime = Arc::new(Runtime::builder().policy(Policy::Jit).build()?);
    let add = runtime.function(&graph("x + y", "xy", "f64[?]")?)?;
    let score = runtime.function(&graph("sum(exp(-x*x)*y + z)", "xyz", "f64[?]")?)?;
    let mut found = Found::default();
    for size in SIZES {
        reused(bench, &add, size, &mut found)?;
    }
    found.lines.extend(typed(bench, &add)?);
    for size in SIZES {
        fresh(bench, &add, ("x + y", "add", size), &mut found)?;
    }
    fresh(bench, &score, ("sum(exp(-x*x)*y+z)", "score", 10), &mut found)?;
    found.lines.extend(dispatch(bench, &runtime)?);
    Ok(found)
}

/// Measures `x + y` into an existing array.
fn reused(bench: &Bench, add: &Function, size: usize, found: &mut Found) -> Result<()> {
    let declared = vec![Input::f64(&[size]); 2];
    let arrays = inputs(&declared);
    let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
    let result = add.call(&refs)?.remove(0);
    let mut out = [result.clone()];
    let mut into = Array1::<f64>::zeros(size);
    let (x, y) = (vector(&arrays[0])?, vector(&arrays[1])?);
    // The inputs were accepted once already, so no call fails.
    let ours = Runner::short("precast", || _ = black_box(add.call_into(black_box(&refs), &mut out).is_ok()));
    let peers: [Peer; 1] = [("NumPy, out=", "numpy-out")];
    let mut runners = vec![ours];
    runners.extend(bench.peers.runners(&peers, "add", &declared, &result, &mut found.skipped)?);
    runners.push(Runner::short("ndarray", || {
        Zip::from(black_box(&mut into)).and(black_box(&x)).and(black_box(&y)).for_each(|o, a, b| *o = a + b);
    }));
    let what = format!("x + y of {size}, result reused");
    let line = Line::raced(&what, bench.rounds(ROUNDS), runners)?.pictured();
    found.lines.push(if size == 4 { line.target(Target::Below(20.0)) } else { line });
    Ok(())
}

/// Measures `x + y` through a function with dtypes and ranks in its type, like generated functions.
fn typed(bench: &Bench, add: &Function) -> Result<[Line; 2]> {
    let (x, y) = (Array1::linspace(0.0, 1.0, 4), Array1::linspace(2.0, 3.0, 4));
    let (mut ours, mut theirs) = (Array1::<f64>::zeros(4), Array1::<f64>::zeros(4));
    let typed = add.typed::<(Array1<f64>, Array1<f64>), Array1<f64>>()?;
    let reused = vec![
        Runner::short("precast", || {
            _ = black_box(typed.call_into((black_box(&x).view(), black_box(&y).view()), &mut ours).is_ok());
        }),
        Runner::short("ndarray", || {
            let zip = Zip::from(black_box(&mut theirs)).and(black_box(&x)).and(black_box(&y));
            zip.for_each(|o, a, b| *o = a + b);
        }),
    ];
    let reused = Line::raced("x + y of 4, typed, result reused", bench.rounds(ROUNDS), reused)?;
    let fresh = vec![
        Runner::short("precast", || {
            _ = black_box(typed.call((black_box(&x).view(), black_box(&y).view())).is_ok());
        }),
        Runner::short("ndarray", || drop(black_box(black_box(&x) + black_box(&y)))),
    ];
    let fresh = Line::raced("x + y of 4, typed, new result", bench.rounds(ROUNDS), fresh)?;
    Ok([reused.target(Target::Below(8.0)), fresh.target(Target::Below(25.0))])
}

/// Measures calls that return a new array or a new number.
fn fresh(
    bench: &Bench,
    function: &Function,
    (what, case, size): (&str, &str, usize),
    found: &mut Found,
) -> Result<()> {
    let declared = vec![Input::f64(&[size]); function.inputs().len()];
    let arrays = inputs(&declared);
    let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
    let result = function.call(&refs)?.remove(0);
    let (x, y) = (vector(&arrays[0])?, vector(&arrays[1])?);
    let ours = Runner::short("precast", || _ = black_box(function.call(black_box(&refs)).is_ok()));
    let mut runners = vec![ours];
    runners.extend(bench.peers.runners(&PEERS, case, &declared, &result, &mut found.skipped)?);
    runners.extend(bench.peers.runners(&TRUSTED, case, &declared, &result, &mut found.skipped)?);
    if case == "add" {
        runners.push(Runner::short("ndarray", || drop(black_box(black_box(&x) + black_box(&y)))));
    }
    let what = format!("{what} of {size}, new result");
    let line = Line::raced(&what, bench.rounds(ROUNDS), runners)?.pictured();
    found.lines.push(if case == "add" && size == 4 { line.target(Target::Below(70.0)) } else { line });
    Ok(())
}

/// Measures two steps: finding the function for dtypes and ranks without calling it, and calling a function that a
/// call site has cached.
fn dispatch(bench: &Bench, runtime: &Arc<Runtime>) -> Result<[Line; 2]> {
    let arrays = inputs(&vec![Input::f64(&[4]); 2]);
    let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
    let dispatcher = Dispatcher::new(Arc::clone(runtime), "add");
    dispatcher.function(&refs).context("the dispatched op")?;
    let ours = Runner::short("precast", || {
        _ = black_box(dispatcher.function(black_box(&refs)).is_ok());
    });
    let pointer: Pointer = |refs| refs.len();
    let indirect = Runner::short("indirect call", || {
        let _ = black_box(black_box(pointer)(black_box(&refs)));
    });
    let found = Line::raced("dispatch by dtype and rank", bench.rounds(ROUNDS), vec![ours, indirect])?;
    let handle = dispatcher.typed::<(Array1<f64>, Array1<f64>), Array1<f64>>()?;
    let (x, y) = (vector(&arrays[0])?, vector(&arrays[1])?);
    let (mut sum, mut theirs) = (Array1::<f64>::zeros(4), Array1::<f64>::zeros(4));
    let ours = Runner::short("precast", || {
        _ = black_box(handle.call_into((black_box(&x).view(), black_box(&y).view()), &mut sum).is_ok());
    });
    let pointer: Add = |x, y, sum| Zip::from(sum).and(x).and(y).for_each(|sum, x, y| *sum = x + y);
    let indirect = Runner::short("ndarray's loop behind a pointer", || {
        black_box(pointer)(black_box(&x), black_box(&y), black_box(&mut theirs));
    });
    let runners = vec![ours, indirect];
    let called = Line::raced("x + y of 4, a dispatcher's typed handle", bench.rounds(ROUNDS), runners)?;
    Ok([found.target(Target::Below(6.0)), called.target(Target::TimesPeer(1.5))])
}

fn vector(array: &Array) -> Result<Array1<f64>> {
    let Array::F64(array) = array else { anyhow::bail!("another dtype") };
    Ok(array.clone().into_dimensionality()?)
}
