//! exp, log, tanh and sigmoid with exactly the operations of `c/precast/ops/vecmath.h`, in the same order.
//!
//! `perform` and constant folding must give the bits of the kernels, so nothing here may use `f64::exp` and its like (a
//! libm's, different on every platform) nor `mul_add`. Rust never contracts `a * b + c`, and neither does the C
//! (`-ffp-contract=off`). `tests/math_bits.rs` compiles the C and compares bits. Algorithms, sources and accuracy are
//! documented there and in `README.md`.
//!
//! NaN in, NaN out, but which NaN is left to the CPU: compare after making NaNs equal.

mod f32;
mod f64;

pub use f32::{exp as exp_f32, log as log_f32, sigmoid as sigmoid_f32, tanh as tanh_f32};
pub use f64::{exp as exp_f64, log as log_f64, sigmoid as sigmoid_f64, tanh as tanh_f64};
