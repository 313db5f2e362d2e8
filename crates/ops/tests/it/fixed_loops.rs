//! Tests of loops whose values have known extents: compiled C against `perform`, with gradients.

use crate::agree;
use crate::compiler;
use crate::machine::Call;
use ndarray::{ArrayD, IxDyn};
use precast_codegen::{Unit, link};
use precast_graph::text::parse;
use precast_graph::{Array, Extent, FunctionGraph, Type, encode};
use precast_ops::{Ops, Scan, rewrite};
use precast_testkit::layout::Layout;
use std::any::Any;
use std::sync::Arc;

/// The inputs of all expressions: vectors, matrices and numbers of known extents, and rows.
const INPUTS: [(&str, &str); 9] = [
    ("s", "f64[]"),
    ("u", "f64[3]"),
    ("t", "f32[3]"),
    ("q", "i64[3]"),
    ("k", "f64[3,3]"),
    ("l", "f32[3,4]"),
    ("r", "f64[?,3]"),
    ("p", "f64[?,2,3]"),
    ("v", "f64[?]"),
];

fn graph(text: &str) -> FunctionGraph {
    let inputs: Vec<(String, Type)> =
        INPUTS.iter().map(|(name, ty)| ((*name).to_owned(), ty.parse().unwrap())).collect();
    parse(&[text], &inputs, &Ops::standard()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns inputs with `rows` rows, some of them special values.
fn inputs(rows: usize, special: bool) -> Vec<Array> {
    let numbers = |(salt, (_, ty)): (usize, &(&str, &str))| {
        let ty: Type = ty.parse().unwrap();
        let extent = |extent: &Extent| match extent {
            Extent::Fixed(n) => *n as usize,
            Extent::Unknown => rows,
        };
        let shape: Vec<usize> = ty.shape().iter().map(extent).collect();
        let one = |i: usize| match (i * 7 + salt) % 9 {
            3 if special => f64::NAN,
            5 if special => -0.0,
            7 if special => f64::INFINITY,
            _ => ((i * 37 + salt * 11) % 23) as f64 / 8.0 - 1.25,
        };
        let count = shape.iter().product();
        Array::F64(ArrayD::from_shape_vec(IxDyn(&shape), (0..count).map(one).collect()).unwrap())
            .cast(ty.dtype())
    };
    INPUTS.iter().enumerate().map(numbers).collect()
}

/// Expressions whose loops have C without tensors.
const FIXED: [&str; 42] = [
    "scan(lambda c, x: (c * 0.5 + x, c * x), u, r)[1]",
    "scan(lambda c, x: (k @ c + x, x @ k), u, r)[1]",
    "scan(lambda c, x: (c @ c * 0.25 + k, c @ x), k, r)[0]",
    "scan(lambda c, x: (c @ c * 0.25 + k, x @ c @ x), k, r)[1]",
    "scan(lambda c, x: (k.T @ c @ k - outer(x, x), c), k, r)[1]",
    "scan(lambda c, x: (c + x.sum(axis=0), x.sum(axis=1)), u, p)[1]",
    "scan(lambda c, x: (c + x.mean(), c.max()), u, p)[1]",
    "scan(lambda c, x: (c * 0.5, (x.min(axis=1, keepdims=True), x.prod())), u, p)[1][0]",
    "scan(lambda c, x: (c * 0.5, (x.min(axis=1, keepdims=True), x.prod())), u, p)[1][1]",
    "scan(lambda c, x: (c, (x > 0).any(axis=0)), u, p)[1]",
    "scan(lambda c, x: (c, (x > 0).all()), u, p)[1]",
    "scan(lambda c, x: (c, (x > 0).sum(axis=1)), u, p)[1]",
    "scan(lambda c, x: (c[::-1], c[1:]), u, r)[1]",
    "scan(lambda c, x: (concatenate([c[1:], x[:1]]), c[-1]), u, r)[1]",
    "scan(lambda c, x: (stack([c[1] - c[0], x[2] * s, c[2]]), stack([c, x], axis=1)), u, r)[1]",
    "scan(lambda c, x: (set_subtensor(c[1:2], x[0]), c), u, r)[1]",
    "scan(lambda c, x: (inc_subtensor(c[1:], x[:2]), c), u, r)[1]",
    "scan(lambda c, x: (inc_subtensor(c[1:], c[:2]), c), u > 0, r)[1]",
    "scan(lambda c, x: (inc_subtensor(c[1:], c[:2]), c), q + (2**63 - 3), r)[1]",
    "scan(lambda c, x: (c + x.reshape((3, 2))[0, 1], x.T), u, p)[1]",
    "scan(lambda c, x: (c * 0.5 + t, l @ ones(4, dtype='f32') + c), t, v)[1]",
    "scan(lambda c, x: (c @ l @ l.T * 0.125, c.sum()), t, v)[1]",
    "scan(lambda c, x: (l.T @ (l @ c) * 0.0625 + c, c.mean(axis=1)), zeros((4, 2), dtype='f32') + 1, v)[1]",
    "scan(lambda c, x: (c + q, c.sum() // 2), q, v)[1]",
    "scan(lambda c, x: (c * 3 % 7, c.max()), q, v)[0]",
    "scan(lambda (c, d), x: ((d, c + 1), c - d), (u, u + 1), r)[1]",
    "scan(lambda (c, d, e), x: ((d, e, c), x), (u, u + 1, u * 2), r)[0][0]",
    "scan(lambda c, x: (c, x), u, r, reverse=True)[1]",
    "scan(lambda c, x: (c, c), u, r)[1]",
    "scan(lambda c, x: (exp(c) * 0.25 + sin(x), log1p(abs(c))), u, r)[1]",
    "scan(lambda c, x: (where(x > 0, c, -c), maximum(c, x)), u, r)[1]",
    "scan(lambda c, x: (c, zeros((2, 3)) + x), u, r)[1]",
    "scan(lambda c, x: (c + x[None, :] * x[:, None], trace(c)), k, r)[1]",
    "scan(lambda c, x: (c.T * 0.5 + diag(x), diag(c)), k, r)[1]",
    "while_loop(lambda c: c.sum() < 50, lambda c: abs(c) * 2 + 1, u)",
    "scan(lambda (c, f), x: ((c + x, x.sum() > 1), None, f), (u, s > 9), r, until=True)[0][0]",
    "scan(lambda (c, d), x: ((d, x), None, c[0] > 0), (u, u * 2), r, until=True)[0][1]",
    "while_loop(lambda (i, c): i < 9, lambda (i, c): (i + 1, k @ c * 0.5), (0, u))[1]",
    "fori_loop(0, 6, lambda i, c: c * 0.5 + i, u)",
    "fori_loop(0, 5, lambda i, c: c @ k * 0.25, ones((2, 3)))",
    "scan(lambda c, x: (c + softmax(x), logsumexp(c)), u, r)[1]",
    "scan(lambda c, x: (c * 0.5 + x, norm(c) + c.var()), u, r)[1]",
];

/// Loops over numbers in stages: costly functions of rows, of carries that change without them, and of neither.
const STAGES: [&str; 14] = [
    "scan(lambda (h, c), x: ((0.1 + 0.2 * x * x + 0.5 * h, c + log(abs(h)) + x * x / h), None), (1.0, 0.0), v)[0][1]",
    "scan(lambda (h, c), x: ((0.5 * h + x, c * 0.5 + exp(h)), (h, c, x, exp(h) - h)), (s, s), v)[1][0]",
    "scan(lambda (h, c), x: ((0.5 * h + x, c * 0.5 + exp(h)), (h, c, x, exp(h) - h)), (s, s), v)[1][1]",
    "scan(lambda (h, c), x: ((0.5 * h + x, c * 0.5 + exp(h)), (h, c, x, exp(h) - h)), (s, s), v)[1][2]",
    "scan(lambda (h, c), x: ((0.5 * h + x, c * 0.5 + exp(h)), (h, c, x, exp(h) - h)), (s, s), v)[1][3]",
    "scan(lambda (h, c), x: ((0.5 * h + x, c * 0.5 + exp(h)), h * c), (s, s), v, reverse=True)[1]",
    "scan(lambda (a, b, c), x: ((b, a, sin(a * x) - c), c), (s, s + 1, s), v)[1]",
    "scan(lambda (a, b, c, d), x: ((b, x, a, c + tanh(b)), d), (s, s + 1, s, s), v)[0][3]",
    "scan(lambda (a, c), x: ((a + 1, maximum(c, sin(s * a))), c > a), (0, 0.0), v)[1]",
    "scan(lambda (a, c), x: ((a, a + exp(c) * 0.25), cos(a) + c), (s, s), v)[1]",
    "scan(lambda (a, c), x: ((exp(a) * 0.25 - x, c + log1p(abs(x))), a * c), (s, s), v)[1]",
    "scan(lambda (a, b), x: ((a * 0.5 + x, a), exp(a) * b), (s, s), v)[1]",
    "scan(lambda c, x: (c + exp(x) * sqrt(abs(x)), c), u[0], v)[1]",
    "scan(lambda (c, d), x: ((c + exp(t[0]) * x, where(c > 0, d, gammaln(abs(x) + 1))), d - c), (s, s), v)[1]",
];

/// Loops whose values are larger than the stack of a thread.
const LARGE: [&str; 4] = [
    "z = ones(1000, dtype=complex); scan(lambda (a, b, c, d, e, f), x: ((b, c, d, e[::-1], cumsum(f), a * x), \
     b[0]), (z, z * 2, z - 1, z * s, z, z * 4), v)[0][0]",
    "z = ones(1000, dtype=complex); scan(lambda (a, b, c, d, e, f), x: ((b, c, d, e[::-1], cumsum(f), a * x), \
     b.real), (z, z * 2, z - 1, z * s, z, z * 4), v)[1]",
    "w = ones(1000) * s; scan(lambda c, x: (c[::-1] * x + w + cumsum(c), (cumsum(c) - w)[::7]), w, v)[1]",
    "w = ones(1000) * s; scan(lambda (c, d), x: ((cumsum(d) * x, c[::-1] + w), None, c[3] > 9), (w, w + 1), v, \
     until=True)[0][1]",
];

/// Expressions whose gradients are loops of known extents.
const GRADIENTS: [&str; 7] = [
    "grad(scan(lambda c, x: (tanh(k @ c + x), None), u, r)[0].sum(), k)",
    "grad(scan(lambda c, x: (k @ c @ k.T * 0.25 + outer(x, x), None), k, r)[0].sum(), k)",
    "grad(scan(lambda c, x: (c * 0.5 + x, (c * x).sum()), u, r)[1].sum(), u)",
    "grad(scan(lambda c, x: (c * 0.5 + x, (c @ x) ** 2), u, r)[1].sum(), r)",
    "grad(scan(lambda c, x: (stack([s * (c[1] - c[0]), c[0] - c[1], c[2] * x]), c), u, v)[1].sum(), s)",
    "grad(scan(lambda c, x: (concatenate([c[1:], x[:1] * c[:1]]), None), u, r)[0].sum(), u)",
    "grad(scan(lambda c, x: (c + x.mean(axis=0) * c.max(), None), u, p)[0].sum(), p)",
];

/// Returns the loops of a graph.
fn loops(graph: &FunctionGraph) -> Vec<Scan> {
    let scan = |op: &dyn precast_graph::Op| {
        let any: &dyn Any = op;
        any.downcast_ref::<Scan>().cloned()
    };
    graph.applies().iter().filter_map(|apply| scan(&*apply.op)).collect()
}

fn calls_of(texts: &[&str], rows: &[(usize, bool)]) -> Vec<Call> {
    let mut calls = Vec::new();
    for text in texts {
        let graph = graph(text);
        for scan in loops(&graph) {
            assert!(scan.has_known_extents(), "{text}: {}", scan.body.graph());
        }
        let lowered = Arc::new(rewrite::lower(&graph).unwrap());
        for (rows, special) in rows {
            for layout in [Layout::C, Layout::Reversed] {
                let inputs = inputs(*rows, *special).into_iter().map(|value| (value, layout)).collect();
                calls.push(Call { graph: Arc::clone(&lowered), inputs, output: None, stretched: false });
            }
        }
    }
    calls
}

#[test]
fn loops_of_known_extents_equal_perform() {
    let calls = calls_of(&FIXED, &[(4, false), (1, true), (0, false), (17, true)]);
    agree::check_at(&compiler::levels(), "gnu11", &calls);
}

#[test]
fn loops_in_stages_equal_perform() {
    for text in STAGES {
        let module = link(&rewrite::lower(&graph(text)).unwrap(), Ops::standard().c()).unwrap();
        assert!(Unit::single(Arc::new(module)).text().contains("block += 64"), "{text}");
    }
    let calls = calls_of(&STAGES, &[(130, false), (64, true), (0, false), (1, false), (65, true)]);
    agree::check_at(&compiler::levels(), "gnu11", &calls);
}

#[test]
fn large_loops_use_little_stack() {
    agree::check_at(&compiler::levels()[..1], "gnu11", &calls_of(&LARGE, &[(3, true), (0, false)]));
}

#[test]
fn gradients_of_loops_have_known_extents() {
    agree::check_at(&compiler::levels(), "gnu11", &calls_of(&GRADIENTS, &[(3, false), (5, true)]));
}

#[test]
fn loops_of_known_extents_survive_json() {
    let ops = Ops::standard();
    for text in FIXED {
        let graph = graph(text);
        let again = precast_graph::json::parse(&precast_graph::json::render(&graph), &ops).unwrap();
        assert_eq!(encode::canonical(&graph), encode::canonical(&again), "{text}");
        assert!(loops(&again).iter().all(Scan::has_known_extents), "{text}");
    }
}

#[test]
fn large_or_unknown_loops_have_tensors() {
    for text in [
        "scan(lambda c, x: (c + x, None), 0.0 * v, stack([v, v]))[0]",
        "scan(lambda c, x: (c + x, None), zeros(1025), v)[0]",
        "scan(lambda c, x: (c + x.astype('f16').astype('f64'), None), u, r)[0]",
    ] {
        let graph = graph(text);
        assert!(!loops(&graph).iter().any(Scan::has_known_extents), "{text}");
    }
}

#[test]
fn wrong_facts_are_refused() {
    let ops = Ops::standard();
    let graph = graph("scan(lambda c, x: (c + x[None, 0] * ones(3), c), 0 * v[:3] + u, r)[1]");
    let json = precast_graph::json::render(&graph);
    assert!(json.contains("\"extents\""), "{json}");
    for (from, to) in [
        ("[3]", "[4]"),
        ("[3]", "[-3]"),
        ("[3]", "[4611686018427387904, 4611686018427387904]"),
        ("[3]", "[]"),
    ] {
        let wrong = replaced(&json, from, to);
        assert!(precast_graph::json::parse(&wrong, &ops).is_err(), "{to}: {wrong}");
    }
}

/// Replaces the first list of extents of a loop.
fn replaced(json: &str, from: &str, to: &str) -> String {
    let (before, after) = json.split_once("\"extents\"").unwrap();
    format!("{before}\"extents\"{}", after.replacen(from, to, 1))
}

#[test]
fn loops_of_known_extents_refuse_others() {
    let graph = graph("scan(lambda c, x: (c @ k, x), u, r)[1]");
    let mut values = inputs(3, false);
    values[6] = Array::F64(ArrayD::zeros(IxDyn(&[3, 2])));
    assert!(precast_graph::interpret(&graph, &values).is_err());
    let inputs = values.into_iter().map(|value| (value, Layout::C)).collect();
    let lowered = Arc::new(rewrite::lower(&graph).unwrap());
    agree::check("gnu11", &[Call { graph: lowered, inputs, output: None, stretched: false }]);
}
