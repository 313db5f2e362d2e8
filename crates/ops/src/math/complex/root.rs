//! The square root.
//! `c/precast/ops/math/complex/root.h` says how, line by line.

use super::super::pair::{PairF64, magnitude_f64, pair_sqrt_f64, product_f64, signed_f64};
use super::number::{known_sign_f64, narrowed_c128, pair_sum_f64, widened_c64};
use precast_graph::Complex;

/// The root with a real part that is not negative; special values are those of C99's Annex G.
#[must_use]
pub fn sqrt_c128(z: Complex<f64>) -> Complex<f64> {
    let x = magnitude_f64(z.re);
    let y = magnitude_f64(z.im);
    let a = if x > y { x } else { y };
    let large = a > f64::from_bits(0x5f30_0000_0000_0000);
    let small = a < f64::from_bits(0x26f0_0000_0000_0000);
    let left = known_sign_f64(z.re) != 0;
    let up = if large {
        f64::from_bits(0x1a70_0000_0000_0000)
    } else if small {
        f64::from_bits(0x6570_0000_0000_0000)
    } else {
        1.0
    };
    let down = if large {
        f64::from_bits(0x52b0_0000_0000_0000)
    } else if small {
        f64::from_bits(0x2d30_0000_0000_0000)
    } else {
        1.0
    };
    let u = x * up;
    let v = y * up;
    let r = pair_sqrt_f64(pair_sum_f64(product_f64(u, u), product_f64(v, v)));
    let half = PairF64 { hi: 0.5 * u, lo: 0.0 };
    let mean = PairF64 { hi: 0.5 * r.hi, lo: 0.5 * r.lo };
    let t = pair_sqrt_f64(pair_sum_f64(mean, half));
    let first = (t.hi + t.lo) * down;
    let q = y / (2.0 * (t.hi * down));
    let second = q - q * (t.lo / t.hi);
    let re = if left { second } else { first };
    let im = if left { first } else { second };
    let far = x == f64::INFINITY;
    let re = if far { if left { if !y.is_nan() { 0.0 } else { y } } else { x } } else { re };
    let im = if far {
        if left {
            x
        } else if !y.is_nan() {
            0.0
        } else {
            y
        }
    } else {
        im
    };
    let zero = (x == 0.0) & (y == 0.0);
    let re = if zero { 0.0 } else { re };
    let im = if zero { 0.0 } else { im };
    let high = y == f64::INFINITY;
    Complex::new(if high { y } else { re }, signed_f64(if high { y } else { im }, known_sign_f64(z.im)))
}

/// The root with a real part that is not negative; special values are those of C99's Annex G.
#[must_use]
pub fn sqrt_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(sqrt_c128(widened_c64(z)))
}
