//! Loops and branches: ops that call graphs.
//!
//! ```text
//! body    a graph that an op calls, as built and as compiled
//! trace   a function of operands → a body, and the outer variables that it uses
//! scan    a loop that carries values from step to step; scan_code: its C
//! fixed   the C of a loop whose values are small arrays of known extents
//! branch  calls one of several graphs
//! ```
//! A body is part of the op's props, so keys, JSON and rewrites see it. Its constants and the outer variables that it
//! uses are inputs of the op; loops with other constants therefore share a module. The linker generates a C function for
//! each body in the module of the op, which calls it without the host.

pub(crate) mod body;
pub(crate) mod branch;
mod fixed;
pub(crate) mod scan;
mod scan_code;
pub(crate) mod trace;

pub use body::Body;
pub use branch::Branch;
pub use scan::Scan;
