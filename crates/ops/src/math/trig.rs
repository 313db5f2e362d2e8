//! Sine, cosine and tangent of any finite angle. `c/precast/ops/math/trig.h` says how, line by line.

use super::pair::{PairF64, magnitude_f64, pair_div_f64, sign_f64, signed_f64, sum_ordered_f64};
use super::turn::turn_of_f64;

/// sin(hi + lo) = hi + what this gives.
pub(super) fn sin_tail_f64(hi: f64, lo: f64) -> f64 {
    let z = hi * hi;
    let z2 = z * z;
    let p01 = -f64::from_bits(0x3fc5_5555_5555_5549) + z * f64::from_bits(0x3f81_1111_1110_f869);
    let p23 = -f64::from_bits(0x3f2a_01a0_19c0_f17a) + z * f64::from_bits(0x3ec7_1de3_5755_0934);
    let p45 = -f64::from_bits(0x3e5a_e5e6_4349_b7bf) + z * f64::from_bits(0x3de5_d926_189b_476a);
    hi * (z * (p01 + z2 * p23 + z2 * z2 * p45)) + (lo - 0.5 * z * lo)
}

/// cos(hi + lo).
pub(super) fn cos_pair_f64(hi: f64, lo: f64) -> PairF64 {
    let z = hi * hi;
    let z2 = z * z;
    let half = 0.5 * z;
    let w = 1.0 - half;
    let q01 = f64::from_bits(0x3fa5_5555_5555_554c) - z * f64::from_bits(0x3f56_c16c_16c1_5163);
    let q23 = f64::from_bits(0x3efa_01a0_19ca_efdc) - z * f64::from_bits(0x3e92_7e4f_807d_ccd6);
    let q45 = f64::from_bits(0x3e21_ee9e_a70e_148b) - z * f64::from_bits(0x3da8_fadd_266e_04a4);
    let q = z2 * (q01 + z2 * q23 + z2 * z2 * q45);
    sum_ordered_f64(w, 1.0 - w - half + (q - hi * lo))
}

/// The sine; keeps the sign of zero; inf gives NaN.
#[must_use]
pub fn sin_f64(x: f64) -> f64 {
    let a = magnitude_f64(x);
    let r = turn_of_f64(a);
    let c = cos_pair_f64(r.hi, r.lo);
    let s = r.hi + sin_tail_f64(r.hi, r.lo);
    let y = if r.quarters & 1 != 0 { c.hi } else { s };
    let y = signed_f64(y, (r.quarters & 2) << 62 ^ sign_f64(x));
    if a < f64::from_bits(0x3e40_0000_0000_0000) { x } else { y }
}

/// The cosine; inf gives NaN.
#[must_use]
pub fn cos_f64(x: f64) -> f64 {
    let r = turn_of_f64(magnitude_f64(x));
    let c = cos_pair_f64(r.hi, r.lo);
    let s = r.hi + sin_tail_f64(r.hi, r.lo);
    let y = if r.quarters & 1 != 0 { s } else { c.hi };
    signed_f64(y, (r.quarters.wrapping_add(1) & 2) << 62)
}

/// The tangent; keeps the sign of zero; inf gives NaN.
#[must_use]
pub fn tan_f64(x: f64) -> f64 {
    let a = magnitude_f64(x);
    let r = turn_of_f64(a);
    let c = cos_pair_f64(r.hi, r.lo);
    let s = sum_ordered_f64(r.hi, sin_tail_f64(r.hi, r.lo));
    let odd = r.quarters & 1 != 0;
    let n = PairF64 { hi: if odd { -c.hi } else { s.hi }, lo: if odd { -c.lo } else { s.lo } };
    let d = PairF64 { hi: if odd { s.hi } else { c.hi }, lo: if odd { s.lo } else { c.lo } };
    let y = pair_div_f64(n, d);
    if a < f64::from_bits(0x3e40_0000_0000_0000) { x } else { signed_f64(y.hi, sign_f64(x)) }
}

/// The sine; keeps the sign of zero; inf gives NaN.
#[must_use]
pub fn sin_f32(x: f32) -> f32 {
    sin_f64(f64::from(x)) as f32
}

/// The cosine; inf gives NaN.
#[must_use]
pub fn cos_f32(x: f32) -> f32 {
    cos_f64(f64::from(x)) as f32
}

/// The tangent; keeps the sign of zero; inf gives NaN.
#[must_use]
pub fn tan_f32(x: f32) -> f32 {
    tan_f64(f64::from(x)) as f32
}
