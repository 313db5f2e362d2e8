//! Tests of calls: results against `perform`, reuse of outputs, errors.

use ndarray::{Array1, Array2, array, s};
use precast_graph::text::{parse, parse_input};
use precast_runtime::{Array, ArrayRef, CallError, FunctionGraph, Ops, Policy, Runtime};

/// Parses an expression over `inputs` in text form to a graph.
pub(crate) fn graph(expression: &str, inputs: &[&str]) -> FunctionGraph {
    let inputs: Vec<_> = inputs.iter().map(|input| parse_input(input).unwrap()).collect();
    parse(&[expression], &inputs, &Ops::standard()).unwrap()
}

fn jit() -> Runtime {
    Runtime::builder().policy(Policy::Jit).build().unwrap()
}

#[test]
fn readme_result_is_right() {
    let graph = graph("out = sum(exp(-x*x)*y + z)", &["x=f64[?]", "y=f64[?]", "z=f64[?]"]);
    let function = jit().function(&graph).unwrap();
    let x = Array1::linspace(-2.0, 2.0, 1001);
    let (y, z) = (x.mapv(|v| v + 0.5), x.mapv(|v| v * v));
    let got = function.call(&[x.view().into(), y.view().into(), z.view().into()]).unwrap();
    let want: f64 =
        x.iter().zip(&y).zip(&z).map(|((x, y), z): ((&f64, &f64), &f64)| (-x * x).exp() * y + z).sum();
    let Array::F64(got) = &got[0] else { panic!("f64 expected") };
    assert!((got.sum() - want).abs() < 1e-9 * want.abs(), "{got} {want}");
    let inputs: Vec<Array> = [x, y, z].into_iter().map(|a| Array::from(a.into_dyn())).collect();
    let reference = precast_graph::interpret(&graph, &inputs).unwrap();
    assert_eq!(Array::from(got.clone()).bits(), reference[0].bits());
}

#[test]
fn strided_views_are_read_in_place() {
    let function = jit().function(&graph("x*2 + y", &["x=f64[?,?]", "y=f64[?]"])).unwrap();
    let x = Array2::from_shape_fn((6, 8), |(i, j)| (10 * i + j) as f64);
    let y = array![1.0, 2.0, 3.0, 4.0];
    let view = x.slice(s![..;-2, ..;2]);
    let got = function.call(&[view.into(), y.slice(s![..;-1]).into()]).unwrap();
    let want = &view * 2.0 + y.slice(s![..;-1]);
    assert_eq!(got[0], Array::from(want.into_dyn()));
    let row = y.broadcast((6, 4)).unwrap();
    let got = function.call(&[row.into(), y.view().into()]).unwrap();
    assert_eq!(got[0], Array::from((&row * 2.0 + &y).into_dyn()));
}

#[test]
fn unfit_outputs_are_replaced() {
    let function = jit().function(&graph("x + 1.5", &["x=f64[?]"])).unwrap();
    let mut out = [Array::from(array![0.0, 0.0].into_dyn())];
    let address = |out: &Array| match out {
        Array::F64(a) => a.as_ptr(),
        _ => panic!("f64 expected"),
    };
    let before = address(&out[0]);
    function.call_into(&[array![1.0, 2.0].view().into()], &mut out).unwrap();
    assert_eq!(out[0], Array::from(array![2.5, 3.5].into_dyn()));
    assert_eq!(address(&out[0]), before);
    function.call_into(&[array![1.0, 2.0, 3.0].view().into()], &mut out).unwrap();
    assert_eq!(out[0], Array::from(array![2.5, 3.5, 4.5].into_dyn()));
}

#[test]
fn call_writes_to_caller_views() {
    let function = jit().function(&graph("x + y", &["x=f64[?]", "y=f64[?]"])).unwrap();
    let mut target = Array2::<f64>::zeros((2, 6));
    let x = array![1.0, 2.0, 3.0];
    function
        .call_views(&[x.view().into(), x.view().into()], &mut [target.slice_mut(s![1, ..;-2]).into()])
        .unwrap();
    assert_eq!(target, array![[0.0; 6], [0.0, 6.0, 0.0, 4.0, 0.0, 2.0]]);
    let misfit =
        function.call_views(&[x.view().into(), x.view().into()], &mut [target.slice_mut(s![0, ..]).into()]);
    assert_eq!(misfit.unwrap_err().to_string(), "output `out` has type `f64[6]`, expected `f64[3]`");
}

#[test]
fn wrong_arguments_are_named() {
    let function = jit().function(&graph("x + y", &["x=f64[?]", "y=f64[3]"])).unwrap();
    let (one, two) = (array![1.0, 2.0, 3.0], array![1.0, 2.0]);
    let f32s = array![1.0_f32];
    let error = |inputs: &[ArrayRef<'_>]| function.call(inputs).unwrap_err();
    assert_eq!(error(&[one.view().into()]).to_string(), "expected 2 input(s), found 1");
    let wrong = error(&[f32s.view().into(), one.view().into()]);
    assert_eq!(wrong.to_string(), "input `x` is `f32[1]`, expected `f64[?]`");
    let wrong = error(&[one.view().into(), two.view().into()]);
    assert_eq!(wrong.to_string(), "input `y` is `f64[2]`, expected `f64[3]`");
    let refused = error(&[two.view().into(), one.view().into()]);
    assert!(
        matches!(&refused, CallError::Op { .. }) && refused.to_string().contains("broadcast"),
        "{refused}"
    );
    assert!(function.call(&[one.view().into(), one.view().into()]).is_ok(), "works on after errors");
}

#[test]
fn aliased_outputs_are_copies() {
    let function = jit().function(&graph("a = transpose(x); b = a", &["x=f64[?,?]"])).unwrap();
    let x = array![[1.0, 2.0], [3.0, 4.0]];
    let got = function.call(&[x.view().into()]).unwrap();
    assert_eq!(got[0], Array::from(x.t().to_owned().into_dyn()));
}

#[test]
fn eight_threads_call_one_function() {
    let function = jit().function(&graph("sum(exp(x) * y)", &["x=f64[?]", "y=f64[?]"])).unwrap();
    let x = Array1::linspace(0.0, 1.0, 500);
    let want = function.call(&[x.view().into(), x.view().into()]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut out = [Array::from(0.0_f64)];
                for _ in 0..200 {
                    function.call_into(&[x.view().into(), x.view().into()], &mut out).unwrap();
                    assert_eq!(out[0].bits(), want[0].bits());
                }
            });
        }
    });
}

#[test]
fn dot_and_reductions_over_axes() {
    let function = jit().function(&graph(
        "mean(x @ w, axis=0) + max(x, axis=1)[0]".trim_end_matches("[0]"),
        &["x=f64[?,?]", "w=f64[?,?]"],
    ));
    let function = function.unwrap();
    let x = array![[1.0, 2.0], [3.0, 4.0]];
    let got = function.call(&[x.view().into(), x.view().into()]).unwrap();
    let dot = x.dot(&x);
    let want = dot.mean_axis(ndarray::Axis(0)).unwrap() + array![2.0, 4.0];
    assert_eq!(got[0], Array::from(want.into_dyn()));
}

#[test]
fn c_scalars_are_numbers_without_dimensions() {
    let function = jit().function(&graph("exp(x)*2 + y", &["x=f64", "y=f64"])).unwrap();
    let (x, y) = (ndarray::arr0(1.0), ndarray::arr0(0.5));
    let mut out = [Array::from(0.0)];
    for _ in 0..2 {
        function.call_into(&[x.view().into(), y.view().into()], &mut out).unwrap();
        assert_eq!(out[0], function.call(&[x.view().into(), y.view().into()]).unwrap()[0]);
        assert!(matches!(&out[0], Array::F64(a) if (a.sum() - (1.0_f64.exp() * 2.0 + 0.5)).abs() < 1e-14));
    }
    let vector = array![1.0];
    assert!(function.call(&[vector.view().into(), y.view().into()]).is_err());
}

#[test]
fn array_with_too_many_dimensions_is_rejected() {
    let function = jit().function(&graph("x + 1", &["x=f64[?]"])).unwrap();
    let many = ndarray::ArrayD::<f64>::zeros(vec![1; 40]);
    assert!(matches!(function.call(&[many.view().into()]), Err(CallError::Input { .. })));
}
