//! The derivatives of external ops.

use super::{Input, input, numbers, values};
use precast_codegen::external::{Declaration, ExternalCOp};
use precast_graph::text::parse;
use precast_graph::{FunctionGraph, Type};
use precast_ops::Ops;

/// Returns a graph that calls an op with two inputs and one output.
fn graph(declaration: Declaration, text: &str, inputs: &[Input]) -> Result<FunctionGraph, String> {
    let op = ExternalCOp::new(declaration.input("f64[?]").input("f64[?]").output("f64[?]")).unwrap();
    let ops = Ops::standard().with_external(op).unwrap();
    let types: Vec<(String, Type)> =
        inputs.iter().map(|(name, ty, _)| ((*name).to_owned(), ty.parse().unwrap())).collect();
    parse(&[text], &types, &ops).map_err(|error| format!("{error:?}"))
}

fn declaration() -> Declaration {
    Declaration::new("weigh").file("weigh.c", "#section code\nOUTPUT_0 = NULL;\n")
}

#[test]
fn derivatives_are_declared_or_those_of_the_reference() {
    let inputs = [input("x", numbers(&[4], 1)), input("y", numbers(&[4], 2))];
    let reference = vec!["x0 * x0 * sin(x1)".to_owned()];
    let by_reference = Declaration { reference: reference.clone(), ..declaration() };
    let gradient = vec!["2 * g * out / x0".to_owned(), "g * x0 * x0 * cos(x1)".to_owned()];
    let declared = Declaration { reference, gradient, ..declaration() };
    for (variable, expected) in [("x", "2 * x * sin(y) * exp(-x)"), ("y", "x * x * cos(y) * exp(-x)")] {
        let text = format!("grad(sum(weigh(x, y) * exp(-stop_gradient(x))), {variable})");
        let expected = values(&super::graph(expected, &inputs), &inputs);
        for declaration in [by_reference.clone(), declared.clone()] {
            let graph = graph(declaration, &text, &inputs).unwrap();
            super::assert_near(&values(&graph, &inputs)[0], &expected[0], &text);
        }
    }
}

#[test]
fn missing_derivatives_are_refused_by_name() {
    let inputs = [input("x", numbers(&[4], 1)), input("y", numbers(&[4], 2))];
    let half = Declaration { gradient: vec!["g * x1".to_owned(), String::new()], ..declaration() };
    for (declaration, expected) in [
        (declaration(), "has no derivative"),
        (half, "`weigh` has no derivative by its input `x1`"),
        (Declaration { gradient: vec!["g *".to_owned()], ..declaration() }, "the derivative of `weigh`"),
    ] {
        let error = graph(declaration, "grad(sum(weigh(x, y)), (x, y))", &inputs).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
