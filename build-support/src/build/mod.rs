//! The face of this crate: what a `build.rs` says, and what is done about it.
//!
//! ```text
//! environment ─▶ declarations (builder, precast.toml, Cargo.toml, dependencies) ─▶ memo ── unchanged ─────────────┐
//!                                                                                    └▶ plan ─▶ execute ─▶ write ─┴▶ Outcome
//! ```
//! Files are written under OUT_DIR, in the store and in the user's cache only, each whole, and under OUT_DIR only once everything
//! has succeeded. Nothing uses the network.

mod environment;
mod error;
mod external;
mod functions;
mod gather;
mod index;
mod memo;
mod model;
mod print;
mod run;
mod rust;

#[cfg(test)]
mod tests;

use crate::execute::Compilation;
use external::External;
use precast_codegen::external::Declaration;
use precast_core::names::one_line;
use precast_graph::FunctionGraph;
use precast_ops::{Ops, Serve};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

pub use environment::EnvironmentError;
pub use error::BuildError;

/// A build in the making: call it from `build.rs`.
///
/// # Examples
/// ```no_run
/// precast_build::Build::new()
///     .op("add", &["f32", "f64"], &[1, 2])
///     .op("exp", &["f64"], &[1])
///     .run();
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is built before `run`"]
pub struct Build {
    ops: Ops,
    matrices: Vec<(String, Vec<String>, Vec<usize>)>,
    graphs: Vec<(String, FunctionGraph, Vec<Serve>)>,
    externals: Vec<External>,
    manifest: Option<PathBuf>,
    isa: Option<Vec<String>>,
    is_static: bool,
    is_library: bool,
}

impl Default for Build {
    fn default() -> Self {
        Self::new()
    }
}

impl Build {
    /// Starts with nothing but what `precast.toml` and the manifests say.
    pub fn new() -> Self {
        let (matrices, graphs, externals) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            ops: Ops::standard(),
            matrices,
            graphs,
            externals,
            manifest: None,
            isa: None,
            is_static: false,
            is_library: false,
        }
    }

    /// Asks for every combination of an op with these dtypes and ranks.
    pub fn op(mut self, name: &str, dtypes: &[&str], ndim: &[usize]) -> Self {
        let dtypes = dtypes.iter().map(|dtype| (*dtype).to_owned()).collect();
        self.matrices.push((name.to_owned(), dtypes, ndim.to_vec()));
        self
    }

    /// Asks for a graph, to be called by name.
    pub fn graph(mut self, name: &str, graph: &FunctionGraph) -> Self {
        self.graphs.push((name.to_owned(), graph.clone(), vec![Serve::Whole]));
        self
    }

    /// Asks for a graph, and says what is compiled for it: `&[Serve::Ops]` for a module of each op, which serves the graph
    /// and every other graph of these ops.
    pub fn graph_served(mut self, name: &str, graph: &FunctionGraph, serve: &[Serve]) -> Self {
        self.graphs.push((name.to_owned(), graph.clone(), serve.to_vec()));
        self
    }

    /// Asks for every combination of an external op with these dtypes of its letters, and with these ranks where its types leave
    /// them open: what `[[external]]` in a manifest does. It is called by its name.
    ///
    /// ```no_run
    /// use precast_build::{Build, Declaration};
    ///
    /// let c = "#section code\n/* … */\n"; // include_str!("c/twice.c")
    /// let twice = Declaration::new("twice").file("twice.c", c).input("{T}[?]").output("{T}[?]");
    /// Build::new().external(twice, &[("T", &["f32", "f64"])], &[]).run();
    /// ```
    pub fn external(mut self, declaration: Declaration, dtypes: &[(&str, &[&str])], ndim: &[usize]) -> Self {
        let texts = |list: &[&str]| list.iter().map(|item| (*item).to_owned()).collect();
        let dtypes = dtypes.iter().map(|(letter, list)| ((*letter).to_owned(), texts(list))).collect();
        self.externals.push(External { declaration, dtypes, ndim: ndim.to_vec() });
        self
    }

    /// Reads this manifest, relative to the package, in place of `precast.toml`. It has to be there. The lock file of the package is
    /// `precast.lock` as ever, which `PRECAST_LOCKED=update cargo build` writes.
    pub fn manifest(mut self, path: impl Into<PathBuf>) -> Self {
        self.manifest = Some(path.into());
        self
    }

    /// Compiles for these ISA levels, `x86-64-v3`, whatever the manifest says. `PRECAST_ISA` has the last word.
    pub fn isa(mut self, levels: &[&str]) -> Self {
        self.isa = Some(levels.iter().map(|level| (*level).to_owned()).collect());
        self
    }

    /// Links the code into the program, so that nothing is loaded when it runs: no file, no `dlopen`, no memory that becomes
    /// executable. For hosts without `/proc` and writable directories. Programs that are static themselves
    /// (`-C target-feature=+crt-static`, musl) are always built so.
    ///
    /// The bundle has records and entries then, and no code. What takes something of the system beyond the C library is an
    /// error.
    pub fn static_link(mut self) -> Self {
        self.is_static = true;
        self
    }

    /// Writes the typed functions of a library crate and compiles nothing: the program that links the library compiles what
    /// the library declares, and gives it the loader once.
    ///
    /// # Examples
    /// `build.rs` of a library that declares graphs under `[package.metadata.precast]`:
    /// ```no_run
    /// precast_build::Build::new().library().run();
    /// ```
    /// `src/lib.rs`, whose functions call `model::score(…)`:
    /// ```ignore
    /// pub mod model {
    ///     precast::include_model!();
    /// }
    /// ```
    /// The program:
    /// ```ignore
    /// library::model::use_loader(model::loader()?);
    /// ```
    pub fn library(mut self) -> Self {
        self.is_library = true;
        self
    }

    fn home(&self) -> model::Home {
        if self.is_library { model::Home::Program } else { model::Home::Embedded }
    }

    /// Takes ops from this library in place of the standard one.
    pub fn ops(mut self, ops: Ops) -> Self {
        self.ops = ops;
        self
    }

    /// Builds, tells Cargo about it, and ends the process with an error where there is one: the `main` of a `build.rs`.
    ///
    /// When the process is told to end (SIGINT, SIGTERM, SIGHUP), compilers end with it.
    pub fn run(self) {
        crate::interrupt::watch(|_| false);
        print::run(&self);
    }

    /// Builds, and gives back what [`Build::run`] prints.
    ///
    /// # Errors
    /// See [`BuildError`]. What stood under OUT_DIR before is then still there, whole.
    pub fn try_run(&self) -> Result<Outcome, BuildError> {
        run::run(self, &environment::Environment::of_cargo()?)
    }

    /// Builds for this host, outside of a build script, what the package in `package` declares, and puts under `out` what
    /// [`Build::run`] puts under OUT_DIR: how a library, which needs no build script, tests the graphs that it declares.
    ///
    /// # Errors
    /// As [`Build::try_run`].
    ///
    /// # Examples
    /// `tests/graphs.rs` of a library with `precast` and `precast-build` under `[dev-dependencies]`:
    /// ```no_run
    /// # const DIRECTORIES: [&str; 2] = ["", ""];
    /// # let [package, out] = DIRECTORIES;
    /// // let (package, out) = (env!("CARGO_MANIFEST_DIR"), env!("CARGO_TARGET_TMPDIR"));
    /// let built = precast_build::Build::new().try_run_in(package, out)?;
    /// // let exp = precast::Loader::open(built.bundle)?.entry("exp")?;
    /// # Ok::<(), precast_build::BuildError>(())
    /// ```
    pub fn try_run_in(
        &self,
        package: impl Into<PathBuf>,
        out: impl Into<PathBuf>,
    ) -> Result<Outcome, BuildError> {
        run::run(self, &environment::Environment::of_package(package.into(), out.into())?)
    }
}

/// How much there was to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Declared combinations of op, dtype and rank.
    pub combinations: usize,
    /// Distinct modules, those of graphs too, after normalisation.
    pub modules: usize,
    /// Artifacts: units times ISA levels.
    pub artifacts: usize,
}

/// What a build did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// The bundle: `OUT_DIR/precast.bundle`.
    pub bundle: PathBuf,
    /// The generated index: `OUT_DIR/precast.rs`.
    pub index: PathBuf,
    /// The generated functions: `OUT_DIR/precast_model.rs`.
    pub model: PathBuf,
    /// The library with the code of a static program: `OUT_DIR/libprecast_<package>.a`.
    pub library: Option<PathBuf>,
    /// Libraries of the system that it calls: `stdc++`.
    pub system_libraries: Vec<&'static str>,
    /// Where artifacts were published; none on docs.rs.
    pub store: Option<PathBuf>,
    /// How much there was to do.
    pub counts: Counts,
    /// How many artifacts were there already.
    pub hits: usize,
    /// How many of these readers would have missed, for something that was lost; it is put back.
    pub healed: usize,
    /// How many were compiled.
    pub compiled: usize,
    /// What was compiled, and why.
    pub compilations: Vec<Compilation>,
    /// What the user should hear of.
    pub warnings: Vec<String>,
    /// The files whose change asks for another run; all exist.
    pub inputs: Vec<PathBuf>,
    /// The variables whose change does.
    pub variables: Vec<String>,
}

impl fmt::Display for Outcome {
    /// What was done, in a line, and why each unit was compiled, for people: `cargo build -vv` shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { combinations, modules, artifacts } = self.counts;
        let (hits, compiled) = (self.hits, self.compiled);
        write!(f, "precast: {combinations} combinations, {modules} modules, {artifacts} artifacts: ")?;
        let healed = if self.healed == 0 { String::new() } else { format!(" ({} healed)", self.healed) };
        write!(f, "{hits} there already{healed}, {compiled} compiled")?;
        // A line each: Cargo reads a line that looks like a directive as one.
        self.compilations.iter().try_for_each(|one| {
            let (title, why) = (one_line(&one.title), one.why.to_string());
            write!(f, "\nprecast: {title}, {} ms: {}", one.millis, one_line(&why))
        })
    }
}

/// The path, or its nearest parent, that fits on a line.
fn watched(path: &Path) -> Option<&Path> {
    path.ancestors().find(|path| !path.to_string_lossy().contains(['\n', '\r']))
}

impl Outcome {
    /// The lines by which a build script tells Cargo. In place of a file whose name does not fit on a line, they name the
    /// directory that it is in.
    #[must_use]
    pub fn directives(&self) -> Vec<String> {
        let warnings = self.warnings.iter().flat_map(|text| text.lines());
        let warnings = warnings.map(|line| format!("cargo::warning={}", one_line(line)));
        let files = self.inputs.iter().filter_map(|path| watched(path));
        let files = files.map(|path| format!("cargo::rerun-if-changed={}", path.display()));
        let variables = self.variables.iter().map(|name| format!("cargo::rerun-if-env-changed={name}"));
        warnings.chain(files).chain(variables).chain(self.links()).collect()
    }

    /// The lines that link the code of a static program.
    fn links(&self) -> Vec<String> {
        let Some(library) = &self.library else { return Vec::new() };
        let name = library.file_stem().unwrap_or_default().to_string_lossy();
        let name = name.strip_prefix("lib").unwrap_or(&name);
        let directory = library.parent().unwrap_or(library).display();
        // Whole: nothing in it is called by name.
        let own = [
            format!("cargo::rustc-link-search=native={directory}"),
            format!("cargo::rustc-link-lib=static:+whole-archive={name}"),
        ];
        let system = self.system_libraries.iter().map(|name| format!("cargo::rustc-link-lib={name}"));
        own.into_iter().chain(system).collect()
    }
}
