//! Resolves, verifies, loads and dispatches functions; compiles on a miss if the policy allows it.
//!
//! ```text
//! Runtime ── layers (bundles, stores), policy, ops
//!    │ function(&graph)
//!    ▼
//! rewrite ─▶ key ─▶ resolve: whole graph, else cover by parts ─▶ miss: policy ─▶ strict │ interpret │ jit │ tiered
//!    │                 │ verified bytes only
//!    ▼                 ▼
//! Function ◀── Program ◀── native: memfd, dlopen, handshake, instances, frames
//! ```
//! | module | purpose |
//! |---|---|
//! | [`Runtime`] | the main interface: functions, checks, explanations |
//! | `resolve` | looks up a key and loads its code from the first layer with a usable module |
//! | `cover` | searches for the artifacts that serve a graph: whole segments, groups, patterns, ops |
//! | `instantiate` | builds a function from a graph and the found artifacts: one call, or steps over registers |
//! | [`Function`] | checked calls; `Send + Sync`, any number of threads |
//! | [`debug`] | checks the C of every Apply against its contract: debug mode, and checks for authors of ops |
//! | [`profile`] | measures each kernel of a function against the limits of the machine |
//! | `jit` | compiles on a miss, by `precast_acquire::Engine` (feature `jit`) |
//! | `tiered`, `background` | serve a function by parts until its modules are compiled; the thread that compiles them |
//! | `recording` | records misses as declarations for `precast build` (feature `record`) |
//!
//! This crate prints nothing; events are in [`Stats`].

#[cfg(feature = "jit")]
mod background;
mod body;
mod cover;
pub mod debug;
mod dispatch;
mod error;
mod explain;
mod filter;
mod instantiate;
#[cfg(feature = "jit")]
mod jit;
mod policy;
pub mod profile;
#[cfg(feature = "record")]
mod recording;
mod reference;
mod resolve;
mod runtime;
mod stats;
#[cfg(feature = "jit")]
mod tiered;

pub use body::{debug_findings, is_checked};
pub use dispatch::{DispatchError, Dispatcher};
pub use error::{BuildRuntimeError, EntryError, FunctionError};
pub use explain::{Check, Explanation, Lookup};
pub use policy::{ParsePolicyError, Policy};
pub use precast_acquire::{Miss, Reason};
pub use precast_core::{ArrayMut, ArrayRef, CallError, CodeOrigin, Function, LoadLibraryError, Provenance};
pub use precast_graph::{Array, DType, FunctionGraph, Type};
pub use precast_ops::{GENERATOR, Ops, OtherVersion, Serve};
#[cfg(feature = "remote")]
pub use precast_remote::{Options as RemoteOptions, Patience};
pub use precast_store::LayerError;
#[cfg(feature = "record")]
pub use recording::RecordError;
pub use runtime::{Builder, Runtime};
pub use stats::{Event, Stats};
