//! The arc sine and the arc cosine. `c/precast/ops/math/arc.h` says how, line by line.

use super::pair::{PairF64, magnitude_f64, pair_sqrt_f64, sign_f64, signed_f64, sum_ordered_f64};

/// asin s - s for s = sqrt z <= 1/2.
fn asin_tail_f64(s: f64, z: f64) -> f64 {
    let z2 = z * z;
    let z4 = z2 * z2;
    let p01 = f64::from_bits(0x3fc5_5555_5555_538e) + z * f64::from_bits(0x3fb3_3333_3336_f085);
    let p23 = f64::from_bits(0x3fa6_db6d_b420_b3f2) + z * f64::from_bits(0x3f9f_1c72_c614_f607);
    let p45 = f64::from_bits(0x3f96_e89f_0341_2e82) + z * f64::from_bits(0x3f91_c6c2_159d_7528);
    let p67 = f64::from_bits(0x3f8c_6f8b_3e10_499e) + z * f64::from_bits(0x3f88_ee4c_8f41_a407);
    let p89 = f64::from_bits(0x3f7a_aa76_5ba4_552e) + z * f64::from_bits(0x3f94_0c0d_248f_7bf5);
    let pab = -f64::from_bits(0x3f90_b154_25ab_b02a) + z * f64::from_bits(0x3fa0_5dc3_1cfd_8b5b);
    let p = p01 + z2 * p23 + z4 * (p45 + z2 * p67) + z4 * z4 * (p89 + z2 * pab);
    s * (z * p)
}

/// The arc sine; keeps the sign of zero; NaN outside of \[-1, 1].
#[must_use]
pub fn asin_f64(x: f64) -> f64 {
    let a = magnitude_f64(x);
    let far = a > 0.5;
    let half = PairF64 { hi: (1.0 - a) * 0.5, lo: 0.0 };
    let root = pair_sqrt_f64(half);
    let z = if far { half.hi } else { a * a };
    let s = if far { root.hi } else { a };
    let tail = asin_tail_f64(s, z);
    let w = sum_ordered_f64(f64::from_bits(0x3ff9_21fb_5444_2d18), -(s + s));
    let beyond = w.hi + (w.lo + (f64::from_bits(0x3c91_a626_3314_5c07) - 2.0 * (root.lo + tail)));
    signed_f64(if far { beyond } else { a + tail }, sign_f64(x))
}

/// The arc cosine, in \[0, pi]; NaN outside of \[-1, 1].
#[must_use]
pub fn acos_f64(x: f64) -> f64 {
    let a = magnitude_f64(x);
    let far = a > 0.5;
    let left = x < 0.0;
    let half = PairF64 { hi: (1.0 - a) * 0.5, lo: 0.0 };
    let root = pair_sqrt_f64(half);
    let z = if far { half.hi } else { a * a };
    let s = if far { root.hi } else { a };
    let tail = asin_tail_f64(s, z) + (if far { root.lo } else { 0.0 });
    let turned = if far {
        -2.0
    } else if left {
        1.0
    } else {
        -1.0
    };
    let w = sum_ordered_f64(
        if far { f64::from_bits(0x4009_21fb_5444_2d18) } else { f64::from_bits(0x3ff9_21fb_5444_2d18) },
        turned * s,
    );
    let y = w.hi
        + (w.lo
            + ((if far {
                f64::from_bits(0x3ca1_a626_3314_5c07)
            } else {
                f64::from_bits(0x3c91_a626_3314_5c07)
            }) + turned * tail));
    if far & !left { 2.0 * (s + tail) } else { y }
}

/// The arc sine; keeps the sign of zero; NaN outside of \[-1, 1].
#[must_use]
pub fn asin_f32(x: f32) -> f32 {
    asin_f64(f64::from(x)) as f32
}

/// The arc cosine, in \[0, pi]; NaN outside of \[-1, 1].
#[must_use]
pub fn acos_f32(x: f32) -> f32 {
    acos_f64(f64::from(x)) as f32
}
