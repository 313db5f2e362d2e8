//! Test support: random arrays and graphs, memory layouts, comparison in ulp, a small op library, custom ops,
//! packages, documents with examples, and servers that simulate faults.
//!
//! ```text
//! Choices ──▶ arrays::draw ──▶ graphs::draw ──▶ Case {graph, inputs, outputs}     all randomness is a Choices
//!                                   │
//!                              OpLibrary      precast-ops in its own tests; `toy::ToyLibrary` in those of precast-graph
//! ```
//! This crate is below `precast-ops` and uses ops only by name, through [`OpLibrary`](precast_graph::OpLibrary).
//! Features for tests of higher crates are the exception: `ops`, an op from a closure; `compile`, this machine's
//! compiler; `farm`, a server that runs the compiler. A seed reproduces a failure, and a failure shrinks because
//! [`Choices`] can read a tape that proptest shortens.

pub mod arrays;
mod budget;
mod choices;
#[cfg(feature = "compile")]
pub mod compiler;
pub mod document;
#[cfg(feature = "farm")]
pub mod farm;
pub mod graphs;
pub mod layout;
pub mod package;
pub mod page;
#[cfg(feature = "ops")]
mod scalar_op;
#[cfg(feature = "servers")]
pub mod servers;
mod share;
pub mod toy;
pub mod ulp;

pub use budget::Budget;
pub use choices::Choices;
#[cfg(feature = "ops")]
pub use scalar_op::scalar_op;
pub use share::is_in_share;
