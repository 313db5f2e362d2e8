//! Memory-bound expressions, each against a triad that moves as many bytes, to show the share of the machine's memory
//! bandwidth. Expressions that read far more than they write are also compared with loads alone.

use super::built::built;
use super::{Bench, typed};
use crate::measure::Runner;
use crate::peers::{Input, Kind, inputs};
use crate::report::{Found, Line, Target};
use anyhow::{Context as _, Result};
use precast::{Array, ArrayRef};
use precast_build::Serve;
use std::hint::black_box;

const ROUNDS: usize = 15;

/// The bytes per element of the triad: two reads and a write, as STREAM counts.
const TRIAD: usize = 24;

const LONG: (Kind, &[usize]) = (Kind::F64, &[10_000_000]);
const FLOATS: (Kind, &[usize]) = (Kind::F32, &[20_000_000]);
const SQUARE: (Kind, &[usize]) = (Kind::F64, &[3000, 3000]);
const ROWS: (Kind, &[usize]) = (Kind::F64, &[10_000, 1000]);

/// A title, the expression's text, and its inputs.
type Expression = (&'static str, &'static str, &'static [(Kind, &'static [usize])]);

const EXPRESSIONS: &[Expression] = &[
    ("x + 3*y of 1e7", "x + 3.0*y", &[LONG, LONG]),
    ("2*x + 1 of 1e7", "2.0*x + 1.0", &[LONG]),
    ("x + y of 2e7, f32", "x + y", &[FLOATS, FLOATS]),
    ("sum(x) of 1e7", "sum(x)", &[LONG]),
    ("sum(x) of 2e7, f32", "sum(x)", &[FLOATS]),
    ("sum(x, axis=0), 3000×3000", "sum(x, axis=0)", &[SQUARE]),
    ("sum(x, axis=1), 3000×3000", "sum(x, axis=1)", &[SQUARE]),
    ("max(x, axis=1), 10000×1000", "max(x, axis=1)", &[ROWS]),
    ("x[::2] + x[1::2] of 1e7", "x[::2] + x[1::2]", &[LONG]),
    ("transpose(x) + y, 3000×3000", "transpose(x) + y", &[SQUARE, SQUARE]),
    ("concatenate(x, y) of 1e7", "concatenate(x, y)", &[LONG, LONG]),
];

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let mut found = Found::default();
    for (what, text, declared) in EXPRESSIONS.iter().filter(|(what, ..)| bench.wants(what)) {
        let line = line(bench, what, text, declared);
        found.lines.push(line.with_context(|| format!("in `{what}`"))?);
    }
    Ok(found)
}

fn line(bench: &Bench, what: &str, text: &str, declared: &[(Kind, &[usize])]) -> Result<Line> {
    let declared: Vec<Input> = declared.iter().map(|(kind, shape)| Input(*kind, shape.to_vec())).collect();
    let types: Vec<(char, String)> = ['x', 'y'].into_iter().zip(declared.iter().map(Input::ty)).collect();
    let function = built(&typed(text, &types)?, Serve::Whole)?;
    let arrays = inputs(&declared);
    let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
    let mut out = function.call(&refs)?;
    let bytes_of = |arrays: &[Array]| -> usize { arrays.iter().map(bytes).sum() };
    let (read, written) = (bytes_of(&arrays), bytes_of(&out));
    let bytes = read + written;
    let [mut a, b, c] = [0.0, 1.0, 2.0].map(|value| vec![value; bytes / TRIAD]);
    let loaded = vec![1_u64; read / size_of::<u64>()];
    let mut runners = vec![
        // The inputs were accepted once already, so no call fails.
        Runner::short("precast", || drop(black_box(function.call_into(black_box(&refs), &mut out)))),
        Runner::short("a triad that moves as many bytes", || triad(&mut a, black_box(&b), black_box(&c))),
    ];
    if written < read / 10 {
        runners.push(Runner::short("loads alone", || load(black_box(&loaded))));
    }
    let line = Line::raced(&format!("{what}, {} MB", bytes / 1_000_000), bench.rounds(ROUNDS), runners)?;
    Ok(line.target(Target::TimesPeer(1.11)))
}

fn bytes(array: &Array) -> usize {
    array.shape().iter().product::<usize>() * array.dtype().itemsize_bytes()
}

/// Reads every element of a slice.
#[inline(never)]
fn load(from: &[u64]) {
    black_box(from.iter().fold(0, |all, element| all ^ element));
}

/// Computes `a[i] = b[i] + s*c[i]`.
#[inline(never)]
fn triad(a: &mut [f64], b: &[f64], c: &[f64]) {
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = b + 3.0 * c;
    }
    black_box(a);
}
