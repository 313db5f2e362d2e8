//! Asinh, acosh and atanh, the inverses of the hyperbolic functions. `c/precast/ops/math/area.h` says how,
//! line by line.

use super::log1p::log_sum_f64;
use super::pair::{
    PairF64, magnitude_f64, pair_div_f64, pair_sqrt_f64, product_f64, sign_f64, signed_f64, sum_f64,
    sum_ordered_f64,
};

/// From here on sqrt(a^2 +- 1) is a.
const AREA_FAR_F64: f64 = 268_435_456.0;

/// ln(a + r), or ln(2a) far out.
fn area_log_f64(a: f64, r: PairF64) -> f64 {
    let far = a >= AREA_FAR_F64;
    let w = sum_f64(a, r.hi);
    let u = if far { a } else { w.hi };
    let add = if far { f64::from_bits(0x3d2e_f357_93c7_6730) } else { (w.lo + r.lo) / w.hi };
    log_sum_f64(if far { f64::from_bits(0x3fe6_2e42_fefa_3800) } else { 0.0 }, u, add)
}

/// ln(a + sqrt(a^2 + 1)) with the sign of x.
#[must_use]
pub fn asinh_f64(x: f64) -> f64 {
    let a = magnitude_f64(x);
    let c = if a < AREA_FAR_F64 { a } else { 0.0 };
    let square = product_f64(c, c);
    let mut t = sum_f64(1.0, square.hi);
    t.lo += square.lo;
    let y = area_log_f64(a, pair_sqrt_f64(t));
    let y = if a < f64::from_bits(0x3e30_0000_0000_0000) { a } else { y };
    let y = if a < f64::INFINITY { y } else { a };
    signed_f64(y, sign_f64(x))
}

/// ln(x + sqrt(x^2 - 1)); below 1 gives NaN.
#[must_use]
pub fn acosh_f64(x: f64) -> f64 {
    let c = if x < AREA_FAR_F64 { x } else { 1.0 };
    let square = product_f64(c, c);
    let t = sum_ordered_f64(square.hi, -1.0);
    let u = sum_ordered_f64(t.hi, t.lo + square.lo);
    let y = area_log_f64(x, pair_sqrt_f64(u));
    let y = if x < f64::INFINITY { y } else { x };
    if x >= 1.0 { y } else { f64::NAN }
}

/// ln((1 + a) / (1 - a)) / 2 with the sign of x; 1 gives inf, more gives NaN.
#[must_use]
pub fn atanh_f64(x: f64) -> f64 {
    let a = magnitude_f64(x);
    let q = pair_div_f64(sum_ordered_f64(1.0, a), sum_ordered_f64(1.0, -a));
    let y = 0.5 * log_sum_f64(0.0, q.hi, q.lo / q.hi);
    let y = if a < f64::from_bits(0x3e30_0000_0000_0000) { a } else { y };
    let y = if a == 1.0 { f64::INFINITY } else { y };
    signed_f64(if a <= 1.0 { y } else { f64::NAN }, sign_f64(x))
}

/// ln(a + sqrt(a^2 + 1)) with the sign of x.
#[must_use]
pub fn asinh_f32(x: f32) -> f32 {
    asinh_f64(f64::from(x)) as f32
}

/// ln(x + sqrt(x^2 - 1)); below 1 gives NaN.
#[must_use]
pub fn acosh_f32(x: f32) -> f32 {
    acosh_f64(f64::from(x)) as f32
}

/// ln((1 + a) / (1 - a)) / 2 with the sign of x; 1 gives inf, more gives NaN.
#[must_use]
pub fn atanh_f32(x: f32) -> f32 {
    atanh_f64(f64::from(x)) as f32
}
