//! Linear algebra on matrices of 2 to 512 rows, and on stacks of small ones.

use super::{Bench, texts};
use crate::peers::{Input, Kind, Peer};
use crate::report::{Found, Target, summary};
use anyhow::Result;
use precast::threads;

const ROUNDS: usize = 7;

/// The shapes: a single matrix, or a thousand.
const SHAPES: [&[usize]; 7] =
    [&[2, 2], &[8, 8], &[32, 32], &[64, 64], &[256, 256], &[512, 512], &[1000, 4, 4]];

/// The largest extent of small matrices, whose functions take most of their time outside of the arithmetic.
const SMALL: usize = 32;

/// Operations: a name and a text. `x` are the matrices, and `y` vectors.
const OPERATIONS: [(&str, &str); 14] = [
    ("cholesky", "cholesky(x)"),
    ("solve", "solve(x, y)"),
    ("inv", "inv(x)"),
    ("det", "det(x)"),
    ("slogdet", "s, d = slogdet(x); d\ns"),
    ("lu", "p, l, u = lu(x); u\nl\np"),
    ("lu_factor", "f, p = lu_factor(x); f\np"),
    ("qr", "q, r = qr(x); r\nq"),
    ("eigh", "w, v = eigh(x); w\nv"),
    ("eigvalsh", "eigvalsh(x)"),
    ("svd", "u, s, v = svd(x); s\nu\nv"),
    ("svdvals", "svdvals(x)"),
    ("pinv", "pinv(x)"),
    ("expm", "expm(x)"),
];

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    threads::limit(1);
    let mut found = Found::default();
    for (name, text) in OPERATIONS {
        for shape in SHAPES {
            let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
            let what = format!("{name} of {}", extents.join("×"));
            if !bench.wants(&what) {
                continue;
            }
            let mut declared = vec![Input(Kind::Definite, shape.to_vec())];
            if text.contains("y)") {
                // Vectors of a stack are matrices with a column.
                declared.push(Input::f64(if shape.len() > 2 { &[1000, 4, 1] } else { &shape[1..] }));
            }
            let peers: (&[Peer], _) = (&[texts::NUMPY, texts::SCIPY], text);
            let line = texts::line(bench, (&what, text), &declared, peers, ROUNDS, &mut found.skipped)?;
            let is_small = shape.last().is_some_and(|extent| *extent <= SMALL);
            found.lines.push(line.target(Target::TimesPeer(if is_small { 0.33 } else { 1.25 })));
        }
    }
    found.facts.extend(summary("All", &found.lines));
    found.skipped.dedup();
    Ok(found)
}
