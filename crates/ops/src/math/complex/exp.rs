//! E^z = e^x (cos y + i sin y), both factors as pairs.
//! `c/precast/ops/math/complex/exp.h` says how, line by line.

use super::super::exp::{exp_tail_f64, reduce_ln2_f64, scale_high_f64, scale_low_f64};
use super::super::ln2::{LN2_HI_F64, LN2_LO_F64};
use super::super::pair::{PairF64, magnitude_f64, sign_f64, signed_f64, sum_f64, sum_ordered_f64};
use super::super::trig::{cos_pair_f64, sin_tail_f64};
use super::super::turn::turn_of_f64;
use super::number::{known_sign_f64, lost_f64, narrowed_c128, pair_signed_f64, pair_times_f64, widened_c64};
use precast_graph::Complex;

/// The cosine and the sine of one angle.
#[derive(Clone, Copy)]
pub(super) struct CisF64 {
    pub(super) c: PairF64,
    pub(super) s: PairF64,
}

/// cos y and sin y, y = hi + lo; NaN of inf.
pub(super) fn cis_of_f64(y: PairF64) -> CisF64 {
    let turn = turn_of_f64(magnitude_f64(y.hi));
    let r = sum_f64(turn.hi, turn.lo + signed_f64(y.lo, sign_f64(y.hi)));
    let c = cos_pair_f64(r.hi, r.lo);
    let s = sum_ordered_f64(r.hi, sin_tail_f64(r.hi, r.lo));
    let odd = turn.quarters & 1 != 0;
    let u = PairF64 { hi: if odd { s.hi } else { c.hi }, lo: if odd { s.lo } else { c.lo } };
    let v = PairF64 { hi: if odd { c.hi } else { s.hi }, lo: if odd { c.lo } else { s.lo } };
    let cosine = pair_signed_f64(u, (turn.quarters.wrapping_add(1) & 2) << 62);
    let sine = pair_signed_f64(v, (turn.quarters & 2) << 62 ^ sign_f64(y.hi));
    CisF64 { c: cosine, s: sine }
}

/// From here on e^x is e^(x - 1400 ln 2) far^2: it may be out of range where its product with a sine is
/// not.
pub(super) const POWER_FAR_F64: f64 = 709.0;

/// e^x = e low high far^2. `low` and `high` are 1 but for x < 0, whose power may be subnormal.
#[derive(Clone, Copy)]
pub(super) struct PowerF64 {
    pub(super) e: PairF64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) far: f64,
}

/// e^(hi + lo).
pub(super) fn power_of_f64(x: PairF64) -> PowerF64 {
    let far = x.hi > POWER_FAR_F64;
    let falls = x.hi < 0.0;
    let c = if x.hi > 1460.0 { 1460.0 } else { x.hi };
    let c = if c < -746.0 { -746.0 } else { c };
    let add = if c == x.hi { x.lo } else { 0.0 };
    let c = if far { c - 1400.0 * LN2_HI_F64 } else { c };
    let k = reduce_ln2_f64(c, 2046.0);
    let lo = if far { k.lo + 1400.0 * LN2_LO_F64 } else { k.lo };
    let s = sum_ordered_f64(1.0, k.hi);
    let e = sum_ordered_f64(s.hi, s.lo + exp_tail_f64(k.hi, lo - add));
    let low = scale_low_f64(k.bits);
    let high = scale_high_f64(k.bits);
    let now = if falls { 1.0 } else { low * high };
    let scaled = PairF64 { hi: e.hi * now, lo: e.lo * now };
    PowerF64 {
        e: scaled,
        low: if falls { low } else { 1.0 },
        high: if falls { high } else { 1.0 },
        far: if far { f64::from_bits(0x6bb0_0000_0000_0000) } else { 1.0 },
    }
}

/// e^z. A real z gives a real number; of an infinite or NaN y nothing is known but at x = -inf (0) and x =
/// inf (re = inf).
#[must_use]
pub fn exp_c128(z: Complex<f64>) -> Complex<f64> {
    let x = PairF64 { hi: z.re, lo: 0.0 };
    let y = PairF64 { hi: z.im, lo: 0.0 };
    let t = cis_of_f64(y);
    let p = power_of_f64(x);
    let re = pair_times_f64(p.e, t.c, p.far) * p.low * p.high;
    let im = pair_times_f64(p.e, t.s, p.far) * p.low * p.high;
    let lost = lost_f64(z.im);
    let zero = lost & (z.re == -f64::INFINITY);
    let re = if lost & (z.re == f64::INFINITY) { z.re } else { re };
    let none = signed_f64(0.0, known_sign_f64(z.im));
    Complex::new(
        if zero { 0.0 } else { re },
        if zero {
            none
        } else if z.im == 0.0 {
            z.im
        } else {
            im
        },
    )
}

/// e^z. A real z gives a real number; of an infinite or NaN y nothing is known but at x = -inf (0) and x =
/// inf (re = inf).
#[must_use]
pub fn exp_c64(z: Complex<f32>) -> Complex<f32> {
    narrowed_c128(exp_c128(widened_c64(z)))
}
