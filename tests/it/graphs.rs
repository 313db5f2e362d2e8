//! Graphs from text, and random graphs over every op of the standard library.

use precast_graph::text::{parse, parse_input};
use precast_graph::{Array, FunctionGraph, OpLibrary as _, Prop, Props};
use precast_ops::Ops;
use precast_testkit::graphs::{Case, Config, Function, draw};
use precast_testkit::{Choices, arrays};

/// Returns the graph of an expression over inputs in text form.
pub(crate) fn graph(expression: &str, inputs: &[&str]) -> FunctionGraph {
    outputs(&[expression], inputs)
}

/// Returns the graph of several outputs.
pub(crate) fn outputs(texts: &[&str], inputs: &[&str]) -> FunctionGraph {
    let inputs: Vec<_> = inputs.iter().map(|input| parse_input(input).unwrap()).collect();
    parse(texts, &inputs, &Ops::standard()).unwrap_or_else(|e| panic!("{texts:?}: {e}"))
}

/// Returns the graph of an expression over vectors of f64, one for each letter of `inputs`.
pub(crate) fn vectors(expression: &str, inputs: &str) -> FunctionGraph {
    let inputs: Vec<String> = inputs.chars().map(|name| format!("{name}=f64[?]")).collect();
    graph(expression, &inputs.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns the main example graph of the design.
pub(crate) fn score() -> FunctionGraph {
    vectors("out = sum(exp(-x*x)*y + z)", "xyz")
}

/// Returns the graph of `(x + y) * z`.
pub(crate) fn product() -> FunctionGraph {
    vectors("(x + y) * z", "xyz")
}

/// Returns the graph and the inputs of a seed: at most `applies` applies over all functions.
pub(crate) fn random(seed: u64, applies: usize) -> Case {
    draw(&mut Choices::seeded(seed), &config(applies), &Ops::standard())
}

/// Returns arrays for a graph of [`vectors`].
pub(crate) fn values(count: usize, len: usize) -> Vec<Array> {
    let mut choices = Choices::seeded(7);
    (0..count).map(|_| arrays::draw_plain(&mut choices, precast_graph::DType::F64, &[len])).collect()
}

/// Configures every function of the text form, with the props that apply to arrays of up to three dimensions.
fn config(applies: usize) -> Config {
    let known = Ops::standard().names();
    let functions: Vec<Function> = known.iter().filter_map(|name| function(name)).collect();
    assert!(functions.len() > 25, "the library lost its names: {known:?}");
    Config { applies: 1..=applies, ..Config::new(functions) }
}

fn function(name: &str) -> Option<Function> {
    const BINARY: [&str; 15] = [
        "add",
        "sub",
        "mul",
        "div",
        "maximum",
        "minimum",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "logical_and",
        "logical_or",
        "dot",
    ];
    let list = |items: &[i64]| Prop::List(items.iter().map(|n| Prop::Int(*n)).collect());
    let prop = |name: &str, value: Prop| Props::from([(name.to_owned(), value)]);
    Some(match name {
        // `pow` requires literal exponents, and the bit operators require booleans here; both are called in text.
        "pow" | "where" => return None,
        _ if name.starts_with("bitwise") || name == "invert" => return None,
        "switch" => Function::new(name, 3),
        "sum" | "mean" | "max" => {
            let mut kept = prop("axis", Prop::Int(-1));
            kept.insert("keepdims".to_owned(), Prop::Bool(true));
            let axes = [prop("axis", Prop::Int(0)), prop("axis", Prop::Int(-1)), prop("axis", list(&[0, 2]))];
            axes.into_iter().chain([kept]).fold(Function::new(name, 1).with(Props::new()), Function::with)
        }
        "dimshuffle" => {
            let orders: [&[i64]; 6] = [&[-1, 0], &[0, -1], &[1, 0], &[1, -1, 0], &[2, 0, 1], &[0]];
            orders.into_iter().fold(Function::new(name, 1), |f, order| f.with(prop("order", list(order))))
        }
        "cast" => {
            let dtypes = ["bool", "i64", "f32", "f64"].map(|d| prop("dtype", Prop::Str(d.to_owned())));
            dtypes.into_iter().fold(Function::new(name, 1), Function::with)
        }
        _ if BINARY.contains(&name) => Function::new(name, 2),
        _ => Function::new(name, 1),
    })
}
