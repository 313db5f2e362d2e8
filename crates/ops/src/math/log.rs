//! The natural logarithm. `c/precast/ops/math/log.h` says how, line by line.

use super::ln2::{LN2_HI_F32, LN2_HI_F64, LN2_LO_F32, LN2_LO_F64};

/// ln x. 0 gives -inf, a negative number gives NaN. x = 2^k m, m in \[sqrt 1/2, sqrt 2), f = m - 1, s = f / (2
/// + f).
#[must_use]
pub fn log_f64(x: f64) -> f64 {
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    const HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let small = x < f64::from_bits(0x0010_0000_0000_0000);
    let u = (if small { x * f64::from_bits(0x4350_0000_0000_0000) } else { x })
        .to_bits()
        .wrapping_add(ONE - HALF);
    let m = f64::from_bits((u & 0x000f_ffff_ffff_ffff).wrapping_add(HALF));
    let k = f64::from_bits((u >> 52) | 0x4330_0000_0000_0000)
        - (if small { 4_503_599_627_370_496.0 + 1077.0 } else { 4_503_599_627_370_496.0 + 1023.0 });
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let z2 = z * z;
    let p01 = f64::from_bits(0x3fe5_5555_5555_5592) + z * f64::from_bits(0x3fd9_9999_9997_ffa0);
    let p23 = f64::from_bits(0x3fd2_4924_941d_ee31) + z * f64::from_bits(0x3fcc_71c5_2134_1c60);
    let p45 = f64::from_bits(0x3fc7_4663_da64_d2d6) + z * f64::from_bits(0x3fc3_9a1c_b220_c990);
    let r = z * (p01 + z2 * p23 + z2 * z2 * (p45 + z2 * f64::from_bits(0x3fc2_f054_5f63_b365)));
    let square = 0.5 * f * f;
    let y = k * LN2_HI_F64 - (square - (s * (square + r) + k * LN2_LO_F64) - f);
    let y = if x == f64::INFINITY { x } else { y };
    let edge = if x == 0.0 { -f64::INFINITY } else { f64::NAN };
    if x > 0.0 { y } else { edge }
}

/// ln x. 0 gives -inf, a negative number gives NaN. x = 2^k m, m in \[sqrt 1/2, sqrt 2), f = m - 1, s = f / (2
/// + f).
#[must_use]
pub fn log_f32(x: f32) -> f32 {
    const ONE: u32 = 0x3f80_0000;
    const HALF: u32 = 0x3f35_04f3;
    let small = x < f32::from_bits(0x0080_0000);
    let u = (if small { x * 33_554_432.0 } else { x }).to_bits().wrapping_add(ONE - HALF);
    let m = f32::from_bits((u & 0x007f_ffff).wrapping_add(HALF));
    let k = f32::from_bits((u >> 23) | 0x4b00_0000)
        - (if small { 8_388_608.0 + 152.0 } else { 8_388_608.0 + 127.0 });
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let r = z
        * (f32::from_bits(0x3f2a_aabd) + z * (f32::from_bits(0x3ecc_af5d) + z * f32::from_bits(0x3e98_f1b2)));
    let square = 0.5 * f * f;
    let y = k * LN2_HI_F32 - (square - (s * (square + r) + k * LN2_LO_F32) - f);
    let y = if x == f32::INFINITY { x } else { y };
    let edge = if x == 0.0 { -f32::INFINITY } else { f32::NAN };
    if x > 0.0 { y } else { edge }
}
