//! Asin, acos and their hyperbolic kin.
//! `c/precast/ops/math/complex/arc.h` says how, line by line.

use super::super::atan::atan2_f64;
use super::super::log1p::log1p_f64;
use super::super::pair::{magnitude_f64, signed_f64};
use super::super::root::hypot_f64;
use super::log::log_abs_f64;
use super::number::{known_sign_f64, narrowed_c128, quarter_back_c128, quarter_c128, widened_c64};
use precast_graph::Complex;

/// sqrt((a - x) (a + x)), and ln(a + sqrt(a^2 - 1)).
#[derive(Clone, Copy)]
struct ArcF64 {
    side: f64,
    log: f64,
}

/// Of x, y >= 0. Beyond 2^60 it is y, and ln(2 |z|).
fn arc_of_f64(re: f64, im: f64) -> ArcF64 {
    let far = (re > f64::from_bits(0x43b0_0000_0000_0000)) | (im > f64::from_bits(0x43b0_0000_0000_0000));
    let x = if far { 1.0 } else { re };
    let y = if far { 1.0 } else { im };
    let r = hypot_f64(x + 1.0, y);
    let s = hypot_f64(x - 1.0, y);
    let a = 0.5 * (r + s);
    let right = x > 1.0;
    let beyond = if right { x - 1.0 } else { 1.0 - x };
    let d = s + beyond;
    let first = y / (r + (x + 1.0));
    let second = if d > 0.0 { y / d } else { 0.0 };
    let tall = first + second;
    let wide = y * first + d;
    let less_x = if right { tall } else { wide };
    let less_1 = if right { wide } else { tall };
    let root = y.sqrt();
    let side = (if right { root } else { 1.0 }) * (less_x * (0.5 * (a + x))).sqrt();
    let other = (if right { 1.0 } else { root }) * (less_1 * (0.5 * (a + 1.0))).sqrt();
    let log = log1p_f64(0.5 * (if right { less_1 } else { y * less_1 }) + other);
    let large = log_abs_f64(re, im) + f64::from_bits(0x3fe6_2e42_fefa_39ef);
    let lost = re.is_nan() | im.is_nan();
    ArcF64 { side: if far | lost { im } else { side }, log: if far | lost { large } else { log } }
}

/// The arc sine; branch cuts on the real axis outside of \[-1, 1].
#[must_use]
pub fn asin_c128(z: Complex<f64>) -> Complex<f64> {
    let x = magnitude_f64(z.re);
    let a = arc_of_f64(x, magnitude_f64(z.im));
    let re = signed_f64(atan2_f64(x, a.side), known_sign_f64(z.re));
    Complex::new(if x == 0.0 { z.re } else { re }, signed_f64(a.log, known_sign_f64(z.im)))
}

/// The arc cosine; branch cuts on the real axis outside of \[-1, 1].
#[must_use]
pub fn acos_c128(z: Complex<f64>) -> Complex<f64> {
    let a = arc_of_f64(magnitude_f64(z.re), magnitude_f64(z.im));
    let re = atan2_f64(a.side, z.re);
    Complex::new(
        if z.re == 0.0 { f64::from_bits(0x3ff9_21fb_5444_2d18) } else { re },
        -signed_f64(a.log, known_sign_f64(z.im)),
    )
}

/// The inverse of sinh; branch cuts on the imaginary axis outside of \[-i, i].
#[must_use]
pub fn asinh_c128(z: Complex<f64>) -> Complex<f64> {
    quarter_back_c128(asin_c128(quarter_c128(z)))
}

/// The inverse of cosh with a real part that is not negative; a branch cut on the real axis below 1.
#[must_use]
pub fn acosh_c128(z: Complex<f64>) -> Complex<f64> {
    let a = acos_c128(z);
    Complex::new(magnitude_f64(a.im), signed_f64(a.re, known_sign_f64(z.im)))
}

/// The arc sine; branch cuts on the real axis outside of \[-1, 1].
#[must_use]
pub fn asin_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(asin_c128(widened_c64(z)))
}

/// The arc cosine; branch cuts on the real axis outside of \[-1, 1].
#[must_use]
pub fn acos_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(acos_c128(widened_c64(z)))
}

/// The inverse of sinh; branch cuts on the imaginary axis outside of \[-i, i].
#[must_use]
pub fn asinh_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(asinh_c128(widened_c64(z)))
}

/// The inverse of cosh with a real part that is not negative; a branch cut on the real axis below 1.
#[must_use]
pub fn acosh_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(acosh_c128(widened_c64(z)))
}
