//! Sinh, cosh, tanh, and sin, cos, tan, which are those of i z.
//! `c/precast/ops/math/complex/hyperbolic.h` says how, line by line.

use super::super::exp::{exp_tail_f64, reduce_ln2_f64};
use super::super::ln2::{LN2_HI_F64, LN2_LO_F64};
use super::super::pair::{
    PairF64, magnitude_f64, pair_add_f64, pair_div_f64, signed_f64, sum_f64, sum_ordered_f64,
};
use super::super::pow::pair_mul_f64;
use super::exp::{POWER_FAR_F64, cis_of_f64, power_of_f64};
use super::number::{
    known_sign_f64, lost_f64, narrowed_c128, pair_sum_f64, pair_times_f64, quarter_back_c128, quarter_c128,
    widened_c64,
};
use precast_graph::Complex;

/// sinh a / far^2 and cosh a / far^2.
#[derive(Clone, Copy)]
struct CatenaryF64 {
    s: PairF64,
    c: PairF64,
    far: f64,
}

/// Of a >= 0. With e = e^a / 4 and g = e - 1/4: sinh a = 2 (g + g / (4g + 1)), cosh a = 2 (e + 1 / (16 e)).
fn catenary_of_f64(a: f64) -> CatenaryF64 {
    let far = a > POWER_FAR_F64;
    let near = a < 40.0;
    let c = if a > 1460.0 { 1460.0 } else { a };
    let c = if far { c - 1400.0 * LN2_HI_F64 } else { c };
    let k = reduce_ln2_f64(c, 1021.0);
    let scale = f64::from_bits(k.bits << 52);
    let tail = scale * exp_tail_f64(k.hi, if far { k.lo + 1400.0 * LN2_LO_F64 } else { k.lo });
    let es = sum_ordered_f64(scale, scale * k.hi);
    let e = sum_ordered_f64(es.hi, es.lo + tail);
    let whole = sum_ordered_f64(scale, -0.25);
    let gs = sum_ordered_f64(whole.hi, scale * k.hi);
    let g = sum_ordered_f64(gs.hi, whole.lo + gs.lo + tail);
    let n = PairF64 { hi: if near { g.hi } else { 0.0 }, lo: if near { g.lo } else { 0.0 } };
    let mut d = sum_f64(4.0 * n.hi, 1.0);
    d.lo += 4.0 * n.lo;
    let s = pair_add_f64(n, pair_div_f64(n, d));
    let unit = PairF64 { hi: if near { 0.0625 } else { 0.0 }, lo: 0.0 };
    let w = pair_add_f64(e, pair_div_f64(unit, e));
    let tiny = a < f64::from_bits(0x3e30_0000_0000_0000);
    let sinh = PairF64 {
        hi: if tiny { a } else { 2.0 * (if near { s.hi } else { e.hi }) },
        lo: if tiny { 0.0 } else { 2.0 * (if near { s.lo } else { e.lo }) },
    };
    let cosh = PairF64 { hi: 2.0 * w.hi, lo: 2.0 * w.lo };
    CatenaryF64 { s: sinh, c: cosh, far: if far { f64::from_bits(0x6bb0_0000_0000_0000) } else { 1.0 } }
}

/// The hyperbolic sine.
#[must_use]
pub fn sinh_c128(z: Complex<f64>) -> Complex<f64> {
    let a = magnitude_f64(z.re);
    let angle = PairF64 { hi: z.im, lo: 0.0 };
    let t = cis_of_f64(angle);
    let h = catenary_of_f64(a);
    let re = signed_f64(pair_times_f64(h.s, t.c, h.far), known_sign_f64(z.re));
    let im = pair_times_f64(h.c, t.s, h.far);
    let lost = lost_f64(z.im);
    let re = if lost & (a == 0.0) { z.re } else { re };
    Complex::new(if lost & (a == f64::INFINITY) { a } else { re }, if z.im == 0.0 { z.im } else { im })
}

/// The hyperbolic cosine.
#[must_use]
pub fn cosh_c128(z: Complex<f64>) -> Complex<f64> {
    let a = magnitude_f64(z.re);
    let angle = PairF64 { hi: z.im, lo: 0.0 };
    let t = cis_of_f64(angle);
    let h = catenary_of_f64(a);
    let re = pair_times_f64(h.c, t.c, h.far);
    let im = if z.im == 0.0 { z.im } else { pair_times_f64(h.s, t.s, h.far) };
    let lost = lost_f64(z.im);
    let im = signed_f64(im, known_sign_f64(z.re));
    Complex::new(if lost & (a == f64::INFINITY) { a } else { re }, if lost & (a == 0.0) { 0.0 } else { im })
}

/// The hyperbolic tangent. From 22 on its real part is 1, and the imaginary 4 sin y cos y e^(-2x).
#[must_use]
pub fn tanh_c128(z: Complex<f64>) -> Complex<f64> {
    let a = magnitude_f64(z.re);
    let far = a > 22.0;
    let angle = PairF64 { hi: z.im, lo: 0.0 };
    let t = cis_of_f64(angle);
    let h = catenary_of_f64(if far { 22.0 } else { a });
    let turn = pair_mul_f64(t.s, t.c);
    let d = pair_sum_f64(pair_mul_f64(h.s, h.s), pair_mul_f64(t.c, t.c));
    let tiny = a < f64::from_bits(0x20b0_0000_0000_0000);
    let up = if tiny { f64::from_bits(0x4c70_0000_0000_0000) } else { 1.0 };
    let down = if tiny { f64::from_bits(0x3370_0000_0000_0000) } else { 1.0 };
    let s = PairF64 { hi: h.s.hi * up, lo: h.s.lo * up };
    let x = pair_div_f64(pair_mul_f64(s, h.c), d);
    let y = pair_div_f64(turn, d);
    let twice = PairF64 { hi: -2.0 * (if a > 1000.0 { 1000.0 } else { a }), lo: 0.0 };
    let p = power_of_f64(twice);
    let small = 4.0 * pair_times_f64(p.e, turn, 1.0) * p.low * p.high;
    let re = if far { 1.0 } else { x.hi * down };
    let im = if far { small } else { y.hi };
    let lost = lost_f64(z.im);
    let re = if lost & !far { if a == 0.0 { a } else { f64::NAN } } else { re };
    let re = if lost & far & (a < f64::INFINITY) { f64::NAN } else { re };
    let im = if lost & (a == f64::INFINITY) { signed_f64(0.0, known_sign_f64(z.im)) } else { im };
    Complex::new(signed_f64(re, known_sign_f64(z.re)), if z.im == 0.0 { z.im } else { im })
}

/// The sine.
#[must_use]
pub fn sin_c128(z: Complex<f64>) -> Complex<f64> {
    quarter_c128(sinh_c128(quarter_back_c128(z)))
}

/// The cosine.
#[must_use]
pub fn cos_c128(z: Complex<f64>) -> Complex<f64> {
    cosh_c128(quarter_c128(z))
}

/// The tangent.
#[must_use]
pub fn tan_c128(z: Complex<f64>) -> Complex<f64> {
    quarter_back_c128(tanh_c128(quarter_c128(z)))
}

/// The hyperbolic sine.
#[must_use]
pub fn sinh_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(sinh_c128(widened_c64(z)))
}

/// The hyperbolic cosine.
#[must_use]
pub fn cosh_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(cosh_c128(widened_c64(z)))
}

/// The hyperbolic tangent. From 22 on its real part is 1, and the imaginary 4 sin y cos y e^(-2x).
#[must_use]
pub fn tanh_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(tanh_c128(widened_c64(z)))
}

/// The sine.
#[must_use]
pub fn sin_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(sin_c128(widened_c64(z)))
}

/// The cosine.
#[must_use]
pub fn cos_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(cos_c128(widened_c64(z)))
}

/// The tangent.
#[must_use]
pub fn tan_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(tan_c128(widened_c64(z)))
}
