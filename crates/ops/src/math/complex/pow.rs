//! Z^w = e^(w ln z), and products for whole w of at most 99.
//! `c/precast/ops/math/complex/pow.h` says how, line by line.

use super::super::atan::atan2_pair_f64;
use super::super::ln2::{LN2_HI_F64, LN2_LO_F64};
use super::super::pair::{PairF64, magnitude_f64, pair_add_f64, pair_sqrt_f64, product_f64, signed_f64};
use super::super::pow::{log_pair_f64, pair_mul_f64};
use super::exp::{cis_of_f64, power_of_f64};
use super::number::{narrowed_c128, pair_sum_f64, pair_times_f64, widened_c64};
use precast_graph::Complex;

/// a b. The difference of two products is the sum with a number whose sign is turned: gcc 12 fuses the
/// difference where a sum of products stands beside it, whatever -ffp-contract says.
fn times_c128(a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
    let turned = signed_f64(a.im, 0x8000_0000_0000_0000);
    Complex::new(a.re * b.re + turned * b.im, a.re * b.im + a.im * b.re)
}

/// A power while its exponent is read from the lowest bit on. `any`: whether there was a bit.
#[derive(Clone, Copy)]
struct StepsC128 {
    power: Complex<f64>,
    base: Complex<f64>,
    left: u64,
    any: bool,
}

/// Takes the lowest bit.
fn step_c128(s: StepsC128) -> StepsC128 {
    let set = s.left & 1 != 0;
    let product = times_c128(s.power, s.base);
    let square = times_c128(s.base, s.base);
    let re = if set { if s.any { product.re } else { s.base.re } } else { s.power.re };
    let im = if set { if s.any { product.im } else { s.base.im } } else { s.power.im };
    let power = Complex::new(re, im);
    StepsC128 { power, base: square, left: s.left >> 1, any: s.any | set }
}

/// z^n for 1 <= n < 128.
fn whole_power_c128(z: Complex<f64>, n: u64) -> Complex<f64> {
    let start = StepsC128 { power: z, base: z, left: n, any: false };
    let two = step_c128(step_c128(start));
    let four = step_c128(step_c128(two));
    let six = step_c128(step_c128(four));
    let all = step_c128(six);
    all.power
}

/// 1 / z by R. L. Smith's formula (1962); of 0 as NumPy divides.
fn inverse_c128(z: Complex<f64>) -> Complex<f64> {
    let wide = magnitude_f64(z.re) >= magnitude_f64(z.im);
    let most = if wide { z.re } else { z.im };
    let least = if wide { z.im } else { z.re };
    let ratio = least / most;
    let scale = 1.0 / (most + least * ratio);
    let zero = (z.re == 0.0) & (z.im == 0.0);
    let re = if wide { scale } else { ratio * scale };
    let im = if wide { -(ratio * scale) } else { -scale };
    Complex::new(if zero { f64::INFINITY } else { re }, if zero { f64::NAN } else { im })
}

/// e^(w ln z): ln |z| and the angle are pairs, and so is what is left of their products with w.
fn general_power_c128(z: Complex<f64>, w: Complex<f64>) -> Complex<f64> {
    let ax = magnitude_f64(z.re);
    let ay = magnitude_f64(z.im);
    let a = if ax > ay { ax } else { ay };
    let b = if ax > ay { ay } else { ax };
    let large = a > f64::from_bits(0x5f30_0000_0000_0000);
    let small = a < f64::from_bits(0x26f0_0000_0000_0000);
    let up = if large {
        f64::from_bits(0x1a70_0000_0000_0000)
    } else if small {
        f64::from_bits(0x6570_0000_0000_0000)
    } else {
        1.0
    };
    let many = if large {
        600.0
    } else if small {
        -600.0
    } else {
        0.0
    };
    let h = pair_sqrt_f64(pair_add_f64(product_f64(a * up, a * up), product_f64(b * up, b * up)));
    let near = log_pair_f64(h.hi);
    let whole = PairF64 { hi: many * LN2_HI_F64, lo: many * LN2_LO_F64 };
    let rest = PairF64 { hi: h.lo / h.hi, lo: 0.0 };
    let mut log = pair_sum_f64(pair_sum_f64(near, whole), rest);
    let angle = atan2_pair_f64(z.im, z.re);
    let wr = PairF64 { hi: w.re, lo: 0.0 };
    let wi = PairF64 { hi: w.im, lo: 0.0 };
    let back = PairF64 { hi: -w.im, lo: 0.0 };
    log.hi = if a == f64::INFINITY { a } else { log.hi };
    let real = w.im == 0.0;
    let other = PairF64 { hi: if real { 0.0 } else { log.hi }, lo: if real { 0.0 } else { log.lo } };
    let mut re = pair_sum_f64(pair_mul_f64(wr, log), pair_mul_f64(back, angle));
    let im = pair_sum_f64(pair_mul_f64(wr, angle), pair_mul_f64(wi, other));
    let plain = w.re * log.hi + (if real { 0.0 } else { back.hi * angle.hi });
    re.hi = if magnitude_f64(plain) < f64::INFINITY { re.hi } else { plain };
    let t = cis_of_f64(im);
    let p = power_of_f64(re);
    let x = pair_times_f64(p.e, t.c, p.far) * p.low * p.high;
    let y = pair_times_f64(p.e, t.s, p.far) * p.low * p.high;
    // Without an angle an infinite exponent still decides the magnitude, as C99's cexp has it.
    let lost = t.c.hi.is_nan();
    let least = lost & (plain == f64::NEG_INFINITY);
    let most = lost & (plain == f64::INFINITY);
    let x = if least {
        0.0
    } else if most {
        plain
    } else {
        x
    };
    Complex::new(x, if least { 0.0 } else { y })
}

/// z^w. z^0 is 1; 0^w is 0 for re w > 0, NaN else.
#[must_use]
pub fn pow_c128(z: Complex<f64>, w: Complex<f64>) -> Complex<f64> {
    let n = magnitude_f64(w.re);
    let t = (if n < 100.0 { n } else { 0.0 }) + f64::from_bits(0x4330_0000_0000_0000);
    let whole = (t - f64::from_bits(0x4330_0000_0000_0000) == n) & (w.im == 0.0) & (n > 0.0);
    let zero = (z.re == 0.0) & (z.im == 0.0);
    let product = whole_power_c128(z, t.to_bits() & 0x7f);
    let inverse = inverse_c128(product);
    let general = general_power_c128(z, w);
    let re = if whole { if w.re < 0.0 { inverse.re } else { product.re } } else { general.re };
    let im = if whole { if w.re < 0.0 { inverse.im } else { product.im } } else { general.im };
    let limit = if w.re > 0.0 { 0.0 } else { f64::NAN };
    let re = if zero { limit } else { re };
    let im = if zero { limit } else { im };
    let unit = (n == 0.0) & (w.im == 0.0);
    Complex::new(if unit { 1.0 } else { re }, if unit { 0.0 } else { im })
}

/// z^w. z^0 is 1; 0^w is 0 for re w > 0, NaN else.
#[must_use]
pub fn pow_c64(z: Complex<f32>, w: Complex<f32>) -> Complex<f32> {
    narrowed_c128(pow_c128(widened_c64(z), widened_c64(w)))
}
