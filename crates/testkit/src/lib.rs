//! Development only: random arrays and graphs, memory layouts, comparison in ulp, and a small op library.
//!
//! ```text
//! Choices ──▶ arrays::draw ──▶ graphs::draw ──▶ Case {graph, inputs, outputs}     all randomness is a Choices
//!                                   │
//!                              OpLibrary      precast-ops in its own tests; `toy::ToyLibrary` in those of precast-graph
//! ```
//! Knows ops by name only, through [`OpLibrary`](precast_graph::OpLibrary), so it stands below `precast-ops`.
//! A failure is repeated by its seed, and shrinks because [`Choices`] can read a tape that proptest shortens.

pub mod arrays;
mod choices;
pub mod graphs;
pub mod layout;
pub mod toy;
pub mod ulp;

pub use choices::Choices;
