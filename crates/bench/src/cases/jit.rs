//! A miss to the first result, and one bare compiler run of the same C file.

use super::{Found, bare_compiler, graph, write_unit};
use crate::measure::{in_turn, process};
use crate::report::{Row, Target};
use anyhow::{Result, ensure};
use ndarray::Array1;
use precast::{Array, Policy, Runtime};
use std::process::Command;

const ROUNDS: usize = 20;

/// The argument that makes this program the child that misses.
pub(crate) const CHILD: &str = "--miss-once";

pub(crate) fn run() -> Result<Found> {
    let directory = tempfile::tempdir()?;
    let peer = "bare gcc -O3 -shared of the same C file";
    let mut rows = Vec::new();
    let graphs = [("(x+y)*z", "(x + y) * z", 60e6), ("sum(exp(-x*x)*y+z)", "sum(exp(-x*x)*y + z)", 150e6)];
    for (what, text, target_ns) in graphs {
        let file = write_unit(&graph(text, "xyz", "f64[?]")?, directory.path())?;
        let (ours, bare) = in_turn(ROUNDS, || miss(text), || bare_compiler(&file))?;
        let row = Row::new("jit", &format!("miss to first result, {what}"), &ours, peer, &bare);
        rows.push(row.target(Target::Below(target_ns)));
    }
    let file = write_unit(&graph("(x + y) * z", "xyz", "f64[?]")?, directory.path())?;
    let program = std::env::current_exe()?;
    let (ours, bare) =
        in_turn(ROUNDS, || process(Command::new(&program).arg(CHILD)), || bare_compiler(&file))?;
    rows.push(Row::new("jit", "(x+y)*z in a process of its own, start to exit", &ours, peer, &bare));
    Ok(rows.into())
}

/// A new runtime that knows nothing, a miss, a call.
fn miss(text: &str) -> Result<()> {
    let runtime = Runtime::builder().policy(Policy::Jit).build()?;
    let function = runtime.function(&graph(text, "xyz", "f64[?]")?)?;
    let x = Array1::linspace(0.0, 1.0, 100);
    let found = function.call(&[x.view().into(), x.view().into(), x.view().into()])?;
    ensure!(matches!(&found[0], Array::F64(_)), "another dtype");
    ensure!(runtime.stats().compiled == 1, "that was no miss");
    Ok(())
}

/// What the child does.
pub(crate) fn child() -> Result<()> {
    miss("(x + y) * z")
}
