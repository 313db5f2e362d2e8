//! Operations on arrays apart from elementwise functions of floats: arithmetic of integers, reductions, orders, copies,
//! casts, products. They are lines of the case `functions`.

use super::{Bench, texts};
use crate::peers::{Input, Kind, Peer, Range, Spread};
use crate::report::Line;
use anyhow::Result;
use precast::DType;

const ROUNDS: usize = 5;

/// An operation: its text, the dtypes that it is measured for, and the shapes of its operands.
struct Operation {
    text: &'static str,
    dtypes: &'static [DType],
    shapes: &'static [&'static [usize]],
}

const fn on(text: &'static str, dtypes: &'static [DType], shapes: &'static [&'static [usize]]) -> Operation {
    Operation { text, dtypes, shapes }
}

const LONG: &[&[usize]] = &[&[300_000]];
const TWO: &[&[usize]] = &[&[300_000], &[300_000]];
const WIDE: &[&[usize]] = &[&[1000, 500]];
const FLOATS: &[DType] = &[DType::F64, DType::F32];
const INTEGERS: &[DType] = &[DType::I64, DType::I32, DType::I16, DType::I8, DType::U8];
const NUMBERS: &[DType] = &[DType::F64, DType::F32, DType::I64, DType::I32, DType::I16, DType::I8, DType::U8];
const ALL: &[DType] =
    &[DType::F64, DType::F32, DType::I64, DType::I32, DType::I16, DType::I8, DType::U8, DType::Bool];
const SOME: &[DType] = &[DType::F64, DType::F32, DType::I32];
const COMPLEX: &[DType] = &[DType::C128];

const OPERATIONS: &[Operation] = &[
    on("x + y", INTEGERS, TWO),
    on("x * y", INTEGERS, TWO),
    on("x / y", INTEGERS, TWO),
    on("x // y", INTEGERS, TWO),
    on("x % y", INTEGERS, TWO),
    on("maximum(x, y)", INTEGERS, TWO),
    on("x < y", INTEGERS, TWO),
    on("x == y", INTEGERS, TWO),
    on("x**2", FLOATS, LONG),
    on("x**3", FLOATS, LONG),
    on("x**0.5", FLOATS, LONG),
    on("sum(x)", ALL, LONG),
    on("mean(x)", ALL, LONG),
    on("max(x)", NUMBERS, LONG),
    on("min(x)", NUMBERS, LONG),
    on("argmax(x)", ALL, LONG),
    on("any(x)", ALL, LONG),
    on("all(x)", ALL, LONG),
    on("count_nonzero(x)", ALL, LONG),
    on("cumsum(x)", ALL, LONG),
    on("prod(x)", FLOATS, LONG),
    on("var(x)", FLOATS, LONG),
    on("std(x)", FLOATS, LONG),
    on("ptp(x)", FLOATS, LONG),
    on("norm(x)", FLOATS, LONG),
    on("median(x)", FLOATS, LONG),
    on("nansum(x)", FLOATS, LONG),
    on("sort(x)", ALL, LONG),
    on("argsort(x)", &[DType::F64, DType::I64, DType::I32], LONG),
    on("unique(x)", ALL, LONG),
    on("flip(x) + x", NUMBERS, LONG),
    on("sum(x, axis=0)", SOME, WIDE),
    on("sum(x, axis=1)", SOME, WIDE),
    on("max(x, axis=0)", SOME, WIDE),
    on("max(x, axis=1)", SOME, WIDE),
    on("argmax(x, axis=1)", SOME, WIDE),
    on("sort(x, axis=1)", SOME, WIDE),
    on("cumsum(x, axis=0)", SOME, WIDE),
    on("x.T + 0", SOME, WIDE),
    on("x[::2] + x[1::2]", SOME, WIDE),
    on("concatenate([x, x])", SOME, WIDE),
    on("x[:, ::-1] + 1", SOME, WIDE),
    on("diff(x, axis=1)", SOME, WIDE),
    on("where(x > 3, x, -x)", FLOATS, LONG),
    on("x[x > 3]", FLOATS, LONG),
    on("searchsorted(sort(x), y)", FLOATS, &[&[10_000], &[300_000]]),
    on("x * y", COMPLEX, TWO),
    on("x / y", COMPLEX, TWO),
    on("exp(x)", COMPLEX, LONG),
    on("abs(x)", COMPLEX, LONG),
    on("sqrt(x)", COMPLEX, LONG),
    on("log(x)", COMPLEX, LONG),
    on("astype(x, f32)", &[DType::F64, DType::I8, DType::U8, DType::F16], LONG),
    on("astype(x, f64)", &[DType::F32, DType::I32, DType::Bool], LONG),
    on("astype(x, i32)", &[DType::F64], LONG),
    on("astype(x, f16)", &[DType::F32], LONG),
    on("x @ y", FLOATS, &[&[16, 16], &[16, 16]]),
    on("x @ y", FLOATS, &[&[256, 256], &[256, 256]]),
    on("x @ y", FLOATS, &[&[256, 256], &[256]]),
];

/// Measures the operations, with new results.
pub(super) fn lines(bench: &Bench, skipped: &mut Vec<String>) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for Operation { text, dtypes, shapes } in OPERATIONS {
        for dtype in *dtypes {
            let extents =
                |shape: &&[usize]| shape.iter().map(ToString::to_string).collect::<Vec<_>>().join("×");
            let mut extents: Vec<String> = shapes.iter().map(extents).collect();
            extents.dedup();
            let what = format!("{text} of {}, {dtype}", extents.join(" and "));
            if !bench.wants(&what) {
                continue;
            }
            eprintln!("  {what}");
            // Positive numbers, so that sums are not dominated by rounding errors.
            let usual = Range { dtype: *dtype, spread: Spread::Even, low: 1.0, high: 10.0 };
            let kind = if FLOATS.contains(dtype) { Kind::In(usual) } else { Kind::Of(*dtype) };
            let declared: Vec<Input> = shapes.iter().map(|shape| Input(kind, shape.to_vec())).collect();
            let peers: (&[Peer], _) = (&[texts::NUMPY], *text);
            lines.push(texts::line(bench, (&what, text), &declared, peers, ROUNDS, skipped)?);
        }
    }
    Ok(lines)
}
