//! The time from a cache miss to the first result, one bare compiler run on the same C file, and one on a function that
//! does nothing: the time that no program with this compiler can go below.

use super::{Bench, bare_compiler, graph, write_unit};
use crate::measure::Runner;
use crate::report::{Found, Line, Target};
use anyhow::{Result, ensure};
use ndarray::Array1;
use precast::{Array, Policy, Runtime};

const ROUNDS: usize = 15;

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let directory = tempfile::tempdir()?;
    let nothing = directory.path().join("nothing.c");
    fs_err::write(&nothing, "void nothing(void) {}\n")?;
    let mut lines = Vec::new();
    let graphs = [("(x+y)*z", "(x + y) * z", 60e6), ("sum(exp(-x*x)*y+z)", "sum(exp(-x*x)*y + z)", 150e6)];
    for (what, text, target_ns) in graphs {
        let file = write_unit(&graph(text, "xyz", "f64[?]")?, directory.path())?;
        let runners = vec![
            Runner::new("precast", || miss(text)),
            Runner::new("bare gcc -O3 -shared of the same C file", || bare_compiler(&file)),
            Runner::new("the same of an empty function", || bare_compiler(&nothing)),
        ];
        lines.push(Line::raced(what, bench.rounds(ROUNDS), runners)?.target(Target::Below(target_ns)));
    }
    Ok(lines.into())
}

/// Creates a runtime with empty caches, misses, compiles and calls.
fn miss(text: &str) -> Result<()> {
    let runtime = Runtime::builder().policy(Policy::Jit).build()?;
    let function = runtime.function(&graph(text, "xyz", "f64[?]")?)?;
    let x = Array1::linspace(0.0, 1.0, 100);
    let found = function.call(&[x.view().into(), x.view().into(), x.view().into()])?;
    ensure!(matches!(&found[0], Array::F64(_)), "another dtype");
    ensure!(runtime.stats().compiled == 1, "that was no miss");
    Ok(())
}
