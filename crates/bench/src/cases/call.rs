//! Calls of tiny functions: what a call costs beside its arithmetic.

use super::{Found, graph};
use crate::measure::short;
use crate::report::{Row, Target};
use anyhow::{Context as _, Result};
use ndarray::{Array1, Zip};
use precast::{Array, ArrayRef, Dispatcher, Policy, Runtime};
use std::hint::black_box;
use std::sync::Arc;

const ROUNDS: usize = 200;

/// A function behind a pointer, which the compiler cannot see through.
type Pointer = fn(&[ArrayRef<'_>]) -> usize;

pub(crate) fn run() -> Result<Found> {
    let runtime = Arc::new(Runtime::builder().policy(Policy::Jit).build()?);
    let add = runtime.function(&graph("x + y", "xy", "f64[?]")?)?;
    let (x, y) = (Array1::linspace(0.0, 1.0, 4), Array1::linspace(2.0, 3.0, 4));
    let refs: [ArrayRef<'_>; 2] = [x.view().into(), y.view().into()];
    let mut out = [Array::from(Array1::<f64>::zeros(4).into_dyn())];
    add.call_into(&refs, &mut out)?;
    let ours = short(ROUNDS, || {
        // The arguments were accepted once already, so no call fails.
        let _ = black_box(add.call_into(black_box(&refs), &mut out));
    });
    let converting = short(ROUNDS, || {
        let refs: [ArrayRef<'_>; 2] = [black_box(&x).view().into(), black_box(&y).view().into()];
        let _ = black_box(add.call_into(&refs, &mut out));
    });
    let mut into = Array1::<f64>::zeros(4);
    let zip = short(ROUNDS, || {
        Zip::from(black_box(&mut into)).and(black_box(&x)).and(black_box(&y)).for_each(|o, a, b| *o = a + b);
    });
    let fresh = short(ROUNDS, || drop(black_box(add.call(black_box(&refs)))));
    let allocating = short(ROUNDS, || drop(black_box(black_box(&x) + black_box(&y))));
    let dispatcher = Dispatcher::new(Arc::clone(&runtime), "add");
    dispatcher.function(&refs).context("the dispatched op")?;
    let dispatched = short(ROUNDS, || {
        let _ = black_box(dispatcher.function(black_box(&refs)));
    });
    let pointer: Pointer = |refs| refs.len();
    let indirect = short(ROUNDS, || {
        let _ = black_box(black_box(pointer)(black_box(&refs)));
    });
    let name = "ndarray Zip into existing";
    Ok(vec![
        Row::new("call", "x + y of 4, outputs reused", &ours, name, &zip).target(Target::Below(20.0)),
        Row::new("call", "the same, views made in the call", &converting, name, &zip),
        Row::new("call", "x + y of 4, new array", &fresh, "ndarray `&x + &y`", &allocating),
        Row::new("call", "dispatch by dtype and rank", &dispatched, "indirect call", &indirect),
    ]
    .into())
}
