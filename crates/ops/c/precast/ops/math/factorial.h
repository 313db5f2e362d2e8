/* precast/ops/math/factorial.h: the gamma function and its parts, by pairs.
 *
 * ln Gamma z = (z - 1/2) ln z - z + ln(2 pi) / 2 + c(z), c from stirling.h; left of 0 Euler's reflection formula. Factorials are exact. */
#ifndef PRECAST_OPS_MATH_FACTORIAL_H
#define PRECAST_OPS_MATH_FACTORIAL_H

#include <precast/ops/math/gamma.h>

/* Returns a * b. The lower part may grow to a few ulp. */
PC_INLINE pc_pair_f64 pc_pair_by_f64(pc_pair_f64 a, pc_f64 b) {
  pc_pair_f64 p = pc_product_f64(a.hi, b);
  p.lo = p.lo + a.lo * b;
  return p;
}

PC_INLINE pc_pair_f64 pc_pair_if_f64(int which, pc_pair_f64 a, pc_pair_f64 b) {
  pc_pair_f64 out = {which ? a.hi : b.hi, which ? a.lo : b.lo};
  return out;
}

/* 1 / Gamma(2 + t) for |t| <= 1/2, to about 2^-57: 1 + t P(t), P of degree 14, error 2^-59, whose first two sums have
 * lower parts. */
PC_INLINE pc_pair_f64 pc_gamma_under_f64(pc_f64 t) {
  pc_f64 t2 = t * t, t4 = t2 * t2, t8 = t4 * t4;
  pc_f64 p23 = 0x1.875ac5782250ap-3 + t * -0x1.92449b66f20f6p-6, p45 = -0x1.21198511759aap-6 + t * 0x1.06e8179e28731p-7;
  pc_f64 p67 = -0x1.a5b350a6174e7p-11 + t * -0x1.7a5da94f0f6b1p-12, p89 = 0x1.31565541871f7p-13 + t * -0x1.265f4516f2081p-16;
  pc_f64 pab = -0x1.5b7ce4717a311p-19 + t * 0x1.676c71b5b637fp-20, pcd = -0x1.b95645827e1adp-23 + t * -0x1.76996c3c39362p-30;
  pc_f64 high = (pab + t2 * pcd) + t4 * 0x1.b5aa18440c0d4p-28;
  pc_f64 rest = t * (((p23 + t2 * p45) + t4 * (p67 + t2 * p89)) + t8 * high), th = pc_head_f64(t), tl = t - th;
  pc_f64 uh = pc_head_f64(-0x1.dd603fb6ac11bp-3 + rest), ul = (-0x1.dd603fb6ac11bp-3 - uh) + rest;
  pc_f64 v = th * uh, sh = pc_head_f64(-0x1.b0ee6072093cep-2 + v);
  pc_f64 sl = ((-0x1.b0ee6072093cep-2 - sh) + v) + ((tl * uh + t * ul) + -0x1.6cb90701fbfabp-58);
  pc_pair_f64 out = pc_sum_ordered_f64(1.0, th * sh);
  out.lo = out.lo + (tl * sh + t * sl);
  return out;
}

/* sin(pi f) / f for |f| <= 1/2, to about 2^-56. Degree 9 in f^2, error 2^-71. */
PC_INLINE pc_pair_f64 pc_sine_of_turn_by_pair_f64(pc_f64 f) {
  pc_pair_f64 square = pc_product_f64(f, f);
  pc_f64 z = square.hi, z2 = z * z, z4 = z2 * z2;
  pc_f64 s23 = 0x1.466bc6775aae2p+1 + z * -0x1.32d2cce62bd51p-1, s45 = 0x1.50783487ebdfbp-4 + z * -0x1.e3074fdc28959p-8;
  pc_f64 s67 = 0x1.e8f4337c8c6e8p-12 + z * -0x1.6fad443dd0670p-16, s89 = 0x1.aabac03212140p-21 + z * -0x1.7eb497de4b6a8p-26;
  pc_pair_f64 s = pc_sum_ordered_f64(-0x1.4abbce625be53p+2, z * ((s23 + z2 * s45) + z4 * (s67 + z2 * s89)));
  s.lo = s.lo + 0x1.05511c68476a8p-52;
  pc_pair_f64 y = pc_pair_mul_f64(square, s), out = pc_sum_ordered_f64(0x1.921fb54442d18p+1, y.hi);
  out.lo = out.lo + (y.lo + 0x1.1a62633145c07p-53);
  return out;
}

/* Returns ln Gamma z for z > 0. */
PC_TAIL pc_pair_f64 pc_gammaln_pair_f64(pc_f64 z) {
  const pc_pair_f64 half = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55}; /* ln(2 pi) / 2 */
  pc_pair_f64 main = pc_pair_mul_f64(pc_sum_f64(z, -0.5), pc_log_pair_f64(z));
  return pc_plus_f64(pc_plus_f64(main, pc_pair_of_f64(-z)), pc_plus_f64(half, pc_stirling_f64(z)));
}

/* Gamma x = over / (under x) for x < 1.5, else over / under. */
typedef struct pc_gamma_parts_f64 {
  pc_pair_f64 over, under;
} pc_gamma_parts_f64;

/* A step of x towards 2, if n is more than k + 1. */
PC_INLINE pc_pair_f64 pc_gamma_step_f64(pc_pair_f64 q, pc_f64 x, pc_f64 n, pc_f64 k) { return pc_pair_by_f64(q, n > k + 1.5 ? x - k : 1.0); }

/* For 0 < x < steps + 2; 1, 4 or 16 steps. */
PC_INLINE pc_gamma_parts_f64 pc_gamma_parts_of_f64(pc_f64 x, int steps) {
  pc_f64 n = pc_whole_f64(x);
  pc_pair_f64 q = {n > 2.5 ? x - 1.0 : 1.0, 0.0}, up = pc_sum_ordered_f64(1.0, n < 0.5 ? x : 0.0);
  if (steps > 1) {
    q = pc_gamma_step_f64(q, x, n, 2.0);
    q = pc_gamma_step_f64(q, x, n, 3.0);
    q = pc_gamma_step_f64(q, x, n, 4.0);
  }
  if (steps > 4) {
    q = pc_gamma_step_f64(q, x, n, 5.0);
    q = pc_gamma_step_f64(q, x, n, 6.0);
    q = pc_gamma_step_f64(q, x, n, 7.0);
    q = pc_gamma_step_f64(q, x, n, 8.0);
    q = pc_gamma_step_f64(q, x, n, 9.0);
    q = pc_gamma_step_f64(q, x, n, 10.0);
    q = pc_gamma_step_f64(q, x, n, 11.0);
    q = pc_gamma_step_f64(q, x, n, 12.0);
    q = pc_gamma_step_f64(q, x, n, 13.0);
    q = pc_gamma_step_f64(q, x, n, 14.0);
    q = pc_gamma_step_f64(q, x, n, 15.0);
    q = pc_gamma_step_f64(q, x, n, 16.0);
  }
  pc_gamma_parts_f64 out = {q, pc_pair_mul_f64(pc_gamma_under_f64(x - n), up)};
  return out;
}

/* x sin(pi x) for x >= 0 but for the sign of lo, which is 0 where x >= 2^51. */
PC_INLINE pc_pair_f64 pc_sine_times_f64(pc_pair_f64 x) {
  pc_pair_f64 f = pc_sum_f64(pc_fraction_f64(x.hi), x.lo);
  pc_pair_f64 y = pc_pair_mul_f64(x, pc_pair_mul_f64(f, pc_sine_of_turn_by_pair_f64(f.hi)));
  uint64_t n = pc_bits_f64((x.hi - pc_fraction_f64(x.hi)) + 4503599627370496.0) << 63;
  pc_pair_f64 out = {pc_signed_f64(y.hi, n), pc_signed_f64(y.lo, n)};
  return out;
}

/* e^log by, rounded once; inf and 0 beyond |log| of 1400. */
PC_INLINE pc_f64 pc_exp_by_f64(pc_pair_f64 log, pc_pair_f64 by) {
  pc_f64 c = log.hi > 1400.0 ? 1400.0 : log.hi;
  c = c < -1400.0 ? -1400.0 : c;
  pc_f64 lo = c == log.hi ? log.lo : 0.0;
  pc_reduced_f64 k = pc_reduce_ln2_f64(c, 2046.0);
  pc_pair_f64 s = pc_sum_ordered_f64(1.0, k.hi), e = pc_sum_ordered_f64(s.hi, s.lo + pc_exp_tail_f64(k.hi, k.lo - lo));
  pc_pair_f64 y = pc_product_f64(e.hi, by.hi);
  return (y.hi + (y.lo + (e.hi * by.lo + e.lo * by.hi))) * pc_scale_low_f64(k.bits) * pc_scale_high_f64(k.bits);
}

/* The gamma function for 0 < x < 18, or below 6 of 4 steps. */
PC_INLINE pc_f64 pc_gamma_of_steps_f64(pc_f64 x, int steps) {
  pc_gamma_parts_f64 s = pc_gamma_parts_of_f64(x < 0x1p-60 ? 1.0 : x, steps);
  pc_pair_f64 y = pc_pair_div_f64(s.over, pc_pair_by_f64(s.under, x < 1.5 ? x : 1.0));
  return x < 0x1p-60 ? 1.0 / x : y.hi;
}

/* ln of Gamma(x) / sqrt(2 pi) for x >= 3. */
PC_INLINE pc_pair_f64 pc_gamma_log_far_f64(pc_f64 x) {
  pc_pair_f64 main = pc_pair_mul_f64(pc_sum_f64(x, -0.5), pc_log_pair_f64(x));
  return pc_plus_f64(pc_plus_f64(main, pc_pair_of_f64(-x)), pc_pair_of_f64(pc_stirling_of_f64(1.0 / x)));
}

/* The gamma function for 0 < x < 6, 0 < x < 18, and x > 0. */
PC_INLINE pc_f64 pc_gamma_near_f64(pc_f64 x) { return pc_gamma_of_steps_f64(x, 4); }
PC_INLINE pc_f64 pc_gamma_usual_f64(pc_f64 x) { return pc_gamma_of_steps_f64(x, 16); }
PC_INLINE pc_f64 pc_gamma_right_f64(pc_f64 x) {
  const pc_pair_f64 turn = {0x1.40d931ff62706p+1, -0x1.a6a0d6f814637p-53}; /* sqrt(2 pi) */
  pc_f64 near = pc_gamma_of_steps_f64(x < 18.0 ? x : 2.0, 16), c = x < 18.0 ? 18.0 : x;
  pc_f64 far = pc_exp_by_f64(pc_gamma_log_far_f64(c < 200.0 ? c : 200.0), turn);
  return x < 18.0 ? near : far;
}

/* The regions of gamma, whose forms are above. */
PC_INLINE uint64_t pc_gamma_is_near_f64(pc_f64 x) { return (uint64_t)(x > 0.0) & (uint64_t)(x < 6.0); }
PC_INLINE uint64_t pc_gamma_is_usual_f64(pc_f64 x) { return (uint64_t)(x > 0.0) & (uint64_t)(x < 18.0); }
PC_INLINE uint64_t pc_gamma_is_right_f64(pc_f64 x) { return x > 0.0; }

/* The gamma function: inf at 0, with its sign; NaN at negative integers and at -inf. Left of 0 -pi / (a sin(pi a) Gamma a), a = -x. */
PC_INLINE pc_f64 pc_gamma_f64(pc_f64 x) {
  const pc_pair_f64 turn = {0x1.40d931ff62706p+1, -0x1.a6a0d6f814637p-53}, pi = {-0x1.921fb54442d18p+1, -0x1.1a62633145c07p-53}, one = {1.0, 0.0};
  pc_f64 a = pc_magnitude_f64(x), c = a < 200.0 ? a : 199.5;
  c = a < 0x1p-60 ? 1.0 : c;
  int is_far = c >= 18.0, left = x < 0.0;
  pc_gamma_parts_f64 s = pc_gamma_parts_of_f64(is_far ? 2.0 : c, 16);
  pc_pair_f64 log = pc_gamma_log_far_f64(is_far ? c : 18.0), by = pc_pair_by_f64(s.under, c < 1.5 ? c : 1.0), of = {c, 0.0};
  log = pc_pair_if_f64(is_far, log, pc_pair_of_f64(0.0));
  pc_pair_f64 over = pc_pair_if_f64(is_far, turn, s.over), under = pc_pair_if_f64(is_far, one, by), sine = pc_sine_times_f64(of);
  pc_pair_f64 top = pc_pair_if_f64(left, pc_pair_mul_f64(under, pi), over), bottom = pc_pair_if_f64(left, pc_pair_mul_f64(over, sine), under);
  pc_f64 y = pc_exp_by_f64(pc_pair_if_f64(left, pc_minus_f64(log), log), pc_pair_div_f64(top, bottom)), f = pc_fraction_f64(a);
  pc_f64 some = a > 200.0 ? 0.0 : y;
  some = f == 0.0 ? __builtin_nan("") : some;
  some = a == __builtin_inf() ? __builtin_nan("") : some;
  y = a > 200.0 ? __builtin_inf() : y;
  y = left ? some : y;
  y = a < 0x1p-60 ? 1.0 / x : y;
  return x == x ? y : x;
}

/* ln |f| and the sign of a function f. */
typedef struct pc_log_signed_f64 {
  pc_pair_f64 log;
  uint64_t sign;
} pc_log_signed_f64;

/* x + lo is 0 or a negative integer. */
PC_TAIL int pc_is_pole_f64(pc_f64 x, pc_f64 lo) { return x <= 0.0 && pc_fraction_f64(-x) - lo == 0.0; }

/* Gamma(x + lo), no pole, x >= -2^51 and lo below an ulp of x. */
PC_TAIL pc_log_signed_f64 pc_gamma_log_f64(pc_f64 x, pc_f64 lo) {
  const pc_pair_f64 pi = {0x1.250d048e7a1bdp+0, 0x1.7abf2ad8d5088p-57}; /* ln pi */
  pc_f64 a = pc_magnitude_f64(x), f = pc_fraction_f64(a) - lo;
  pc_log_signed_f64 out = {pc_gammaln_pair_f64(a), 0};
  if (lo != 0.0) out.log = pc_plus_f64(out.log, pc_pair_of_f64((x > 0.0 ? lo : -lo) * pc_digamma_f64(a)));
  if (x > 0.0) return out;
  pc_f64 near = pc_whole_f64(a), half = 0.5 * (f < 0.0 ? near - 1.0 : near);
  out.sign = pc_whole_f64(half) == half ? 0x8000000000000000u : 0;
  pc_pair_f64 sine = pc_log_of_pair_f64(pc_pair_mul_f64(pc_pair_of_f64(a), pc_sine_of_turn_f64(f)));
  out.log = pc_plus_f64(pc_plus_f64(pi, pc_minus_f64(sine)), pc_minus_f64(out.log));
  return out;
}

#endif
