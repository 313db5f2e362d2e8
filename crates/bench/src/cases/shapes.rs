//! Arrays with one short axis: elementwise operations with broadcast, transposed and sliced operands, and reductions.
//!
//! All arrays have about as many elements, so that the first line, a flat array, is the lower bound of the others.

use super::{Bench, texts};
use crate::peers::{Input, Peer};
use crate::report::Found;
use anyhow::Result;
use precast::threads;

const ROUNDS: usize = 7;

/// The number of elements.
const ELEMENTS: usize = 96_000;

/// The extents of the short axis.
const SHORT: [usize; 7] = [2, 3, 4, 5, 8, 16, 64];

const PEERS: [Peer; 3] = [("NumPy", "numpy"), ("numba", "numba"), ("JAX", "jax")];

/// An operation on a matrix: its name in `python/expressions.py`, its text, and the shapes of its inputs by those of the
/// matrix.
struct Operation {
    name: &'static str,
    text: &'static str,
    shapes: fn(usize, usize) -> Vec<Vec<usize>>,
}

const fn alone(name: &'static str, text: &'static str) -> Operation {
    Operation { name, text, shapes: |n, m| vec![vec![n, m]] }
}

const OPERATIONS: &[Operation] = &[
    Operation { name: "plus-row", text: "x + y", shapes: |n, m| vec![vec![n, m], vec![m]] },
    Operation { name: "plus-column", text: "x + y[:, None]", shapes: |n, m| vec![vec![n, m], vec![n]] },
    Operation {
        name: "plus-both",
        text: "x + y[:, None]*z",
        shapes: |n, m| vec![vec![n, m], vec![n], vec![m]],
    },
    Operation {
        name: "plus-transposed",
        text: "x + transpose(y)",
        shapes: |n, m| vec![vec![n, m], vec![m, n]],
    },
    alone("plus-reversed", "x[:, ::-1] + x"),
    alone("differences-rows", "x[:, 1:] - x[:, :-1]"),
    alone("differences-columns", "x[1:] - x[:-1]"),
    alone("sum-rows", "sum(x, axis=1)"),
    alone("sum-columns", "sum(x, axis=0)"),
    alone("maxima-rows", "max(x, axis=1)"),
    alone("maxima-columns", "max(x, axis=0)"),
    alone("softmax", "e = exp(x - max(x, axis=1, keepdims=True)); e / sum(e, axis=1, keepdims=True)"),
    alone("softmax-columns", "e = exp(x - max(x, axis=0, keepdims=True)); e / sum(e, axis=0, keepdims=True)"),
];

/// A flat array.
const FLAT: Operation = Operation { name: "plus-row", text: "x + y", shapes: |n, _| vec![vec![n], vec![n]] };

/// Returns the names of all operations.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    OPERATIONS.iter().map(|operation| operation.name)
}

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    threads::limit(1);
    let mut found = Found::default();
    let shapes = SHORT.iter().flat_map(|&short| [(ELEMENTS / short, short), (short, ELEMENTS / short)]);
    let shapes: Vec<(usize, usize)> = shapes.collect();
    let matrices =
        OPERATIONS.iter().flat_map(|operation| shapes.iter().map(move |shape| (operation, *shape)));
    for (operation, (n, m)) in std::iter::once((&FLAT, (ELEMENTS, 1))).chain(matrices) {
        let shapes = (operation.shapes)(n, m);
        let extents: Vec<String> = shapes[0].iter().map(ToString::to_string).collect();
        let what = format!("{} of {}", operation.name, extents.join("×"));
        if bench.wants(&what) {
            let declared: Vec<Input> = shapes.iter().map(|shape| Input::f64(shape)).collect();
            let peers: (&[Peer], &str) = (&PEERS, operation.name);
            let text = (what.as_str(), operation.text);
            found.lines.push(texts::line(bench, text, &declared, peers, ROUNDS, &mut found.skipped)?);
        }
    }
    Ok(found)
}
