//! Calls graphs of C scalars as plain C functions, against a pointer to such a function, to show the overhead of a
//! handle.

use super::{Bench, graph};
use crate::measure::Runner;
use crate::report::{Found, Line};
use anyhow::{Context as _, Result};
use precast::{Array, ArrayRef, CallError, Policy, Runtime};
use std::hint::black_box;

const ROUNDS: usize = 25;

/// A plain C function in Rust; behind a pointer it is opaque to the compiler.
extern "C" fn product(x: f64, y: f64, z: f64) -> f64 {
    (x + y) * z
}

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let runtime = Runtime::builder().policy(Policy::Jit).build()?;
    let mut found = Found::default();
    let function = runtime.function(&graph("(x + y) * z", "xyz", "f64")?)?;
    let native = function.native::<fn(f64, f64, f64) -> f64>()?;
    let fallible = function.native::<fn(f64, f64, f64) -> Result<f64, CallError>>()?;
    let pointer: extern "C" fn(f64, f64, f64) -> f64 = product;
    let arrays = [1.5, 2.5, 3.5].map(Array::from);
    let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
    let mut out = function.call(&refs)?;
    let runners = vec![
        Runner::short("precast", || {
            black_box(native.call(black_box(1.5), black_box(2.5), black_box(3.5)));
        }),
        Runner::short("pointer to an extern \"C\" fn", || {
            black_box(black_box(pointer)(black_box(1.5), black_box(2.5), black_box(3.5)));
        }),
        Runner::short("precast, with a signature that may fail", || {
            let _ = black_box(fallible.call(black_box(1.5), black_box(2.5), black_box(3.5)));
        }),
        Runner::short("precast, with arrays", || {
            drop(black_box(function.call_into(black_box(&refs), &mut out)));
        }),
    ];
    found.lines.push(Line::raced("(x + y) * z of C scalars", bench.rounds(ROUNDS), runners)?);

    let power = runtime.function(&graph("x ** y", "xy", "i64")?)?;
    let power = power.native::<fn(i64, i64) -> Result<i64, CallError>>()?;
    power.call(3, 4).context("a power that there is")?;
    let runners = vec![
        Runner::short("precast", || drop(black_box(power.call(black_box(3), black_box(4))))),
        Runner::short("Rust's checked_pow", || {
            black_box(black_box(3_i64).checked_pow(black_box(4)));
        }),
    ];
    found.lines.push(Line::raced("x ** y of integers, which may fail", bench.rounds(ROUNDS), runners)?);
    Ok(found)
}
