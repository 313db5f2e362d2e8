//! Development only: random arrays and graphs, memory layouts, comparison in ulp, a small op library, ops and packages of a test's own,
//! servers that do what networks do.
//!
//! ```text
//! Choices ──▶ arrays::draw ──▶ graphs::draw ──▶ Case {graph, inputs, outputs}     all randomness is a Choices
//!                                   │
//!                              OpLibrary      precast-ops in its own tests; `toy::ToyLibrary` in those of precast-graph
//! ```
//! Knows ops by name only, through [`OpLibrary`](precast_graph::OpLibrary), so it stands below `precast-ops`; but for features that
//! tests above that ask for: `ops`, an op that is a closure; `compile`, this machine's compiler; `farm`, a server that has it run.
//! A failure is repeated by its seed, and shrinks because [`Choices`] can read a tape that proptest shortens.

pub mod arrays;
mod budget;
mod choices;
#[cfg(feature = "compile")]
pub mod compiler;
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
pub mod toy;
pub mod ulp;

pub use budget::Budget;
pub use choices::Choices;
#[cfg(feature = "ops")]
pub use scalar_op::scalar_op;
