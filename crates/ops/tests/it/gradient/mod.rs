//! Tests of gradients against central differences.
//!
//! ```text
//! elementwise  every row with floats: its derivative, or its place in a list of rows without one
//! structural   every other op
//! custom       `custom_gradient`
//! factors      decompositions by reflections
//! shapes       operands that are broadcast, with extents that the types give or leave open
//! ```
//! Each case is an expression of the inputs; its cost is the sum of its elements with different weights.

mod control;
mod custom;
mod elementwise;
mod errors;
mod factors;
mod own;
mod random;
mod shapes;
mod structural;

use ndarray::{ArrayD, IxDyn};
use precast_graph::text::parse;
use precast_graph::{Array, FunctionGraph, Type, interpret};
use precast_ops::Ops;

/// An input: its name, type and value.
type Input = (&'static str, String, ArrayD<f64>);

/// Returns an array of numbers between 0.2 and 0.9, all different.
fn numbers(shape: &[usize], salt: usize) -> ArrayD<f64> {
    let count = shape.iter().product::<usize>();
    let one = |i: usize| 0.2 + 0.7 * (((i + 7 * salt) * 0x9e37 + salt * 0x1234) % 997) as f64 / 997.0;
    ArrayD::from_shape_vec(IxDyn(shape), (0..count).map(one).collect()).unwrap()
}

/// Returns an input of f64 with a type without known extents.
fn input(name: &'static str, value: ArrayD<f64>) -> Input {
    let open = vec!["?"; value.ndim()].join(",");
    (name, format!("f64[{open}]"), value)
}

fn graph(text: &str, inputs: &[Input]) -> FunctionGraph {
    let types: Vec<(String, Type)> =
        inputs.iter().map(|(name, ty, _)| ((*name).to_owned(), ty.parse().unwrap())).collect();
    parse(&[text], &types, &Ops::standard())
        .unwrap_or_else(|error| panic!("{text}: {}", precast_core::event::chain(&error)))
}

fn values(graph: &FunctionGraph, inputs: &[Input]) -> Vec<ArrayD<f64>> {
    let arrays: Vec<Array> = inputs
        .iter()
        .zip(graph.inputs())
        .map(|((.., value), variable)| Array::F64(value.clone()).cast(graph.ty(*variable).dtype()))
        .collect();
    let results = interpret(graph, &arrays).unwrap_or_else(|error| panic!("{graph}: {error:?}"));
    results
        .iter()
        .map(
            |result| {
                if let Array::F64(a) = result.cast(precast_graph::DType::F64) { a } else { unreachable!() }
            },
        )
        .collect()
}

/// Returns the cost of an expression, which may follow statements.
fn cost(text: &str) -> String {
    let (statements, text) = text.rsplit_once("; ").unwrap_or(("", text));
    let between = if statements.is_empty() { "" } else { "; " };
    format!(
        "{statements}{between}out = {text}; flat = ravel(out); sum(flat * cos(1.0 + arange(shape_i(flat, i=0))))"
    )
}

/// Returns the derivative of a cost by each element of an input, by central differences.
fn differences(text: &str, inputs: &[Input], position: usize) -> ArrayD<f64> {
    let graph = graph(text, inputs);
    let at = |step: f64, element: usize| {
        let mut moved = inputs.to_vec();
        moved[position].2.as_slice_mut().unwrap()[element] += step;
        values(&graph, &moved)[0].sum()
    };
    let step = 1e-4;
    // The error of this formula is of the fourth order.
    let slope =
        |i| (8.0 * (at(step, i) - at(-step, i)) - (at(2.0 * step, i) - at(-2.0 * step, i))) / (12.0 * step);
    let shape = inputs[position].2.raw_dim();
    ArrayD::from_shape_vec(shape, (0..inputs[position].2.len()).map(slope).collect()).unwrap()
}

/// Compares the gradients of an expression by these inputs, and their derivatives along a direction.
fn check_by(text: &str, inputs: &[Input], by: &[usize]) {
    let cost = cost(text);
    for position in by {
        let (name, _, value) = &inputs[*position];
        let (statements, last) = cost.rsplit_once("; ").unwrap();
        let gradient = format!("{statements}; cost = {last}; grad(cost, {name})");
        let found = values(&graph(&gradient, inputs), inputs).remove(0);
        let expected = differences(&cost, inputs, *position);
        assert_near(&found, &expected, &gradient);
        assert_eq!(found.shape(), value.shape(), "{gradient}");
    }
}

/// Compares the gradients of an expression by all inputs.
fn check(text: &str, inputs: &[Input]) {
    let is_used = |position: &usize| text.contains(inputs[*position].0);
    check_by(text, inputs, &(0..inputs.len()).filter(is_used).collect::<Vec<_>>());
}

fn assert_near(found: &ArrayD<f64>, expected: &ArrayD<f64>, text: &str) {
    assert_eq!(found.shape(), expected.shape(), "{text}");
    let size = expected.iter().fold(1.0_f64, |size, x| size.max(x.abs()));
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 2e-8 * size, "{text}\n{found}\n{expected}");
    }
}
