//! Compiles a graph into the program: an op of its own between two library ops, and a type of its own.

#[path = "ops/degrees.rs"]
mod degrees;
#[path = "ops/limit.rs"]
mod limit;

use degrees::{Degrees, Turn};
use limit::Limit;
use precast_graph::text::{parse, parse_input};
use precast_ops::Ops;
use std::error::Error;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=ops");
    let ops = Ops::standard().with("limit", Limit::from_props)?.with("turn", |_| Ok(Turn))?;
    let ops = ops.with_type("degrees", Arc::new(Degrees));
    let inputs = [parse_input("x: f64[?]")?, parse_input("a: degrees<f64[]>")?];
    let outputs = ["total = sum(limit(2 * x, high=3.0, mode=\"CLAMP\"))", "heading = turn(a, a)"];
    let graph = parse(&outputs, &inputs, &ops)?;
    precast_build::Build::new().ops(ops).graph("model", &graph).run();
    Ok(())
}
