//! The cases, each a file; and what several of them need.

mod call;
pub(crate) mod jit;
mod load;
mod overhead;
mod precompile;
mod quickstart;
mod rerun;
mod throughput;

use crate::measure::process;
use crate::report::Row;
use anyhow::{Context as _, Result};
use precast::FunctionGraph;
use precast_codegen::{Unit, link};
use precast_compile::{Compiled, Isa, Toolchain, Variant, compile};
use precast_graph::text::{parse, parse_input};
use precast_ops::{Ops, fingerprint, rewrite};
use precast_store::key::Profile;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// What a case found out.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) rows: Vec<Row>,
    /// What it could not measure, and why.
    pub(crate) skipped: Vec<String>,
}

impl From<Vec<Row>> for Found {
    fn from(rows: Vec<Row>) -> Self {
        Self { rows, skipped: Vec::new() }
    }
}

/// Measures.
type Case = fn() -> Result<Found>;

/// Every case by its name, in the order in which they run.
pub(crate) const CASES: &[(&str, Case)] = &[
    ("call", call::run),
    ("overhead", overhead::run),
    ("load", load::run),
    ("jit", jit::run),
    ("throughput", throughput::run),
    ("quickstart", quickstart::run),
    ("precompile", precompile::run),
    ("rerun", rerun::run),
];

/// The graph of an expression over inputs of one type, one for each letter.
fn graph(expression: &str, names: &str, ty: &str) -> Result<FunctionGraph> {
    let inputs =
        names.chars().map(|name| parse_input(&format!("{name}={ty}"))).collect::<Result<Vec<_>, _>>()?;
    Ok(parse(&[expression], &inputs, &Ops::standard())?)
}

/// The unit of a whole graph.
fn unit(graph: &FunctionGraph) -> Result<Unit> {
    let module = link(&rewrite::lower(graph)?, Ops::standard().c())?;
    Ok(Unit::single(Arc::new(module)))
}

/// The variant of this CPU.
fn variant(toolchain: &Toolchain) -> Result<Variant> {
    let isa = Isa::native().context("this CPU has no ISA level")?;
    Ok(Variant { target: toolchain.target().to_owned(), isa, profile: Profile::Release })
}

/// A compiled whole graph, as a builder makes it: it can be found by its fingerprint.
fn compiled(graph: &FunctionGraph) -> Result<Compiled> {
    let toolchain = Toolchain::find(None)?;
    let mut compiled = compile(&unit(graph)?, &toolchain, &variant(&toolchain)?)?;
    compiled.record.members[0].fingerprints.extend(fingerprint(&rewrite::lower(graph)?, &Ops::standard()));
    Ok(compiled)
}

/// Writes the C file of a graph with its headers, for a bare compiler.
fn write_unit(graph: &FunctionGraph, directory: &Path) -> Result<PathBuf> {
    let unit = unit(graph)?;
    for (name, content) in unit.sources() {
        let path = directory.join("include").join(name);
        fs_err::create_dir_all(path.parent().context("a header without a folder")?)?;
        fs_err::write(path, content.as_bytes())?;
    }
    let path = directory.join("unit.c");
    fs_err::write(&path, unit.text())?;
    Ok(path)
}

/// One bare run of the C compiler: `cc -O3 -shared` of one file.
fn bare_compiler(file: &Path) -> Result<()> {
    let directory = file.parent().context("a file without a folder")?;
    let isa = Isa::native().context("this CPU has no ISA level")?;
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "gcc".into()));
    cc.current_dir(directory).args(isa.flags()).args([
        "-O3",
        "-shared",
        "-fPIC",
        "-Iinclude",
        "unit.c",
        "-o",
        "bare.so",
    ]);
    process(&mut cc)
}

/// The folder of this workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder that this program was built in, as Cargo names it.
fn target() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let target =
        program.parent().and_then(Path::parent).context("a program outside of a target directory")?;
    Ok(target.to_owned())
}

/// Cargo in a folder, offline, silent, writing to `target`.
fn cargo(directory: &Path, target: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(directory).env("CARGO_TARGET_DIR", target);
    for inherited in ["PRECAST_STORE", "PRECAST_ISA", "PRECAST_LOCKED", "DOCS_RS", "RUSTFLAGS"] {
        cargo.env_remove(inherited);
    }
    cargo
}
