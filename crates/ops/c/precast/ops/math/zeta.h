/* precast/ops/math/zeta.h: A. Hurwitz's zeta function, the sum of (q + k)^-s over k = 0, 1, ..., and the derivatives of digamma, which are
 * n! times it.
 *
 * For q > 0 the formula of L. Euler and C. Maclaurin from w = q + 8 on, with 12 terms. All powers are by the first one or, where the rest is
 * the larger part, by that of w, which a pair of e's exponent gives, and n! with it. The quotients are small or have small exponents.
 *
 * Left of 0, and of powers above 2^20, each term is a power of e whose exponent is a pair, which holds the factor too; the formula follows
 * from s + 12 on. */
#ifndef PRECAST_OPS_MATH_ZETA_H
#define PRECAST_OPS_MATH_ZETA_H

#include <precast/ops/math/f32/zeta.h>
#include <precast/ops/math/factorial.h>
#include <precast/ops/math/trigamma.h>

/* ln(b / d) as k ln 2 + 2 atanh(over / under), with 2^k next to b / d and over and under for b / (2^k d), where b - d is `by`, exactly: next to
 * 1 a quotient would not do. */
typedef struct pc_zeta_ratio_f64 {
  pc_f64 k, over, under, scaled;
} pc_zeta_ratio_f64;

PC_INLINE pc_zeta_ratio_f64 pc_zeta_ratio_of_f64(pc_f64 b, pc_f64 d, pc_f64 by) {
  const uint64_t half = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u, exponents = 0x7ff0000000000000u;
  uint64_t u = pc_bits_f64(b / d) + (one - half);
  pc_f64 k = pc_from_bits_f64((u >> 52) | 0x4330000000000000u) - (4503599627370496.0 + 1023.0), scaled = d * pc_from_bits_f64(u & exponents);
  pc_zeta_ratio_f64 out = {k, k == 0.0 ? by : b - scaled, b + scaled, scaled};
  return out;
}

/* 2 (atanh(s) / s - 1). */
PC_INLINE pc_f64 pc_zeta_atanh_f64(pc_f64 s) {
  pc_f64 z = s * s, z2 = z * z;
  pc_f64 p01 = 0x1.5555555555592p-1 + z * 0x1.999999997ffa0p-2, p23 = 0x1.24924941dee31p-2 + z * 0x1.c71c521341c60p-3;
  pc_f64 p45 = 0x1.74663da64d2d6p-3 + z * 0x1.39a1cb220c990p-3;
  return z * ((p01 + z2 * p23) + (z2 * z2) * (p45 + z2 * 0x1.2f0545f63b365p-3));
}

/* (b / (q + k))^s, q + k - b = k - off. */
PC_INLINE pc_f64 pc_zeta_power_f64(pc_f64 s, pc_f64 b, pc_f64 q, pc_f64 k, pc_f64 off) {
  pc_zeta_ratio_f64 r = pc_zeta_ratio_of_f64(b, q + k, off - k);
  pc_f64 t = r.over / r.under;
  return pc_exp_f64(s * (r.k * PC_LN2_HI_F64 + ((t + t) + (t * pc_zeta_atanh_f64(t) + r.k * PC_LN2_LO_F64))));
}

/* (b / w)^s as a pair, w - b = 8 - off. */
PC_INLINE pc_pair_f64 pc_zeta_last_f64(pc_f64 s, pc_f64 b, pc_pair_f64 w, pc_f64 off) {
  pc_zeta_ratio_f64 r = pc_zeta_ratio_of_f64(b, w.hi, off - 8.0);
  pc_f64 by = 1.0 / r.under, t = r.over * by;
  pc_pair_f64 under = pc_sum_f64(b, r.scaled), back = pc_product_f64(t, r.under), log = pc_sum_f64(r.k * PC_LN2_HI_F64, t + t);
  pc_f64 rest = (((r.over - back.hi) - back.lo) - t * under.lo) * by;
  log.lo = log.lo + ((rest + rest) + (t * pc_zeta_atanh_f64(t) + (r.k * PC_LN2_LO_F64 - (r.k == 0.0 ? 0.0 : w.lo / w.hi))));
  pc_pair_f64 y = pc_product_f64(s, log.hi);
  y = pc_sum_f64(y.hi, y.lo + s * log.lo);
  pc_f64 c = y.hi < -700.0 ? -700.0 : y.hi;
  pc_reduced_f64 k = pc_reduce_ln2_f64(c, 1023.0);
  pc_pair_f64 one = pc_sum_ordered_f64(1.0, k.hi), e = pc_sum_ordered_f64(one.hi, one.lo + pc_exp_tail_f64(k.hi, k.lo - y.lo));
  pc_f64 scale = y.hi < -700.0 ? 0.0 : pc_from_bits_f64(k.bits << 52);
  pc_pair_f64 out = {e.hi * scale, e.lo * scale};
  return out;
}

/* Returns a + b; the rounding error of the sum is added to the lower part. */
PC_INLINE pc_pair_f64 pc_zeta_add_f64(pc_pair_f64 a, pc_f64 b) {
  pc_pair_f64 s = pc_sum_f64(a.hi, b);
  s.lo = s.lo + a.lo;
  return s;
}

/* e^c by zeta(s, q) for 1 < s < 2^21, 0 < q < inf. */
PC_INLINE pc_f64 pc_zeta_of_f64(pc_f64 s, pc_f64 q, pc_pair_f64 c, pc_pair_f64 by) {
  pc_f64 w = q + 8.0, top = 8.0 * s < q ? q : 0.0;
  top = s < 1.125 ? q + 19.0 : top; /* where the rest is the larger part */
  int is_rest = top > 20.0;
  pc_f64 off = is_rest ? 8.0 : 0.0, b = is_rest ? w : q, v = pc_gamma_inverse_f64(w);
  pc_pair_f64 sum = {pc_zeta_power_f64(s, b, q, 7.0, off), 0.0}, less = pc_sum_f64(s, -1.0), one = {1.0, 0.0};
  sum = pc_zeta_add_f64(sum, pc_zeta_power_f64(s, b, q, 6.0, off));
  sum = pc_zeta_add_f64(sum, pc_zeta_power_f64(s, b, q, 5.0, off));
  sum = pc_zeta_add_f64(sum, pc_zeta_power_f64(s, b, q, 4.0, off));
  sum = pc_zeta_add_f64(sum, pc_zeta_power_f64(s, b, q, 3.0, off));
  sum = pc_zeta_add_f64(sum, pc_zeta_power_f64(s, b, q, 2.0, off));
  sum = pc_zeta_add_f64(sum, pc_zeta_power_f64(s, b, q, 1.0, off));
  pc_f64 first = pc_zeta_power_f64(s, b, q, 0.0, off), rest = 0.5 + pc_zeta_rest_of_f64(s < 8.0 * w ? s : 8.0 * w, v, 12);
  /* 1 / (s - 1), what follows by w, or last times both. */
  pc_pair_f64 exact = pc_sum_f64(q, 8.0), part = pc_pair_div_f64(one, less), last = pc_zeta_last_f64(s, b, exact, off);
  sum = pc_zeta_add_f64(pc_zeta_add_f64(sum, last.hi * rest), first);
  pc_pair_f64 whole = pc_pair_if_f64(is_rest, part, pc_pair_mul_f64(last, pc_pair_mul_f64(exact, part)));
  pc_pair_f64 back = pc_product_f64(v, exact.hi), scaled = pc_pair_by_f64(sum, v);
  scaled.lo = scaled.lo + scaled.hi * (((1.0 - back.hi) - back.lo) - v * exact.lo); /* v is rounded */
  sum = pc_pair_if_f64(is_rest, scaled, sum);
  sum = pc_plus_f64(whole, sum);
  exact = pc_pair_if_f64(is_rest, exact, pc_pair_of_f64(q));
  pc_pair_f64 log = pc_log_pair_f64(exact.hi);
  log = pc_sum_ordered_f64(log.hi, log.lo + exact.lo / exact.hi);
  pc_pair_f64 power = pc_pair_if_f64(is_rest, less, pc_pair_of_f64(s));
  return pc_exp_by_f64(pc_plus_f64(c, pc_minus_f64(pc_pair_mul_f64(power, log))), pc_pair_mul_f64(sum, by));
}

/* The regions `right` of zeta and polygamma. */
#define PC_ZETA_MOST 0x1p20
PC_INLINE uint64_t pc_zeta_is_right_f64(pc_f64 s, pc_f64 q) {
  const pc_f64 inf = __builtin_inf();
  return (uint64_t)(s > 1.0) & (uint64_t)(s <= PC_ZETA_MOST) & (uint64_t)(q > 0.0) & (uint64_t)(q < inf);
}

PC_INLINE uint64_t pc_polygamma_is_right_f64(pc_f64 n, pc_f64 x) {
  const pc_f64 inf = __builtin_inf();
  pc_f64 c = n < PC_ZETA_MOST ? n : 0.5;
  return (uint64_t)(n >= 1.0) & (uint64_t)(pc_whole_f64(c) == c) & (uint64_t)(x > 0.0) & (uint64_t)(x < inf);
}

PC_INLINE pc_f64 pc_zeta_right_f64(pc_f64 s, pc_f64 q) {
  const pc_pair_f64 one = {1.0, 0.0}, zero = {0.0, 0.0};
  return pc_zeta_of_f64(s, q, zero, one);
}

PC_INLINE pc_f64 pc_polygamma_right_f64(pc_f64 n, pc_f64 x) {
  const pc_pair_f64 turn = {0x1.40d931ff62706p+1, -0x1.a6a0d6f814637p-53}; /* sqrt(2 pi) */
  const pc_pair_f64 one = {1.0, 0.0};
  pc_f64 half = 0.5 * n;
  int is_one = n < 1.5;
  pc_pair_f64 log = pc_gamma_log_far_f64(is_one ? 3.0 : n + 1.0);
  pc_f64 y = pc_zeta_of_f64(n + 1.0, x, pc_pair_if_f64(is_one, pc_pair_of_f64(0.0), log), pc_pair_if_f64(is_one, one, turn));
  return pc_whole_f64(half) == half ? -y : y;
}

/* The negative q with the most terms. */
#define PC_ZETA_LEAST (-1000.0)
/* e^c w^-s. */
PC_TAIL pc_f64 pc_zeta_term_f64(pc_pair_f64 s, pc_pair_f64 w, pc_pair_f64 c) {
  return pc_exp_pair_f64(pc_plus_f64(c, pc_minus_f64(pc_pair_mul_f64(s, pc_log_of_pair_f64(w)))));
}

/* e^c times the sum from w >= s + 12 on: w^-s (w / (s - 1) + 1/2 + s B2 / (2! w) + s (s + 1) (s + 2) B4 / (4! w^3) + ...). */
PC_TAIL pc_f64 pc_zeta_rest_f64(pc_f64 s, pc_pair_f64 w, pc_pair_f64 c, pc_f64 power) {
  static const pc_f64 terms[] = {
      0x1.5555555555555p-4, -0x1.6c16c16c16c17p-10, 0x1.1566abc011567p-15, -0x1.bbd779334ef0bp-21,
      0x1.66a8f2bf70ebep-26, -0x1.22805d644267fp-31, 0x1.d6db2c4e09162p-37, -0x1.7da4e1f79955cp-42,
      0x1.355871d652e9ep-47, -0x1.f57d968caacf1p-53, 0x1.967e1f09c376fp-58, -0x1.497d9033a2b5cp-63,
  };
  pc_f64 sum = 0.0, v = pc_gamma_inverse_f64(w.hi), factor = s * v;
  for (int j = 0; j < 12; j++) {
    sum = sum + terms[j] * factor;
    factor = (factor * (s + (2.0 * j + 1.0)) * v) * ((s + (2.0 * j + 2.0)) * v);
  }
  pc_pair_f64 less = pc_sum_f64(s, -1.0);
  return pc_zeta_term_f64(less, w, c) / less.hi + power * (0.5 + sum);
}

/* Returns e^c times the sum for s > 1, where q is not a pole; s is whole if q < 0. Where terms overflow, the largest one has the sign. */
PC_TAIL pc_f64 pc_zeta_sum_f64(pc_f64 s, pc_f64 q, pc_pair_f64 c) {
  pc_pair_f64 sum = {0.0, 0.0};
  pc_f64 half = 0.5 * s;
  int is_odd = s < 0x1p51 && pc_whole_f64(half) != half;
  pc_f64 nearest = q < 0.0 ? q - pc_whole_f64(q) : q;
  if (q < 0.0 && is_odd && pc_magnitude_f64(nearest) == 0.5) q = 1.0 - q; /* the terms before cancel in pairs */
  for (pc_f64 k = 0.0;; k += 1.0) {
    pc_pair_f64 w = pc_sum_f64(q, k);
    pc_f64 power = pc_zeta_term_f64(pc_pair_of_f64(s), w.hi < 0.0 ? pc_minus_f64(w) : w, c);
    if (w.hi >= s + 12.0) {
      sum = pc_plus_f64(sum, pc_pair_of_f64(pc_zeta_rest_f64(s, w, c, power)));
      break;
    }
    power = w.hi < 0.0 && is_odd ? -power : power;
    if (pc_magnitude_f64(power) == __builtin_inf()) return nearest < 0.0 && is_odd && q < 0.0 ? -__builtin_inf() : __builtin_inf();
    sum = pc_plus_f64(sum, pc_pair_of_f64(power));
    if (w.hi > 0.0 && k > 0.0 && power * (1.0 + w.hi / (s - 1.0)) <= 0x1p-60 * pc_magnitude_f64(sum.hi)) break;
  }
  return sum.hi + sum.lo;
}

/* NaN for s < 1, and for q < 0 unless s is whole and q is above -1000; inf for s = 1 and where q is 0 or a negative integer. */
PC_TAIL pc_f64 pc_zeta_any_f64(pc_f64 s, pc_f64 q) {
  const pc_pair_f64 zero = {0.0, 0.0};
  if (!(s >= 1.0) || q != q || q == -__builtin_inf()) return __builtin_nan("");
  if (s == 1.0 || (q <= 0.0 && pc_fraction_f64(-q) == 0.0)) return __builtin_inf();
  if (q < 0.0 && ((s < 0x1p51 && pc_whole_f64(s) != s) || q < PC_ZETA_LEAST)) return __builtin_nan("");
  if (q == __builtin_inf()) return 0.0;
  return pc_zeta_sum_f64(s > 0x1p80 ? 0x1p80 : s, q, zero);
}

/* The derivative of digamma of order n: (-1)^(n + 1) n! zeta(n + 1, x). NaN unless n is a whole number below 2^50. */
PC_TAIL pc_f64 pc_polygamma_any_f64(pc_f64 n, pc_f64 x) {
  if (!(n >= 0.0 && n < 0x1p50 && pc_whole_f64(n) == n) || x != x) return __builtin_nan("");
  if (n == 0.0) return pc_digamma_f64(x);
  if (n == 1.0) return pc_trigamma_f64(x);
  pc_f64 half = 0.5 * n, y = pc_zeta_any_f64(n + 1.0, x);
  int is_finite = pc_magnitude_f64(y) < __builtin_inf() && x != __builtin_inf();
  y = is_finite ? pc_zeta_sum_f64(n + 1.0, x, pc_gammaln_pair_f64(n + 1.0)) : y;
  return pc_whole_f64(half) == half ? -y : y;
}

PC_TAIL pc_f64 pc_zeta_f64(pc_f64 s, pc_f64 q) { return pc_zeta_is_right_f64(s, q) != 0 ? pc_zeta_right_f64(s, q) : pc_zeta_any_f64(s, q); }
PC_TAIL pc_f64 pc_polygamma_f64(pc_f64 n, pc_f64 x) {
  return pc_polygamma_is_right_f64(n, x) != 0 ? pc_polygamma_right_f64(n, x) : pc_polygamma_any_f64(n, x);
}

PC_TAIL pc_f32 pc_zeta_f32(pc_f32 s, pc_f32 q) {
  return pc_zeta_is_right_f32(s, q) != 0 ? pc_zeta_right_f32(s, q) : (pc_f32)pc_zeta_f64((pc_f64)s, (pc_f64)q);
}

PC_TAIL pc_f32 pc_polygamma_f32(pc_f32 n, pc_f32 x) {
  return pc_polygamma_is_right_f32(n, x) != 0 ? pc_polygamma_right_f32(n, x) : (pc_f32)pc_polygamma_f64((pc_f64)n, (pc_f64)x);
}

#endif
