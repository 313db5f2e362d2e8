//! Ln z = ln |z| + i angle z, and what else depends on how far |z| is from 1.
//! `c/precast/ops/math/complex/log.h` says how, line by line.

use super::super::atan::atan2_f64;
use super::super::ln2::{LN2_HI_F64, LN2_LO_F64, LOG2E_F64};
use super::super::log1p::log_sum_f64;
use super::super::pair::{PairF64, magnitude_f64, pair_add_f64, product_f64, sum_f64};
use super::number::{narrowed_c128, widened_c64};
use precast_graph::Complex;

/// a^2 exactly, for 2^-400 < a < 2^400; below, what it lacks is below 2^-1000.
fn square_pair_f64(a: f64) -> PairF64 {
    let c = f64::from_bits(0x41a0_0000_0200_0000) * a;
    let h = c - (c - a);
    let l = a - h;
    let p = a * a;
    PairF64 { hi: p, lo: h * h - p + 2.0 * (h * l) + l * l }
}

/// first + second + a^2 + b^2, as exact as a pair can be even where they cancel.
pub(super) fn excess_f64(first: f64, second: f64, a: f64, b: f64) -> PairF64 {
    let p = square_pair_f64(a);
    let q = square_pair_f64(b);
    let s0 = sum_f64(first, second);
    let s1 = sum_f64(s0.hi, p.hi);
    let s2 = sum_f64(s1.hi, q.hi);
    let s3 = sum_f64(s2.hi, s0.lo);
    let s4 = sum_f64(s3.hi, p.lo);
    let s5 = sum_f64(s4.hi, q.lo);
    sum_f64(s5.hi, s1.lo + s2.lo + (s3.lo + s4.lo) + s5.lo)
}

/// ln(1 + d) / 2 for d > -1, not close to -1.
fn half_log1p_f64(d: PairF64) -> f64 {
    let u = sum_f64(1.0, d.hi);
    0.5 * log_sum_f64(0.0, u.hi, (u.lo + d.lo) / u.hi)
}

/// ln |x + iy|; inf if either is, even beside a NaN.
pub(super) fn log_abs_f64(x: f64, y: f64) -> f64 {
    let ax = magnitude_f64(x);
    let ay = magnitude_f64(y);
    let a = if ax > ay { ax } else { ay };
    let b = if ax > ay { ay } else { ax };
    let near = (a > 0.5) & (a < 2.0);
    let large = a > f64::from_bits(0x5f30_0000_0000_0000);
    let small = a < f64::from_bits(0x26f0_0000_0000_0000);
    let close = half_log1p_f64(excess_f64(-1.0, 0.0, if near { a } else { 1.0 }, if near { b } else { 1.0 }));
    let up = if large {
        f64::from_bits(0x1a70_0000_0000_0000)
    } else if small {
        f64::from_bits(0x6570_0000_0000_0000)
    } else {
        1.0
    };
    let twice = if large {
        1200.0
    } else if small {
        -1200.0
    } else {
        0.0
    };
    let r = pair_add_f64(product_f64(a * up, a * up), product_f64(b * up, b * up));
    let away = 0.5 * log_sum_f64(twice * LN2_HI_F64, r.hi, twice * LN2_LO_F64 + r.lo / r.hi);
    let out = if near { close } else { away };
    let out = if a == 0.0 { -f64::INFINITY } else { out };
    let out = if x.is_nan() | y.is_nan() { x + y } else { out };
    if (ax == f64::INFINITY) | (ay == f64::INFINITY) { f64::INFINITY } else { out }
}

/// The angle of z in \[-pi, pi].
#[must_use]
pub fn angle_c128(z: Complex<f64>) -> f64 {
    atan2_f64(z.im, z.re)
}

/// The natural logarithm; 0 gives -inf.
#[must_use]
pub fn log_c128(z: Complex<f64>) -> Complex<f64> {
    Complex::new(log_abs_f64(z.re, z.im), atan2_f64(z.im, z.re))
}

/// The logarithm to the base 2.
#[must_use]
pub fn log2_c128(z: Complex<f64>) -> Complex<f64> {
    Complex::new(log_abs_f64(z.re, z.im) * LOG2E_F64, atan2_f64(z.im, z.re) * LOG2E_F64)
}

/// The logarithm to the base 10.
#[must_use]
pub fn log10_c128(z: Complex<f64>) -> Complex<f64> {
    let re = log_abs_f64(z.re, z.im) * f64::from_bits(0x3fdb_cb7b_1526_e50e);
    Complex::new(re, atan2_f64(z.im, z.re) * f64::from_bits(0x3fdb_cb7b_1526_e50e))
}

/// ln(1 + z); -1 gives -inf. |1 + z|^2 - 1 = 2x + x^2 + y^2 unless it is large, or 1 + x exact.
#[must_use]
pub fn log1p_c128(z: Complex<f64>) -> Complex<f64> {
    let near = (z.re > -0.5) & (z.re < 4.0) & (magnitude_f64(z.im) < 4.0);
    let x = if near { z.re } else { 0.0 };
    let y = if near { z.im } else { 0.0 };
    let close = half_log1p_f64(excess_f64(x, x, x, y));
    let away = log_abs_f64(1.0 + z.re, z.im);
    Complex::new(if near { close } else { away }, atan2_f64(z.im, 1.0 + z.re))
}

/// The angle of z in \[-pi, pi].
#[must_use]
pub fn angle_c64(z: Complex<f32>) -> f32 {
    angle_c128(widened_c64(z)) as f32
}

/// The natural logarithm; 0 gives -inf.
#[must_use]
pub fn log_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(log_c128(widened_c64(z)))
}

/// The logarithm to the base 2.
#[must_use]
pub fn log2_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(log2_c128(widened_c64(z)))
}

/// The logarithm to the base 10.
#[must_use]
pub fn log10_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(log10_c128(widened_c64(z)))
}

/// ln(1 + z); -1 gives -inf. |1 + z|^2 - 1 = 2x + x^2 + y^2 unless it is large, or 1 + x exact.
#[must_use]
pub fn log1p_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(log1p_c128(widened_c64(z)))
}
