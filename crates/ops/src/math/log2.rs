//! Logarithms to the bases 2 and 10. `c/precast/ops/math/log2.h` says how, line by line.

/// 1 / ln 2, 1 / ln 10, log10 2: a first part of few bits and the rest.
const LOG2E_HI_F64: f64 = f64::from_bits(0x3ff7_1547_0000_0000); // 0x1.7154700000000p+0
const LOG2E_LO_F64: f64 = f64::from_bits(0x3e99_4ae0_bf85_ddf4); // 0x1.94ae0bf85ddf4p-22
const LOG10E_HI_F64: f64 = f64::from_bits(0x3fdb_cb7b_0000_0000); // 0x1.bcb7b00000000p-2
const LOG10E_LO_F64: f64 = f64::from_bits(0x3e55_26e5_0e32_a6ab); // 0x1.526e50e32a6abp-26
const LOG10_2_HI_F64: f64 = f64::from_bits(0x3fd3_4413_509f_7800); // 0x1.34413509f7800p-2
const LOG10_2_LO_F64: f64 = f64::from_bits(0x3d1f_ef31_1f12_b358); // 0x1.fef311f12b358p-46

/// x = 2^k m, and ln m = hi + lo, hi of 21 bits.
#[derive(Clone, Copy)]
struct LogPartsF64 {
    k: f64,
    hi: f64,
    lo: f64,
}

/// The parts of a positive number.
fn log_parts_of_f64(x: f64) -> LogPartsF64 {
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
    let hi = f64::from_bits((f - square).to_bits() & 0xffff_ffff_0000_0000);
    LogPartsF64 { k, hi, lo: f - hi - square + s * (square + r) }
}

/// What a logarithm gives outside of the finite positive numbers.
fn log_edges_f64(x: f64, y: f64) -> f64 {
    let finite = if x == f64::INFINITY { x } else { y };
    let edge = if x == 0.0 { -f64::INFINITY } else { f64::NAN };
    if x > 0.0 { finite } else { edge }
}

/// The logarithm to the base 2; exact for powers of two.
#[must_use]
pub fn log2_f64(x: f64) -> f64 {
    let l = log_parts_of_f64(x);
    let hi = l.hi * LOG2E_HI_F64;
    let lo = (l.lo + l.hi) * LOG2E_LO_F64 + l.lo * LOG2E_HI_F64;
    let w = l.k + hi;
    log_edges_f64(x, w + (lo + (l.k - w + hi)))
}

/// The logarithm to the base 10.
#[must_use]
pub fn log10_f64(x: f64) -> f64 {
    let l = log_parts_of_f64(x);
    let hi = l.hi * LOG10E_HI_F64;
    let whole = l.k * LOG10_2_HI_F64;
    let lo = l.k * LOG10_2_LO_F64 + ((l.lo + l.hi) * LOG10E_LO_F64 + l.lo * LOG10E_HI_F64);
    let w = whole + hi;
    log_edges_f64(x, w + (lo + (whole - w + hi)))
}

/// The logarithm to the base 2; exact for powers of two.
#[must_use]
pub fn log2_f32(x: f32) -> f32 {
    log2_f64(f64::from(x)) as f32
}

/// The logarithm to the base 10.
#[must_use]
pub fn log10_f32(x: f32) -> f32 {
    log10_f64(f64::from(x)) as f32
}
