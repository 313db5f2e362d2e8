/* precast/ops/math/f32/gammainc.h: the incomplete gamma functions of f32 for usual operands, in f64 without pairs and branches.
 * The functions of f64 share the sums and fractions by fixed numbers of steps: quotients of numbers that follow recurrences, from the end. */
#ifndef PRECAST_OPS_MATH_F32_GAMMAINC_H
#define PRECAST_OPS_MATH_F32_GAMMAINC_H

#include <precast/ops/math/exp2.h>
#include <precast/ops/math/f32/beta.h>
#include <precast/ops/math/log1p.h>

/* A loop of constant length that gcc writes out, since no loop with loops in it becomes vector code. */
#if defined(__GNUC__) && !defined(__clang__)
#define PC_WRITTEN_OUT _Pragma("GCC unroll 128")
#else
#define PC_WRITTEN_OUT
#endif

/* P / power times a: 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ..., for x <= a or x <= 1.1; 50 terms are enough for the last bit, 34 for
 * 2^-33. */
PC_INLINE pc_f64 pc_gamma_series_of_steps_f64(pc_f64 a, pc_f64 x, int steps) {
  pc_f64 over = 1.0, under = 1.0, n = steps;
  PC_WRITTEN_OUT for (int k = 0; k < steps; k++) {
    under = under * (a + n);
    over = under + x * over;
    n = n - 1.0;
  }
  return over / under;
}

/* Q / power: 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), for x > a and x > 1.1, from an estimate of what follows n terms on; 76 of them
 * are enough for the last bit, 36 for 2^-36. */
PC_INLINE pc_f64 pc_gamma_fraction_of_steps_f64(pc_f64 a, pc_f64 x, int steps) {
  pc_f64 n = steps, away = x - a, p = (n + __builtin_sqrt(x * n)) + (0.5 * away + 0.25), q = 1.0;
  PC_WRITTEN_OUT for (int k = 0; k < steps; k++) {
    pc_f64 known = p;
    p = (away + (n + (n - 1.0))) * p - (n * (n - a)) * q;
    q = known;
    n = n - 1.0;
  }
  return q / p;
}

/* -x / (a + 1) + x^2 / (2 (a + 2)) - ... for x <= 1.1; 20 terms are enough for the last bit, 15 for 2^-40. */
PC_INLINE pc_f64 pc_gamma_sum_of_steps_f64(pc_f64 a, pc_f64 x, int steps) {
  pc_f64 over = 0.0, under = 1.0, n = steps;
  PC_WRITTEN_OUT for (int k = 0; k < steps; k++) {
    pc_f64 d = a + n;
    over = (under + over * d) * (x * (-1.0 / n));
    under = under * d;
    n = n - 1.0;
  }
  return over / under;
}

/* The same without its first term, by -x: -x / (2 (a + 2)) + x^2 / (6 (a + 3)) - ... */
PC_INLINE pc_f64 pc_gamma_sum_after_f64(pc_f64 a, pc_f64 x, int steps) {
  pc_f64 over = 0.0, under = 1.0, n = steps;
  PC_WRITTEN_OUT for (int k = 1; k < steps; k++) {
    pc_f64 d = a + n;
    over = (under + over * d) * (x * (-1.0 / n));
    under = under * d;
    n = n - 1.0;
  }
  return over / under;
}

/* Whether a and x are small, so that Q is 1 - e^l (1 + a sum) with the 1 taken from the power. */
PC_INLINE int pc_gamma_is_rest_f64(pc_f64 a, pc_f64 x, pc_f64 log) {
  pc_f64 most = x <= 1.1 ? 1.1 * x : 0.0;
  return (x <= 0.5 ? -0.4 / log : most) >= a;
}

/* x^a e^-x / Gamma(1 + a), where is_far is a >= 3, and 1 / Gamma(1 + a) for a < 1.5. */
typedef struct pc_gamma_power_short_f64s {
  pc_f64 power, own;
} pc_gamma_power_short_f64s;

PC_INLINE pc_gamma_power_short_f64s pc_gamma_power_short_of_f64(pc_f64 a, pc_f64 x, pc_f64 log, int is_far) {
  pc_ratio_f64 s = pc_gamma_ratio_f64(is_far ? 2.0 : 1.0 + a);
  pc_f64 c = is_far ? a : 3.0, v = 1.0 / c, far = (a * pc_log_f64(x * v) + (a - x)) - pc_stirling_of_f64(v);
  pc_f64 own = s.under / s.over, e = pc_exp_f64(is_far ? far : a * log - x);
  pc_gamma_power_short_f64s out = {e * (is_far ? __builtin_sqrt(v * 0x1.45f306dc9c883p-3) : own), own}; /* 1 / (2 pi) */
  return out;
}

/* Q for small a and x, `own` is 1 / Gamma(1 + a). */
PC_INLINE pc_f64 pc_gamma_rest_short_f64(pc_f64 a, pc_f64 x, pc_f64 log, pc_f64 own) {
  pc_f64 e = pc_expm1_f64(a * log + pc_log1p_f64(own - 1.0)), sum = a * pc_gamma_sum_of_steps_f64(a, x, 15);
  return -e - (1.0 + e) * sum;
}

/* The regions `usual`: 2^-20 < a < 20, 2^-100 < x < 200. */
PC_INLINE uint32_t pc_gammainc_is_usual_f32(pc_f32 a, pc_f32 x) {
  return (uint32_t)(a > 0x1p-20f) & (uint32_t)(a < 20.0f) & (uint32_t)(x > 0x1p-100f) & (uint32_t)(x < 200.0f);
}
PC_INLINE uint32_t pc_gammaincc_is_usual_f32(pc_f32 a, pc_f32 x) { return pc_gammainc_is_usual_f32(a, x); }

/* P, or Q if `upper`. */
PC_INLINE pc_f32 pc_gamma_tail_usual_f32(pc_f32 f, pc_f32 g, int upper) {
  pc_f64 a = (pc_f64)f, x = (pc_f64)g, least = a > 1.1 ? a : 1.1, log = pc_log_f64(x);
  int is_upper = x > least, is_rest = pc_gamma_is_rest_f64(a, x, log);
  pc_gamma_power_short_f64s p = pc_gamma_power_short_of_f64(a, x, log, a >= 3.0);
  pc_f64 low = pc_gamma_series_of_steps_f64(a, is_upper ? 1.0 : x, 34);
  pc_f64 high = a * pc_gamma_fraction_of_steps_f64(is_upper ? a : 1.0, is_upper ? x : 1.5, 36);
  pc_f64 y = p.power * (is_upper ? high : low);
  y = y > 1.0 ? 1.0 : y;
  if (!upper) return (pc_f32)(is_upper ? 1.0 - y : y);
  pc_f64 rest = pc_gamma_rest_short_f64(a, is_rest ? x : 1.0, log, p.own);
  y = is_upper ? y : 1.0 - y;
  return (pc_f32)(is_rest ? rest : y);
}

PC_INLINE pc_f32 pc_gammainc_usual_f32(pc_f32 a, pc_f32 x) { return pc_gamma_tail_usual_f32(a, x, 0); }
PC_INLINE pc_f32 pc_gammaincc_usual_f32(pc_f32 a, pc_f32 x) { return pc_gamma_tail_usual_f32(a, x, 1); }

#endif
