//! Tests of named extents and declared results: every way of calling checks them, and reports both extents.

use ndarray::{Array1, Array2, ArrayD, ArrayViewMut1, IxDyn};
use precast_graph::text::{parse, parse_input};
use precast_graph::{FunctionGraph, json};
use precast_runtime::{Array, ArrayMut, ArrayRef, CallError, Function, Ops, Policy, Runtime};

fn graph(outputs: &[&str], inputs: &[&str]) -> FunctionGraph {
    let inputs: Vec<_> = inputs.iter().map(|input| parse_input(input).unwrap()).collect();
    parse(outputs, &inputs, &Ops::standard()).unwrap()
}

/// Returns arrays of 0.5.
fn filled(shapes: &[&[usize]]) -> Vec<Array> {
    shapes.iter().map(|shape| ArrayD::from_elem(IxDyn(shape), 0.5).into()).collect()
}

/// Calls a function in every way. All must agree on success, and on the message of the error.
fn outcome(function: &Function, inputs: &[Array]) -> Result<Vec<Array>, String> {
    let inputs: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
    let fresh = function.call(&inputs).map_err(|error| error.to_string());
    let like = |result: &Array| Array::from(ArrayD::<f64>::zeros(IxDyn(result.shape())));
    let rooms: Vec<Array> = match &fresh {
        Ok(results) => results.iter().map(like).collect(),
        Err(_) => {
            function.outputs().iter().map(|port| filled(&[&vec![4; port.ty.ndim()]])[0].clone()).collect()
        }
    };
    let mut into = rooms.clone();
    let written = function.call_into(&inputs, &mut into).map_err(|error| error.to_string());
    assert_eq!(written.map(|()| into), fresh, "call_into");
    let mut views = rooms;
    let mut targets: Vec<ArrayMut<'_>> = views.iter_mut().map(ArrayMut::from).collect();
    let written = function.call_views(&inputs, &mut targets).map_err(|error| error.to_string());
    drop(targets);
    if fresh.is_ok() || !fresh.as_ref().is_err_and(|message| message.starts_with("output")) {
        assert_eq!(written.map(|()| views), fresh, "call_views");
    }
    fresh
}

type Shapes = &'static [&'static [usize]];

/// The texts, the inputs, shapes that are accepted, and shapes that are rejected with a message.
type Case =
    (&'static [&'static str], &'static [&'static str], &'static [Shapes], &'static [(Shapes, &'static str)]);

const CASES: [Case; 8] = [
    // One map: its operands have a common shape anyway.
    (
        &["x + y"],
        &["x: f64[n]", "y: f64[n]"],
        &[&[&[4], &[4]], &[&[0], &[0]], &[&[1], &[1]]],
        &[
            (&[&[4], &[5]], "input `y` has extent 5 on axis 0, but `n` is 4 (axis 0 of input `x`)"),
            (&[&[4], &[1]], "input `y` has extent 1 on axis 0, but `n` is 4 (axis 0 of input `x`)"),
            (&[&[1], &[4]], "input `y` has extent 4 on axis 0, but `n` is 1 (axis 0 of input `x`)"),
            (&[&[0], &[1]], "input `y` has extent 1 on axis 0, but `n` is 0 (axis 0 of input `x`)"),
        ],
    ),
    // Other names broadcast.
    (&["x + y"], &["x: f64[n]", "y: f64[m]"], &[&[&[4], &[1]], &[&[4], &[4]]], &[]),
    // A square array.
    (
        &["x * 2"],
        &["x: f64[n, n]"],
        &[&[&[3, 3]], &[&[0, 0]]],
        &[
            (&[&[3, 4]], "input `x` has extent 4 on axis 1, but `n` is 3 (axis 0 of input `x`)"),
            (&[&[0, 4]], "input `x` has extent 4 on axis 1, but `n` is 0 (axis 0 of input `x`)"),
        ],
    ),
    // Axes in another order: every valid array is square.
    (
        &["x + y"],
        &["x: f64[n, k]", "y: f64[k, n]"],
        &[&[&[3, 3], &[3, 3]]],
        &[(&[&[3, 2], &[3, 2]], "input `y` has extent 3 on axis 0, but `k` is 2 (axis 1 of input `x`)")],
    ),
    // A product and a sum, in a frame.
    (
        &["x @ w + y", "sum(y)"],
        &["x: f64[n, k]", "y: f64[n]", "w: f64[k]"],
        &[&[&[4, 2], &[4], &[2]], &[&[0, 2], &[0], &[2]]],
        &[
            (&[&[4, 2], &[5], &[2]], "input `y` has extent 5 on axis 0, but `n` is 4 (axis 0 of input `x`)"),
            (&[&[4, 2], &[4], &[3]], "input `w` has extent 3 on axis 0, but `k` is 2 (axis 1 of input `x`)"),
        ],
    ),
    // An input that no module reads.
    (
        &["sum(x)"],
        &["x: f64[n]", "unread: f64[n, 3]"],
        &[&[&[4], &[4, 3]]],
        &[(&[&[4], &[5, 3]], "input `unread` has extent 5 on axis 0, but `n` is 4 (axis 0 of input `x`)")],
    ),
    // Declared results.
    (
        &["out: f64[n] = x[1:] * 2"],
        &["x: f64[?]", "y: f64[n]"],
        &[&[&[4], &[3]], &[&[1], &[0]]],
        &[(&[&[4], &[4]], "output `out` has extent 3 on axis 0, but `n` is 4 (axis 0 of input `y`)")],
    ),
    (
        &["a: f64[m, 2] = x * 2", "b: f64[m] = sum(y, axis=1)"],
        &["x: f64[?,?]", "y: f64[?,?]"],
        &[&[&[4, 2], &[4, 7]]],
        &[
            (&[&[4, 3], &[4, 7]], "output `a` is `f64[4,3]`, expected `f64[m,2]`"),
            (&[&[4, 2], &[5, 7]], "output `b` has extent 5 on axis 0, but `m` is 4 (axis 0 of output `a`)"),
        ],
    ),
];

#[test]
fn every_way_of_calling_checks_extents() {
    for policy in [Policy::Jit, Policy::Interpret] {
        let runtime = Runtime::builder().policy(policy).build().unwrap();
        for (outputs, inputs, accepted, rejected) in CASES {
            let graph = graph(outputs, inputs);
            let function = runtime.function(&graph).unwrap();
            let reread = json::parse(&json::render(&graph), &Ops::standard()).unwrap();
            assert_eq!(reread.interface(), graph.interface());
            for shapes in accepted {
                let results = outcome(&function, &filled(shapes)).unwrap();
                let expected = precast_graph::interpret(&graph, &filled(shapes)).unwrap();
                assert_eq!(results, expected, "{outputs:?} {shapes:?}");
            }
            for (shapes, message) in rejected {
                let found = outcome(&function, &filled(shapes)).unwrap_err();
                assert!(found.starts_with(message), "{policy}, {outputs:?} {shapes:?}: {found}");
            }
        }
    }
}

#[test]
fn names_of_extents_keep_the_direct_path() {
    let runtime = Runtime::builder().policy(Policy::Jit).build().unwrap();
    let is_direct = |outputs: &[&str], inputs: &[&str]| {
        let function = runtime.function(&graph(outputs, inputs)).unwrap();
        function.direct().is_some()
    };
    assert!(is_direct(&["out: f64[n] = x + y"], &["x: f64[n]", "y: f64[n]"]));
    assert!(is_direct(&["sum(x * y)"], &["x: f64[n, k]", "y: f64[n, k]"]));
    assert!(is_direct(&["x + y"], &["x: f64[n, n]", "y: f64[?, n]"]));
    assert!(!is_direct(&["x + y"], &["x: f64[n]", "y: f64[m]", "z: f64[n]"]));
}

#[test]
fn typed_calls_check_extents() {
    let runtime = Runtime::builder().policy(Policy::Jit).build().unwrap();
    let function = runtime.function(&graph(&["x + y"], &["x: f64[n]", "y: f64[n]"])).unwrap();
    let typed = function.typed::<(Array1<f64>, Array1<f64>), Array1<f64>>().unwrap();
    let (four, one) = (Array1::from_elem(4, 0.5), Array1::from_elem(1, 0.5));
    assert_eq!(typed.call((four.view(), four.view())).unwrap(), Array1::from_elem(4, 1.0));
    let mut out = four.clone();
    for error in [
        typed.call((four.view(), one.view())).unwrap_err(),
        typed.call_into((four.view(), one.view()), &mut out).unwrap_err(),
    ] {
        assert!(error.to_string().contains("but `n` is 4"), "{error}");
    }
    let misfit = typed.call_views((four.view(), four.view()), ArrayViewMut1::from(&mut [0.0; 3]));
    assert!(matches!(misfit, Err(CallError::Output { .. })), "{misfit:?}");
    let square = runtime.function(&graph(&["x + 1"], &["x: f64[n, n]"])).unwrap();
    let square = square.typed::<(Array2<f64>,), Array2<f64>>().unwrap();
    assert!(square.call((Array2::zeros((2, 2)).view(),)).is_ok());
    let error = square.call((Array2::zeros((2, 3)).view(),)).unwrap_err();
    assert!(error.to_string().contains("input `x` has extent 3 on axis 1"), "{error}");
}

#[test]
fn typed_results_are_written_to_slices_and_elements() {
    let runtime = Runtime::builder().policy(Policy::Jit).build().unwrap();
    let function = runtime.function(&graph(&["sum(x)", "x * 2"], &["x: f64[?]"])).unwrap();
    let typed = function.typed::<(Array1<f64>,), (f64, Array1<f64>)>().unwrap();
    let x = Array1::from(vec![1.0, 2.0]);
    let (mut sum, mut rest) = (0.0, [0.5; 4]);
    typed.call_views((x.view(),), (&mut sum, ArrayViewMut1::from(&mut rest[1..3]))).unwrap();
    assert_eq!((sum, rest), (3.0, [0.5, 2.0, 4.0, 0.5]));
    let mut reversed = ArrayViewMut1::from(&mut rest[..2]);
    reversed.invert_axis(ndarray::Axis(0));
    typed.call_views((x.view(),), (&mut sum, reversed)).unwrap();
    assert_eq!(rest, [4.0, 2.0, 4.0, 0.5]);
}

#[test]
fn modules_do_not_depend_on_names_of_extents() {
    let store = tempfile::tempdir().unwrap();
    let runtime = Runtime::builder().policy(Policy::Jit).writable(store.path()).build().unwrap();
    let plain = graph(&["out = exp(x) * y + w"], &["x: f64[?]", "y: f64[?]", "w: f64[?]"]);
    runtime.function(&plain).unwrap();
    runtime.flush();
    let strict = Runtime::builder().policy(Policy::Strict).store(store.path()).build().unwrap();
    let named = graph(&["out: f64[n] = exp(x) * y + w"], &["x: f64[n]", "y: f64[n]", "w: f64[n]"]);
    let function = strict.function(&named).unwrap();
    assert_eq!(function.inputs()[0].to_string(), "x: f64[n]");
    assert_eq!(function.outputs()[0].to_string(), "out: f64[n]");
}

#[test]
fn gradients_keep_names_of_extents() {
    let graph = graph(&["sum((x @ w - y) ** 2)"], &["x: f64[n, k]", "w: f64[k]", "y: f64[n]"]);
    let graph = precast_ops::value_and_grad(&graph, &["w"]).unwrap();
    let runtime = Runtime::builder().policy(Policy::Jit).build().unwrap();
    let function = runtime.function(&graph).unwrap();
    assert_eq!(function.outputs()[1].to_string(), "grad_w: f64[k]");
    assert!(outcome(&function, &filled(&[&[4, 2], &[2], &[4]])).is_ok());
    let error = outcome(&function, &filled(&[&[4, 2], &[2], &[3]])).unwrap_err();
    assert_eq!(error, "input `y` has extent 3 on axis 0, but `n` is 4 (axis 0 of input `x`)");
}
