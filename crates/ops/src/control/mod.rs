//! Loops and branches: ops that call graphs.
//!
//! ```text
//! body    a graph that an op calls, as built and as compiled
//! trace   a function of operands → a body, and the outer variables that it uses
//! scan    a loop that carries values from step to step; scan_code: its C
//! fixed   the C of a loop or graph whose values are small arrays of known extents
//! small_graph   a graph of small arrays as one op
//! branch  calls one of several graphs
//! custom  a value whose gradient a graph computes
//! ```
//! A body is part of the op's props, so keys, JSON and rewrites see it. Its constants and the outer variables that it
//! uses are inputs of the op; loops with other constants therefore share a module. The linker generates a C function for
//! each body in the module of the op, which calls it without the host.

pub(crate) mod body;
pub(crate) mod branch;
pub(crate) mod custom;
pub(crate) mod fixed;
pub(crate) mod scan;
mod scan_code;
pub(crate) mod small_graph;
pub(crate) mod trace;

pub use body::Body;
pub use branch::Branch;
pub use custom::CustomGradient;
pub use scan::Scan;
pub use small_graph::SmallGraph;
