//! The transcendental functions with exactly the operations of `c/precast/ops/math.h`, in the same order.
//!
//! `pc_<name>_<dtype>` there is `<name>_<dtype>` here; [`header`] says which header a module needs for it.
//!
//! `perform` and constant folding must give the bits of the kernels, so nothing here may use `f64::exp` and its like (a
//! libm's, different on every platform) nor `mul_add`. Rust never contracts `a * b + c`, and neither does the C
//! (`-ffp-contract=off`). `tests/it/math_bits.rs` compiles the C and compares bits. Algorithms, sources and accuracy are
//! documented there and in `README.md`.
//!
//! NaN in, NaN out, but which NaN is left to the CPU: compare after making NaNs equal.

mod f32;
mod f64;

pub use f32::{exp as exp_f32, log as log_f32, sigmoid as sigmoid_f32, tanh as tanh_f32};
pub use f64::{exp as exp_f64, log as log_f64, sigmoid as sigmoid_f64, tanh as tanh_f64};

/// Names of functions (`exp` of `pc_exp_f64`) and the header that declares them, sorted by name.
const DECLARED: &[(&str, &str)] = &[
    ("exp", "precast/ops/math/exp.h"),
    ("log", "precast/ops/math/log.h"),
    ("sigmoid", "precast/ops/math/sigmoid.h"),
    ("tanh", "precast/ops/math/sigmoid.h"),
];

/// The header that declares `pc_<name>_<dtype>`; `None` for what `precast/ops/scalar.h` has.
#[must_use]
pub fn header(name: &str) -> Option<&'static str> {
    DECLARED.iter().find(|(known, _)| *known == name).map(|(_, header)| *header)
}
