//! External ops, compiled and called: sections, macros, levels, errors.
//!
//! The C files are in `c/`, written the way an author would.

mod apart;
mod errors;
mod exceptions;
mod in_place;
mod named;
mod outside;
mod params;
mod sections;
mod tutorials;
mod undeclared;
mod versions;

use precast::{Array, ArrayRef, CallError, Function, FunctionGraph, Policy, Runtime};
use precast_codegen::external::{Declaration, ExternalCOp};
use precast_graph::Op;
pub(crate) use precast_store::event::chain;
use std::sync::Arc;

/// Returns the op of a declaration.
pub(crate) fn op(declaration: Declaration) -> Arc<dyn Op> {
    Arc::new(ExternalCOp::new(declaration).unwrap())
}

/// Returns a graph of one Apply.
pub(crate) fn graph(op: &Arc<dyn Op>, inputs: &[&str]) -> FunctionGraph {
    let mut graph = FunctionGraph::new();
    let inputs: Vec<_> = inputs
        .iter()
        .enumerate()
        .map(|(i, ty)| graph.input(&format!("x{i}"), ty.parse().unwrap()).unwrap())
        .collect();
    for output in graph.apply(Arc::clone(op), &inputs).unwrap() {
        graph.output(output, None).unwrap();
    }
    graph
}

/// Compiles the function of a graph.
pub(crate) fn compiled(graph: &FunctionGraph) -> Function {
    let runtime = Runtime::builder().policy(Policy::Jit).build().unwrap();
    runtime.function(graph).unwrap()
}

/// Returns the error of a graph that cannot be compiled, with all its causes.
pub(crate) fn refused(graph: &FunctionGraph) -> String {
    let runtime = Runtime::builder().policy(Policy::Jit).build().unwrap();
    let error = runtime.function(graph).expect_err("it should be refused");
    chain(&error)
}

pub(crate) fn call(function: &Function, inputs: &[Array]) -> Result<Vec<Array>, CallError> {
    let inputs: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
    function.call(&inputs)
}

/// Returns a vector of f64.
pub(crate) fn vector(values: &[f64]) -> Array {
    Array::from(ndarray::Array1::from(values.to_vec()).into_dyn())
}
