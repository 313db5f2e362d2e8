/* precast/ops/math/turn.h: the reduction of an angle by quarter turns, of any size, in pairs.
 *
 * Below 2^20 after Cody and Waite, pi / 2 in four parts; above after M. Payne and R. Hanek, "Radian reduction for trigonometric
 * functions" (1983): of 2 / pi only the 250 bits that count for the exponent of x are multiplied. They are chosen by selects, so
 * both ways are walked for every element and no loop has a branch. */
#ifndef PRECAST_OPS_MATH_TURN_H
#define PRECAST_OPS_MATH_TURN_H

#include <precast/ops/math/pair.h>

/* 2 / pi in words of 50 bits, as whole numbers. */
#define PC_TURN_W1_F64 0x1.45f306dc9c880p+49
#define PC_TURN_W2_F64 0x1.529fc2757d1f0p+48
#define PC_TURN_W3_F64 0x1.4d377036d8a50p+48
#define PC_TURN_W4_F64 0x1.993c439041fe0p+48
#define PC_TURN_W5_F64 0x1.458eaf7aef150p+48
#define PC_TURN_W6_F64 0x1.0db92371d2120p+49
#define PC_TURN_W7_F64 0x1.ba5c00c925dd0p+49
#define PC_TURN_W8_F64 0x1.04e8c90e7f0e8p+49
#define PC_TURN_W9_F64 0x1.d63962534e7d8p+49
#define PC_TURN_W10_F64 0x1.4411afa975da0p+49
#define PC_TURN_W11_F64 0x1.213a671c09ad0p+48
#define PC_TURN_W12_F64 0x1.7df904e647580p+46
#define PC_TURN_W13_F64 0x1.cc1a99cfa4e40p+47
#define PC_TURN_W14_F64 0x1.17e2ef7e4a0c0p+46
#define PC_TURN_W15_F64 0x1.63ff12fffbc08p+49
#define PC_TURN_W16_F64 0x1.980fef2f118b0p+48
#define PC_TURN_W17_F64 0x1.6829b47db4d90p+48
#define PC_TURN_W18_F64 0x1.f6793e584dba0p+49
#define PC_TURN_W19_F64 0x1.e8c7ecd3cbfd0p+49
#define PC_TURN_W20_F64 0x1.16ba93dd63f58p+49
#define PC_TURN_W21_F64 0x1.cbe2f67a0e738p+49
#define PC_TURN_W22_F64 0x1.bc529497535f8p+49
#define PC_TURN_W23_F64 0x1.6bf623f1aba10p+49
#define PC_TURN_W24_F64 0x1.580cc11bf1ec0p+46

/* The words of 2 / pi that count, highest first: each 2^-50 of the one before. */
typedef struct pc_turn_words_f64 {
  pc_f64 w0, w1, w2, w3, w4;
} pc_turn_words_f64;

/* An angle in [-pi/4, pi/4] as hi + lo, and in the low two bits of `quarters` how many quarter turns were taken off. */
typedef struct pc_turn_f64 {
  pc_f64 hi, lo;
  uint64_t quarters;
} pc_turn_f64;

/* The words from the one at `at` on, 0 <= at <= 20. */
PC_INLINE pc_turn_words_f64 pc_turn_window_f64(pc_f64 at) {
  pc_f64 p = at;
  int by16 = p >= 16.0;
  pc_f64 a0 = by16 ? PC_TURN_W16_F64 : 0.0;
  pc_f64 a1 = by16 ? PC_TURN_W17_F64 : PC_TURN_W1_F64;
  pc_f64 a2 = by16 ? PC_TURN_W18_F64 : PC_TURN_W2_F64;
  pc_f64 a3 = by16 ? PC_TURN_W19_F64 : PC_TURN_W3_F64;
  pc_f64 a4 = by16 ? PC_TURN_W20_F64 : PC_TURN_W4_F64;
  pc_f64 a5 = by16 ? PC_TURN_W21_F64 : PC_TURN_W5_F64;
  pc_f64 a6 = by16 ? PC_TURN_W22_F64 : PC_TURN_W6_F64;
  pc_f64 a7 = by16 ? PC_TURN_W23_F64 : PC_TURN_W7_F64;
  pc_f64 a8 = by16 ? PC_TURN_W24_F64 : PC_TURN_W8_F64;
  p = by16 ? p - 16.0 : p;
  int by8 = p >= 8.0;
  pc_f64 b0 = by8 ? a8 : a0;
  pc_f64 b1 = by8 ? PC_TURN_W9_F64 : a1;
  pc_f64 b2 = by8 ? PC_TURN_W10_F64 : a2;
  pc_f64 b3 = by8 ? PC_TURN_W11_F64 : a3;
  pc_f64 b4 = by8 ? PC_TURN_W12_F64 : a4;
  pc_f64 b5 = by8 ? PC_TURN_W13_F64 : a5;
  pc_f64 b6 = by8 ? PC_TURN_W14_F64 : a6;
  pc_f64 b7 = by8 ? PC_TURN_W15_F64 : a7;
  pc_f64 b8 = by8 ? PC_TURN_W16_F64 : a8;
  pc_f64 b9 = by8 ? PC_TURN_W17_F64 : PC_TURN_W9_F64;
  pc_f64 b10 = by8 ? PC_TURN_W18_F64 : PC_TURN_W10_F64;
  pc_f64 b11 = by8 ? PC_TURN_W19_F64 : PC_TURN_W11_F64;
  p = by8 ? p - 8.0 : p;
  int by4 = p >= 4.0;
  pc_f64 c0 = by4 ? b4 : b0;
  pc_f64 c1 = by4 ? b5 : b1;
  pc_f64 c2 = by4 ? b6 : b2;
  pc_f64 c3 = by4 ? b7 : b3;
  pc_f64 c4 = by4 ? b8 : b4;
  pc_f64 c5 = by4 ? b9 : b5;
  pc_f64 c6 = by4 ? b10 : b6;
  pc_f64 c7 = by4 ? b11 : b7;
  p = by4 ? p - 4.0 : p;
  int by2 = p >= 2.0;
  pc_f64 d0 = by2 ? c2 : c0;
  pc_f64 d1 = by2 ? c3 : c1;
  pc_f64 d2 = by2 ? c4 : c2;
  pc_f64 d3 = by2 ? c5 : c3;
  pc_f64 d4 = by2 ? c6 : c4;
  pc_f64 d5 = by2 ? c7 : c5;
  p = by2 ? p - 2.0 : p;
  int by1 = p >= 1.0;
  pc_f64 w0 = by1 ? d1 : d0;
  pc_f64 w1 = by1 ? d2 : d1;
  pc_f64 w2 = by1 ? d3 : d2;
  pc_f64 w3 = by1 ? d4 : d3;
  pc_f64 w4 = by1 ? d5 : d4;
  pc_turn_words_f64 out = {w0, w1, w2, w3, w4};
  return out;
}

/* v less a multiple of 4, exactly; v has at most 53 bits, so one round leaves no more than two carries. */
PC_INLINE pc_f64 pc_turn_rest_f64(pc_f64 v) {
  pc_f64 u = v - ((v + 27021597764222976.0) - 27021597764222976.0);
  return u - ((u + 27021597764222976.0) - 27021597764222976.0);
}

/* x >= 2^20, finite. */
PC_INLINE pc_turn_f64 pc_turn_far_f64(pc_f64 x) {
  pc_f64 e = pc_from_bits_f64((pc_bits_f64(x) >> 52) | 0x4330000000000000u) - (4503599627370496.0 + 1043.0);
  pc_f64 t = (e - 24.5) * 0.02 + 6755399441055744.0;
  pc_f64 p = t - 6755399441055744.0;
  p = p > 0.0 ? p : 0.0;
  pc_turn_words_f64 w = pc_turn_window_f64(p);
  pc_f64 y = x * pc_from_bits_f64(pc_bits_f64(4503599627370496.0 + (1023.0 - 50.0 * p)) << 52); /* below 2^70 */
  pc_pair_f64 q0 = pc_product_f64(y, w.w0), q1 = pc_product_f64(y, w.w1 * 0x1p-50);
  pc_pair_f64 q2 = pc_product_f64(y, w.w2 * 0x1p-100), q3 = pc_product_f64(y, w.w3 * 0x1p-150);
  pc_f64 s0 = pc_turn_rest_f64(q0.hi) + pc_turn_rest_f64(q0.lo);
  pc_pair_f64 s1 = pc_sum_f64(s0, pc_turn_rest_f64(q1.hi));
  pc_pair_f64 s2 = pc_sum_f64(s1.hi, pc_turn_rest_f64(q1.lo));
  pc_pair_f64 s3 = pc_sum_f64(s2.hi, pc_turn_rest_f64(q2.hi));
  pc_f64 n = s3.hi + 6755399441055744.0;
  pc_pair_f64 a = pc_sum_f64(s3.hi - (n - 6755399441055744.0), q3.hi);
  pc_pair_f64 b = pc_sum_f64(a.hi, q2.lo);
  pc_pair_f64 c = pc_sum_f64(b.hi, s1.lo);
  pc_pair_f64 d = pc_sum_f64(c.hi, s2.lo);
  pc_pair_f64 f = pc_sum_f64(d.hi, s3.lo);
  pc_f64 small = ((a.lo + b.lo) + (c.lo + d.lo)) + (f.lo + (q3.lo + y * (w.w4 * 0x1p-200)));
  pc_pair_f64 g = pc_sum_f64(f.hi, small);
  pc_pair_f64 h = pc_product_f64(g.hi, 0x1.921fb54442d18p+0);
  pc_pair_f64 r = pc_sum_ordered_f64(h.hi, h.lo + (g.hi * 0x1.1a62633145c07p-54 + g.lo * 0x1.921fb54442d18p+0));
  pc_turn_f64 out = {r.hi, r.lo, pc_bits_f64(n)};
  return out;
}

/* Returns x - k pi/2 for 0 <= x < 2^20, with 33 bits of pi / 2 at a time, so that every product is exact. A minuend has no bit below an
 * ulp of its subtrahend, so the sums are exact as if they were ordered. */
PC_INLINE pc_turn_f64 pc_turn_near_f64(pc_f64 x) {
  pc_f64 t = x * 0x1.45f306dc9c883p-1 + 6755399441055744.0;
  pc_f64 k = t - 6755399441055744.0;
  pc_pair_f64 a = pc_sum_ordered_f64(x - k * 0x1.921fb54400000p+0, -(k * 0x1.0b4611a600000p-34));
  pc_pair_f64 b = pc_sum_ordered_f64(a.hi, -(k * 0x1.3198a2e000000p-69));
  pc_pair_f64 r = pc_sum_ordered_f64(b.hi, (a.lo + b.lo) - k * 0x1.b839a252049c1p-104);
  pc_turn_f64 out = {r.hi, r.lo, pc_bits_f64(t)};
  return out;
}

/* x >= 0 of any size; inf gives NaN. */
PC_INLINE pc_turn_f64 pc_turn_of_f64(pc_f64 x) {
  int near = x < 0x1p20;
  pc_turn_f64 a = pc_turn_near_f64(near ? x : 0.0), b = pc_turn_far_f64(near ? 0x1p20 : x);
  pc_f64 hi = near ? a.hi : b.hi;
  pc_turn_f64 out = {x < __builtin_inf() ? hi : __builtin_nan(""), near ? a.lo : b.lo, near ? a.quarters : b.quarters};
  return out;
}

#endif
