//! The cube root and the length of a vector. `c/precast/ops/math/root.h` says how, line by line.

use super::pair::{magnitude_f64, pair_add_f64, pair_sqrt_f64, product_f64, sign_f64, signed_f64};

/// sqrt(x^2 + y^2) without overflow on the way; inf if either is, even beside a NaN.
#[must_use]
pub fn hypot_f64(x: f64, y: f64) -> f64 {
    let ax = magnitude_f64(x);
    let ay = magnitude_f64(y);
    let a = if ax > ay { ax } else { ay };
    let b = if ax > ay { ay } else { ax };
    let up = if a > f64::from_bits(0x5f30_0000_0000_0000) {
        f64::from_bits(0x1a70_0000_0000_0000)
    } else if a < f64::from_bits(0x26f0_0000_0000_0000) {
        f64::from_bits(0x6570_0000_0000_0000)
    } else {
        1.0
    };
    let down = if a > f64::from_bits(0x5f30_0000_0000_0000) {
        f64::from_bits(0x6570_0000_0000_0000)
    } else if a < f64::from_bits(0x26f0_0000_0000_0000) {
        f64::from_bits(0x1a70_0000_0000_0000)
    } else {
        1.0
    };
    let p = product_f64(a * up, a * up);
    let q = product_f64(b * up, b * up);
    let r = pair_sqrt_f64(pair_add_f64(p, q));
    let infinite = (ax == f64::INFINITY) | (ay == f64::INFINITY);
    let y2 = (r.hi + r.lo) * down;
    let y2 = if x.is_nan() | y.is_nan() { x + y } else { y2 };
    if infinite { f64::INFINITY } else { y2 }
}

/// x^(1/3) of any sign. A third of the exponent, with a constant for the mantissa's curve, is within 5 %; a
/// polynomial makes that 23 bits, which are kept, so that their square is exact in one Newton step. After W.
/// Kahan.
#[must_use]
pub fn cbrt_f64(x: f64) -> f64 {
    let a = magnitude_f64(x);
    let small = a < f64::from_bits(0x0010_0000_0000_0000);
    let c = if small { a * f64::from_bits(0x4350_0000_0000_0000) } else { a };
    let top = f64::from_bits((c.to_bits() >> 32) | 0x4330_0000_0000_0000) - 4_503_599_627_370_496.0;
    let third = top * f64::from_bits(0x3fd5_5555_5555_5555) + (4_503_599_627_370_496.0 + 715_094_163.0);
    let t = f64::from_bits(third.to_bits() << 32);
    let r = t * t * (t / c);
    let r2 = r * r;
    let p = f64::from_bits(0x3ffe_014b_e3fe_426b)
        + r * -f64::from_bits(0x3ffe_1924_1213_a6e4)
        + r2 * (f64::from_bits(0x3ff9_d1c9_8803_d69d)
            + r * -f64::from_bits(0x3fe8_101d_86f4_bc6c)
            + r2 * f64::from_bits(0x3fc2_70ea_f9b9_7527));
    let t = f64::from_bits((t * p).to_bits().wrapping_add(0x8000_0000) & 0xffff_ffff_c000_0000);
    let s = t * t;
    let q = c / s;
    let y = t + t * ((q - t) / (t + t + q));
    let y = y * (if small { f64::from_bits(0x3ed0_0000_0000_0000) } else { 1.0 });
    let y = if (a > 0.0) & (a < f64::INFINITY) { y } else { a };
    signed_f64(y, sign_f64(x))
}

/// x^(1/3) of any sign. A third of the exponent, with a constant for the mantissa's curve, is within 5 %; a
/// polynomial makes that 23 bits, which are kept, so that their square is exact in one Newton step. After W.
/// Kahan.
#[must_use]
pub fn cbrt_f32(x: f32) -> f32 {
    cbrt_f64(f64::from(x)) as f32
}

/// sqrt(x^2 + y^2) without overflow on the way; inf if either is, even beside a NaN.
#[must_use]
pub fn hypot_f32(x: f32, y: f32) -> f32 {
    let a = f64::from(x);
    let b = f64::from(y);
    let r = (a * a + b * b).sqrt();
    let infinite = (magnitude_f64(a) == f64::INFINITY) | (magnitude_f64(b) == f64::INFINITY);
    (if infinite { f64::INFINITY } else { r }) as f32
}
