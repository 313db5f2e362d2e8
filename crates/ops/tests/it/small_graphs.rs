//! Tests of graphs of small arrays of known extents: compiled C against `perform`, the choice of Applies, and JSON.

use crate::agree;
use crate::compiler;
use crate::machine::Call;
use ndarray::{ArrayD, IxDyn};
use precast_graph::text::parse;
use precast_graph::{Array, FunctionGraph, Type, encode};
use precast_ops::rewrite::{self, Form, Passes};
use precast_ops::{Ops, SmallGraph};
use precast_testkit::layout::Layout;
use std::any::Any;
use std::sync::Arc;

/// The inputs of all expressions.
const INPUTS: [(&str, &str, &[usize]); 13] = [
    ("s", "f64[]", &[]),
    ("u", "f64[3]", &[3]),
    ("t", "f32[7]", &[7]),
    ("q", "i64[3]", &[3]),
    ("k", "f64[3,3]", &[3, 3]),
    ("l", "f32[3,4]", &[3, 4]),
    ("w", "f64[100]", &[100]),
    ("p", "f64[4,30]", &[4, 30]),
    ("z", "c128[3]", &[3]),
    ("r", "f64[?,3]", &[5, 3]),
    ("m", "f64[300,3]", &[300, 3]),
    ("c", "f64[300]", &[300]),
    ("n", "f32[40,8]", &[40, 8]),
];

fn graph(text: &str) -> FunctionGraph {
    let inputs: Vec<(String, Type)> =
        INPUTS.iter().map(|(name, ty, _)| ((*name).to_owned(), ty.parse().unwrap())).collect();
    let texts: Vec<&str> = text.split(" ; ").collect();
    parse(&texts, &inputs, &Ops::standard()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns inputs, some of them special values.
fn inputs(special: bool) -> Vec<Array> {
    let numbers = |(salt, (_, ty, shape)): (usize, &(&str, &str, &[usize]))| {
        let ty: Type = ty.parse().unwrap();
        let one = |i: usize| match (i * 7 + salt) % 9 {
            3 if special => f64::NAN,
            5 if special => -0.0,
            7 if special => f64::INFINITY,
            _ => ((i * 37 + salt * 11) % 23) as f64 / 8.0 - 1.25,
        };
        let count = shape.iter().product();
        Array::F64(ArrayD::from_shape_vec(IxDyn(shape), (0..count).map(one).collect()).unwrap())
            .cast(ty.dtype())
    };
    INPUTS.iter().enumerate().map(numbers).collect()
}

/// Expressions that become one op.
const SMALL: [&str; 52] = [
    "where(p > 0, p*2, sum(p)) ; where((w > 1)[:30], p, -p) + sum(s)",
    "where(t > 0, t, t*t) + sum(t) ; where(t > 0, 1.0, t.astype('f64')) ; (t > 0) & (t < 1)",
    "w[stack([w[10:13].shape[0], 2])[:, None].reshape((2,))] + s",
    "exp(u)/sum(exp(u)) + sum(u)",
    "sum(w*w) + max(w) - min(w) + mean(w)",
    "sum(p, axis=1) + sum(p*p, axis=1)",
    "sum(p, axis=0) - max(p, axis=0)",
    "sum(t) + prod(t) ; max(t)*t",
    "any(w > 1) | all(w > -2) ; argmax(w) + 1",
    "sum(q) // 2 + max(q) ; q*3 % 7 + sum(q)",
    "gammaln(w) - sum(w) ; digamma(abs(w) + 1) + mean(w)",
    "gammaln(u) - sum(u) ; gammaln(s)*u",
    "erf(p - sum(w)) * s",
    "k @ u + k.T @ u ; u @ k @ u",
    "k @ k @ k - k.T ; (k @ k).sum(axis=0)",
    "l.T @ u.astype('f32') + l.sum(axis=0)",
    "concatenate([u[1:], w[:5], u[::-1]]) * 2 + sum(u)",
    "stack([u, u*2, q.astype('f64')], axis=1).sum(axis=1) + u",
    "set_subtensor(w[10:13], u*2)[5:20] + sum(u)",
    "inc_subtensor(w[10:13], u*2)[5:20] + sum(u)",
    "w[q % 5] + sum(w[:3]) + u",
    "cumsum(w) - sum(w) ; cumprod(u) + cumsum(u)",
    "cholesky(k @ k.T + 20*eye(3)) @ u + u",
    "solve_triangular(k + 9*eye(3), u, lower=True) + sum(u)",
    "solve(k + 9*eye(3), u) + det(k + 9*eye(3))",
    "sort(w)[10:20] * 2 + sum(u)",
    "where(u > 0, u, -u) + softmax(u) ; logsumexp(u) - s",
    "u[:, None]*u + trace(k) + diag(u)",
    "reshape(p, (8, 15)).sum(axis=0) + s ; reshape(w, (10, 10)).T[2] * s",
    "exp(s)*u + sqrt(abs(s)) - norm(u)",
    "(z*z).imag + z.real + sum(u)",
    "assert(u, s < 100, message='s is large', error='value')*2 + sum(u)",
    "assert(u, s < -100, message='s is \"large\"', error='index')*2 + sum(u)",
    "grad(sum(exp(k @ u)*u) + logsumexp(w), u) ; grad(sum(exp(k @ u)*u), k)",
    "grad(sum(gammaln(abs(w) + 1)*2 + softplus(w)), w)",
    "hvp(sum(exp(k @ u)*u), u, u) + sum(u)",
    "sum(m, axis=0) ; sum(m*m, axis=1) ; mean(m) + sum(m > 1)",
    "max(m, axis=0) - min(m, axis=1)[:3] ; prod(m, axis=0) ; mean(m, axis=0)",
    "sum(n, axis=0) ; max(n, axis=1) ; mean(n, axis=0) ; sum(n)",
    "n.max(axis=0)*2 ; n.min() ; n.prod(axis=1) ; n.mean(axis=1)",
    "m @ u ; c @ m ; sum((m @ u - c)**2)",
    "m.T @ c ; m.T @ m + k",
    "sum(c[None, :], axis=1)*s ; sum(c[:, None], axis=0) + m[0, :1] ; max(c[:, None, None], axis=0)",
    "n @ n[3] ; n.T @ n[:, 2] ; n[:6] @ n[1]",
    "logsumexp(m - c[:, None]*s + u, axis=1) - c",
    "softmax(m*u, axis=1).sum(axis=0)",
    "gammaln(c)*s - gammaln(m[:, 1] + s) ; erf(m/u) + c[:, None]",
    "concatenate([c[100:250:3], c[::-1], m[:, 0]]) * 2 - s ; sum(c)",
    "inc_subtensor(c[5:80:2], m[:38, 1]) + sum(c) ; set_subtensor(m[10:20], u) * s",
    "m[q % 5] * s + sum(c) ; where(c > s, c, m[:, 2]) - mean(c)",
    "grad(sum(logsumexp(m*u + s, axis=1)*c), u) ; grad(sum((m @ u - c)**2)/s, s)",
    "grad(sum(log_softmax(m*u, axis=1)[:, 1]), u) + u",
];

/// Returns the ops for small arrays in a graph.
fn small(graph: &FunctionGraph) -> Vec<SmallGraph> {
    let small = |op: &dyn precast_graph::Op| {
        let any: &dyn Any = op;
        any.downcast_ref::<SmallGraph>().cloned()
    };
    graph.applies().iter().filter_map(|apply| small(&*apply.op)).collect()
}

fn calls(lowered: FunctionGraph) -> Vec<Call> {
    let lowered = Arc::new(lowered);
    let layouts = [Layout::C, Layout::ReversedStrided, Layout::Fortran];
    let all = layouts.iter().flat_map(|layout| [(*layout, false), (*layout, true)]);
    all.map(|(layout, special)| {
        let inputs = inputs(special).into_iter().map(|value| (value, layout)).collect();
        Call { graph: Arc::clone(&lowered), inputs, output: None, stretched: false }
    })
    .collect()
}

#[test]
fn small_graphs_equal_perform() {
    let mut all = Vec::new();
    for text in SMALL {
        let lowered = rewrite::lower(&graph(text)).unwrap();
        assert_eq!(small(&lowered).len(), 1, "{text}: {lowered}");
        all.extend(calls(lowered));
    }
    agree::check_at(&compiler::levels(), "gnu11", &all);
}

/// Expressions with operands of unknown extents, or with ops that have no C for known ones.
#[test]
fn mixed_graphs_equal_perform() {
    let mut all = Vec::new();
    for (text, count) in [
        ("exp(u)/sum(u) + r ; sum(r, axis=0)*u + sum(u)", 1),
        ("v = sum(r*(u/sum(u)), axis=0); w2 = v*v/sum(v); w2/sum(w2)", 2),
        ("sum(outer(w, w)) + sum(u*u)/s ; exp(u)/sum(u)", 1),
    ] {
        let lowered = rewrite::lower(&graph(text)).unwrap();
        assert_eq!(small(&lowered).len(), count, "{text}: {lowered}");
        all.extend(calls(lowered));
    }
    agree::check_at(&compiler::levels(), "gnu11", &all);
}

#[test]
fn other_graphs_are_left_unchanged() {
    for text in [
        "exp(u)*2 + 1",
        "k.T",
        "u[1:]*2 - s",
        "sum(r, axis=0) + r*2",
        "sum(u.astype('f16').astype('f64'))",
        "sum(outer(w, w)*2)",
        "zeros(5000)[u[0].astype('i64')]",
    ] {
        let lowered = rewrite::lower(&graph(text)).unwrap();
        assert!(small(&lowered).is_empty(), "{text}: {lowered}");
    }
}

#[test]
fn small_graphs_survive_json() {
    let ops = Ops::standard();
    for text in SMALL {
        let lowered = rewrite::lower(&graph(text)).unwrap();
        let again = precast_graph::json::parse(&precast_graph::json::render(&lowered), &ops).unwrap();
        assert_eq!(encode::canonical(&lowered), encode::canonical(&again), "{text}");
        assert_eq!(small(&lowered), small(&again), "{text}");
    }
}

#[test]
fn wrong_facts_are_refused() {
    let ops = Ops::standard();
    let json = precast_graph::json::render(&rewrite::lower(&graph("exp(u)/sum(u) + k")).unwrap());
    assert!(json.contains("\"extents\""), "{json}");
    for to in ["[4]", "[-3]", "[4611686018427387904, 4611686018427387904]", "[]"] {
        let (before, after) = json.split_once("\"extents\"").unwrap();
        let wrong = format!("{before}\"extents\"{}", after.replacen("[3]", to, 1));
        assert!(precast_graph::json::parse(&wrong, &ops).is_err(), "{to}: {wrong}");
    }
}

#[test]
fn forms_for_all_extents_have_no_small_graphs() {
    for text in SMALL {
        for form in [Form::General, Form::Unfused] {
            let graph = form.of(&graph(text), &Passes::default()).unwrap();
            assert!(small(&graph).is_empty(), "{text}: {graph}");
        }
    }
}

#[test]
fn keys_cover_extents_and_integers_only() {
    let lowered = |text: &str| encode::canonical(&rewrite::lower(&graph(text)).unwrap());
    assert_eq!(lowered("exp(u)/sum(u) + 2.5"), lowered("exp(u)/sum(u) + 7.5"));
    assert_eq!(lowered("sum(q + 2)*q"), lowered("sum(q + 3)*q"));
    assert_ne!(lowered("exp(u)/sum(u) + 2.5"), lowered("exp(w)/sum(w) + 2.5"));
    assert_ne!(lowered("u[1:2] + sum(u[:1])"), lowered("u[2:3] + sum(u[:1])"));
}

#[test]
fn values_of_dtypes_keep_their_bits() {
    let mut all = Vec::new();
    for dtype in ["bool", "int8", "int32", "uint8", "uint64", "float16", "float32", "complex64"] {
        let text = format!("concatenate([u, w[:5]]).astype('{dtype}')[1:6][::-1] ; sum(u) > 1 ; u*2");
        all.extend(calls(rewrite::lower(&graph(&text)).unwrap()));
    }
    agree::check_at(&compiler::levels()[..1], "gnu11", &all);
}
