//! E^x, and the reduction by ln 2 that its kin share. `c/precast/ops/math/exp.h` says how, line by line.

use super::ln2::{LN2_HI_F32, LN2_HI_F64, LN2_LO_F32, LN2_LO_F64, LOG2E_F32, LOG2E_F64};

/// x = k ln 2 + (hi - lo): hi is exact, |hi - lo| <= ln 2 / 2, and the low bits of `bits` are k + bias.
#[derive(Clone, Copy)]
pub(super) struct ReducedF64 {
    pub(super) hi: f64,
    pub(super) lo: f64,
    pub(super) bits: u64,
}

/// x = k ln 2 + (hi - lo): hi is exact, |hi - lo| <= ln 2 / 2, and the low bits of `bits` are k + bias.
#[derive(Clone, Copy)]
pub(super) struct ReducedF32 {
    pub(super) hi: f32,
    pub(super) lo: f32,
    pub(super) bits: u32,
}

/// Rounds x / ln 2 to an integer by adding 1.5 * 2^52 + bias, which leaves it in the low bits. |x| < 2^20.
pub(super) fn reduce_ln2_f64(x: f64, bias: f64) -> ReducedF64 {
    let magic = 6_755_399_441_055_744.0 + bias;
    let t = x * LOG2E_F64 + magic;
    let k = t - magic;
    ReducedF64 { hi: x - k * LN2_HI_F64, lo: k * LN2_LO_F64, bits: t.to_bits() }
}

/// exp(hi - lo) - 1 - hi, with |hi - lo| <= ln 2 / 2. Polynomial of degree 11, error 3.8e-18.
pub(super) fn exp_tail_f64(hi: f64, lo: f64) -> f64 {
    let r = hi - lo;
    let r2 = r * r;
    let r4 = r2 * r2;
    let p01 = f64::from_bits(0x3fe0_0000_0000_0009) + r * f64::from_bits(0x3fc5_5555_5555_54fb);
    let p23 = f64::from_bits(0x3fa5_5555_5555_0b43) + r * f64::from_bits(0x3f81_1111_1112_79f3);
    let p45 = f64::from_bits(0x3f56_c16c_183a_dedf) + r * f64::from_bits(0x3f2a_01a0_12a1_9e85);
    let p67 = f64::from_bits(0x3efa_0199_b250_dfbf) + r * f64::from_bits(0x3ec7_1df2_73a1_4ad5);
    let p89 = f64::from_bits(0x3e92_8ac9_4b57_2edf) + r * f64::from_bits(0x3e5a_d7ae_6e26_2d6c);
    let q = p01 + r2 * p23 + r4 * (p45 + r2 * p67 + r4 * p89);
    r2 * q - lo
}

/// 2^floor(k/2) and 2^ceil(k/2) from a reduction with bias 2046: one factor alone would overflow, or be
/// subnormal.
pub(super) fn scale_low_f64(bits: u64) -> f64 {
    f64::from_bits(((bits >> 1) & 0x7ff) << 52)
}

pub(super) fn scale_high_f64(bits: u64) -> f64 {
    f64::from_bits((bits & 0xfff).wrapping_sub((bits >> 1) & 0x7ff) << 52)
}

/// e^x. Overflow gives inf; the result passes through the subnormals to 0.
#[must_use]
pub fn exp_f64(x: f64) -> f64 {
    let c = if x > 710.0 { 710.0 } else { x };
    let c = if c < -746.0 { -746.0 } else { c };
    let k = reduce_ln2_f64(c, 2046.0);
    let p = 1.0 + (k.hi + exp_tail_f64(k.hi, k.lo));
    p * scale_low_f64(k.bits) * scale_high_f64(k.bits)
}

/// Rounds x / ln 2 to an integer by adding 1.5 * 2^23 + bias, which leaves it in the low bits. |x| < 2^10.
pub(super) fn reduce_ln2_f32(x: f32, bias: f32) -> ReducedF32 {
    let magic = 12_582_912.0 + bias;
    let t = x * LOG2E_F32 + magic;
    let k = t - magic;
    ReducedF32 { hi: x - k * LN2_HI_F32, lo: k * LN2_LO_F32, bits: t.to_bits() }
}

/// exp(hi - lo) - 1 - hi, with |hi - lo| <= ln 2 / 2. Polynomial of degree 6, error 3.2e-9.
pub(super) fn exp_tail_f32(hi: f32, lo: f32) -> f32 {
    let r = hi - lo;
    let r2 = r * r;
    let p01 = f32::from_bits(0x3eff_fffe) + r * f32::from_bits(0x3e2a_aa49);
    let p23 = f32::from_bits(0x3d2a_ac77) + r * f32::from_bits(0x3c09_1cea);
    let q = p01 + r2 * (p23 + r2 * f32::from_bits(0x3ab5_12ed));
    r2 * q - lo
}

/// 2^floor(k/2) and 2^ceil(k/2) from a reduction with bias 254: one factor alone would overflow, or be
/// subnormal.
pub(super) fn scale_low_f32(bits: u32) -> f32 {
    f32::from_bits(((bits >> 1) & 0xff) << 23)
}

pub(super) fn scale_high_f32(bits: u32) -> f32 {
    f32::from_bits((bits & 0x1ff).wrapping_sub((bits >> 1) & 0xff) << 23)
}

/// e^x. Overflow gives inf; the result passes through the subnormals to 0.
#[must_use]
pub fn exp_f32(x: f32) -> f32 {
    let c = if x > 89.0 { 89.0 } else { x };
    let c = if c < -104.0 { -104.0 } else { c };
    let k = reduce_ln2_f32(c, 254.0);
    let p = 1.0 + (k.hi + exp_tail_f32(k.hi, k.lo));
    p * scale_low_f32(k.bits) * scale_high_f32(k.bits)
}
