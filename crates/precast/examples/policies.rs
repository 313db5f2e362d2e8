//! Shows what happens when no layer has a graph, for two policies: `policies`.
//!
//! `strict` never compiles, as in production. `interpret` computes without a compiler, slowly.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use ndarray::array;
use precast::{Array, Policy, Runtime, build::Graph};
use std::error::Error;

#[allow(dead_code, reason = "a test calls the other function")]
fn main() -> Result<(), Box<dyn Error>> {
    let (miss, sum) = both()?;
    println!("strict: {miss}\ninterpret: {sum}");
    Ok(())
}

/// Returns the error under `strict`, and the result under `interpret`.
pub(crate) fn both() -> Result<(String, f64), Box<dyn Error>> {
    let g = Graph::new();
    let x = g.input("x", "f64[?]");
    g.output("total", &(&x * &x).sum());
    let graph = g.finish()?;

    let strict = Runtime::builder().policy(Policy::Strict).build()?;
    let miss = match strict.function(&graph) {
        Ok(_) => return Err("there is no layer that could serve the graph".into()),
        Err(miss) => miss.to_string(),
    };

    let interpreter = Runtime::builder().policy(Policy::Interpret).build()?;
    let x = array![1.0, 2.0, 3.0];
    let results = interpreter.function(&graph)?.call(&[x.view().into()])?;
    let Array::F64(total) = &results[0] else { return Err("the result is not f64".into()) };
    Ok((miss, total.sum()))
}
