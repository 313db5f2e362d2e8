//! Common expressions: rows and columns, statistics, indices, products.
//!
//! Both sides return a new result from existing arrays.

use super::built::built;
use super::{Bench, typed};
use crate::measure::Runner;
use crate::peers::{Input, Kind, PEERS, inputs};
use crate::report::{Found, Line, Target};
use anyhow::{Context as _, Result};
use precast::ArrayRef;
use precast_build::Serve;
use std::hint::black_box;

const ROUNDS: usize = 9;

/// An expression: its name in `python/expressions.py`, its title, its text and its inputs.
pub(super) struct Expression {
    pub(super) name: &'static str,
    what: &'static str,
    text: &'static str,
    inputs: &'static [(Kind, &'static [usize])],
    target: Option<Target>,
}

const SOFTMAX: &str = "e = exp(x - max(x, axis=1, keepdims=True)); e / sum(e, axis=1, keepdims=True)";
const LAYERNORM: &str = "c = x - mean(x, axis=1, keepdims=True); \
    c / sqrt(mean(c * c, axis=1, keepdims=True) + 1e-5)";

const ROWS: (Kind, &[usize]) = (Kind::F64, &[10_000, 1000]);
const SQUARE: (Kind, &[usize]) = (Kind::F64, &[3000, 3000]);
const LONG: (Kind, &[usize]) = (Kind::F64, &[10_000_000]);
const MIDDLE: (Kind, &[usize]) = (Kind::F64, &[1_000_000]);

const fn plain(
    name: &'static str,
    what: &'static str,
    text: &'static str,
    inputs: &'static [(Kind, &'static [usize])],
) -> Expression {
    Expression { name, what, text, inputs, target: None }
}

pub(super) const EXPRESSIONS: &[Expression] = &[
    Expression {
        target: Some(Target::Below(13e6)),
        ..plain("softmax", "softmax of rows, 10000×1000", SOFTMAX, &[ROWS])
    },
    Expression {
        target: Some(Target::Below(9e6)),
        ..plain("layernorm", "layernorm of rows, 10000×1000", LAYERNORM, &[ROWS])
    },
    plain("sum-rows", "sum(x, axis=1), 3000×3000", "sum(x, axis=1)", &[SQUARE]),
    plain("sum-columns", "sum(x, axis=0), 3000×3000", "sum(x, axis=0)", &[SQUARE]),
    plain("variance", "var(x) of 1e7", "var(x)", &[LONG]),
    plain("argmax", "argmax(x) of 1e7", "argmax(x)", &[LONG]),
    plain("cumsum", "cumsum(x) of 1e7", "cumsum(x)", &[LONG]),
    plain("tanh", "tanh(x) of 1e6", "tanh(x)", &[MIDDLE]),
    plain("tanh", "tanh(x) of 1e6, f32", "tanh(x)", &[(Kind::F32, &[1_000_000])]),
    plain("switch", "switch(x > 0, x, 0.01*x) of 1e6", "switch(x > 0, x, 0.01*x)", &[MIDDLE]),
    plain("take", "x[v], 1e6 of 1e7", "x[v]", &[LONG, (Kind::Index, &[1_000_000])]),
    plain("strided", "x[::2] + x[1::2] of 1e7", "x[::2] + x[1::2]", &[LONG]),
    plain(
        "transposed",
        "(x + transpose(y)) * z, 3000×3000",
        "(x + transpose(y)) * z",
        &[SQUARE, SQUARE, SQUARE],
    ),
    plain("dot", "dot(x, y), 8×8", "dot(x, y)", &[(Kind::F64, &[8, 8]), (Kind::F64, &[8, 8])]),
    plain("dot", "dot(x, y), 64×64", "dot(x, y)", &[(Kind::F64, &[64, 64]), (Kind::F64, &[64, 64])]),
    plain("dot", "dot(x, y), 512×512", "dot(x, y)", &[(Kind::F64, &[512, 512]), (Kind::F64, &[512, 512])]),
    plain(
        "dot",
        "dot(x, y), 2000×2000 by 2000",
        "dot(x, y)",
        &[(Kind::F64, &[2000, 2000]), (Kind::F64, &[2000])],
    ),
];

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let mut found = Found::default();
    for expression in EXPRESSIONS.iter().filter(|expression| bench.wants(expression.what)) {
        let line = line(bench, expression, &mut found.skipped);
        found.lines.push(line.with_context(|| format!("in `{}`", expression.what))?);
    }
    Ok(found)
}

fn line(bench: &Bench, expression: &Expression, skipped: &mut Vec<String>) -> Result<Line> {
    let declared: Vec<Input> =
        expression.inputs.iter().map(|(kind, shape)| Input(*kind, shape.to_vec())).collect();
    // An index is the second input and is named `v`.
    let name = |(position, input): (usize, &Input)| {
        if input.0 == Kind::Index { 'v' } else { ['x', 'y', 'z'][position] }
    };
    let names = declared.iter().enumerate().map(name);
    let types: Vec<(char, String)> = names.zip(declared.iter().map(Input::ty)).collect();
    let function = built(&typed(expression.text, &types)?, Serve::Whole)?;
    let arrays = inputs(&declared);
    let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
    let result = function.call(&refs)?.remove(0);
    // The inputs were accepted once already, so no call fails.
    let ours = Runner::short("precast", || drop(black_box(function.call(black_box(&refs)))));
    let mut runners = vec![ours];
    runners.extend(bench.peers.runners(&PEERS, expression.name, &declared, &result, skipped)?);
    let line = Line::raced(expression.what, bench.rounds(ROUNDS), runners)?.pictured();
    Ok(Line { target: expression.target, ..line })
}
