//! The angle of a point, and the arc tangent. `c/precast/ops/math/atan.h` says how, line by line.

use super::pair::{PairF64, magnitude_f64, product_f64, sign_f64, signed_f64, sum_f64, sum_ordered_f64};

/// The angle of the point (d, n), or with `left` of (-d, n), in \[0, pi]; n, d >= 0, neither inf, not both
/// 0.
fn angle_f64(n: f64, d: f64, left: bool) -> PairF64 {
    let steep = n > d * f64::from_bits(0x4003_504f_333f_9de6);
    let middle = n > d * f64::from_bits(0x3fda_8279_99fc_ef32);
    let less = if middle { d } else { 0.0 };
    let more = if middle { n } else { 0.0 };
    let num = sum_f64(if steep { -d } else { n }, if steep { 0.0 } else { -less });
    let den = sum_f64(if steep { n } else { d }, if steep { 0.0 } else { more });
    let q = num.hi / den.hi;
    let product = product_f64(q, den.hi);
    let rest = num.hi - product.hi - product.lo + (num.lo - q * den.lo);
    let t = PairF64 {
        hi: q,
        lo: if magnitude_f64(q) < f64::from_bits(0x3c30_0000_0000_0000) { 0.0 } else { rest / den.hi },
    };
    let z = t.hi * t.hi;
    let z2 = z * z;
    let z4 = z2 * z2;
    let p01 = -f64::from_bits(0x3fd5_5555_5555_5554) + z * f64::from_bits(0x3fc9_9999_9999_9664);
    let p23 = -f64::from_bits(0x3fc2_4924_9247_603b) + z * f64::from_bits(0x3fbc_71c7_1b78_5ea4);
    let p45 = -f64::from_bits(0x3fb7_45d1_4c0b_d81e) + z * f64::from_bits(0x3fb3_b136_eb49_d6d7);
    let p67 = -f64::from_bits(0x3fb1_10c7_980d_1f01) + z * f64::from_bits(0x3fae_1727_1f7a_6b40);
    let p89 = -f64::from_bits(0x3faa_b800_1a2c_4b52) + z * f64::from_bits(0x3fa7_0f63_acc4_c98c);
    let pab = -f64::from_bits(0x3fa1_24a1_cdc7_1725) + z * f64::from_bits(0x3f8f_22aa_4de4_3542);
    let p = p01 + z2 * p23 + z4 * (p45 + z2 * p67) + z4 * z4 * (p89 + z2 * pab);
    let tail = t.lo + t.hi * (z * p);
    let head = t.hi;
    let tail = if left { -tail } else { tail };
    let head = if left { -head } else { head };
    let flat_hi = if left { f64::from_bits(0x4009_21fb_5444_2d18) } else { 0.0 };
    let flat_lo = if left { f64::from_bits(0x3ca1_a626_3314_5c07) } else { 0.0 };
    let middle_hi =
        if left { f64::from_bits(0x4002_d97c_7f33_21d2) } else { f64::from_bits(0x3fe9_21fb_5444_2d18) };
    let middle_lo =
        if left { f64::from_bits(0x3c9a_7939_4c9e_8a0a) } else { f64::from_bits(0x3c81_a626_3314_5c07) };
    let hi = if steep {
        f64::from_bits(0x3ff9_21fb_5444_2d18)
    } else if middle {
        middle_hi
    } else {
        flat_hi
    };
    let lo = if steep {
        f64::from_bits(0x3c91_a626_3314_5c07)
    } else if middle {
        middle_lo
    } else {
        flat_lo
    };
    let s = sum_ordered_f64(hi, head);
    sum_ordered_f64(s.hi, s.lo + (lo + tail))
}

/// The arc tangent, in \[-pi/2, pi/2]; keeps the sign of zero.
#[must_use]
pub fn atan_f64(x: f64) -> f64 {
    let a = magnitude_f64(x);
    let a = if a > f64::from_bits(0x43b0_0000_0000_0000) { f64::from_bits(0x43b0_0000_0000_0000) } else { a };
    signed_f64(angle_f64(a, 1.0, false).hi, sign_f64(x))
}

/// The angle of the point (x, y) in \[-pi, pi], with the signs of zeros and the infinities of C99; to about
/// 2^-58.
pub(super) fn atan2_pair_f64(y: f64, x: f64) -> PairF64 {
    let n = magnitude_f64(y);
    let d = magnitude_f64(x);
    let most = if n > d { n } else { d };
    let scale = if most > f64::from_bits(0x6570_0000_0000_0000) {
        f64::from_bits(0x39b0_0000_0000_0000)
    } else if most < f64::from_bits(0x1a70_0000_0000_0000) {
        f64::from_bits(0x6570_0000_0000_0000)
    } else {
        1.0
    };
    let infinite = most == f64::INFINITY;
    let origin = most == 0.0;
    let n1 = if infinite { if n == most { 1.0 } else { 0.0 } } else { n * scale };
    let d1 = if infinite { if d == most { 1.0 } else { 0.0 } } else { d * scale };
    let mut a = angle_f64(n1, if origin { 1.0 } else { d1 }, sign_f64(x) != 0);
    a.hi = if x.is_nan() | y.is_nan() { x + y } else { a.hi };
    PairF64 { hi: signed_f64(a.hi, sign_f64(y)), lo: signed_f64(a.lo, sign_f64(y)) }
}

/// The same, rounded.
#[must_use]
pub fn atan2_f64(y: f64, x: f64) -> f64 {
    atan2_pair_f64(y, x).hi
}

/// The arc tangent, in \[-pi/2, pi/2]; keeps the sign of zero.
#[must_use]
pub fn atan_f32(x: f32) -> f32 {
    atan_f64(f64::from(x)) as f32
}

/// The same, rounded.
#[must_use]
pub fn atan2_f32(y: f32, x: f32) -> f32 {
    atan2_f64(f64::from(y), f64::from(x)) as f32
}
