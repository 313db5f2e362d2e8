//! The public interface: the [`Build`] that a `build.rs` configures and runs.
//!
//! ```text
//! environment ─▶ declarations (builder, precast.toml, Cargo.toml, dependencies) ─▶ memo ── unchanged ─────────────┐
//!                                                                                    └▶ plan ─▶ execute ─▶ write ─┴▶ Outcome
//! ```
//! Files are written only under OUT_DIR, in the store and in the user's cache, each atomically. Files under OUT_DIR
//! are written only after everything else has succeeded. Nothing uses the network.

mod environment;
mod error;
mod external;
mod functions;
mod gather;
mod index;
mod locked;
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

/// A builder for a build; use it in `build.rs`.
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
    /// Creates a build with only the declarations of `precast.toml` and the manifests.
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

    /// Declares every combination of an op with these dtypes and ranks.
    pub fn op(mut self, name: &str, dtypes: &[&str], ndim: &[usize]) -> Self {
        let dtypes = dtypes.iter().map(|dtype| (*dtype).to_owned()).collect();
        self.matrices.push((name.to_owned(), dtypes, ndim.to_vec()));
        self
    }

    /// Declares a named graph.
    pub fn graph(mut self, name: &str, graph: &FunctionGraph) -> Self {
        self.graphs.push((name.to_owned(), graph.clone(), vec![Serve::Whole]));
        self
    }

    /// Declares a named graph with the kinds of modules to compile: `&[Serve::Ops]` compiles a module for each op,
    /// which this graph and every other graph of these ops can use.
    pub fn graph_served(mut self, name: &str, graph: &FunctionGraph, serve: &[Serve]) -> Self {
        self.graphs.push((name.to_owned(), graph.clone(), serve.to_vec()));
        self
    }

    /// Declares every combination of an external op with the dtypes of its letters, and with these ranks if its types
    /// leave them open. This is equivalent to `[[external]]` in a manifest. Graphs call the op by its name.
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

    /// Reads this manifest, relative to the package, instead of `precast.toml`; it must exist. The lock file of the
    /// package is still `precast.lock`, which `PRECAST_LOCKED=update cargo build` writes.
    pub fn manifest(mut self, path: impl Into<PathBuf>) -> Self {
        self.manifest = Some(path.into());
        self
    }

    /// Compiles for these ISA levels, e.g. `x86-64-v3`, instead of those of the manifest. `PRECAST_ISA` overrides
    /// them.
    pub fn isa(mut self, levels: &[&str]) -> Self {
        self.isa = Some(levels.iter().map(|level| (*level).to_owned()).collect());
        self
    }

    /// Links the code into the program, so that nothing is loaded at run time: no file, no `dlopen`, no memory that
    /// becomes executable. Use it for hosts without `/proc` and without writable directories. Static
    /// programs (`-C target-feature=+crt-static`, musl) are always built this way.
    ///
    /// The bundle then contains records and entries, but no code. A module that needs a system library other than the
    /// C library is an error.
    pub fn static_link(mut self) -> Self {
        self.is_static = true;
        self
    }

    /// Writes the typed functions of a library crate without compiling anything. The program that links the library
    /// compiles its declarations and passes the loader to it once.
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

    /// Uses this library of ops instead of the standard one.
    pub fn ops(mut self, ops: Ops) -> Self {
        self.ops = ops;
        self
    }

    /// Builds, prints the directives for Cargo, and exits with an error if the build fails: the `main` of a
    /// `build.rs`.
    ///
    /// On SIGINT, SIGTERM or SIGHUP, running compilers are terminated too.
    pub fn run(self) {
        crate::interrupt::watch(|_| false);
        print::run(&self);
    }

    /// Builds, and returns the output that [`Build::run`] prints.
    ///
    /// # Errors
    /// See [`BuildError`]. The previous files under OUT_DIR are then unchanged.
    pub fn try_run(&self) -> Result<Outcome, BuildError> {
        run::run(self, &environment::Environment::of_cargo()?)
    }

    /// Builds the declarations of the package in `package` for this host, outside of a build script. The files that
    /// [`Build::run`] writes to OUT_DIR are written to `out`. A library without a build script tests its graphs this
    /// way.
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

/// The size of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// The number of declared combinations of op, dtype and rank.
    pub combinations: usize,
    /// The number of distinct modules after normalisation, including those of graphs.
    pub modules: usize,
    /// The number of artifacts: units times ISA levels.
    pub artifacts: usize,
}

/// The result of a build.
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
    /// System libraries that the library calls: `stdc++`.
    pub system_libraries: Vec<&'static str>,
    /// The store with the artifacts; `None` on docs.rs.
    pub store: Option<PathBuf>,
    /// The size of the build.
    pub counts: Counts,
    /// The number of artifacts found in the store.
    pub hits: usize,
    /// The number of these artifacts that readers would have missed because a file was lost. They were repaired.
    pub healed: usize,
    /// The number of compiled artifacts.
    pub compiled: usize,
    /// The compiled units, with reasons.
    pub compilations: Vec<Compilation>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The files whose changes require another run; all exist.
    pub inputs: Vec<PathBuf>,
    /// The variables whose changes require another run.
    pub variables: Vec<String>,
}

impl fmt::Display for Outcome {
    /// Writes a summary line and the reason for each compiled unit; `cargo build -vv` shows them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { combinations, modules, artifacts } = self.counts;
        let (hits, compiled) = (self.hits, self.compiled);
        write!(f, "precast: {combinations} combinations, {modules} modules, {artifacts} artifacts: ")?;
        let healed = if self.healed == 0 { String::new() } else { format!(" ({} repaired)", self.healed) };
        write!(f, "{hits} reused{healed}, {compiled} compiled")?;
        // One line each: Cargo would interpret a line that looks like a directive.
        self.compilations.iter().try_for_each(|one| {
            let (title, why) = (one_line(&one.title), one.reasons());
            write!(f, "\nprecast: {title}, {} ms: {}", one.millis, one_line(&why))
        })
    }
}

/// Returns the path, or the nearest parent without a line break in its name.
fn watched(path: &Path) -> Option<&Path> {
    path.ancestors().find(|path| !path.to_string_lossy().contains(['\n', '\r']))
}

impl Outcome {
    /// Returns the directives for Cargo. A file whose name contains a line break is replaced by its directory.
    #[must_use]
    pub fn directives(&self) -> Vec<String> {
        let warnings = self.warnings.iter().flat_map(|text| text.lines());
        let warnings = warnings.map(|line| format!("cargo::warning={}", one_line(line)));
        let files = self.inputs.iter().filter_map(|path| watched(path));
        let files = files.map(|path| format!("cargo::rerun-if-changed={}", path.display()));
        let variables = self.variables.iter().map(|name| format!("cargo::rerun-if-env-changed={name}"));
        warnings.chain(files).chain(variables).chain(self.links()).collect()
    }

    /// Returns the lines that link the code of a static program.
    fn links(&self) -> Vec<String> {
        let Some(library) = &self.library else { return Vec::new() };
        let name = library.file_stem().unwrap_or_default().to_string_lossy();
        let name = name.strip_prefix("lib").unwrap_or(&name);
        let directory = library.parent().unwrap_or(library).display();
        // Links the whole archive, because nothing refers to its symbols by name.
        let own = [
            format!("cargo::rustc-link-search=native={directory}"),
            format!("cargo::rustc-link-lib=static:+whole-archive={name}"),
        ];
        let system = self.system_libraries.iter().map(|name| format!("cargo::rustc-link-lib={name}"));
        own.into_iter().chain(system).collect()
    }
}
