//! Tests of precast-graph with the toy library of precast-testkit. `README.md` describes the kinds of tests.

#![allow(clippy::unwrap_used, reason = "helpers of tests; a panic is the failure")]

mod contracts;
mod core;
mod encode;
mod extents;
mod json;
mod json_damage;
mod names;
mod props;
mod rules;
mod text;

use precast_graph::text::{parse, parse_input};
use precast_graph::{FunctionGraph, Props};
use precast_testkit::graphs::{Config, Function};
use precast_testkit::toy::ToyLibrary;

/// Parses texts over inputs declared as `x: f64[?], y: f64`.
fn graph(inputs: &[&str], outputs: &[&str]) -> FunctionGraph {
    let inputs: Vec<_> = inputs.iter().map(|text| parse_input(text).unwrap()).collect();
    parse(outputs, &inputs, &ToyLibrary).unwrap_or_else(|error| panic!("{error}"))
}

/// Configures random graphs over the toy library.
fn config() -> Config {
    let unary = ["exp", "neg", "invert", "minmax"].map(|name| Function::new(name, 1));
    let binary = ["add", "sub", "mul", "lt", "dot"].map(|name| Function::new(name, 2));
    let sum = Function::new("sum", 1).with(Props::new());
    let functions = unary.into_iter().chain(binary).chain([sum, Function::new("switch", 3)]);
    Config::new(functions.collect())
}
