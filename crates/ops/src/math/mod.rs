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

mod arc;
mod area;
mod atan;
pub mod complex;
mod erf;
mod exp;
mod exp2;
mod gamma;
mod hyperbolic;
mod ln2;
mod log;
mod log1p;
mod log2;
mod pair;
mod pow;
mod root;
mod sigmoid;
mod trig;
mod turn;

pub use arc::{acos_f32, acos_f64, asin_f32, asin_f64};
pub use area::{acosh_f32, acosh_f64, asinh_f32, asinh_f64, atanh_f32, atanh_f64};
pub use atan::{atan_f32, atan_f64, atan2_f32, atan2_f64};
pub use erf::{erf_f32, erf_f64, erfc_f32, erfc_f64};
pub use exp::{exp_f32, exp_f64};
pub use exp2::{exp2_f32, exp2_f64, expm1_f32, expm1_f64};
pub use gamma::{digamma_f32, digamma_f64, gammaln_f32, gammaln_f64};
pub use hyperbolic::{cosh_f32, cosh_f64, sinh_f32, sinh_f64};
pub use log::{log_f32, log_f64};
pub use log1p::{log1mexp_f32, log1mexp_f64, log1p_f32, log1p_f64, softplus_f32, softplus_f64};
pub use log2::{log2_f32, log2_f64, log10_f32, log10_f64};
pub use pow::{pow_f32, pow_f64};
pub use root::{cbrt_f32, cbrt_f64, hypot_f32, hypot_f64};
pub use sigmoid::{sigmoid_f32, sigmoid_f64, tanh_f32, tanh_f64};
pub use trig::{cos_f32, cos_f64, sin_f32, sin_f64, tan_f32, tan_f64};

/// Names of functions (`exp` of `pc_exp_f64`) and the header that declares them, sorted by name.
const DECLARED: &[(&str, &str)] = &[
    ("acos", "precast/ops/math/arc.h"),
    ("acosh", "precast/ops/math/area.h"),
    ("asin", "precast/ops/math/arc.h"),
    ("asinh", "precast/ops/math/area.h"),
    ("atan", "precast/ops/math/atan.h"),
    ("atan2", "precast/ops/math/atan.h"),
    ("atanh", "precast/ops/math/area.h"),
    ("cbrt", "precast/ops/math/root.h"),
    ("cos", "precast/ops/math/trig.h"),
    ("cosh", "precast/ops/math/hyperbolic.h"),
    ("digamma", "precast/ops/math/gamma.h"),
    ("erf", "precast/ops/math/erf.h"),
    ("erfc", "precast/ops/math/erf.h"),
    ("exp", "precast/ops/math/exp.h"),
    ("exp2", "precast/ops/math/exp2.h"),
    ("expm1", "precast/ops/math/exp2.h"),
    ("gammaln", "precast/ops/math/gamma.h"),
    ("hypot", "precast/ops/math/root.h"),
    ("log", "precast/ops/math/log.h"),
    ("log10", "precast/ops/math/log2.h"),
    ("log1mexp", "precast/ops/math/log1p.h"),
    ("log1p", "precast/ops/math/log1p.h"),
    ("log2", "precast/ops/math/log2.h"),
    ("pow", "precast/ops/math/pow.h"),
    ("sigmoid", "precast/ops/math/sigmoid.h"),
    ("sin", "precast/ops/math/trig.h"),
    ("sinh", "precast/ops/math/hyperbolic.h"),
    ("softplus", "precast/ops/math/log1p.h"),
    ("tan", "precast/ops/math/trig.h"),
    ("tanh", "precast/ops/math/sigmoid.h"),
];

/// Functions of complex numbers that stand outside of `math/complex`, and the header that declares them, sorted by name.
const COMPLEX: &[(&str, &str)] =
    &[("abs", "precast/ops/scalar/magnitude.h"), ("sign", "precast/ops/scalar/magnitude.h")];

/// The header that declares `pc_<name>_<dtype>` for the floats; `None` for what the header of the dtype has.
#[must_use]
pub fn header(name: &str) -> Option<&'static str> {
    DECLARED.iter().find(|(known, _)| *known == name).map(|(_, header)| *header)
}

/// The header that declares `pc_<name>_<dtype>` for the complex numbers; `None` for what the header of the dtype has.
#[must_use]
pub fn complex_header(name: &str) -> Option<&'static str> {
    COMPLEX
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, header)| *header)
        .or_else(|| complex::header(name))
}
