//! The logarithm of |Gamma x| and its derivative, the digamma function. `c/precast/ops/math/gamma.h` says how, line by line.

use super::log::log_f64;
use super::pair::{PairF64, magnitude_f64, pair_add_f64, product_f64, sign_f64, signed_f64, sum_ordered_f64};
use super::pow::{log_pair_f64, pair_mul_f64};
use super::trig::{cos_pair_f64, sin_tail_f64};

/// x rounded to an integer, ties to even, 0 <= x < 2^51.
fn whole_f64(x: f64) -> f64 {
    x + f64::from_bits(0x4338_0000_0000_0000) - f64::from_bits(0x4338_0000_0000_0000)
}

/// ln Gamma(2 + t) for |t| <= 1/2. Degree 19, error 1.3e-18.
fn gammaln_two_f64(t: f64) -> f64 {
    let t2 = t * t;
    let t4 = t2 * t2;
    let t8 = t4 * t4;
    let p12 = f64::from_bits(0x3fd4_a34c_c4a6_0fa7) + t * -f64::from_bits(0x3fb1_3e00_1a55_7616);
    let p34 = f64::from_bits(0x3f95_1322_ac7d_800a) + t * -f64::from_bits(0x3f7e_404f_c218_88b3);
    let p56 = f64::from_bits(0x3f67_add6_eae5_5797) + t * -f64::from_bits(0x3f53_8ac5_c309_c11f);
    let p78 = f64::from_bits(0x3f40_b36a_f368_9374) + t * -f64::from_bits(0x3f2d_3fd4_943e_e084);
    let p9a = f64::from_bits(0x3f1a_127d_c23c_ccea) + t * -f64::from_bits(0x3f07_8def_d9ac_6270);
    let pbc = f64::from_bits(0x3ef5_806f_5a9f_38bc) + t * -f64::from_bits(0x3ee3_ca94_1296_5811);
    let pde = f64::from_bits(0x3ed2_63e9_d4c1_3c28) + t * -f64::from_bits(0x3ec1_31ce_62eb_3930);
    let pfg = f64::from_bits(0x3eae_e184_e390_0d4c) + t * -f64::from_bits(0x3e9c_3068_2287_e26d);
    let phi = f64::from_bits(0x3e92_b059_7344_1b49) + t * -f64::from_bits(0x3e83_3b61_c146_bfab);
    let first = p12 + t2 * p34 + t4 * (p56 + t2 * p78);
    let second = p9a + t2 * pbc + t4 * (pde + t2 * pfg);
    t * (f64::from_bits(0x3fdb_0ee6_0720_93ce) + t * (first + t8 * (second + t8 * phi)))
}

/// ln Gamma x for x >= 8, to about an ulp.
fn gammaln_far_f64(x: f64) -> f64 {
    let y = 1.0 / x;
    let z = y * y;
    let z2 = z * z;
    let s01 = f64::from_bits(0x3fb5_5555_5555_5555) + z * -f64::from_bits(0x3f66_c16c_16c1_4af5);
    let s23 = f64::from_bits(0x3f4a_01a0_17e8_9b99) + z * -f64::from_bits(0x3f43_8134_e159_07ff);
    let s45 = f64::from_bits(0x3f4b_92c9_3464_5251) + z * -f64::from_bits(0x3f5e_f980_74f3_5122);
    let series = y * (s01 + z2 * s23 + z2 * z2 * (s45 + z2 * f64::from_bits(0x3f74_c381_c9f3_6053)));
    let one = PairF64 { hi: -1.0, lo: 0.0 };
    let a = PairF64 { hi: x - 0.5, lo: 0.0 };
    let w = pair_mul_f64(a, pair_add_f64(log_pair_f64(x), one));
    let s = sum_ordered_f64(w.hi, f64::from_bits(0x3fda_cfe3_90c9_7d69));
    if x > f64::from_bits(0x7f57_54d9_278b_51a7) { f64::INFINITY } else { s.hi + (s.lo + (w.lo + series)) }
}

/// ln Gamma x for x > 0.
fn gammaln_right_f64(x: f64) -> f64 {
    let c = if x < 8.0 { x } else { 2.0 };
    let n = whole_f64(c);
    let q = if n > 2.5 { c - 1.0 } else { 1.0 };
    let q = q * (if n > 3.5 { c - 2.0 } else { 1.0 });
    let q = q * (if n > 4.5 { c - 3.0 } else { 1.0 });
    let q = q * (if n > 5.5 { c - 4.0 } else { 1.0 });
    let q = q * (if n > 6.5 { c - 5.0 } else { 1.0 });
    let q = q * (if n > 7.5 { c - 6.0 } else { 1.0 });
    let q = if n < 1.5 { if n < 0.5 { c * (c + 1.0) } else { c } } else { q };
    let log = log_f64(q);
    let near = gammaln_two_f64(c - n) + (if n < 1.5 { -log } else { log });
    if x < 8.0 { near } else { gammaln_far_f64(if x < 8.0 { 8.0 } else { x }) }
}

/// |sin pi f| and cos pi f for |f| <= 1/2.
#[derive(Clone, Copy)]
struct HalfTurnF64 {
    s: f64,
    c: f64,
}

fn half_turn_of_f64(f: f64) -> HalfTurnF64 {
    let a = magnitude_f64(f);
    let small = a <= 0.25;
    let u = if small { a } else { 0.5 - a };
    let v = product_f64(u, f64::from_bits(0x4009_21fb_5444_2d18));
    let lo = v.lo + u * f64::from_bits(0x3ca1_a626_3314_5c07);
    let sine = v.hi + sin_tail_f64(v.hi, lo);
    let cosine = cos_pair_f64(v.hi, lo);
    HalfTurnF64 { s: if small { sine } else { cosine.hi }, c: if small { cosine.hi } else { sine } }
}

/// a less its nearest integer, a >= 0.
fn fraction_f64(a: f64) -> f64 {
    let c = if a < f64::from_bits(0x4320_0000_0000_0000) { a } else { 0.0 };
    let near = c - whole_f64(c);
    let half = if a < f64::from_bits(0x4330_0000_0000_0000) { a } else { 0.0 };
    let far = half - (half + f64::from_bits(0x4330_0000_0000_0000) - f64::from_bits(0x4330_0000_0000_0000));
    if a < f64::from_bits(0x4320_0000_0000_0000) { near } else { far }
}

/// ln |Gamma x|; inf at 0, at negative integers and at both infinities.
#[must_use]
pub fn gammaln_f64(x: f64) -> f64 {
    let a = magnitude_f64(x);
    let f = fraction_f64(a);
    let right = gammaln_right_f64(a);
    let t = half_turn_of_f64(f);
    let left = f64::from_bits(0x3ff2_50d0_48e7_a1bd)
        - log_f64(if a < f64::from_bits(0x3c30_0000_0000_0000) { 1.0 } else { a * t.s })
        - right;
    let left = if a < f64::from_bits(0x3c30_0000_0000_0000) { right } else { left };
    let left = if f == 0.0 { f64::INFINITY } else { left };
    let y = if x < 0.0 { left } else { right };
    let y = if (a == 0.0) | (a == f64::INFINITY) { f64::INFINITY } else { y };
    if !x.is_nan() { y } else { x }
}

/// The derivative of ln Gamma at 1.5 + t, for |t| <= 1/2, where d is the distance from its zero 1.4616...
/// Degree 22, error 2.5e-18.
fn digamma_near_f64(t: f64, d: f64) -> f64 {
    let t2 = t * t;
    let t4 = t2 * t2;
    let t8 = t4 * t4;
    let p12 = -f64::from_bits(0x3fdb_1cb6_3005_ee98) + t * f64::from_bits(0x3fce_ca18_9b8e_6f76);
    let p34 = -f64::from_bits(0x3fc2_feee_b98a_78d4) + t * f64::from_bits(0x3fb8_512e_5903_84de);
    let p56 = -f64::from_bits(0x3faf_b442_02a2_4d84) + t * f64::from_bits(0x3fa4_de9a_a17d_2e44);
    let p78 = -f64::from_bits(0x3f9b_9f8b_11b6_d140) + t * f64::from_bits(0x3f92_5647_1623_f99e);
    let p9a = -f64::from_bits(0x3f88_6356_40cd_62d4) + t * f64::from_bits(0x3f80_3c0b_0f41_3ad8);
    let pbc = -f64::from_bits(0x3f75_a06a_3546_1f16) + t * f64::from_bits(0x3f6c_d1f7_8d12_0e2c);
    let pde = -f64::from_bits(0x3f63_36de_7897_5336) + t * f64::from_bits(0x3f59_9dce_1219_df38);
    let pfg = -f64::from_bits(0x3f50_fb1e_31a9_b4d5) + t * f64::from_bits(0x3f46_9e8a_b607_2a47);
    let phi = -f64::from_bits(0x3f3f_da37_2623_5362) + t * f64::from_bits(0x3f35_5b27_8060_fdba);
    let pjk = -f64::from_bits(0x3f22_f634_7268_5802) + t * f64::from_bits(0x3f18_766d_a44b_648d);
    let plm = -f64::from_bits(0x3f27_5f9a_f6a0_73b4) + t * f64::from_bits(0x3f1f_c2b0_3456_7e4a);
    let first = p12 + t2 * p34 + t4 * (p56 + t2 * p78);
    let second = p9a + t2 * pbc + t4 * (pde + t2 * pfg);
    let third = phi + t2 * pjk + t4 * plm;
    d * (f64::from_bits(0x3fee_6f0c_bb87_3616) + t * (first + t8 * (second + t8 * third)))
}

/// The digamma function for x > 0.
fn digamma_right_f64(x: f64) -> f64 {
    let c = if x < 8.0 { x } else { 1.5 };
    let n = if c < 0.5 { 0.0 } else { whole_f64(c - 0.5) };
    let part = c - n;
    let y = digamma_near_f64(
        part - 0.5,
        part - f64::from_bits(0x3fdd_8b61_8d5a_f8fc) - f64::from_bits(0x3c9b_86a7_2219_7829),
    );
    let sum = if n > 6.5 { 1.0 / (c - 6.0) } else { 0.0 };
    let sum = (if n > 1.5 { 1.0 / (c - 1.0) } else { 0.0 })
        + ((if n > 2.5 { 1.0 / (c - 2.0) } else { 0.0 })
            + ((if n > 3.5 { 1.0 / (c - 3.0) } else { 0.0 })
                + ((if n > 4.5 { 1.0 / (c - 4.0) } else { 0.0 })
                    + ((if n > 5.5 { 1.0 / (c - 5.0) } else { 0.0 }) + sum))));
    let near = y + (if n < 0.5 { -1.0 / c } else { sum });
    let u = if x < 8.0 { 8.0 } else { x };
    let v = 1.0 / u;
    let z = v * v;
    let z2 = z * z;
    let s01 = f64::from_bits(0x3fb5_5555_5555_5555) + z * -f64::from_bits(0x3f81_1111_1110_99f0);
    let s23 = f64::from_bits(0x3f70_4104_0c7a_088b) + z * -f64::from_bits(0x3f71_110b_4cf1_a167);
    let s45 = f64::from_bits(0x3f7f_0389_f71a_53f1) + z * -f64::from_bits(0x3f95_3284_f21e_a886);
    let series = s01 + z2 * s23 + z2 * z2 * (s45 + z2 * f64::from_bits(0x3fb0_4d0c_0d2f_101e));
    let far = log_f64(u) - (0.5 * v + z * series);
    if x < 8.0 { near } else { far }
}

/// The digamma function; -inf at 0, inf at -0, NaN at negative integers and -inf.
#[must_use]
pub fn digamma_f64(x: f64) -> f64 {
    let a = magnitude_f64(x);
    let f = fraction_f64(a);
    let right = digamma_right_f64(a);
    let t = half_turn_of_f64(f);
    let turn = signed_f64(f64::from_bits(0x4009_21fb_5444_2d18) * t.c / t.s, sign_f64(f));
    let left = if a < f64::from_bits(0x3c30_0000_0000_0000) { 1.0 / a } else { right + 1.0 / a + turn };
    let left = if (f == 0.0) & (a > 0.0) { f64::NAN } else { left };
    let y = if x < 0.0 { left } else { right };
    let y = if a == 0.0 { signed_f64(-f64::INFINITY, sign_f64(x)) } else { y };
    if !x.is_nan() { y } else { x }
}

/// ln |Gamma x|; inf at 0, at negative integers and at both infinities.
#[must_use]
pub fn gammaln_f32(x: f32) -> f32 {
    gammaln_f64(f64::from(x)) as f32
}

/// The digamma function; -inf at 0, inf at -0, NaN at negative integers and -inf.
#[must_use]
pub fn digamma_f32(x: f32) -> f32 {
    digamma_f64(f64::from(x)) as f32
}
