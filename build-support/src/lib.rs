//! The build-script crate: precompiles declared ops and graphs into archives and a bundle.
//!
//! # A complete build script
//! `Cargo.toml` has `precast-build` under `[build-dependencies]` and `precast` under `[dependencies]`; `build.rs` is
//! ```no_run
//! use precast_build::Build;
//!
//! fn main() {
//!     Build::new()
//!         // every combination of these dtypes and ranks
//!         .op("add", &["f32", "f64"], &[1, 2])
//!         .op("sum", &["f64"], &[1, 2])
//!         // and whatever `precast.toml` and the crates that are linked declare
//!         .run();
//! }
//! ```
//! with, optionally, a `precast.toml` in the same directory (the schema is in [`manifest`]):
//! ```toml
//! [[graph]]
//! name = "score"
//! inputs = ["x: f64[?]", "y: f64[?]", "z: f64[?]"]
//! outputs = ["out = sum(exp(-x*x)*y + z)"]
//! ```
//! and the program embeds the result with `precast::include_bundle!()`. The program then runs without a compiler.
//!
//! A *library* declares in its `Cargo.toml` the ops and graphs that its programs need, and needs no build script:
//! ```toml
//! [[package.metadata.precast.op]]
//! name = "exp"
//! dtypes = ["f64"]
//! ndim = [1]
//! ```
//! Its tests build these declarations themselves: [`Build::try_run_in`]. A library that calls its own graphs as typed
//! Rust functions has a build script, which compiles nothing: [`Build::library`].
//!
//! # Output
//! `OUT_DIR/precast.bundle`, `OUT_DIR/precast.rs` (names and keys), `OUT_DIR/precast_model.rs` (functions), and
//! archives in a store. The store is `PRECAST_STORE`; else the one that the workspace selects with
//! `[workspace.metadata.precast] store = "artifacts"`; else `store-v2` in the user's cache directory. All packages,
//! profiles and target directories share that last store, so `cargo check`, `--release`, `cargo clean` and moving a
//! package cause no recompilation. It can be deleted at any time. If it is not writable, or if other users can change
//! it, the build prints a warning and uses `OUT_DIR/precast-store`.
//!
//! The output is a function of the declared set, the ISA levels and the toolchain. The order of declarations, the
//! content of the store, the directory, the user and the number of jobs do not matter.
//!
//! # The environment
//! | variable | meaning |
//! |---|---|
//! | `PRECAST_STORE` | the store, an absolute path |
//! | `PRECAST_CACHE` | the user's cache directory of precast; else `$XDG_CACHE_HOME/precast`, else `~/.cache/precast` |
//! | `PRECAST_ISA` | ISA levels, `x86-64-v2,x86-64-v3` |
//! | `PRECAST_LOCKED=1` | fail if the declarations differ from [`precast.lock`](lock), or if those of dependencies are unknown |
//! | `PRECAST_LOCKED=frozen` | the same, and fail instead of compiling modules that no store has |
//! | `PRECAST_LOCKED=update` | write `precast.lock` in the package |
//! | `CC`, `CC_<target>`, `TARGET_CC`, `HOST_CC`; the same for `CXX` | the compiler |
//! | `DOCS_RS` | compile nothing: the bundle is empty, and the generated functions return an error |
//!
//! # Stages
//! ```text
//! Manifest ──▶ Declared ──plan──▶ Plan { units, entries } ──execute──▶ Executed { artifacts, … } ──▶ bundle bytes
//! ```
//! [`pipeline`] runs the stages after the plan, for [`Build`], for `precast build` and for Python's `save`.
//!
//! # Limitation: a manifest that is added later
//! A new `precast.toml` is noticed only when something else makes the script run: watching a path that does not exist
//! would make the script run every time. The missing path is watched only if nothing at all is declared.

#![forbid(unsafe_code)]

mod build;
mod declared;
mod dependencies;
pub mod execute;
mod external;
pub mod history;
pub mod interrupt;
pub mod lock;
pub mod manifest;
pub mod pipeline;
mod place;
pub mod plan;
mod problem;

pub use build::{Build, BuildError, Counts, EnvironmentError, Outcome};
pub use declared::{Declared, Matrix, NamedGraph, Owner};
pub use dependencies::DependenciesError;
pub use execute::{Artifact, Compilation, ExecuteError, Executed, Execution, Locked, Mode, execute};
pub use lock::{Lock, LockError};
pub use manifest::Manifest;
pub use place::SourceLocation;
pub use plan::{Plan, plan, plan_after};
pub use precast_acquire::Reason;
pub use precast_codegen::external::Declaration;
pub use precast_ops::Serve;
pub use problem::{DeclareError, Problem, ProblemKind};
