//! Programs of several ops in f64 and f32, on one and two threads: chains, losses and gradients, stencils, distances,
//! products.
//!
//! Both sides return a new result from existing arrays, and both are configured for two threads where the line says
//! so. numba then splits whole arrays, JAX and OpenBLAS decide themselves; NumPy's loops and PyTensor's stay on one
//! thread.

use super::built::built;
use super::{Bench, typed};
use crate::measure::Runner;
use crate::peers::{Input, Kind, PEERS, Peers, inputs};
use crate::report::{Found, Line};
use anyhow::{Context as _, Result};
use precast::{ArrayRef, Function, threads};
use precast_build::Serve;
use std::hint::black_box;

const ROUNDS: usize = 11;

/// A program: its name in `python/expressions.py`, its text, and the shapes it runs on.
struct Program {
    name: &'static str,
    text: &'static str,
    shapes: &'static [&'static [&'static [usize]]],
}

const MILLION: &[usize] = &[1_000_000];
const CHAIN: &str = "((x + y)*z - x/2 + y)*(z - 1) + x*y - z";
const BLACK_SCHOLES: &str = "s = 100 + 10*x; k = 100 + 10*y; t = 1.5 + 0.25*z; v = 0.2*sqrt(t); \
    d = (log(s/k) + 0.07*t)/v; up = 1 + erf(d/2**0.5); down = 1 + erf((d - v)/2**0.5); \
    0.5*(s*up - k*exp(-0.05*t)*down)";
/// Rows, sides, weights.
const LOGISTIC: &[&[usize]] = &[&[10_000, 100], &[10_000], &[100]];

const PROGRAMS: &[Program] = &[
    Program {
        name: "chain",
        text: CHAIN,
        shapes: &[
            &[&[4], &[4], &[4]],
            &[&[64], &[64], &[64]],
            &[&[1000], &[1000], &[1000]],
            &[MILLION, MILLION, MILLION],
        ],
    },
    Program { name: "functions", text: "log1p(exp(tanh(x)))*y", shapes: &[&[MILLION, MILLION]] },
    Program { name: "logsumexp", text: "logsumexp(x, axis=1)", shapes: &[&[&[1000, 1000]]] },
    Program { name: "logistic-loss", text: "mean(softplus(-y*(x @ z)))", shapes: &[LOGISTIC] },
    Program {
        name: "logistic-gradient",
        text: "transpose(x) @ (-y*sigmoid(-y*(x @ z)))/shape(y)[0]",
        shapes: &[LOGISTIC],
    },
    Program { name: "black-scholes", text: BLACK_SCHOLES, shapes: &[&[MILLION, MILLION, MILLION]] },
    Program {
        name: "distances",
        text: "sqrt(sum((x[:, None, :] - y[None, :, :])**2, axis=2))",
        shapes: &[&[&[500, 8], &[500, 8]]],
    },
    Program {
        name: "stencil",
        text: "0.25*(x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) - x[1:-1, 1:-1]",
        shapes: &[&[&[2000, 2000]]],
    },
    Program {
        name: "dot",
        text: "dot(x, y)",
        shapes: &[
            &[&[64, 64], &[64, 64]],
            &[&[128, 128], &[128, 128]],
            &[&[256, 256], &[256, 256]],
            &[&[512, 512], &[512, 512]],
            &[&[1024, 1024], &[1024, 1024]],
        ],
    },
    Program { name: "batched-dot", text: "x @ y", shapes: &[&[&[10_000, 8, 8], &[10_000, 8, 8]]] },
];

/// Returns the names of all programs.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|program| program.name)
}

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let mut found = Found::default();
    let pair = Peers::start(2)?;
    for program in PROGRAMS {
        for kind in [Kind::F64, Kind::F32] {
            for shapes in program.shapes {
                for (threads, peers) in [(1, &bench.peers), (2, &pair)] {
                    let what = what(program, kind, shapes, threads);
                    if !bench.wants(&what) {
                        continue;
                    }
                    let line = line(
                        peers,
                        bench.rounds(ROUNDS),
                        (program, kind, shapes, threads),
                        &mut found.skipped,
                    );
                    found.lines.push(line.with_context(|| format!("in `{what}`"))?);
                }
            }
        }
    }
    threads::limit(1);
    Ok(found)
}

/// Returns a line's name: `chain of 1000, f32, 2 threads`.
fn what(program: &Program, kind: Kind, shapes: &[&[usize]], threads: usize) -> String {
    let extents: Vec<String> = shapes[0].iter().map(ToString::to_string).collect();
    let dtype = if kind == Kind::F32 { "f32" } else { "f64" };
    let threads = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
    format!("{} of {}, {dtype}, {threads}", program.name, extents.join("×"))
}

fn line(
    peers: &Peers,
    rounds: usize,
    (program, kind, shapes, threads): (&Program, Kind, &[&[usize]], usize),
    skipped: &mut Vec<String>,
) -> Result<Line> {
    let declared: Vec<Input> = shapes.iter().map(|shape| Input(kind, shape.to_vec())).collect();
    let types: Vec<(char, String)> = "xyz".chars().zip(declared.iter().map(Input::ty)).collect();
    let function: Function = built(&typed(program.text, &types)?, Serve::Whole)?;
    let arrays = inputs(&declared);
    let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
    threads::limit(threads);
    let result = function.call(&refs)?.remove(0);
    // The inputs were accepted once already, so no call fails.
    let ours = Runner::short("precast", || drop(black_box(function.call(black_box(&refs)))));
    let mut runners = vec![ours];
    runners.extend(peers.runners(&PEERS, program.name, &declared, &result, skipped)?);
    if threads > 1 {
        runners = runners.into_iter().map(Runner::rested).collect();
    }
    Line::raced(&what(program, kind, shapes, threads), rounds, runners)
}
