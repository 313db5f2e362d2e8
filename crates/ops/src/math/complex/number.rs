//! Complex numbers between their two sizes, a quarter turn, and pairs in products.
//! `c/precast/ops/math/complex/number.h` says how, line by line.

use super::super::pair::{
    PairF64, magnitude_f64, product_f64, sign_f64, signed_f64, sum_f64, sum_ordered_f64,
};
use precast_graph::Complex;

/// z, with more digits.
pub(super) fn widened_c64(z: Complex<f32>) -> Complex<f64> {
    Complex::new(f64::from(z.re), f64::from(z.im))
}

/// z with each part rounded.
pub(super) fn narrowed_c128(z: Complex<f64>) -> Complex<f32> {
    Complex::new(z.re as f32, z.im as f32)
}

/// i z.
pub(super) fn quarter_c128(z: Complex<f64>) -> Complex<f64> {
    Complex::new(-z.im, z.re)
}

/// -i z.
pub(super) fn quarter_back_c128(z: Complex<f64>) -> Complex<f64> {
    Complex::new(z.im, -z.re)
}

/// The sign of x, + of NaN: which NaN a number is must not be seen in a result.
pub(super) fn known_sign_f64(x: f64) -> u64 {
    if !x.is_nan() { sign_f64(x) } else { 0x0000_0000_0000_0000 }
}

/// Whether x is infinite or NaN, and so no angle.
pub(super) fn lost_f64(x: f64) -> bool {
    x.is_nan() | (magnitude_f64(x) == f64::INFINITY)
}

/// a + b of any sizes.
pub(super) fn pair_sum_f64(a: PairF64, b: PairF64) -> PairF64 {
    let s = sum_f64(a.hi, b.hi);
    sum_ordered_f64(s.hi, s.lo + (a.lo + b.lo))
}

/// a with a sign put on it.
pub(super) fn pair_signed_f64(a: PairF64, sign: u64) -> PairF64 {
    PairF64 { hi: signed_f64(a.hi, sign), lo: signed_f64(a.lo, sign) }
}

/// e t far^2, rounded about once: t may be as small as it likes where far is large.
pub(super) fn pair_times_f64(e: PairF64, t: PairF64, far: f64) -> f64 {
    let h = t.hi * far;
    let l = t.lo * far;
    let p = product_f64(e.hi, h);
    let rest = if magnitude_f64(p.hi) < f64::INFINITY { p.lo + (e.hi * l + e.lo * h) } else { 0.0 };
    (if p.hi == 0.0 { p.hi } else { p.hi + rest }) * far
}
