//! The loops that compute, without the modules around them.
//!
//! ```text
//! capture   finds the kernels of a module without running them
//! chain     runs the kernels of several modules block by block
//! matmul    products of matrices and vectors, with the instructions of this CPU's level: `c/product/`
//! roofline  measured limits of this machine, which kernels are compared with (feature `watch`)
//! ```

mod capture;
mod chain;
#[cfg(test)]
mod copies;
mod matmul;
#[cfg(feature = "watch")]
pub mod roofline;

pub use capture::{Captured, Driven, Kernels, Operand};
pub(super) use capture::{Captures, capture, reduces};
pub use chain::{Chain, Chained, Value};
pub(super) use chain::{Line, Running, lines};
pub use matmul::{Factor, matmul};
pub(super) use matmul::{Matrix, multiply, multiply_stack};
