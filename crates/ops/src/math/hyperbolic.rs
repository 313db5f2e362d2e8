//! Sinh and cosh. `c/precast/ops/math/hyperbolic.h` says how, line by line.

use super::exp::{exp_tail_f64, reduce_ln2_f64};
use super::pair::{
    PairF64, magnitude_f64, pair_add_f64, pair_div_f64, sign_f64, signed_f64, sum_f64, sum_ordered_f64,
};

/// The hyperbolic sine. With g = (e^a - 1) / 4: sinh a = 2 (g + g / (4g + 1)). Above 40 the quotient no longer
/// counts.
#[must_use]
pub fn sinh_f64(x: f64) -> f64 {
    let a = magnitude_f64(x);
    let c = if a > 710.6 { 710.6 } else { a };
    let k = reduce_ln2_f64(c, 1021.0);
    let scale = f64::from_bits(k.bits << 52);
    let whole = sum_ordered_f64(scale, -0.25);
    let s = sum_ordered_f64(whole.hi, scale * k.hi);
    let g = sum_ordered_f64(s.hi, whole.lo + s.lo + scale * exp_tail_f64(k.hi, k.lo));
    let near = c < 40.0;
    let n = PairF64 { hi: if near { g.hi } else { 0.0 }, lo: if near { g.lo } else { 0.0 } };
    let mut d = sum_f64(4.0 * n.hi, 1.0);
    d.lo += 4.0 * n.lo;
    let mut y = pair_add_f64(g, pair_div_f64(n, d));
    y.hi = if a < f64::from_bits(0x3e30_0000_0000_0000) { a } else { y.hi + y.hi };
    signed_f64(y.hi, sign_f64(x))
}

/// The hyperbolic cosine. With e = e^a / 4: cosh a = 2 (e + 1 / (16 e)).
#[must_use]
pub fn cosh_f64(x: f64) -> f64 {
    let a = magnitude_f64(x);
    let a = if a > 710.6 { 710.6 } else { a };
    let k = reduce_ln2_f64(a, 1021.0);
    let scale = f64::from_bits(k.bits << 52);
    let s = sum_ordered_f64(scale, scale * k.hi);
    let e = sum_ordered_f64(s.hi, s.lo + scale * exp_tail_f64(k.hi, k.lo));
    let y = e.hi + (0.0625 / e.hi + e.lo);
    y + y
}

/// The hyperbolic sine. With g = (e^a - 1) / 4: sinh a = 2 (g + g / (4g + 1)). Above 40 the quotient no longer
/// counts.
#[must_use]
pub fn sinh_f32(x: f32) -> f32 {
    sinh_f64(f64::from(x)) as f32
}

/// The hyperbolic cosine. With e = e^a / 4: cosh a = 2 (e + 1 / (16 e)).
#[must_use]
pub fn cosh_f32(x: f32) -> f32 {
    cosh_f64(f64::from(x)) as f32
}
