//! The error function and its complement. `c/precast/ops/math/erf.h` says how, line by line.

use super::exp::{exp_tail_f64, reduce_ln2_f64, scale_high_f64, scale_low_f64};
use super::pair::{PairF64, magnitude_f64, pair_div_f64, product_f64, sign_f64, signed_f64, sum_ordered_f64};
use super::pow::pair_mul_f64;

/// erf x - x for 0 <= x <= 3/4. Q has degree 10, error 7.8e-19.
fn erf_tail_f64(x: f64) -> f64 {
    let z = x * x;
    let z2 = z * z;
    let z4 = z2 * z2;
    let p01 = f64::from_bits(0x3fc0_6eba_8214_db69) + z * -f64::from_bits(0x3fd8_1274_6b03_79e0);
    let p23 = f64::from_bits(0x3fbc_e2f2_1a04_246d) + z * -f64::from_bits(0x3f9b_82ce_3125_558d);
    let p45 = f64::from_bits(0x3f75_65bc_d030_dc13) + z * -f64::from_bits(0x3f4c_02db_10fe_c838);
    let p67 = f64::from_bits(0x3f1f_9a2a_d5b6_e0fc) + z * -f64::from_bits(0x3eef_4c5b_130c_b759);
    let p89 = f64::from_bits(0x3ebb_90ca_76f0_3ed7) + z * -f64::from_bits(0x3e85_6411_5926_ade7);
    let high = p89 + z2 * f64::from_bits(0x3e48_9df8_9433_d9cb);
    x * (p01 + z2 * p23 + z4 * (p45 + z2 * p67) + z4 * z4 * high)
}

/// erfc x for 3/4 <= x <= 27.5. G has degree 21, error 2.8e-18.
fn erfc_far_f64(x: f64) -> f64 {
    let t = (x - 2.25) / (x + 2.25);
    let t2 = t * t;
    let t4 = t2 * t2;
    let t8 = t4 * t4;
    let g12 = f64::from_bits(0x3fc2_6d81_3efe_a5cb) + t * -f64::from_bits(0x3fc8_5927_7da8_02dc);
    let g34 = f64::from_bits(0x3fc1_4cb6_07f0_ff9b) + t * -f64::from_bits(0x3faa_d591_ce77_5ac6);
    let g56 = f64::from_bits(0x3f70_7b59_a7d8_7dc5) + t * f64::from_bits(0x3f76_3e9a_19c6_f0e7);
    let g78 = -f64::from_bits(0x3f53_edde_0a5d_3e14) + t * -f64::from_bits(0x3f49_79e2_e916_b3de);
    let g9a = f64::from_bits(0x3f28_03f3_237a_6ffe) + t * f64::from_bits(0x3f24_45f5_2be0_7c96);
    let gbc = -f64::from_bits(0x3eec_d5e8_126c_789f) + t * -f64::from_bits(0x3f01_a510_4039_bf84);
    let gde = -f64::from_bits(0x3ed3_e013_6b3c_ee13) + t * f64::from_bits(0x3ed9_bf63_9b52_c4d9);
    let gfg = f64::from_bits(0x3ec8_d6f9_8693_788a) + t * -f64::from_bits(0x3e9c_ba9a_eebd_b5ef);
    let ghi = -f64::from_bits(0x3eb0_0cf0_fa18_5c0a) + t * -f64::from_bits(0x3e93_49d3_6c7b_a1d8);
    let gjk = f64::from_bits(0x3e90_9b35_f16f_43d7) + t * f64::from_bits(0x3e81_7b69_fa53_2e50);
    let first = g12 + t2 * g34 + t4 * (g56 + t2 * g78);
    let second = g9a + t2 * gbc + t4 * (gde + t2 * gfg);
    let third = ghi + t2 * gjk + t4 * -f64::from_bits(0x3e72_9dbc_588f_894f);
    let tail = first + t8 * (second + t8 * third);
    let g = sum_ordered_f64(f64::from_bits(0x3fe0_a366_7d87_642c), t * tail);
    let square = product_f64(x, x);
    let k = reduce_ln2_f64(-square.hi, 2046.0);
    let s = sum_ordered_f64(1.0, k.hi);
    let e = sum_ordered_f64(s.hi, s.lo + exp_tail_f64(k.hi, k.lo + square.lo));
    let d = PairF64 { hi: x, lo: 0.0 };
    let q = pair_div_f64(pair_mul_f64(e, g), d);
    q.hi * scale_low_f64(k.bits) * scale_high_f64(k.bits)
}

/// The error function; keeps the sign of zero.
#[must_use]
pub fn erf_f64(x: f64) -> f64 {
    let a = magnitude_f64(x);
    let near = a + erf_tail_f64(if a < 0.75 { a } else { 0.75 });
    let c = if a > 0.75 { a } else { 0.75 };
    let far = 1.0 - erfc_far_f64(if c > 6.0 { 6.0 } else { c });
    let y = if a < 0.75 { near } else { far };
    if !x.is_nan() { signed_f64(y, sign_f64(x)) } else { x }
}

/// 1 - erf x, to the same relative error down to the subnormals; 2 far to the left.
#[must_use]
pub fn erfc_f64(x: f64) -> f64 {
    let a = magnitude_f64(x);
    let b = if a < 0.75 { a } else { 0.75 };
    let tail = erf_tail_f64(b);
    let u = signed_f64(b, sign_f64(x));
    let v = signed_f64(tail, sign_f64(x));
    let w = sum_ordered_f64(1.0, -u);
    let near = w.hi + (w.lo - v);
    let c = if a > 0.75 { a } else { 0.75 };
    let e = erfc_far_f64(if c > 27.5 { 27.5 } else { c });
    let far = if x < 0.0 { 2.0 - e } else { e };
    let y = if a < 0.75 { near } else { far };
    if !x.is_nan() { y } else { x }
}

/// The error function; keeps the sign of zero.
#[must_use]
pub fn erf_f32(x: f32) -> f32 {
    erf_f64(f64::from(x)) as f32
}

/// 1 - erf x, to the same relative error down to the subnormals; 2 far to the left.
#[must_use]
pub fn erfc_f32(x: f32) -> f32 {
    erfc_f64(f64::from(x)) as f32
}
