//! Precompiling a matrix of ops, on one core, and one bare compiler run for each combination.

use super::{Found, bare_compiler, graph, variant, write_unit};
use crate::measure::{Sample, in_turn, once};
use crate::report::{Row, Target};
use anyhow::{Context as _, Result};
use precast_build::{Declared, Execution, Manifest, execute, plan};
use precast_compile::{Parallel, Toolchain};
use precast_ops::Ops;
use std::num::NonZeroUsize;
use std::path::Path;

const ROUNDS: usize = 3;

/// A matrix that grows with the list of ranks; `rerun` uses it too.
pub(super) fn manifest(ranks: &[usize]) -> String {
    const ALL: &str = r#"["f32", "f64", "i64"]"#;
    const FLOATS: &str = r#"["f32", "f64"]"#;
    let everything =
        ["add", "sub", "mul", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge", "neg", "abs"];
    let floats = ["div", "exp", "log", "sqrt", "tanh", "sigmoid", "mean"];
    let more = ["sum", "max", "switch", "transpose", "cast"];
    let everything = everything.iter().chain(&more).map(|name| (name, ALL));
    let ops = everything.chain(floats.iter().map(|name| (name, FLOATS)));
    let op = |(name, dtypes): (&&str, &str)| {
        format!("[[op]]\nname = \"{name}\"\ndtypes = {dtypes}\nndim = {ranks:?}\n")
    };
    ops.map(op).collect()
}

pub(crate) fn run() -> Result<Found> {
    let manifest = Manifest::parse(Path::new("precast.toml"), manifest(&[1, 2, 3]))?;
    let mut declared = Declared::default();
    manifest.declare(&mut declared, &Ops::standard())?;
    let plan = plan(&declared, &Ops::standard())?;
    let toolchain = Toolchain::find(None)?;
    let variants = [variant(&toolchain)?];
    let one = Parallel::Jobs(NonZeroUsize::new(1).context("one is not zero")?);
    let execution = Execution {
        store: None,
        toolchain: &toolchain,
        variants: &variants,
        parallel: one,
        progress: &|_| {},
    };
    let mut all = Sample::default();
    for _ in 0..ROUNDS {
        let (ns, executed) = once(|| execute(&plan, &execution));
        executed?;
        all.push(ns);
    }
    // The same kind of work for the peer: single ops of the matrix, each a file of its own.
    let directory = tempfile::tempdir()?;
    let mut peer = Sample::default();
    for text in ["x + y", "exp(x)", "maximum(x, y)", "sum(x)", "tanh(x)", "x < y"] {
        let file = write_unit(&graph(text, "xy", "f64[?]")?, directory.path())?;
        let (_, bare) = in_turn(ROUNDS, || Ok(()), || bare_compiler(&file))?;
        peer.push(bare.median());
    }
    let (combinations, modules) = (plan.combinations, plan.modules());
    let name = "one bare gcc -O3 -shared of a single op";
    let what = format!("precompile, one core, a combination of {combinations}");
    let each = Row::new("precompile", &what, &all.per(combinations), name, &peer).target(Target::Below(10e6));
    let what = format!("the same, a module of {modules} (ranks share modules)");
    Ok(vec![each, Row::new("precompile", &what, &all.per(modules), name, &peer)].into())
}
