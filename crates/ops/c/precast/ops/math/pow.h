/* precast/ops/math/pow.h: x^y = e^(y ln |x|), with ln |x| known to 2^-64 and the sign and edges of C99's Annex F.
 *
 * ln m = 2s + s z (2/3 + z T(z)), s = (m - 1) / (m + 1), z = s^2: all but T in pairs. */
#ifndef PRECAST_OPS_MATH_POW_H
#define PRECAST_OPS_MATH_POW_H

#include <precast/ops/math/exp.h>
#include <precast/ops/math/f32/pow.h>
#include <precast/ops/math/log.h>
#include <precast/ops/math/pair.h>

/* a * b to about 2^-102. */
PC_INLINE pc_pair_f64 pc_pair_mul_f64(pc_pair_f64 a, pc_pair_f64 b) {
  pc_pair_f64 p = pc_product_f64(a.hi, b.hi);
  return pc_sum_ordered_f64(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* ln x - less ln 2 of a positive finite x and a whole `less`, to about 2^-64. */
PC_INLINE pc_pair_f64 pc_log_pair_less_f64(pc_f64 x, pc_f64 less) {
  const uint64_t half = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u;
  int small = x < 0x1p-1022;
  uint64_t u = pc_bits_f64(small ? x * 0x1p54 : x) + (one - half);
  pc_f64 m = pc_from_bits_f64((u & 0x000fffffffffffffu) + half);
  pc_f64 k = pc_from_bits_f64((u >> 52) | 0x4330000000000000u) - (small ? 4503599627370496.0 + 1077.0 : 4503599627370496.0 + 1023.0);
  pc_pair_f64 n = {m - 1.0, 0.0};
  pc_pair_f64 s = pc_pair_div_f64(n, pc_sum_f64(m, 1.0));
  pc_pair_f64 z = pc_pair_mul_f64(s, s);
  pc_f64 v = z.hi, v2 = v * v;
  pc_f64 t01 = 0x1.9999999999a01p-2 + v * 0x1.249249247bf60p-2;
  pc_f64 t23 = 0x1.c71c71fab3297p-3 + v * 0x1.745cfb2f6ee7cp-3;
  pc_f64 t45 = 0x1.3b1bd5270ad47p-3 + v * 0x1.0fc70b831ac12p-3;
  pc_f64 t = (t01 + v2 * t23) + (v2 * v2) * (t45 + v2 * 0x1.0bb79fda80b08p-3);
  pc_pair_f64 w = pc_sum_ordered_f64(0x1.5555555555555p-1, v * t);
  pc_f64 rest = 0x1.5555555555555p-55 + z.lo * t;
  w.lo = w.lo + rest;
  pc_pair_f64 r = pc_pair_mul_f64(pc_pair_mul_f64(s, z), w);
  pc_pair_f64 twice = {s.hi + s.hi, s.lo + s.lo};
  pc_f64 scale = k - less;
  pc_pair_f64 whole = {scale * PC_LN2_HI_F64, scale * PC_LN2_LO_F64};
  return pc_pair_add_f64(whole, pc_pair_add_f64(twice, r));
}

/* ln x of a positive finite x, to about 2^-64. */
PC_INLINE pc_pair_f64 pc_log_pair_f64(pc_f64 x) { return pc_log_pair_less_f64(x, 0.0); }

/* e^(hi + lo). */
PC_INLINE pc_f64 pc_exp_pair_f64(pc_pair_f64 x) {
  pc_f64 c = x.hi > 710.0 ? 710.0 : x.hi;
  c = c < -746.0 ? -746.0 : c;
  pc_f64 lo = c == x.hi ? x.lo : 0.0;
  pc_reduced_f64 k = pc_reduce_ln2_f64(c, 2046.0);
  pc_pair_f64 s = pc_sum_ordered_f64(1.0, k.hi);
  pc_f64 p = s.hi + (s.lo + pc_exp_tail_f64(k.hi, k.lo - lo));
  return p * pc_scale_low_f64(k.bits) * pc_scale_high_f64(k.bits);
}

/* r = |x|^y gets its sign, and the cases in which a NaN comes out or does not. */
PC_INLINE pc_f64 pc_pow_edges_f64(pc_f64 x, pc_f64 y, pc_f64 r) {
  pc_f64 ax = pc_magnitude_f64(x), ay = pc_magnitude_f64(y);
  int split = ay < 0x1p52; /* y may have a fraction */
  pc_f64 t = split ? ay + 0x1p52 : ay;
  pc_f64 floor = split ? t - 0x1p52 : ay;
  uint64_t odd = pc_bits_f64(t) << 63;
  odd = ay < 0x1p53 ? odd : 0;
  odd = floor == ay ? odd : 0;
  pc_f64 inverse = ax == 0.0 ? __builtin_inf() : 0.0;
  pc_f64 limit = y > 0.0 ? ax : inverse; /* of 0 and inf */
  pc_f64 negative = floor == ay ? r : __builtin_nan("");
  r = x < 0.0 ? negative : r;
  r = ax == 0.0 ? limit : r;
  r = ax == __builtin_inf() ? limit : r;
  r = pc_signed_f64(r, pc_sign_f64(x) & odd);
  r = x != x ? x : r;
  r = y != y ? y : r;
  r = y == 0.0 ? 1.0 : r;
  return x == 1.0 ? 1.0 : r;
}

/* x^y with C99's special cases: x^0 and 1^y are 1 even of NaN, (-1)^inf is 1, a negative x with a fractional y gives NaN. */
PC_INLINE pc_f64 pc_pow_f64(pc_f64 x, pc_f64 y) {
  pc_pair_f64 l = pc_log_pair_f64(pc_magnitude_f64(x));
  pc_f64 c = y > 0x1p66 ? 0x1p66 : y; /* far enough for every x but 1 */
  c = c < -0x1p66 ? -0x1p66 : c;
  pc_pair_f64 e = pc_product_f64(l.hi, c);
  pc_pair_f64 f = pc_sum_ordered_f64(e.hi, e.lo + l.lo * c);
  return pc_pow_edges_f64(x, y, pc_exp_pair_f64(f));
}

#endif
