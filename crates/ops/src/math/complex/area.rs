//! Atanh, and atan, which is that of i z.
//! `c/precast/ops/math/complex/area.h` says how, line by line.

use super::super::atan::atan2_f64;
use super::super::log::log_f64;
use super::super::log1p::log1p_f64;
use super::super::pair::{magnitude_f64, signed_f64};
use super::super::root::hypot_f64;
use super::log::excess_f64;
use super::number::{known_sign_f64, narrowed_c128, quarter_back_c128, quarter_c128, widened_c64};
use precast_graph::Complex;

/// The inverse of tanh; branch cuts on the real axis outside of \[-1, 1]. Beyond 2^60 it is x / |z|^2 +- i
/// pi / 2.
#[must_use]
pub fn atanh_c128(z: Complex<f64>) -> Complex<f64> {
    let x = magnitude_f64(z.re);
    let y = magnitude_f64(z.im);
    let far = (x > f64::from_bits(0x43b0_0000_0000_0000)) | (y > f64::from_bits(0x43b0_0000_0000_0000));
    let infinite = (x == f64::INFINITY) | (y == f64::INFINITY);
    let u = if far { 0.5 } else { x };
    let v = if far { 0.5 } else { y };
    let gap = 1.0 - u;
    let near = 0.25 * log1p_f64(4.0 * u / (gap * gap + v * v));
    let near = if (gap == 0.0) & (v < f64::from_bits(0x3e40_0000_0000_0000)) {
        0.5 * (f64::from_bits(0x3fe6_2e42_fefa_39ef) - log_f64(v))
    } else {
        near
    };
    let d = excess_f64(-1.0, 0.0, if u > v { u } else { v }, if u > v { v } else { u });
    let angle = 0.5 * atan2_f64(v + v, 0.0 - d.hi);
    let h = hypot_f64(0.5 * x, 0.5 * y);
    let away = 0.25 * (x / h / h);
    let re = if far { if infinite { 0.0 } else { away } } else { near };
    let im = if far { f64::from_bits(0x3ff9_21fb_5444_2d18) } else { angle };
    let left = x.is_nan() & (y < f64::INFINITY);
    let right = y.is_nan();
    let im = if left | right { x + y } else { im };
    let re = if left | right & (x > 0.0) & (x < f64::INFINITY) { x + y } else { re };
    let re = if x == 0.0 { 0.0 } else { re };
    Complex::new(signed_f64(re, known_sign_f64(z.re)), signed_f64(im, known_sign_f64(z.im)))
}

/// The arc tangent; branch cuts on the imaginary axis outside of \[-i, i].
#[must_use]
pub fn atan_c128(z: Complex<f64>) -> Complex<f64> {
    quarter_c128(atanh_c128(quarter_back_c128(z)))
}

/// The inverse of tanh; branch cuts on the real axis outside of \[-1, 1]. Beyond 2^60 it is x / |z|^2 +- i
/// pi / 2.
#[must_use]
pub fn atanh_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(atanh_c128(widened_c64(z)))
}

/// The arc tangent; branch cuts on the imaginary axis outside of \[-i, i].
#[must_use]
pub fn atan_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(atan_c128(widened_c64(z)))
}
