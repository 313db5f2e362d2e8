//! Tests of loops and branches: against the same computation without a loop, compiled C against `perform`, and mistakes.

use crate::agree;
use crate::compiler;
use crate::machine::Call;
use ndarray::{ArrayD, IxDyn, arr0};
use precast_graph::text::parse;
use precast_graph::{Array, FunctionGraph, Op as _, Type, encode, interpret};
use precast_ops::{Body, Ops, Scan, rewrite};
use precast_testkit::layout::Layout;
use precast_testkit::ulp;
use std::sync::Arc;

/// The inputs of all expressions: a number, two vectors, a matrix, an integer, a C scalar.
const INPUTS: [(&str, &str); 6] =
    [("s", "f64[]"), ("v", "f64[?]"), ("w", "f64[?]"), ("m", "f64[?,?]"), ("n", "i64[]"), ("zz", "f64")];

fn graph(text: &str) -> FunctionGraph {
    // The C scalar is an input only where it is used, since C compilers warn about unused ones.
    let inputs = INPUTS.iter().filter(|(name, _)| *name != "zz" || text.contains("zz"));
    let inputs: Vec<(String, Type)> =
        inputs.map(|(name, ty)| ((*name).to_owned(), ty.parse().unwrap())).collect();
    parse(&[text], &inputs, &Ops::standard()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns inputs of `rows` rows and `columns` columns, and the integer `n`.
fn inputs(rows: usize, columns: usize, n: i64) -> Vec<Array> {
    let numbers = |shape: &[usize], salt: usize| {
        let one = |i: usize| ((i * 37 + salt * 11) % 23) as f64 / 8.0 - 1.25;
        let count = shape.iter().product();
        Array::F64(ArrayD::from_shape_vec(IxDyn(shape), (0..count).map(one).collect()).unwrap())
    };
    vec![
        Array::F64(arr0(0.75).into_dyn()),
        numbers(&[rows], 1),
        numbers(&[columns], 2),
        numbers(&[rows, columns], 3),
        Array::I64(arr0(n).into_dyn()),
        Array::F64(arr0(1.25).into_dyn()),
    ]
}

/// Expressions of loops and branches, and the same without.
const SAME: [(&str, &str); 28] = [
    ("scan(lambda c, x: (x, c), 0.0, f32(v))[1]", "concatenate([f32([0.0]), f32(v)])[:-1]"),
    ("scan(lambda c, x: (c + x, None), 0, f32(v))[0]", "f32(v)[:1].sum() + f32(v)[1:].sum()"),
    ("fori_loop(0, 3, lambda i, c: c * f32(s), 1.0)", "f32(s) * f32(s) * f32(s)"),
    ("cond(s > 0, lambda: f32(s), lambda: 0.0)", "f32(s)"),
    ("scan(lambda c, x: (c + assert(x, x * x >= 0, message='m'), c), 0.0, v)[1]", "cumsum(v) - v"),
    ("scan(lambda c, x: (c + x, c\n + x)\n , 0.0, v)[1]", "cumsum(v)"),
    ("fori_loop(3, n, lambda i, c: c + i, 0.0)", "0.0 * s"),
    ("fori_loop(n - 4, n, lambda i, (a, b): (a + i, b), (0, w))[0]", "4 * n - 10"),
    ("scan(lambda c, x: (c + x, c + x, c + x > 100), 0.0, v, until=True)[1]", "cumsum(v)"),
    ("scan(lambda c, _: (c + 1, c, c >= 2), 0, None, 9, until=True)[1] + s", "array([0, 1, 2]) + s"),
    ("scan(lambda c, x: (c + x, c + x), 0.0, v)[1]", "cumsum(v)"),
    ("scan(lambda c, x: (c * x, None), 1.0, v)[0]", "prod(v)"),
    ("scan(lambda c, x: (c + x, c + x), 0, v, reverse=True)[1][::-1]", "cumsum(v[::-1])"),
    ("scan(lambda c, x: (c + x, c + x), zeros(w.shape), m)[1]", "cumsum(m, axis=0)"),
    ("scan(lambda c, x: (maximum(c, x), x * 2), w, m)[0]", "maximum(w, m.max(axis=0))"),
    ("scan(lambda c, x: (c, x * 2 + w), s, m)[1]", "m * 2 + w"),
    ("scan(lambda c, x: (c, x[0] @ x[1]), s, stack([m, m + 1], axis=1))[1]", "(m * (m + 1)).sum(axis=1)"),
    ("scan(lambda c, (a, b): (c, a * b), None, (v, v + 1))[1]", "v * (v + 1)"),
    ("scan(lambda c, _: (c * s, c), 1.0, length=4)[1]", "s ** array([0.0, 1.0, 2.0, 3.0])"),
    (
        "def step((a, b), x): c = a + x; return ((b, c), c * b)\nscan(step, (s, 1.0), array([1.0, 2.0]))[1]",
        "array([s + 1.0, 3.0 * (s + 1.0)])",
    ),
    (
        "scan(lambda c, x: (c, scan(lambda d, y: (d + y, None), 0.0, x)[0]), s, m)[1]",
        "cumsum(m, axis=1)[:, -1]",
    ),
    ("while_loop(lambda c: c < 100, lambda c: c * 3, 1.0)", "243.0 + 0 * s"),
    ("while_loop(lambda (i, c): i < n, lambda (i, c): (i + 1, c + w), (0, w))[1]", "w * (1.0 + n)"),
    ("fori_loop(2, n + 2, lambda i, c: c + i, 0.0)", "(n * (n + 3)) / 2.0"),
    ("cond(s > 0, lambda: w * 2, lambda: w * 3)", "w * 2"),
    ("cond(n, lambda x: x + 1, lambda x: (x * 2), w)", "where(n != 0, w + 1, w * 2)"),
    (
        "branch(n, [lambda x: x, lambda x: x * x, lambda x: -x], w)",
        "where(n <= 0, w, where(n == 1, w * w, -w))",
    ),
    ("f = lambda x: cond(x.sum() > 1000, lambda: x, lambda: x * 2)\nf(f(w))", "w * 4"),
];

#[test]
fn loops_equal_the_computation_without_them() {
    for (text, same) in SAME {
        let (found, expected) = (graph(text), graph(same));
        for values in [inputs(3, 2, 2), inputs(1, 4, 0), inputs(5, 1, 1)] {
            let found = interpret(&found, &values[..5]).unwrap_or_else(|error| panic!("{text}: {error:?}"));
            let expected = interpret(&expected, &values[..5]).unwrap();
            assert_eq!(found[0].shape(), expected[0].shape(), "{text}");
            ulp::assert_ulp(
                &found[0].cast(precast_graph::DType::F64),
                &expected[0].cast(precast_graph::DType::F64),
                8,
                &text,
            );
        }
    }
}

/// Further expressions, whose C is compared with `perform`.
const MORE: [&str; 27] = [
    "scan(lambda c, x: (c * zz + x, zz * zz), s, v)[1]",
    "scan(lambda c, x: (c * zz + x, zz * zz), w, m)[0]",
    "cond(zz > 1, lambda: w * zz, lambda: w)",
    "scan(lambda c, x: (c * x, None), zz, v)[0]",
    "scan(lambda c, x: (c * 2 + x, x), set_subtensor(zeros((5, 3))[:1], s)[0], zeros((4, 3)) + s)[1]",
    "scan(lambda c, x: (c + x, (c, x > 0, c.astype('i32'))), s, v)[1][1]",
    "scan(lambda c, x: (c + x, (c, x > 0, c.astype('i32'))), s, v)[1][2]",
    "scan(lambda c, x: (sin(c) * x, exp(c)), s, v)[1]",
    "scan(lambda c, x: (c.astype('f16') + 1, x.astype('f16')), s.astype('f16'), v)[1]",
    "scan(lambda c, x: (cumsum(sort(c)) * 0.5 + x, c), w, m)[1]",
    "scan(lambda c, x: (c[::-1] + x, c.sum()), w, m, reverse=True)[1]",
    "scan(lambda (c, d), x: ((d, c), c - d), (w, w + 1), m)[1]",
    "scan(lambda c, x: (concatenate([c, x[:1]]), c.sum()), w, m)[0]",
    "scan(lambda c, x: (c, x), s, m.T, reverse=True)[1]",
    "scan(lambda c, x: (c, c), w, v)[1]",
    "scan(lambda c, x: (c, w), s, v)[1]",
    "scan(lambda c, x: (x, x), w, m)[1]",
    "scan(lambda c, x: (c, zeros((0, 2))), s, v)[1]",
    "scan(lambda c, x: (c, m * x), s, v)[1]",
    "scan(lambda c, x: (c, sort(x)), s, m[:, ::-1])[1]",
    "scan(lambda c, x: (c, x), s, v[::2])[1]",
    "scan(lambda c, x: (c, None), m, v)[0]",
    "fori_loop(0, n, lambda i, c: set_subtensor(c[i % 1], i), w)",
    "while_loop(lambda c: (c.sum() < 50) & (c.size > 0), lambda c: abs(c) * 2 + 1, m)",
    "while_loop(lambda (i, c): (i < 100) & (c < 50), lambda (i, c): (i + 1, c * c + 1), (0, s))[0]",
    "scan(lambda c, x: (cond(x > 0, lambda: c + x, lambda: c), None), s, v)[0]",
    "cond(n > 1, lambda: scan(lambda c, x: (c + x, c), s, v)[1], lambda: v)",
];

/// Returns a call of an expression's lowered graph.
fn call(graph: &Arc<FunctionGraph>, values: &[Array], layout: Layout) -> Call {
    let inputs = values[..graph.inputs().len()].iter().map(|value| (value.clone(), layout)).collect();
    Call { graph: Arc::clone(graph), inputs, output: None, stretched: false }
}

#[test]
fn compiled_loops_equal_perform() {
    let texts = SAME.iter().map(|(text, _)| *text).chain(MORE);
    let mut calls = Vec::new();
    for text in texts {
        let lowered = Arc::new(rewrite::lower(&graph(text)).unwrap());
        for values in [inputs(3, 2, 2), inputs(40, 3, 0), inputs(1, 1, 3), inputs(0, 2, 1), inputs(4, 0, 1)] {
            calls.extend([Layout::C, Layout::Reversed].map(|layout| call(&lowered, &values, layout)));
        }
    }
    agree::check_at(&compiler::levels(), "gnu11", &calls);
}

#[test]
fn loops_without_steps_call_nothing_if_shapes_are_known() {
    let rows = Array::zeros(precast_graph::DType::F64, &[0, 2, 2]);
    let text = "scan(lambda c, r: (c, cholesky(r)), 0.0, x)[1]";
    for (ty, is_known) in [("f64[?,2,2]", true), ("f64[?,?,?]", false)] {
        let graph =
            parse(&[text], &[("x".to_owned(), ty.parse::<Type>().unwrap())], &Ops::standard()).unwrap();
        let graph = Arc::new(graph);
        let found = interpret(&graph, std::slice::from_ref(&rows));
        if is_known {
            assert_eq!(found.unwrap()[0].shape(), [0, 2, 2]);
            let lowered = Arc::new(rewrite::lower(&graph).unwrap());
            agree::check("gnu11", &[call(&lowered, std::slice::from_ref(&rows), Layout::C)]);
        } else {
            let said = chain(&found.unwrap_err());
            assert!(said.contains("without steps") && said.contains("hint: declare the extents"), "{said}");
        }
    }
}

#[test]
fn rows_that_fit_no_memory_are_refused() {
    let text = "scan(lambda c, _: (c, c), s, length=2**60)[1]";
    let error = chain(&interpret(&graph(text), &inputs(1, 1, 1)[..5]).unwrap_err());
    assert!(error.contains("there is no memory for it"), "{error}");
}

#[test]
fn failing_steps_are_named() {
    let text = "scan(lambda c, x: (c, cholesky(m * x)), s, v)[1]";
    let mut values = inputs(3, 3, 1);
    values[1] = Array::F64(ndarray::arr1(&[1.0, -1.0, 1.0]).into_dyn());
    values[3] = Array::F64(ndarray::Array2::eye(3).into_dyn());
    let error = interpret(&graph(text), &values[..5]).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.ends_with("(step 1)"), "{source}");
    let lowered = Arc::new(rewrite::lower(&graph(text)).unwrap());
    let outcome =
        crate::machine::run(compiler::levels()[0], "gnu11", &[call(&lowered, &values, Layout::C)]).remove(0);
    let found = outcome.unwrap_err();
    assert!(found.ends_with("(step 1)"), "{found}");
}

#[test]
fn mistakes_are_refused() {
    let inputs: Vec<(String, Type)> =
        INPUTS.iter().map(|(name, ty)| ((*name).to_owned(), ty.parse().unwrap())).collect();
    for (text, expected) in [
        ("scan(lambda c: c, s, v)", "takes 1 input(s), found 2"),
        ("scan(lambda c, x: c, s, v)", "expected a pair"),
        ("scan(lambda c, x: (c, x, x), s, v)", "a tuple of 3"),
        ("scan(lambda c, x: ((c, c), x), s, v)", "as carry"),
        ("scan(lambda c, x: (c, x), s, v, until=True)", "expected three results"),
        ("scan(lambda c, x: (c, x, x > 0), s, v)", "a tuple of 3"),
        ("scan(lambda c, x: (c, x, x), s, v, until=True)", "`stop` as `f64[]`, expected `bool[]`"),
        ("scan(lambda c, x: (c + w, x), s, v)", "for carry 0"),
        ("scan(lambda c, x: (c * 0.5, x), n, v)", "for carry 0"),
        ("scan(lambda c, x: (c, x), s, s)", "at least one dimension"),
        ("scan(lambda c, x: (c, x), s)", "the number of steps is unknown"),
        ("scan(s, s, v)", "expected a function"),
        ("scan(lambda c, x: (c, q), s, v)", "unknown name `q`"),
        ("while_loop(lambda c: c, lambda c: c, s)", "expected `bool[]`"),
        ("while_loop(lambda c: v > 0, lambda c: c, s)", "expected `bool[]`"),
        ("cond(v > 0, lambda: s, lambda: s)", "expected `bool[]`"),
        ("cond(n, lambda: s, lambda: v)", "`if_false` returns `f64[?]`, `if_true` returns `f64[]`"),
        ("cond(n, lambda: v, lambda: 0.0)", "hint: cast or reshape"),
        ("cond(n, lambda: s, lambda: (s, s))", "`if_true` returns a value, `if_false` returns a tuple of 2"),
        ("branch(n, [lambda: s, lambda: v])", "function 1 returns `f64[?]`"),
        ("while_loop(lambda c: (c < 3, 1), lambda c: c, s)", "the condition returns 2 values"),
        ("vjp(array([s, s]), s, array([s, s, s]))", "expected the shape"),
        ("branch(n, [s])", "a list of functions"),
        ("f = lambda x, x: x; f(s, s)", "duplicate name `x`"),
        ("f = lambda x: x; f(s, s)", "takes 1 input(s), found 2"),
        ("f = lambda x: x; f(x=s)", "by position"),
        ("f = lambda x: x; s", "unused statement"),
        ("f = lambda x: x; f", "neither an array nor a number"),
        ("def f(x): y = x; return s\nf(s)", "unused statement"),
        ("def f(x): y = x", "expected `return`"),
        ("lambda", "expected"),
    ] {
        let error = match parse(&[text], &inputs, &Ops::standard()) {
            Ok(graph) => panic!("{text}: {graph}"),
            Err(error) => chain(&error),
        };
        assert!(error.contains(expected), "{text}\n{error}");
    }
}

/// Returns the messages of an error and its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text = format!("{text}\n{source}");
        next = source.source();
    }
    text
}

#[test]
fn calls_of_functions_are_limited() {
    let mut text = "f0 = lambda x: x + x".to_owned();
    for i in 1..20 {
        text += &format!("; f{i} = lambda x: f{0}(f{0}(x))", i - 1);
    }
    text += "; f19(1.0)";
    let inputs: [(String, Type); 0] = [];
    let error = parse(&[&text], &inputs, &Ops::standard()).unwrap_err();
    assert!(chain(&error).contains("at most 100000"), "{}", chain(&error));
    let mut text = "f0 = lambda x: x".to_owned();
    for i in 1..400 {
        text += &format!("; f{i} = lambda x: f{}(x)", i - 1);
    }
    text += "; f399(1.0)";
    let error = parse(&[&text], &inputs, &Ops::standard()).unwrap_err();
    assert!(chain(&error).contains("levels of nesting"), "{}", chain(&error));
}

#[test]
fn loops_with_other_constants_share_a_module() {
    let key = |text: &str| {
        let lowered = rewrite::lower(&graph(text)).unwrap();
        precast_codegen::link(&lowered, Ops::standard().c()).unwrap().key()
    };
    let text = "scan(lambda c, x: (c * 2.0 + x, c + w), w, m)[1]";
    assert_eq!(key(text), key(&text.replace("2.0", "3.0")));
    assert_ne!(key(text), key(&text.replace('*', "-")));
    assert_ne!(key(text), key(&text.replace("m)", "m, reverse=True)")));
}

#[test]
fn graphs_with_loops_survive_json() {
    let ops = Ops::standard();
    for (text, _) in SAME {
        let graph = graph(text);
        let again = precast_graph::json::parse(&precast_graph::json::render(&graph), &ops).unwrap();
        assert_eq!(encode::canonical(&graph), encode::canonical(&again), "{text}");
    }
}

#[test]
fn loops_and_their_gradients_are_one_loop() {
    let text = "cost = scan(lambda c, x: (sin(c) * x, None), s, v)[0]; cost + grad(cost, s)";
    let lowered = rewrite::lower(&graph(text)).unwrap();
    let scans = lowered.applies().iter().filter(|apply| apply.op.name() == "scan").count();
    assert_eq!(scans, 2, "{lowered}");
}

#[test]
fn loops_over_constants_run_when_they_are_called() {
    for text in
        ["while_loop(lambda c: c > 0, lambda c: c + 1, 1)", "fori_loop(0, 10**15, lambda i, c: c + i, 0)"]
    {
        let lowered = rewrite::lower(&graph(text)).unwrap();
        assert!(lowered.applies().iter().any(|apply| apply.op.name() == "scan"), "{lowered}");
    }
}

#[test]
fn lists_and_loops_are_limited() {
    for (text, expected) in [
        ("a = ((0,) * 10000,) * 9999; b = a[0]; b[0] + 1", "requires an array"),
        ("f = lambda t: (t, t); g = lambda t: f(f(f(f(f(f(t)))))); h = g(g(g(1.0))); h[0]", "at most 100000"),
        (&format!("c = 1.0{}", nested(25)), "nested more than 20 deep"),
    ] {
        let error = parse(&[text], &[] as &[(String, Type)], &Ops::standard()).unwrap_err();
        assert!(chain(&error).contains(expected), "{text}: {}", chain(&error));
    }
    assert!(parse(&[&format!("c = 1.0{}", nested(20))], &[] as &[(String, Type)], &Ops::standard()).is_ok());
}

/// Returns a statement of loops in loops.
fn nested(depth: usize) -> String {
    let loops: String = (0..depth).map(|i| format!("fori_loop(0, 2, lambda i{i}, c{i}: ")).collect();
    let ends: String =
        (0..depth).rev().map(|i| if i == 0 { ", c)".to_owned() } else { format!(", c{})", i - 1) }).collect();
    format!("; {loops}c{} * 0.5{ends}", depth - 1)
}

#[test]
fn ops_refuse_carries_that_lose_an_extent() {
    let types = |ty: &str| vec![("carry".to_owned(), ty.parse::<Type>().unwrap())];
    let accepts = |ty: &str| {
        let graph = parse(&["carry[carry > carry]"], &types(ty), &Ops::standard()).unwrap();
        let (body, steps) = (Body::new(&graph).unwrap(), Type::tensor(precast_graph::DType::I64, 0));
        let scan = Scan::new(body, 1, 0, false, false);
        scan.make_node(&[steps, ty.parse().unwrap()]).is_ok()
    };
    assert!(accepts("f64[?]") && !accepts("f64[3]"));
}
