//! The reduction of an angle by quarter turns, of any size, in pairs. `c/precast/ops/math/turn.h` says how,
//! line by line.

use super::pair::{product_f64, sum_f64, sum_ordered_f64};

/// 2 / pi in words of 50 bits, as whole numbers.
const TURN_W1_F64: f64 = 716_770_142_402_832.0;
const TURN_W2_F64: f64 = 372_321_092_467_999.0;
const TURN_W3_F64: f64 = 366_375_477_893_285.0;
const TURN_W4_F64: f64 = 449_959_087_325_694.0;
const TURN_W5_F64: f64 = 357_954_108_452_629.0;
const TURN_W6_F64: f64 = 593_127_582_966_820.0;
const TURN_W7_F64: f64 = 972_758_579_301_306.0;
const TURN_W8_F64: f64 = 573_745_657_609_757.0;
const TURN_W9_F64: f64 = 1_034_033_855_634_683.0;
const TURN_W10_F64: f64 = 712_635_457_924_020.0;
const TURN_W11_F64: f64 = 318_009_698_421_165.0;
const TURN_W12_F64: f64 = 104_995_864_809_942.0;
const TURN_W13_F64: f64 = 252_944_799_224_434.0;
const TURN_W14_F64: f64 = 76_934_606_197_379.0;
const TURN_W15_F64: f64 = 782_844_326_573_953.0;
const TURN_W16_F64: f64 = 448_669_181_481_355.0;
const TURN_W17_F64: f64 = 396_003_307_795_673.0;
const TURN_W18_F64: f64 = 1_104_951_148_321_652.0;
const TURN_W19_F64: f64 = 1_074_840_692_299_770.0;
const TURN_W20_F64: f64 = 612_931_154_397_163.0;
const TURN_W21_F64: f64 = 1_011_301_269_904_615.0;
const TURN_W22_F64: f64 = 977_075_685_992_127.0;
const TURN_W23_F64: f64 = 800_359_771_756_354.0;
const TURN_W24_F64: f64 = 94_571_694_849_147.0;

/// The words of 2 / pi that count, highest first: each 2^-50 of the one before.
#[derive(Clone, Copy)]
struct TurnWordsF64 {
    w0: f64,
    w1: f64,
    w2: f64,
    w3: f64,
    w4: f64,
}

/// An angle in \[-pi/4, pi/4] as hi + lo, and in the low two bits of `quarters` how many quarter turns were
/// taken off.
#[derive(Clone, Copy)]
pub(super) struct TurnF64 {
    pub(super) hi: f64,
    pub(super) lo: f64,
    pub(super) quarters: u64,
}

/// The words from the one at `at` on, 0 <= at <= 20.
fn turn_window_f64(at: f64) -> TurnWordsF64 {
    let p = at;
    let by16 = p >= 16.0;
    let a0 = if by16 { TURN_W16_F64 } else { 0.0 };
    let a1 = if by16 { TURN_W17_F64 } else { TURN_W1_F64 };
    let a2 = if by16 { TURN_W18_F64 } else { TURN_W2_F64 };
    let a3 = if by16 { TURN_W19_F64 } else { TURN_W3_F64 };
    let a4 = if by16 { TURN_W20_F64 } else { TURN_W4_F64 };
    let a5 = if by16 { TURN_W21_F64 } else { TURN_W5_F64 };
    let a6 = if by16 { TURN_W22_F64 } else { TURN_W6_F64 };
    let a7 = if by16 { TURN_W23_F64 } else { TURN_W7_F64 };
    let a8 = if by16 { TURN_W24_F64 } else { TURN_W8_F64 };
    let p = if by16 { p - 16.0 } else { p };
    let by8 = p >= 8.0;
    let b0 = if by8 { a8 } else { a0 };
    let b1 = if by8 { TURN_W9_F64 } else { a1 };
    let b2 = if by8 { TURN_W10_F64 } else { a2 };
    let b3 = if by8 { TURN_W11_F64 } else { a3 };
    let b4 = if by8 { TURN_W12_F64 } else { a4 };
    let b5 = if by8 { TURN_W13_F64 } else { a5 };
    let b6 = if by8 { TURN_W14_F64 } else { a6 };
    let b7 = if by8 { TURN_W15_F64 } else { a7 };
    let b8 = if by8 { TURN_W16_F64 } else { a8 };
    let b9 = if by8 { TURN_W17_F64 } else { TURN_W9_F64 };
    let b10 = if by8 { TURN_W18_F64 } else { TURN_W10_F64 };
    let b11 = if by8 { TURN_W19_F64 } else { TURN_W11_F64 };
    let p = if by8 { p - 8.0 } else { p };
    let by4 = p >= 4.0;
    let c0 = if by4 { b4 } else { b0 };
    let c1 = if by4 { b5 } else { b1 };
    let c2 = if by4 { b6 } else { b2 };
    let c3 = if by4 { b7 } else { b3 };
    let c4 = if by4 { b8 } else { b4 };
    let c5 = if by4 { b9 } else { b5 };
    let c6 = if by4 { b10 } else { b6 };
    let c7 = if by4 { b11 } else { b7 };
    let p = if by4 { p - 4.0 } else { p };
    let by2 = p >= 2.0;
    let d0 = if by2 { c2 } else { c0 };
    let d1 = if by2 { c3 } else { c1 };
    let d2 = if by2 { c4 } else { c2 };
    let d3 = if by2 { c5 } else { c3 };
    let d4 = if by2 { c6 } else { c4 };
    let d5 = if by2 { c7 } else { c5 };
    let p = if by2 { p - 2.0 } else { p };
    let by1 = p >= 1.0;
    let w0 = if by1 { d1 } else { d0 };
    let w1 = if by1 { d2 } else { d1 };
    let w2 = if by1 { d3 } else { d2 };
    let w3 = if by1 { d4 } else { d3 };
    let w4 = if by1 { d5 } else { d4 };
    TurnWordsF64 { w0, w1, w2, w3, w4 }
}

/// v less a multiple of 4, exactly; v has at most 53 bits, so one round leaves no more than two carries.
fn turn_rest_f64(v: f64) -> f64 {
    let u = v - (v + f64::from_bits(0x4358_0000_0000_0000) - f64::from_bits(0x4358_0000_0000_0000));
    u - (u + f64::from_bits(0x4358_0000_0000_0000) - f64::from_bits(0x4358_0000_0000_0000))
}

/// x >= 2^20, finite.
fn turn_far_f64(x: f64) -> TurnF64 {
    let e = f64::from_bits((x.to_bits() >> 52) | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1043.0);
    let t = (e - 24.5) * 0.02 + 6_755_399_441_055_744.0;
    let p = t - 6_755_399_441_055_744.0;
    let p = if p > 0.0 { p } else { 0.0 };
    let w = turn_window_f64(p);
    let y = x * f64::from_bits((4_503_599_627_370_496.0 + (1023.0 - 50.0 * p)).to_bits() << 52);
    let q0 = product_f64(y, w.w0);
    let q1 = product_f64(y, w.w1 * f64::from_bits(0x3cd0_0000_0000_0000));
    let q2 = product_f64(y, w.w2 * f64::from_bits(0x39b0_0000_0000_0000));
    let q3 = product_f64(y, w.w3 * f64::from_bits(0x3690_0000_0000_0000));
    let s0 = turn_rest_f64(q0.hi) + turn_rest_f64(q0.lo);
    let s1 = sum_f64(s0, turn_rest_f64(q1.hi));
    let s2 = sum_f64(s1.hi, turn_rest_f64(q1.lo));
    let s3 = sum_f64(s2.hi, turn_rest_f64(q2.hi));
    let n = s3.hi + 6_755_399_441_055_744.0;
    let a = sum_f64(s3.hi - (n - 6_755_399_441_055_744.0), q3.hi);
    let b = sum_f64(a.hi, q2.lo);
    let c = sum_f64(b.hi, s1.lo);
    let d = sum_f64(c.hi, s2.lo);
    let f = sum_f64(d.hi, s3.lo);
    let small =
        a.lo + b.lo + (c.lo + d.lo) + (f.lo + (q3.lo + y * (w.w4 * f64::from_bits(0x3370_0000_0000_0000))));
    let g = sum_f64(f.hi, small);
    let h = product_f64(g.hi, f64::from_bits(0x3ff9_21fb_5444_2d18));
    let r = sum_ordered_f64(
        h.hi,
        h.lo + (g.hi * f64::from_bits(0x3c91_a626_3314_5c07) + g.lo * f64::from_bits(0x3ff9_21fb_5444_2d18)),
    );
    TurnF64 { hi: r.hi, lo: r.lo, quarters: n.to_bits() }
}

/// 0 <= x < 2^20: x - k pi/2, with 33 bits of pi / 2 at a time, so that every product is exact.
fn turn_near_f64(x: f64) -> TurnF64 {
    let t = x * f64::from_bits(0x3fe4_5f30_6dc9_c883) + 6_755_399_441_055_744.0;
    let k = t - 6_755_399_441_055_744.0;
    let a =
        sum_f64(x - k * f64::from_bits(0x3ff9_21fb_5440_0000), -(k * f64::from_bits(0x3dd0_b461_1a60_0000)));
    let b = sum_f64(a.hi, -(k * f64::from_bits(0x3ba3_198a_2e00_0000)));
    let r = sum_ordered_f64(b.hi, a.lo + b.lo - k * f64::from_bits(0x397b_839a_2520_49c1));
    TurnF64 { hi: r.hi, lo: r.lo, quarters: t.to_bits() }
}

/// x >= 0 of any size; inf gives NaN.
pub(super) fn turn_of_f64(x: f64) -> TurnF64 {
    let near = x < 1_048_576.0;
    let a = turn_near_f64(if near { x } else { 0.0 });
    let b = turn_far_f64(if near { 1_048_576.0 } else { x });
    let hi = if near { a.hi } else { b.hi };
    TurnF64 {
        hi: if x < f64::INFINITY { hi } else { f64::NAN },
        lo: if near { a.lo } else { b.lo },
        quarters: if near { a.quarters } else { b.quarters },
    }
}
