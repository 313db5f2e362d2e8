//! The logistic function and the hyperbolic tangent. `c/precast/ops/math/sigmoid.h` says how, line by line.

use super::exp::{
    exp_tail_f32, exp_tail_f64, reduce_ln2_f32, reduce_ln2_f64, scale_high_f32, scale_high_f64,
    scale_low_f32, scale_low_f64,
};

/// (nh + nl) / (dh + dl), rounded about once: the quotient's first 26 bits times the divisor is exact, the rest
/// is divided through by multiplication. |nl| and |dl| are below an ulp of nh and dh.
fn quotient_f64(nh: f64, nl: f64, dh: f64, dl: f64) -> f64 {
    const HEAD: u64 = 0xffff_ffff_f800_0000;
    let y = 1.0 / dh;
    let q = f64::from_bits((nh * y).to_bits() & HEAD);
    let a = f64::from_bits(dh.to_bits() & HEAD);
    let b = dh - a;
    let rest = nh - q * a - q * b + (nl - q * dl);
    q + rest * y
}

/// 1 / (1 + e^-x), without overflow and with full relative accuracy for x < 0: e^x / (1 + e^x).
#[must_use]
pub fn sigmoid_f64(x: f64) -> f64 {
    let a = if x < 0.0 { x } else { -x };
    let a = if a < -746.0 { -746.0 } else { a };
    let k = reduce_ln2_f64(a, 2046.0);
    let low = scale_low_f64(k.bits);
    let high = scale_high_f64(k.bits);
    let s = 1.0 + k.hi;
    let t = k.hi - (s - 1.0) + exp_tail_f64(k.hi, k.lo);
    let eh = s + t;
    let el = t - (eh - s);
    let sh = eh * low * high;
    let sl = el * low * high;
    let dh = 1.0 + sh;
    let dl = sh - (dh - 1.0) + sl;
    let q = quotient_f64(if x < 0.0 { eh } else { 1.0 }, if x < 0.0 { el } else { 0.0 }, dh, dl);
    q * (if x < 0.0 { low } else { 1.0 }) * (if x < 0.0 { high } else { 1.0 })
}

/// The hyperbolic tangent; keeps the sign of zero. tanh x = m / (m + 2) with m = e^(2|x|) - 1 in two parts.
#[must_use]
pub fn tanh_f64(x: f64) -> f64 {
    const SIGN: u64 = 0x8000_0000_0000_0000;
    let a = f64::from_bits(x.to_bits() & !SIGN);
    let a = if a > 22.0 { 22.0 } else { a };
    let k = reduce_ln2_f64(a + a, 1023.0);
    let scale = f64::from_bits(k.bits << 52);
    let whole = scale - 1.0;
    let part = scale * k.hi;
    let s = whole + part;
    let t = part - (s - whole) + scale * exp_tail_f64(k.hi, k.lo);
    let mh = s + t;
    let ml = t - (mh - s);
    let dh = mh + 2.0;
    let two = dh - mh;
    let dl = mh - (dh - two) + (2.0 - two) + ml;
    let q = quotient_f64(mh, ml, dh, dl);
    f64::from_bits((q.to_bits() & !SIGN) | x.to_bits() & SIGN)
}

/// (nh + nl) / (dh + dl), rounded about once: the quotient's first 12 bits times the divisor is exact, the rest
/// is divided through by multiplication. |nl| and |dl| are below an ulp of nh and dh.
fn quotient_f32(nh: f32, nl: f32, dh: f32, dl: f32) -> f32 {
    const HEAD: u32 = 0xffff_f000;
    let y = 1.0 / dh;
    let q = f32::from_bits((nh * y).to_bits() & HEAD);
    let a = f32::from_bits(dh.to_bits() & HEAD);
    let b = dh - a;
    let rest = nh - q * a - q * b + (nl - q * dl);
    q + rest * y
}

/// 1 / (1 + e^-x), without overflow and with full relative accuracy for x < 0: e^x / (1 + e^x).
#[must_use]
pub fn sigmoid_f32(x: f32) -> f32 {
    let a = if x < 0.0 { x } else { -x };
    let a = if a < -104.0 { -104.0 } else { a };
    let k = reduce_ln2_f32(a, 254.0);
    let low = scale_low_f32(k.bits);
    let high = scale_high_f32(k.bits);
    let s = 1.0 + k.hi;
    let t = k.hi - (s - 1.0) + exp_tail_f32(k.hi, k.lo);
    let eh = s + t;
    let el = t - (eh - s);
    let sh = eh * low * high;
    let sl = el * low * high;
    let dh = 1.0 + sh;
    let dl = sh - (dh - 1.0) + sl;
    let q = quotient_f32(if x < 0.0 { eh } else { 1.0 }, if x < 0.0 { el } else { 0.0 }, dh, dl);
    q * (if x < 0.0 { low } else { 1.0 }) * (if x < 0.0 { high } else { 1.0 })
}

/// The hyperbolic tangent; keeps the sign of zero. tanh x = m / (m + 2) with m = e^(2|x|) - 1 in two parts.
#[must_use]
pub fn tanh_f32(x: f32) -> f32 {
    const SIGN: u32 = 0x8000_0000;
    let a = f32::from_bits(x.to_bits() & !SIGN);
    let a = if a > 10.0 { 10.0 } else { a };
    let k = reduce_ln2_f32(a + a, 127.0);
    let scale = f32::from_bits(k.bits << 23);
    let whole = scale - 1.0;
    let part = scale * k.hi;
    let s = whole + part;
    let t = part - (s - whole) + scale * exp_tail_f32(k.hi, k.lo);
    let mh = s + t;
    let ml = t - (mh - s);
    let dh = mh + 2.0;
    let two = dh - mh;
    let dl = mh - (dh - two) + (2.0 - two) + ml;
    let q = quotient_f32(mh, ml, dh, dl);
    f32::from_bits((q.to_bits() & !SIGN) | x.to_bits() & SIGN)
}
