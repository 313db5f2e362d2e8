//! The functions of complex numbers with exactly the operations of `c/precast/ops/math/complex/`, in the same order.
//!
//! Those of c64 are those of c128, each part rounded once. Special values are C99's Annex G's, and where it leaves a choice
//! NumPy's. What the sign of a NaN is never shows. Arithmetic (`+`, `*`, `/`, absolute value) is not here: it belongs to the
//! scalar ops.

mod arc;
mod area;
mod exp;
mod hyperbolic;
mod log;
mod number;
mod pow;
mod root;

pub use arc::{acos_c64, acos_c128, acosh_c64, acosh_c128, asin_c64, asin_c128, asinh_c64, asinh_c128};
pub use area::{atan_c64, atan_c128, atanh_c64, atanh_c128};
pub use exp::{exp_c64, exp_c128};
pub use hyperbolic::{
    cos_c64, cos_c128, cosh_c64, cosh_c128, sin_c64, sin_c128, sinh_c64, sinh_c128, tan_c64, tan_c128,
    tanh_c64, tanh_c128,
};
pub use log::{
    angle_c64, angle_c128, log_c64, log_c128, log1p_c64, log1p_c128, log2_c64, log2_c128, log10_c64,
    log10_c128,
};
pub use pow::{pow_c64, pow_c128};
pub use root::{sqrt_c64, sqrt_c128};

/// Names of functions (`exp` of `pc_exp_c128`) and the header that declares them, sorted by name.
const DECLARED: &[(&str, &str)] = &[
    ("acos", "precast/ops/math/complex/arc.h"),
    ("acosh", "precast/ops/math/complex/arc.h"),
    ("angle", "precast/ops/math/complex/log.h"),
    ("asin", "precast/ops/math/complex/arc.h"),
    ("asinh", "precast/ops/math/complex/arc.h"),
    ("atan", "precast/ops/math/complex/area.h"),
    ("atanh", "precast/ops/math/complex/area.h"),
    ("cos", "precast/ops/math/complex/hyperbolic.h"),
    ("cosh", "precast/ops/math/complex/hyperbolic.h"),
    ("exp", "precast/ops/math/complex/exp.h"),
    ("log", "precast/ops/math/complex/log.h"),
    ("log10", "precast/ops/math/complex/log.h"),
    ("log1p", "precast/ops/math/complex/log.h"),
    ("log2", "precast/ops/math/complex/log.h"),
    ("pow", "precast/ops/math/complex/pow.h"),
    ("sin", "precast/ops/math/complex/hyperbolic.h"),
    ("sinh", "precast/ops/math/complex/hyperbolic.h"),
    ("sqrt", "precast/ops/math/complex/root.h"),
    ("tan", "precast/ops/math/complex/hyperbolic.h"),
    ("tanh", "precast/ops/math/complex/hyperbolic.h"),
];

/// The header that declares `pc_<name>_c64` and `pc_<name>_c128`; `None` for what `precast/ops/scalar` has.
#[must_use]
pub fn header(name: &str) -> Option<&'static str> {
    DECLARED.iter().find(|(known, _)| *known == name).map(|(_, header)| *header)
}
