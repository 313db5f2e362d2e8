//! Loops, and values with their gradients: f64, one thread.
//!
//! The inputs of loops have known extents, apart from the number of steps. Peers compile the same function; numba has no
//! gradients.

use super::built::built;
use super::{Bench, typed};
use crate::measure::Runner;
use crate::peers::{Input, PEERS};
use crate::report::{Found, Line};
use anyhow::{Context as _, Result};
use precast::{ArrayRef, threads};
use precast_build::Serve;
use precast_ops::value_and_grad;
use std::hint::black_box;

const ROUNDS: usize = 11;

/// A program: its name in `python/expressions.py`, its text, its inputs with their shapes, and the inputs by which its
/// gradient is computed with its value.
struct Program {
    name: &'static str,
    text: &'static str,
    inputs: &'static [(&'static str, &'static [usize])],
    by: &'static [&'static str],
}

const AR2: &str = "def step((s, a, b), v): e = (v - 0.2*y[0]*a - 0.1*y[1]*b)/(y[2] + 3); \
    return ((s + (0.5*e*e + log(y[2] + 3)), v, a), None)\nscan(step, (0.0, 0.0, 0.0), x)[0][0]";
const GARCH: &str = "def step((h, s), v): return ((0.1 + 0.2*v*v + 0.5*h, s + (log(h) + v*v/h)), None)\n\
    scan(step, (1.0, 0.0), x)[0][1]";
const KALMAN: &str = "f = 0.2*y; q = 0.1*(y @ y.T) + eye(4)\n\
    def step((m, p, s), v): m = f @ m; p = f @ p @ f.T + q; e = v - z @ m; w = z @ p @ z + 1; k = (p @ z)/w; \
    return ((m + k*e, p - outer(k, z @ p), s + log(w) + e*e/w), None)\nscan(step, (0*z, q, 0.0), x)[0][2]";
const EULER: &str = "def step(p, _): \
    d = stack([10*(p[1] - p[0]), p[0]*(28 - p[2]) - p[1], p[0]*p[1] - 8*p[2]/3]); p = p + 0.001*d; return (p, p)\n\
    scan(step, y, x)[1]";
const GAUSSIAN_PROCESS: &str = "d = sum((x[:, None, :] - x[None, :, :])**2, axis=2); \
    l = cholesky(exp(-d/(z[0]**2 + 1)) + (z[1]**2 + 0.1)*eye(60)); a = solve_triangular(l, y, lower=True); \
    0.5*sum(a*a) + sum(log(diagonal(l)))";

const PROGRAMS: &[Program] = &[
    Program { name: "ar2", text: AR2, inputs: &[("f64[?]", &[1000]), ("f64[3]", &[3])], by: &[] },
    Program { name: "garch", text: GARCH, inputs: &[("f64[?]", &[1000])], by: &[] },
    Program {
        name: "kalman",
        text: KALMAN,
        inputs: &[("f64[?]", &[1000]), ("f64[4,4]", &[4, 4]), ("f64[4]", &[4])],
        by: &[],
    },
    Program { name: "euler", text: EULER, inputs: &[("f64[?]", &[1000]), ("f64[3]", &[3])], by: &[] },
    Program {
        name: "logistic",
        text: "mean(softplus(-y*(x @ z)))",
        inputs: &[("f64[?,20]", &[1000, 20]), ("f64[?]", &[1000]), ("f64[20]", &[20])],
        by: &["z"],
    },
    Program {
        name: "mlp",
        text: "mean((tanh(tanh(x @ y) @ z) @ z)**2)",
        inputs: &[("f64[?,32]", &[256, 32]), ("f64[32,64]", &[32, 64]), ("f64[64,64]", &[64, 64])],
        by: &["y", "z"],
    },
    Program {
        name: "cross-entropy",
        text: "mean(sum(y*log_softmax(x @ z, axis=1), axis=1))",
        inputs: &[("f64[?,20]", &[1000, 20]), ("f64[?,10]", &[1000, 10]), ("f64[20,10]", &[20, 10])],
        by: &["z"],
    },
    Program {
        name: "gaussian-process",
        text: GAUSSIAN_PROCESS,
        inputs: &[("f64[60,3]", &[60, 3]), ("f64[60]", &[60]), ("f64[2]", &[2])],
        by: &["z"],
    },
    Program { name: "ar2-gradient", text: AR2, inputs: &[("f64[?]", &[1000]), ("f64[3]", &[3])], by: &["y"] },
];

/// Returns the names of all programs.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|program| program.name)
}

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    threads::limit(1);
    let mut found = Found::default();
    for program in PROGRAMS {
        if bench.wants(&what(program)) {
            let line = line(bench, program, &mut found.skipped);
            found.lines.push(line.with_context(|| format!("in `{}`", what(program)))?);
        }
    }
    Ok(found)
}

/// Returns a line's name: `ar2 of 1000 and its gradient`.
fn what(program: &Program) -> String {
    let extents: Vec<String> = program.inputs[0].1.iter().map(ToString::to_string).collect();
    let gradient = if program.by.is_empty() { "" } else { " with its gradient" };
    format!("{} of {}{gradient}", program.name.trim_end_matches("-gradient"), extents.join("×"))
}

fn line(bench: &Bench, program: &Program, skipped: &mut Vec<String>) -> Result<Line> {
    let types: Vec<(char, String)> =
        "xyz".chars().zip(program.inputs.iter().map(|(ty, _)| (*ty).to_owned())).collect();
    let mut graph = typed(program.text, &types)?;
    if !program.by.is_empty() {
        graph = value_and_grad(&graph, program.by)?;
    }
    let function = built(&graph, Serve::Whole)?;
    let declared: Vec<Input> = program.inputs.iter().map(|(_, shape)| Input::f64(shape)).collect();
    let arrays = crate::peers::inputs(&declared);
    let refs: Vec<ArrayRef<'_>> = arrays.iter().map(ArrayRef::from).collect();
    let result = function.call(&refs)?.remove(0);
    // The inputs were accepted once already, so no call fails.
    let ours = Runner::short("precast", || drop(black_box(function.call(black_box(&refs)))));
    let mut runners = vec![ours];
    runners.extend(bench.peers.runners(&PEERS, program.name, &declared, &result, skipped)?);
    Line::raced(&what(program), bench.rounds(ROUNDS), runners)
}
