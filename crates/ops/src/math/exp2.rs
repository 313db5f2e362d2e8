//! 2^x and e^x - 1. `c/precast/ops/math/exp2.h` says how, line by line.

use super::exp::{exp_tail_f64, reduce_ln2_f64, scale_high_f64, scale_low_f64};
use super::pair::{head_f64, magnitude_f64};

/// ln 2: 26 bits and the rest.
const LN2_HEAD_F64: f64 = f64::from_bits(0x3fe6_2e42_f800_0000); // 0x1.62e42f8000000p-1
const LN2_REST_F64: f64 = f64::from_bits(0x3e4b_e8e7_bcd5_e4f2); // 0x1.be8e7bcd5e4f2p-27

/// 2^x; exact for whole x. x = k + r, 2^r = e^(r ln 2), and r ln 2 = hi - lo with hi exact.
#[must_use]
pub fn exp2_f64(x: f64) -> f64 {
    let c = if x > 1025.0 { 1025.0 } else { x };
    let c = if c < -1076.0 { -1076.0 } else { c };
    let magic = 6_755_399_441_055_744.0 + 2046.0;
    let t = c + magic;
    let r = c - (t - magic);
    let head = head_f64(r);
    let hi = head * LN2_HEAD_F64;
    let lo = -(head * LN2_REST_F64 + (r - head) * f64::from_bits(0x3fe6_2e42_fefa_39ef));
    let s = 1.0 + hi;
    let p = s + (hi - (s - 1.0) + exp_tail_f64(hi, lo));
    p * scale_low_f64(t.to_bits()) * scale_high_f64(t.to_bits())
}

/// e^x - 1, both parts halved until the end, so that nothing overflows before the result does.
#[must_use]
pub fn expm1_f64(x: f64) -> f64 {
    let c = if x > 710.0 { 710.0 } else { x };
    let c = if c < -40.0 { -40.0 } else { c };
    let k = reduce_ln2_f64(c, 1022.0);
    let scale = f64::from_bits(k.bits << 52);
    let whole = scale - 0.5;
    let part = scale * k.hi;
    let s = whole + part;
    let y = s + (part - (s - whole) + scale * exp_tail_f64(k.hi, k.lo));
    if magnitude_f64(x) < f64::from_bits(0x3c90_0000_0000_0000) { x } else { y + y }
}

/// 2^x; exact for whole x. x = k + r, 2^r = e^(r ln 2), and r ln 2 = hi - lo with hi exact.
#[must_use]
pub fn exp2_f32(x: f32) -> f32 {
    exp2_f64(f64::from(x)) as f32
}

/// e^x - 1, both parts halved until the end, so that nothing overflows before the result does.
#[must_use]
pub fn expm1_f32(x: f32) -> f32 {
    expm1_f64(f64::from(x)) as f32
}
