//! Calls a compiled graph of scalars as a plain function, in a loop of Newton's method: `native`.
//!
//! The type of the function is checked once. A call then costs one indirect call.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use precast::{Policy, Runtime, build::Graph};
use std::error::Error;

#[allow(dead_code, reason = "a test calls the other function")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("{:.12}", fixed_point()?);
    Ok(())
}

/// Returns the number that is its own cosine, to the last bits.
pub(crate) fn fixed_point() -> Result<f64, Box<dyn Error>> {
    let g = Graph::new();
    let x = g.input("x", "f64");
    // One step of Newton's method for cos(x) = x.
    g.output("next", &(&x + (x.cos() - &x) / (x.sin() + 1.0)));
    let graph = g.finish()?;

    let runtime = Runtime::builder().policy(Policy::Jit).build()?;
    let step = runtime.function(&graph)?.native::<fn(f64) -> f64>()?;
    Ok((0..8).fold(1.0, |x, _| step.call(x)))
}
