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

#include <precast/ops/math/factorial.h>
#include <precast/ops/math/gammainc_usual.h>
#include <precast/ops/math/tail.h>

/* x^a e^-x / Gamma(a). */
PC_TAIL pc_f64 pc_gamma_power_f64(pc_f64 a, pc_f64 x) {
  if (a < 3.0 && a > 0x1p-900) {
    pc_gamma_parts_f64 s = pc_gamma_parts_of_f64(a, 1);
    pc_pair_f64 power = pc_plus_f64(pc_pair_mul_f64(pc_pair_of_f64(a), pc_log_pair_f64(x)), pc_pair_of_f64(-x));
    return pc_exp_by_f64(power, pc_pair_div_f64(pc_pair_by_f64(s.under, a < 1.5 ? a : 1.0), s.over));
  }
  pc_pair_f64 log = pc_plus_f64(pc_deviance_f64(a, pc_sum_f64(x, -a)), pc_stirling_f64(a));
  return pc_exp_pair_f64(pc_minus_f64(log)) * __builtin_sqrt(a * 0x1.45f306dc9c883p-3); /* 1 / (2 pi) */
}

/* P / power by 1 / a + x / (a (a + 1)) + ..., two terms a step. */
PC_TAIL pc_f64 pc_gamma_series_f64(pc_f64 a, pc_f64 x) {
  pc_f64 term = 1.0, last = 1.0, sum = 1.0, lo = 0.0;
  for (pc_f64 n = 1.0; last >= 0x1p-56 * sum && n < PC_TAIL_STEPS; n += 2.0) {
    pc_f64 r = x / (a + n), first = term * r;
    last = term * ((x / (a + (n + 1.0))) * r);
    term = last;
    pc_f64 both = first + last, known = sum;
    sum = known + both;
    lo = lo + (both - (sum - known));
  }
  return (sum + lo) / a;
}

/* 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)) with n steps, from the end, as p / q, both of which follow a recurrence. */
PC_TAIL pc_f64 pc_gamma_fraction_of_f64(pc_f64 a, pc_f64 x, pc_f64 n) {
  pc_f64 away = x - a, q = 1.0, p = away + (2.0 * n + 1.0);
  if (away > 0x1p60) return 1.0 / away;
  for (; n > 0.0; n -= 1.0) {
    pc_f64 known = p;
    p = (away + (2.0 * n - 1.0)) * p - (n * (n - a)) * q;
    q = known;
    if (p > 0x1p500) {
      p = p * 0x1p-500;
      q = q * 0x1p-500;
    }
  }
  return q / p;
}

/* Q / power, with as many steps as the last bit needs for x >= 1.1, x > a. */
PC_TAIL pc_f64 pc_gamma_fraction_f64(pc_f64 a, pc_f64 x) {
  pc_f64 v = 1.0 / x, part = a * v, most = a < 60.0 ? a : 60.0;
  return pc_gamma_fraction_of_f64(a, x, (pc_f64)(int)(8.0 + 102.0 * v + 0.5 * most * (part * part)));
}

/* ln Gamma(1 + a) for 0 < a. */
PC_TAIL pc_f64 pc_gammaln_above_f64(pc_f64 a) { return a <= 0.25 ? pc_gammaln_one_f64(a) : pc_gammaln_f64(1.0 + a); }

/* -x / (a + 1) + x^2 / (2 (a + 2)) - ... from the term of `first` on; `term` is the one before times a + first - 1. */
PC_TAIL pc_f64 pc_gamma_sum_from_f64(pc_f64 a, pc_f64 x, pc_f64 term, int first) {
  pc_f64 sum = 0.0;
  for (int n = first; n < PC_TAIL_STEPS; n++) {
    term = term * (-x / n);
    sum = sum + term / (a + n);
    if (pc_magnitude_f64(term) < 0x1p-58 * pc_magnitude_f64(sum)) break;
  }
  return sum;
}
PC_TAIL pc_f64 pc_gamma_sum_f64(pc_f64 a, pc_f64 x) { return pc_gamma_sum_from_f64(a, x, 1.0, 1); }

/* Q for x <= 1.1 and small a: 1 - e^l (1 + a sum). */
PC_TAIL pc_f64 pc_gamma_rest_f64(pc_f64 a, pc_f64 x) {
  pc_f64 sum = pc_gamma_sum_f64(a, x), l = a * pc_log_f64(x) - pc_gammaln_above_f64(a);
  return -pc_expm1_f64(l) - pc_exp_f64(l) * a * sum;
}

/* The smaller of P and Q about the mean, a >= 48: the expansion of tail.h for h = 0, whose coefficients are numbers. */
PC_TAIL pc_f64 pc_gamma_middle_f64(pc_f64 a, pc_f64 x) {
  static const pc_f64 d[] = {
      0x1.5555555555555p-2, 0x1.5555555555555p-4, 0x1.e573ac901e574p-7, 0x1.2f684bda12f68p-10, -0x1.71de3a556c734p-12,
      -0x1.76e06fec7273bp-13, -0x1.48c5892f7cd83p-15, -0x1.255370652afc1p-19, 0x1.f1b22f594c6b5p-20, 0x1.bd6d21e4b4109p-21,
      0x1.7b5f9a2d0465cp-23, 0x1.ccf5ceb7f0d9fp-28, -0x1.6097d55c37c1cp-27, -0x1.2d2197c7a2faap-28, -0x1.f6e66d24d5c8ap-31,
      -0x1.c0d9b6edf2b0bp-36, 0x1.0070a87340428p-34, 0x1.ac9475c463659p-36, 0x1.61ca701fd754ap-38, 0x1.ef98008f5eec2p-44,
      -0x1.7ba0759769d7cp-42, -0x1.3989bebb193c0p-43, -0x1.0104fc4369a3cp-45,
  };
  const pc_f64 root = 0x1.20dd750429b6dp+0, low = 0x1.6a09e667f3bcdp-2; /* 2 / sqrt(pi), 2^(-3/2) */
  pc_pair_f64 f = pc_deviance_f64(a, pc_sum_f64(x, -a));
  pc_f64 scale = pc_exp_pair_f64(pc_minus_f64(pc_plus_f64(f, pc_stirling_f64(a))));
  if (!(f.hi < 745.0) || scale == 0.0) return 0.0;
  pc_f64 r = x <= a ? 1.0 : -1.0, w = 1.0 / __builtin_sqrt(a), wn = w;
  pc_f64 z0 = __builtin_sqrt(f.hi > 0.0 ? f.hi : 0.0), z = 0x1.6a09e667f3bcdp+0 * z0, z2 = f.hi + f.hi, zn = z2;
  pc_f64 j0 = 0.5 / root * pc_tail_erfcx_f64(z0), j1 = low, sum = j0 + r * d[0] * w * j1, znm = z;
  for (int n = 2; n <= 22; n += 2) {
    j0 = low * znm + (n - 1.0) * j0;
    j1 = low * zn + n * j1;
    znm = z2 * znm;
    zn = z2 * zn;
    wn = w * wn;
    pc_f64 t0 = d[n - 1] * wn * j0;
    wn = w * wn;
    pc_f64 t1 = r * d[n] * wn * j1;
    sum = sum + (t0 + t1);
    if (pc_magnitude_f64(t0) + pc_magnitude_f64(t1) <= 0x1p-56 * sum) break;
  }
  return root * scale * sum;
}

/* P, or Q if `upper`, for finite a > 0 and x > 0. */
PC_TAIL pc_f64 pc_gamma_part_f64(pc_f64 a, pc_f64 x, int upper) {
  pc_f64 y;
  int is_upper;
  if (a >= PC_TAIL_LEAST && pc_magnitude_f64(x - a) <= PC_TAIL_WIDTH * a) {
    y = pc_gamma_middle_f64(a, x);
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

/* a / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)). */
PC_TAIL pc_f64 pc_gamma_fraction_short_f64(pc_f64 a, pc_f64 x) {
  return a * pc_gamma_fraction_of_f64(a, x, (pc_f64)(int)(6.0 + 46.0 / x + 0.5 * a));
}

/* P, or Q if `upper`, to about 2^-32. */
PC_TAIL pc_f64 pc_gamma_tail_short_f64(pc_f64 a, pc_f64 x, int upper) {
  if (!(a > 0.0 && a < PC_TAIL_SHORT && x > 0.0 && x < 1024.0)) return pc_gamma_tail_f64(a, x, upper);
  if (upper && (x <= 0.5 ? -0.4 / pc_log_f64(x) >= a : x <= 1.1 && x * 1.1 >= a)) return pc_gamma_rest_f64(a, x);
  int is_upper = x > 1.1 && x > a;
  pc_f64 part = is_upper ? pc_gamma_fraction_short_f64(a, x) : pc_gamma_series_short_f64(a, x), y = pc_gamma_power_short_f64(a, x) * part;
  y = y > 1.0 ? 1.0 : y;
  return is_upper == upper ? y : 1.0 - y;
}

PC_TAIL pc_f64 pc_gammainc_f64(pc_f64 a, pc_f64 x) {
  return pc_gammainc_is_usual_f64(a, x) != 0 ? pc_gamma_tail_usual_f64(a, x, 0) : pc_gamma_tail_f64(a, x, 0);
}
PC_TAIL pc_f64 pc_gammaincc_f64(pc_f64 a, pc_f64 x) {
  return pc_gammaincc_is_usual_f64(a, x) != 0 ? pc_gamma_tail_usual_f64(a, x, 1) : pc_gamma_tail_f64(a, x, 1);
}
PC_TAIL pc_f32 pc_gammainc_f32(pc_f32 a, pc_f32 x) {
  return pc_gammainc_is_usual_f32(a, x) != 0 ? pc_gammainc_usual_f32(a, x) : (pc_f32)pc_gamma_tail_short_f64((pc_f64)a, (pc_f64)x, 0);
}
PC_TAIL pc_f32 pc_gammaincc_f32(pc_f32 a, pc_f32 x) {
  return pc_gammaincc_is_usual_f32(a, x) != 0 ? pc_gammaincc_usual_f32(a, x) : (pc_f32)pc_gamma_tail_short_f64((pc_f64)a, (pc_f64)x, 1);
}

#endif
