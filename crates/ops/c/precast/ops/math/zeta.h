/* precast/ops/math/zeta.h: A. Hurwitz's zeta function, the sum of (q + k)^-s over k = 0, 1, ..., and the derivatives of digamma, which are
 * n! times it.
 *
 * Each term is a power of e whose exponent is a pair, which holds the factor too. From s + 12 on the formula of L. Euler and C. Maclaurin
 * with 12 terms stands for the rest. */
#ifndef PRECAST_OPS_MATH_ZETA_H
#define PRECAST_OPS_MATH_ZETA_H

#include <precast/ops/math/factorial.h>
#include <precast/ops/math/trigamma.h>

/* The negative q with the most terms. */
#define PC_ZETA_LEAST (-1000.0)
/* The powers from which on f32 needs pairs. */
#define PC_ZETA_SHORT 1024.0

/* e^c w^-s; without pairs where that is enough for f32. */
PC_TAIL pc_f64 pc_zeta_term_f64(pc_pair_f64 s, pc_pair_f64 w, pc_pair_f64 c, int is_short) {
  if (is_short) return pc_exp_f64(c.hi - s.hi * pc_log_f64(w.hi));
  return pc_exp_pair_f64(pc_plus_f64(c, pc_minus_f64(pc_pair_mul_f64(s, pc_log_of_pair_f64(w)))));
}

/* e^c times the sum from w >= s + 12 on: w^-s (w / (s - 1) + 1/2 + s B2 / (2! w) + s (s + 1) (s + 2) B4 / (4! w^3) + ...). */
PC_TAIL pc_f64 pc_zeta_rest_f64(pc_f64 s, pc_pair_f64 w, pc_pair_f64 c, pc_f64 power, int is_short) {
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
  return pc_zeta_term_f64(less, w, c, is_short) / less.hi + power * (0.5 + sum);
}

/* e^c times the sum for s > 1, where q is no pole; s is whole if q < 0. Where terms overflow, the largest one has the sign. */
PC_TAIL pc_f64 pc_zeta_sum_f64(pc_f64 s, pc_f64 q, pc_pair_f64 c, int is_short) {
  pc_pair_f64 sum = {0.0, 0.0};
  pc_f64 half = 0.5 * s;
  int is_odd = s < 0x1p51 && pc_whole_f64(half) != half;
  pc_f64 nearest = q < 0.0 ? q - pc_whole_f64(q) : q;
  if (q < 0.0 && is_odd && pc_magnitude_f64(nearest) == 0.5) q = 1.0 - q; /* the terms before cancel in pairs */
  for (pc_f64 k = 0.0;; k += 1.0) {
    pc_pair_f64 w = pc_sum_f64(q, k);
    pc_f64 power = pc_zeta_term_f64(pc_pair_of_f64(s), w.hi < 0.0 ? pc_minus_f64(w) : w, c, is_short);
    if (w.hi >= s + 12.0) {
      sum = pc_plus_f64(sum, pc_pair_of_f64(pc_zeta_rest_f64(s, w, c, power, is_short)));
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
PC_TAIL pc_f64 pc_zeta_any_f64(pc_f64 s, pc_f64 q, int is_short) {
  const pc_pair_f64 zero = {0.0, 0.0};
  if (!(s >= 1.0) || q != q || q == -__builtin_inf()) return __builtin_nan("");
  if (s == 1.0 || (q <= 0.0 && pc_fraction_f64(-q) == 0.0)) return __builtin_inf();
  if (q < 0.0 && ((s < 0x1p51 && pc_whole_f64(s) != s) || q < PC_ZETA_LEAST)) return __builtin_nan("");
  if (q == __builtin_inf()) return 0.0;
  return pc_zeta_sum_f64(s > 0x1p80 ? 0x1p80 : s, q, zero, is_short && s < PC_ZETA_SHORT);
}

/* The derivative of digamma of order n: (-1)^(n + 1) n! zeta(n + 1, x). NaN unless n is a whole number below 2^50. */
PC_TAIL pc_f64 pc_polygamma_any_f64(pc_f64 n, pc_f64 x, int is_short) {
  if (!(n >= 0.0 && n < 0x1p50 && pc_whole_f64(n) == n) || x != x) return __builtin_nan("");
  if (n == 0.0) return pc_digamma_f64(x);
  if (n == 1.0) return pc_trigamma_f64(x);
  pc_f64 half = 0.5 * n, y = pc_zeta_any_f64(n + 1.0, x, is_short);
  int is_finite = pc_magnitude_f64(y) < __builtin_inf() && x != __builtin_inf();
  y = is_finite ? pc_zeta_sum_f64(n + 1.0, x, pc_gammaln_pair_f64(n + 1.0), is_short && n < PC_ZETA_SHORT) : y;
  return pc_whole_f64(half) == half ? -y : y;
}

PC_TAIL pc_f64 pc_zeta_f64(pc_f64 s, pc_f64 q) { return pc_zeta_any_f64(s, q, 0); }
PC_TAIL pc_f64 pc_polygamma_f64(pc_f64 n, pc_f64 x) { return pc_polygamma_any_f64(n, x, 0); }

PC_INLINE pc_f32 pc_zeta_f32(pc_f32 s, pc_f32 q) { return (pc_f32)pc_zeta_any_f64((pc_f64)s, (pc_f64)q, 1); }
PC_INLINE pc_f32 pc_polygamma_f32(pc_f32 n, pc_f32 x) { return (pc_f32)pc_polygamma_any_f64((pc_f64)n, (pc_f64)x, 1); }

#endif
