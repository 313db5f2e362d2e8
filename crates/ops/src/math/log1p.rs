//! Ln(1 + x) and its kin: softplus = ln(1 + e^x), log1mexp = ln(1 - e^x). `c/precast/ops/math/log1p.h` says
//! how, line by line.

use super::exp::{exp_tail_f64, reduce_ln2_f64, scale_high_f64, scale_low_f64};
use super::ln2::{LN2_HI_F64, LN2_LO_F64};
use super::pair::{magnitude_f64, sum_f64, sum_ordered_f64};

/// whole + ln u + add for a normal finite u > 0, with `add` small beside 1 and `whole` 0 or the larger. The
/// parts that are exact are kept apart, so the result is rounded about once whether it is near 0 or not.
pub(super) fn log_sum_f64(whole: f64, u: f64, add: f64) -> f64 {
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    const HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let b = u.to_bits().wrapping_add(ONE - HALF);
    let m = f64::from_bits((b & 0x000f_ffff_ffff_ffff).wrapping_add(HALF));
    let k = f64::from_bits((b >> 52) | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let z2 = z * z;
    let p01 = f64::from_bits(0x3fe5_5555_5555_5592) + z * f64::from_bits(0x3fd9_9999_9997_ffa0);
    let p23 = f64::from_bits(0x3fd2_4924_941d_ee31) + z * f64::from_bits(0x3fcc_71c5_2134_1c60);
    let p45 = f64::from_bits(0x3fc7_4663_da64_d2d6) + z * f64::from_bits(0x3fc3_9a1c_b220_c990);
    let r = z * (p01 + z2 * p23 + z2 * z2 * (p45 + z2 * f64::from_bits(0x3fc2_f054_5f63_b365)));
    let square = 0.5 * f * f;
    let a = sum_f64(whole, k * LN2_HI_F64);
    let b2 = sum_f64(a.hi, f);
    b2.hi + (s * (square + r) - square + (add + k * LN2_LO_F64 + (a.lo + b2.lo)))
}

/// ln(1 + x). -1 gives -inf, less gives NaN; keeps the sign of zero.
#[must_use]
pub fn log1p_f64(x: f64) -> f64 {
    let u = sum_f64(1.0, x);
    let y = log_sum_f64(0.0, u.hi, u.lo / u.hi);
    let y = if x < f64::INFINITY { y } else { x };
    let y = if magnitude_f64(x) < f64::from_bits(0x3c90_0000_0000_0000) { x } else { y };
    let edge = if x == -1.0 { -f64::INFINITY } else { f64::NAN };
    if x > -1.0 { y } else { edge }
}

/// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|).
#[must_use]
pub fn softplus_f64(x: f64) -> f64 {
    let a = if x < 0.0 { x } else { -x };
    let a = if a < -746.0 { -746.0 } else { a };
    let k = reduce_ln2_f64(a, 2046.0);
    let low = scale_low_f64(k.bits);
    let high = scale_high_f64(k.bits);
    let s = sum_ordered_f64(1.0, k.hi);
    let e = sum_ordered_f64(s.hi, s.lo + exp_tail_f64(k.hi, k.lo));
    let eh = e.hi * low * high;
    let el = e.lo * low * high;
    let u = sum_ordered_f64(1.0, eh);
    let base = if x > 0.0 { x } else { 0.0 };
    let near = log_sum_f64(base, u.hi, (u.lo + el) / u.hi);
    let small = eh + (el - eh * eh * (0.5 - eh * f64::from_bits(0x3fd5_5555_5555_5555)));
    let y = if a < -18.0 { base + small } else { near };
    if !x.is_nan() { y } else { x }
}

/// ln(1 - e^x) for x <= 0; 0 gives -inf, a positive number NaN. 1 - e^x = (1 - 2^k) - 2^k (hi + tail), kept as
/// a pair.
#[must_use]
pub fn log1mexp_f64(x: f64) -> f64 {
    let c = if x < -746.0 { -746.0 } else { x };
    let k = reduce_ln2_f64(c, 2046.0);
    let low = scale_low_f64(k.bits);
    let high = scale_high_f64(k.bits);
    let scale = low * high;
    let tail = exp_tail_f64(k.hi, k.lo);
    let a = sum_ordered_f64(1.0, -scale);
    let b = sum_f64(a.hi, -(scale * k.hi));
    let u = sum_ordered_f64(b.hi, a.lo + b.lo - scale * tail);
    let tiny = x > -f64::from_bits(0x3c90_0000_0000_0000);
    let whole = if tiny { -54.0 * LN2_HI_F64 } else { 0.0 };
    let add = if tiny { -54.0 * LN2_LO_F64 } else { u.lo / u.hi };
    let y = log_sum_f64(whole, if tiny { -x * f64::from_bits(0x4350_0000_0000_0000) } else { u.hi }, add);
    let s = sum_ordered_f64(1.0, k.hi);
    let e = sum_ordered_f64(s.hi, s.lo + tail);
    let eh = e.hi * low * high;
    let el = e.lo * low * high;
    let y = if x < -18.0 {
        -(eh + (el + eh * eh * (0.5 + eh * f64::from_bits(0x3fd5_5555_5555_5555))))
    } else {
        y
    };
    let edge = if x == 0.0 { -f64::INFINITY } else { f64::NAN };
    if x < 0.0 { y } else { edge }
}

/// ln(1 + x). -1 gives -inf, less gives NaN; keeps the sign of zero.
#[must_use]
pub fn log1p_f32(x: f32) -> f32 {
    log1p_f64(f64::from(x)) as f32
}

/// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|).
#[must_use]
pub fn softplus_f32(x: f32) -> f32 {
    softplus_f64(f64::from(x)) as f32
}

/// ln(1 - e^x) for x <= 0; 0 gives -inf, a positive number NaN. 1 - e^x = (1 - 2^k) - 2^k (hi + tail), kept as
/// a pair.
#[must_use]
pub fn log1mexp_f32(x: f32) -> f32 {
    log1mexp_f64(f64::from(x)) as f32
}
