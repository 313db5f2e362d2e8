//! X^y = e^(y ln |x|), with ln |x| known to 2^-64 and the sign and edges of C99's Annex F.
//! `c/precast/ops/math/pow.h` says how, line by line.

use super::exp::{exp_f64, exp_tail_f64, reduce_ln2_f64, scale_high_f64, scale_low_f64};
use super::ln2::{LN2_HI_F64, LN2_LO_F64};
use super::log::log_f64;
use super::pair::{
    PairF64, magnitude_f64, pair_add_f64, pair_div_f64, product_f64, sign_f64, signed_f64, sum_f64,
    sum_ordered_f64,
};

/// a * b to about 2^-102.
pub(super) fn pair_mul_f64(a: PairF64, b: PairF64) -> PairF64 {
    let p = product_f64(a.hi, b.hi);
    sum_ordered_f64(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi))
}

/// ln x of a positive finite x, to about 2^-64.
pub(super) fn log_pair_f64(x: f64) -> PairF64 {
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    const HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let small = x < f64::from_bits(0x0010_0000_0000_0000);
    let u = (if small { x * f64::from_bits(0x4350_0000_0000_0000) } else { x })
        .to_bits()
        .wrapping_add(ONE - HALF);
    let m = f64::from_bits((u & 0x000f_ffff_ffff_ffff).wrapping_add(HALF));
    let k = f64::from_bits((u >> 52) | 0x4330_0000_0000_0000)
        - (if small { 4_503_599_627_370_496.0 + 1077.0 } else { 4_503_599_627_370_496.0 + 1023.0 });
    let n = PairF64 { hi: m - 1.0, lo: 0.0 };
    let s = pair_div_f64(n, sum_f64(m, 1.0));
    let z = pair_mul_f64(s, s);
    let v = z.hi;
    let v2 = v * v;
    let t01 = f64::from_bits(0x3fd9_9999_9999_9a01) + v * f64::from_bits(0x3fd2_4924_9247_bf60);
    let t23 = f64::from_bits(0x3fcc_71c7_1fab_3297) + v * f64::from_bits(0x3fc7_45cf_b2f6_ee7c);
    let t45 = f64::from_bits(0x3fc3_b1bd_5270_ad47) + v * f64::from_bits(0x3fc0_fc70_b831_ac12);
    let t = t01 + v2 * t23 + v2 * v2 * (t45 + v2 * f64::from_bits(0x3fc0_bb79_fda8_0b08));
    let mut w = sum_ordered_f64(f64::from_bits(0x3fe5_5555_5555_5555), v * t);
    let rest = f64::from_bits(0x3c85_5555_5555_5555) + z.lo * t;
    w.lo += rest;
    let r = pair_mul_f64(pair_mul_f64(s, z), w);
    let twice = PairF64 { hi: s.hi + s.hi, lo: s.lo + s.lo };
    let whole = PairF64 { hi: k * LN2_HI_F64, lo: k * LN2_LO_F64 };
    pair_add_f64(whole, pair_add_f64(twice, r))
}

/// e^(hi + lo).
fn exp_pair_f64(x: PairF64) -> f64 {
    let c = if x.hi > 710.0 { 710.0 } else { x.hi };
    let c = if c < -746.0 { -746.0 } else { c };
    let lo = if c == x.hi { x.lo } else { 0.0 };
    let k = reduce_ln2_f64(c, 2046.0);
    let s = sum_ordered_f64(1.0, k.hi);
    let p = s.hi + (s.lo + exp_tail_f64(k.hi, k.lo - lo));
    p * scale_low_f64(k.bits) * scale_high_f64(k.bits)
}

/// r = |x|^y gets its sign, and the cases in which a NaN comes out or does not.
fn pow_edges_f64(x: f64, y: f64, r: f64) -> f64 {
    let ax = magnitude_f64(x);
    let ay = magnitude_f64(y);
    let split = ay < 4_503_599_627_370_496.0;
    let t = if split { ay + 4_503_599_627_370_496.0 } else { ay };
    let floor = if split { t - 4_503_599_627_370_496.0 } else { ay };
    let odd = t.to_bits() << 63;
    let odd = if ay < 9_007_199_254_740_992.0 { odd } else { 0 };
    let odd = if floor == ay { odd } else { 0 };
    let inverse = if ax == 0.0 { f64::INFINITY } else { 0.0 };
    let limit = if y > 0.0 { ax } else { inverse };
    let negative = if floor == ay { r } else { f64::NAN };
    let r = if x < 0.0 { negative } else { r };
    let r = if ax == 0.0 { limit } else { r };
    let r = if ax == f64::INFINITY { limit } else { r };
    let r = signed_f64(r, sign_f64(x) & odd);
    let r = if x.is_nan() { x } else { r };
    let r = if y.is_nan() { y } else { r };
    let r = if y == 0.0 { 1.0 } else { r };
    if x == 1.0 { 1.0 } else { r }
}

/// x^y with C99's special cases: x^0 and 1^y are 1 even of NaN, (-1)^inf is 1, a negative x with a fractional y
/// gives NaN.
#[must_use]
pub fn pow_f64(x: f64, y: f64) -> f64 {
    let l = log_pair_f64(magnitude_f64(x));
    let c = if y > f64::from_bits(0x4410_0000_0000_0000) { f64::from_bits(0x4410_0000_0000_0000) } else { y };
    let c =
        if c < -f64::from_bits(0x4410_0000_0000_0000) { -f64::from_bits(0x4410_0000_0000_0000) } else { c };
    let e = product_f64(l.hi, c);
    let f = sum_ordered_f64(e.hi, e.lo + l.lo * c);
    pow_edges_f64(x, y, exp_pair_f64(f))
}

/// As f64, of which one logarithm without a second part is enough.
#[must_use]
pub fn pow_f32(x: f32, y: f32) -> f32 {
    let a = f64::from(x);
    let b = f64::from(y);
    let c = if b > f64::from_bits(0x4410_0000_0000_0000) { f64::from_bits(0x4410_0000_0000_0000) } else { b };
    let c =
        if c < -f64::from_bits(0x4410_0000_0000_0000) { -f64::from_bits(0x4410_0000_0000_0000) } else { c };
    pow_edges_f64(a, b, exp_f64(c * log_f64(magnitude_f64(a)))) as f32
}
