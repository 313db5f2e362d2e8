//! What a `build.rs` calls: precompiles declared ops and graphs into archives and a bundle.
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
//! with, if you like, a `precast.toml` beside it (the schema is in [`manifest`]):
//! ```toml
//! [[graph]]
//! name = "score"
//! inputs = ["x: f64[?]", "y: f64[?]", "z: f64[?]"]
//! outputs = ["out = sum(exp(-x*x)*y + z)"]
//! ```
//! and the program embeds the result with `precast::include_bundle!()`. It then runs where no compiler is.
//!
//! A *library* declares in its `Cargo.toml` what it needs of the program that links it, and needs no build script:
//! ```toml
//! [[package.metadata.precast.op]]
//! name = "exp"
//! dtypes = ["f64"]
//! ndim = [1]
//! ```
//! Its tests build that themselves: [`Build::try_run_in`]. A library that calls its own graphs as typed Rust functions has a build
//! script, which compiles nothing: [`Build::library`].
//!
//! # What it writes
//! `OUT_DIR/precast.bundle`, `OUT_DIR/precast.rs` (names and keys), `OUT_DIR/precast_model.rs` (functions), and archives in a
//! store: `PRECAST_STORE`, else the one that the workspace opted in to with `[workspace.metadata.precast] store = "artifacts"`,
//! else `store-v2` in the user's cache directory. All packages, profiles and target directories share that one: `cargo check`,
//! `--release`, `cargo clean` and a package that was moved compile nothing again. It can be deleted at any time. Where it
//! cannot be written, or others can change it, a warning says so, and `OUT_DIR/precast-store` takes its place.
//!
//! All of it is a function of the declared set, the ISA levels and the toolchain; the order of declarations, what the store
//! had, the directory, the user and the number of jobs do not matter.
//!
//! # The environment
//! | variable | meaning |
//! |---|---|
//! | `PRECAST_STORE` | the store, an absolute path |
//! | `PRECAST_CACHE` | the user's cache directory of precast; else `$XDG_CACHE_HOME/precast`, else `~/.cache/precast` |
//! | `PRECAST_ISA` | ISA levels, `x86-64-v2,x86-64-v3` |
//! | `PRECAST_LOCKED` | `1`: an error, not a warning, when what is declared is not what [`precast.lock`](lock) says, or what dependencies declare is not known; `frozen`: that, and nothing is compiled: what no store has is an error; `update`: writes that file, in the package |
//! | `CC`, `CC_<target>`, `TARGET_CC`, `HOST_CC`; `CXX` alike | the compiler |
//! | `DOCS_RS` | compile nothing; the bundle is empty, and the functions, which have their signatures, return an error |
//!
//! # The stages, for other programs
//! ```text
//! Manifest ──▶ Declared ──plan──▶ Plan { units, entries } ──execute──▶ Executed { artifacts, … } ──▶ bundle bytes
//! ```
//! [`Build`] is this for build scripts; `precast build` uses the same stages.
//!
//! # What Cargo cannot be told
//! A `precast.toml` that appears later is noticed when something else makes the script run: a path that does not exist
//! would make it run every time.

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
mod place;
pub mod plan;
mod problem;

pub use build::{Build, BuildError, Counts, EnvironmentError, Outcome};
pub use declared::{Declared, Matrix, NamedGraph, Owner};
pub use dependencies::DependenciesError;
pub use execute::{Artifact, Compilation, ExecuteError, Executed, Execution, Locked, Mode, execute};
pub use lock::{Lock, LockError};
pub use manifest::Manifest;
pub use place::Place;
pub use plan::{Plan, plan, plan_after};
pub use precast_acquire::Reason;
pub use precast_codegen::external::Declaration;
pub use precast_ops::Serve;
pub use problem::{DeclareError, Problem, ProblemKind};
