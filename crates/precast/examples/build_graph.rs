//! Builds a logistic model in Rust, compiles it on first use, and calls it: `build_graph`.
//!
//! A deployed program declares the graph in `precast.toml` instead, so that `build.rs` compiles it.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use ndarray::{ArrayD, array};
use precast::{Policy, Runtime, build::Graph};
use std::error::Error;

#[allow(dead_code, reason = "a test calls the other function")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("{:.6}", probabilities()?);
    Ok(())
}

/// Returns the probabilities of three rows with two features each; shape `(3)`.
pub(crate) fn probabilities() -> Result<ArrayD<f64>, Box<dyn Error>> {
    let g = Graph::new();
    let (x, w) = (g.input("x", "f64[?,2]"), g.input("w", "f64[2]"));
    g.output("p", &x.dot(&w).sigmoid());
    let graph = g.finish()?;

    let runtime = Runtime::builder().policy(Policy::Jit).build()?;
    let function = runtime.function(&graph)?;
    let x = array![[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]];
    let w = array![2.0, -1.0];
    let mut results = function.call(&[x.view().into(), w.view().into()])?;
    Ok(results.remove(0).try_into()?)
}
