/* precast/ops/math/gammainc.h: the regularized incomplete gamma functions P and Q = 1 - P.
 *
 *   a >= 48, x within 0.3 a of a    the expansion of tail.h
 *   x <= a or x <= 1.1              P by its power series
 *   x > a, x > 1.1                  Q by A.-M. Legendre's continued fraction
 *   x <= 1.1, small a               Q by the series of 1 - P, the 1 of which is taken from the power
 *
 * Q is proportional to a below 2^-900; NaN for negative operands, where both are 0 and where both are infinite. */
#ifndef PRECAST_OPS_MATH_GAMMAINC_H
#define PRECAST_OPS_MATH_GAMMAINC_H

#include <precast/ops/math/tail.h>

/* x^a e^-x / Gamma(a). */
PC_TAIL pc_f64 pc_gamma_power_f64(pc_f64 a, pc_f64 x) {
  pc_pair_f64 log = pc_plus_f64(pc_deviance_f64(a, pc_sum_f64(x, -a)), pc_stirling_f64(a));
  return pc_exp_pair_f64(pc_minus_f64(log)) * __builtin_sqrt(a * 0x1.45f306dc9c883p-3); /* 1 / (2 pi) */
}

/* P / power by 1 / a + x / (a (a + 1)) + ... */
PC_TAIL pc_f64 pc_gamma_series_f64(pc_f64 a, pc_f64 x) {
  pc_pair_f64 sum = {1.0, 0.0};
  pc_f64 term = 1.0;
  for (int n = 1; n < PC_TAIL_STEPS; n++) {
    term = term * (x / (a + n));
    pc_f64 lost = sum.lo;
    sum = pc_sum_ordered_f64(sum.hi, term);
    sum.lo = sum.lo + lost;
    if (term < 0x1p-56 * sum.hi) break;
  }
  return (sum.hi + sum.lo) / a;
}

/* Q / power by 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), from the end. As many steps as the last bit needs for x >= 1.1, x > a. */
PC_TAIL pc_f64 pc_gamma_fraction_f64(pc_f64 a, pc_f64 x) {
  pc_f64 n = (pc_f64)(int)(12.0 + 110.0 / x + 0.5 * (a < 60.0 ? a : 60.0)), away = x - a;
  pc_f64 y = away + (2.0 * n + 1.0);
  for (; n > 0.0; n -= 1.0) y = (away + (2.0 * n - 1.0)) - n * (n - a) / y;
  return 1.0 / y;
}

/* ln Gamma(1 + a) for 0 < a. */
PC_TAIL pc_f64 pc_gammaln_above_f64(pc_f64 a) { return a <= 0.25 ? pc_gammaln_one_f64(a) : pc_gammaln_f64(1.0 + a); }

/* -x / (a + 1) + x^2 / (2 (a + 2)) - ... */
PC_TAIL pc_f64 pc_gamma_sum_f64(pc_f64 a, pc_f64 x) {
  pc_f64 term = 1.0, sum = 0.0;
  for (int n = 1; n < PC_TAIL_STEPS; n++) {
    term = term * (-x / n);
    sum = sum + term / (a + n);
    if (pc_magnitude_f64(term) < 0x1p-58 * pc_magnitude_f64(sum)) break;
  }
  return sum;
}

/* Q for x <= 1.1 and small a: 1 - e^l (1 + a sum). */
PC_TAIL pc_f64 pc_gamma_rest_f64(pc_f64 a, pc_f64 x) {
  pc_f64 sum = pc_gamma_sum_f64(a, x), l = a * pc_log_f64(x) - pc_gammaln_above_f64(a);
  return -pc_expm1_f64(l) - pc_exp_f64(l) * a * sum;
}

/* The smaller of P and Q about the mean, a >= 48. */
PC_TAIL pc_f64 pc_gamma_near_f64(pc_f64 a, pc_f64 x) {
  pc_pair_f64 f = pc_deviance_f64(a, pc_sum_f64(x, -a));
  return pc_uniform_f64(0.0, x <= a ? 1.0 : -1.0, 1.0 / __builtin_sqrt(a), f, pc_stirling_f64(a));
}

/* P, or Q if `upper`, for finite a > 0 and x > 0. */
PC_TAIL pc_f64 pc_gamma_part_f64(pc_f64 a, pc_f64 x, int upper) {
  pc_f64 y;
  int is_upper;
  if (a >= PC_TAIL_LEAST && pc_magnitude_f64(x - a) <= PC_TAIL_WIDTH * a) {
    y = pc_gamma_near_f64(a, x);
    is_upper = x > a;
  } else if (a > 0x1p900) {
    y = 0.0;
    is_upper = x > a;
  } else if (x > 1.1 && x > a) {
    y = pc_gamma_power_f64(a, x) * pc_gamma_fraction_f64(a, x);
    is_upper = 1;
  } else if (upper && (x <= 0.5 ? -0.4 / pc_log_f64(x) >= a : x <= 1.1 && x * 1.1 >= a)) {
    y = pc_gamma_rest_f64(a, x);
    is_upper = 1;
  } else {
    y = pc_gamma_power_f64(a, x) * pc_gamma_series_f64(a, x);
    is_upper = 0;
  }
  y = y > 1.0 ? 1.0 : y;
  return is_upper == upper ? y : 1.0 - y;
}

/* The edges, then what lies between. */
PC_TAIL pc_f64 pc_gamma_tail_f64(pc_f64 a, pc_f64 x, int upper) {
  const pc_f64 inf = __builtin_inf();
  if (!(a >= 0.0 && x >= 0.0) || (a == 0.0 && x == 0.0) || (a == inf && x == inf)) return __builtin_nan("");
  if (x == 0.0 || a == inf) return upper ? 1.0 : 0.0;
  if (x == inf) return upper ? 0.0 : 1.0;
  if (a < 0x1p-900) return upper ? pc_gamma_part_f64(0x1p-900, x, 1) * (a * 0x1p900) : 1.0;
  return pc_gamma_part_f64(a, x, upper);
}

/* For f32, the power needs no pairs where a and x are not large, and the series and the fraction fewer terms. */
#define PC_TAIL_SHORT 48.0

/* x^a e^-x / Gamma(1 + a). */
PC_TAIL pc_f64 pc_gamma_power_short_f64(pc_f64 a, pc_f64 x) { return pc_exp_f64(a * pc_log_f64(x) - x - pc_gammaln_above_f64(a)); }

/* 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ... */
PC_TAIL pc_f64 pc_gamma_series_short_f64(pc_f64 a, pc_f64 x) {
  pc_f64 term = 1.0, sum = 1.0;
  for (pc_f64 n = 1.0; term > 0x1p-34 * sum; n += 1.0) {
    term = term * (x / (a + n));
    sum = sum + term;
  }
  return sum;
}

/* a / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), from the end. */
PC_TAIL pc_f64 pc_gamma_fraction_short_f64(pc_f64 a, pc_f64 x) {
  pc_f64 n = (pc_f64)(int)(8.0 + 48.0 / x + 0.5 * a), away = x - a, y = away + (2.0 * n + 1.0);
  for (; n > 0.0; n -= 1.0) y = (away + (2.0 * n - 1.0)) - n * (n - a) / y;
  return a / y;
}

/* P, or Q if `upper`, to about 2^-32. */
PC_TAIL pc_f64 pc_gamma_tail_short_f64(pc_f64 a, pc_f64 x, int upper) {
  if (!(a > 0.0 && a < PC_TAIL_SHORT && x > 0.0 && x < 1024.0)) return pc_gamma_tail_f64(a, x, upper);
  if (upper && (x <= 0.5 ? -0.4 / pc_log_f64(x) >= a : x <= 1.1 && x * 1.1 >= a)) return pc_gamma_rest_f64(a, x);
  int is_upper = x > 1.1 && x > a;
  pc_f64 y = pc_gamma_power_short_f64(a, x) * (is_upper ? pc_gamma_fraction_short_f64(a, x) : pc_gamma_series_short_f64(a, x));
  y = y > 1.0 ? 1.0 : y;
  return is_upper == upper ? y : 1.0 - y;
}

PC_INLINE pc_f64 pc_gammainc_f64(pc_f64 a, pc_f64 x) { return pc_gamma_tail_f64(a, x, 0); }
PC_INLINE pc_f64 pc_gammaincc_f64(pc_f64 a, pc_f64 x) { return pc_gamma_tail_f64(a, x, 1); }
PC_INLINE pc_f32 pc_gammainc_f32(pc_f32 a, pc_f32 x) { return (pc_f32)pc_gamma_tail_short_f64((pc_f64)a, (pc_f64)x, 0); }
PC_INLINE pc_f32 pc_gammaincc_f32(pc_f32 a, pc_f32 x) { return (pc_f32)pc_gamma_tail_short_f64((pc_f64)a, (pc_f64)x, 1); }

#endif
