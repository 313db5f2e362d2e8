//! The benchmark cases, one per file, and their shared helpers.

mod built;
mod call;
pub(crate) mod cold;
pub(crate) mod compile;
mod deploy;
mod entries;
mod everyday;
mod farm;
mod functions;
mod jax;
mod jit;
mod linalg;
mod load;
mod loops;
mod memory;
mod mode;
mod models;
mod native;
mod operations;
mod overhead;
mod precompile;
mod python;
mod quickstart;
mod registry;
mod rerun;
mod sampling;
mod shapes;
mod sizes;
mod store;
mod suite;
mod texts;
mod throughput;

use crate::measure::process;
use crate::peers::{Environment, Peers};
use crate::report::Found;
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

/// The context that every case receives.
pub(crate) struct Bench {
    pub(crate) peers: Peers,
    /// Whether to run only two rounds of everything, and one of each Python process, as a smoke test.
    pub(crate) quick: bool,
    /// The text that a line's name must contain to be measured.
    pub(crate) line: Option<String>,
}

impl Bench {
    /// Returns the number of rounds for a case that requests `rounds`.
    fn rounds(&self, rounds: usize) -> usize {
        if self.quick { rounds.min(2) } else { rounds }
    }

    /// Returns whether the line of this name is selected.
    fn wants(&self, what: &str) -> bool {
        self.line.as_deref().is_none_or(|part| what.contains(part))
    }

    /// Returns the environment of the Python peers. Without it, `found` gets the reason why `what` is skipped.
    fn environment(&self, what: &str, found: &mut Found) -> Option<&Environment> {
        let environment = self.peers.environment.as_ref();
        environment.map_err(|why| found.skipped.push(format!("{what}: {why}"))).ok()
    }
}

/// A case: its name on the command line, its title, and the function that measures it.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) run: fn(&Bench) -> Result<Found>,
    /// Whether each line is compared with the fastest peer.
    pub(crate) is_compared: bool,
    /// Whether lines are measured one by one, so that some can be left out.
    pub(crate) has_lines: bool,
}

impl Case {
    const fn new(name: &'static str, title: &'static str, run: fn(&Bench) -> Result<Found>) -> Self {
        Self { name, title, run, is_compared: false, has_lines: false }
    }

    const fn compared(self) -> Self {
        Self { is_compared: true, ..self }
    }

    const fn by_line(self) -> Self {
        Self { has_lines: true, ..self }
    }
}

/// All cases, in the order in which they run.
pub(crate) const CASES: &[Case] = &[
    Case::new("throughput", "sum(exp(-x*x)*y+z) of f64 vectors, one thread", throughput::run),
    Case::new("everyday", "Common expressions, f64, one thread", everyday::run).compared().by_line(),
    Case::new("suite", "Programs of several ops, f64 and f32, one thread and two", suite::run)
        .compared()
        .by_line(),
    Case::new("loops", "Loops, and values with their gradients, f64, one thread", loops::run)
        .compared()
        .by_line(),
    Case::new("shapes", "Arrays with one short axis, f64, one thread", shapes::run).compared().by_line(),
    Case::new("memory", "Memory-bound expressions, one thread, results reused", memory::run).by_line(),
    Case::new(
        "functions",
        "Elementwise functions of 65536 elements over ranges, and other operations; one thread",
        functions::run,
    )
    .by_line(),
    Case::new("linalg", "Linear algebra, f64, one thread", linalg::run).by_line(),
    Case::new("call", "Calls on a few elements: precast from Rust, peers from Python", call::run),
    Case::new("native", "Graphs of C scalars called as plain C functions", native::run),
    Case::new(
        "overhead",
        "Calls of small graphs, served by different modules, results reused",
        overhead::run,
    ),
    Case::new("cold", "From the start of a process to its first result", cold::run),
    Case::new("python", "The Python package: calls, callbacks, starts", python::run),
    Case::new("jax", "A JAX program: frozen, called from JAX, and by JAX itself", jax::run),
    Case::new("models", "Log densities of PyMC models with gradients, called from Python", models::run)
        .compared()
        .by_line(),
    Case::new("mode", "Functions of PyTensor in mode PRECAST, called from Python", mode::run)
        .compared()
        .by_line(),
    Case::new(
        "sampling",
        "Sampling PyMC models, from the start of a process to the written draws",
        sampling::run,
    )
    .by_line(),
    Case::new("sizes", "Sizes of what a host of a PyMC model needs", sizes::run),
    Case::new("jit", "From a miss to the first result", jit::run),
    Case::new("compile", "From graphs of various sizes to their first results, nothing cached", compile::run)
        .by_line(),
    Case::new("load", "Resolve, verify and load one artifact", load::run),
    Case::new("entries", "A thousand entries of a bundle", entries::run),
    Case::new("store", "The store: a hit, a durable publish, verification, various sizes", store::run),
    Case::new("quickstart", "The quickstart, from start to exit of the process", quickstart::run),
    Case::new(
        "precompile",
        "Building combinations of op, dtype and rank, one core, one ISA level",
        precompile::run,
    ),
    Case::new("farm", "Compiling on a farm on this machine, one unit at a time", farm::run),
    Case::new("deploy", "Size and build time of a deployed program, without features", deploy::run),
    Case::new(
        "registry",
        "Ten million artifacts and ten thousand clients a minute, simulated",
        registry::run,
    ),
    Case::new("rerun", "cargo build of a package with many combinations", rerun::run),
];

/// Returns every expression that the cases request from Python peers.
#[cfg(test)]
pub(crate) fn asked() -> Vec<&'static str> {
    let mut names: Vec<&str> = everyday::EXPRESSIONS.iter().map(|expression| expression.name).collect();
    names.extend(suite::names());
    names.extend(loops::names());
    names.extend(shapes::names());
    names.extend(["score", "product", "add"]);
    names
}

/// Returns the peers that find their functions by a name or a text.
#[cfg(test)]
pub(crate) fn peers() -> impl Iterator<Item = crate::peers::Peer> {
    functions::PEERS.into_iter().chain(compile::PEERS).chain([texts::NUMPY, texts::SCIPY])
}

/// Returns the graph of an expression over inputs of one type, one for each letter.
fn graph(expression: &str, names: &str, ty: &str) -> Result<FunctionGraph> {
    typed(expression, &names.chars().map(|name| (name, ty.to_owned())).collect::<Vec<_>>())
}

/// Returns the graph of an expression over inputs with their types.
fn typed(expression: &str, inputs: &[(char, String)]) -> Result<FunctionGraph> {
    outputs(&[expression], inputs)
}

/// Returns the graph of several expressions over inputs with their types.
fn outputs(expressions: &[&str], inputs: &[(char, String)]) -> Result<FunctionGraph> {
    let inputs = inputs.iter().map(|(name, ty)| parse_input(&format!("{name}={ty}")));
    Ok(parse(expressions, &inputs.collect::<Result<Vec<_>, _>>()?, &Ops::standard())?)
}

/// Returns the compilation unit of a whole graph.
fn unit(graph: &FunctionGraph) -> Result<Unit> {
    let module = link(&rewrite::lower(graph)?, Ops::standard().c())?;
    Ok(Unit::single(Arc::new(module)))
}

/// Returns the variant of this CPU.
fn variant(toolchain: &Toolchain) -> Result<Variant> {
    let isa = Isa::native().context("this CPU has no ISA level")?;
    Ok(Variant { target: toolchain.target().to_owned(), isa, profile: Profile::Release })
}

/// Compiles a whole graph the way a builder does, with a fingerprint to find it by.
fn compiled(graph: &FunctionGraph) -> Result<Compiled> {
    let toolchain = Toolchain::find(None)?;
    let mut compiled = compile(&unit(graph)?, &toolchain, &variant(&toolchain)?)?;
    compiled.record.members[0].fingerprints.extend(fingerprint(&rewrite::lower(graph)?, &Ops::standard()));
    Ok(compiled)
}

/// Writes the C file of a graph and its headers, for a bare compiler.
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

/// Runs the bare C compiler, `cc -O3 -shared`, on one file.
fn bare_compiler(file: &Path) -> Result<()> {
    let directory = file.parent().context("a file without a folder")?;
    let isa = Isa::native().context("this CPU has no ISA level")?;
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "gcc".into()));
    cc.current_dir(directory)
        .args(isa.flags())
        .args(["-O3", "-shared", "-fPIC", "-Iinclude", "-o", "bare.so"])
        .arg(file);
    process(&mut cc)
}

/// Returns the directory of this workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the Cargo target directory that this program was built in.
pub(crate) fn target() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let target =
        program.parent().and_then(Path::parent).context("a program outside of a target directory")?;
    Ok(target.to_owned())
}

/// Returns a Cargo command in a directory: offline, quiet, with the given target directory.
fn cargo(directory: &Path, target: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(directory).env("CARGO_TARGET_DIR", target);
    // Hides the artifacts that earlier builds of this user have cached.
    cargo.env("PRECAST_CACHE", target.join("precast-cache"));
    for inherited in ["PRECAST_STORE", "PRECAST_ISA", "PRECAST_LOCKED", "DOCS_RS", "RUSTFLAGS"] {
        cargo.env_remove(inherited);
    }
    cargo
}
