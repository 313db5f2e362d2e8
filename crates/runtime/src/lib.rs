//! Resolve, verify, load, dispatch; compile on a miss where policy allows.
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
//! | module | its job |
//! |---|---|
//! | [`Runtime`] | what a program asks: a function, a check, an explanation |
//! | `resolve` | a key to callable code; the first layer with a survivor wins |
//! | `cover` | the search for the artifacts that serve a graph: whole segments, groups, patterns, ops; its answer |
//! | `instantiate` | a graph and the answer to a function: one call for the whole, or steps over registers |
//! | [`Function`] | checked calls; `Send + Sync`, any number of threads |
//! | [`debug`] | every Apply in C against its contract: debug mode, and checks for the authors of ops |
//! | [`profile`] | how long each kernel of a function takes, against what the machine can do |
//! | `jit` | compiles on a miss, by `precast_acquire::Engine` (feature `jit`) |
//! | `tiered`, `background` | functions that parts serve until their own modules are compiled; the thread that does so |
//! | `recording` | misses as declarations for `precast build` (feature `record`) |
//!
//! Nothing here prints; what happened is in [`Stats`].

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
pub use precast_core::{ArrayMut, ArrayRef, CallError, Function, LoadLibraryError, Provenance, Served};
pub use precast_graph::{Array, DType, FunctionGraph, Type};
pub use precast_ops::{GENERATOR, Ops, OtherVersion, Serve};
#[cfg(feature = "remote")]
pub use precast_remote::{Options as RemoteOptions, Patience};
pub use precast_store::LayerError;
#[cfg(feature = "record")]
pub use recording::RecordError;
pub use runtime::{Builder, Runtime};
pub use stats::{Event, Stats};
