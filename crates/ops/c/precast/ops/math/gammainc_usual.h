/* precast/ops/math/gammainc_usual.h: the incomplete gamma functions for 0 < a < 20, 2^-1001 < x < 200, by fixed numbers of steps without
 * branches: the regions `usual`. The methods are those of gammainc.h. */
#ifndef PRECAST_OPS_MATH_GAMMAINC_USUAL_H
#define PRECAST_OPS_MATH_GAMMAINC_USUAL_H

#include <precast/ops/math/f32/gammainc.h>
#include <precast/ops/math/factorial.h>

/* x^a e^-x / Gamma(a), where is_far is a >= 3, and what leads to it: 1 / Gamma(1 + a) for a < 1.5. */
typedef struct pc_gamma_power_f64s {
  pc_f64 power;
  pc_pair_f64 own;
} pc_gamma_power_f64s;

PC_INLINE pc_gamma_power_f64s pc_gamma_power_of_f64(pc_f64 a, pc_f64 x, int is_far) {
  pc_gamma_parts_f64 s = pc_gamma_parts_of_f64(is_far ? 2.0 : a, 1);
  pc_pair_f64 near = pc_pair_div_f64(pc_pair_by_f64(s.under, a < 1.5 ? a : 1.0), s.over);
  pc_pair_f64 of = {a, 0.0}, by = {is_far ? a : 1.0, 0.0}, top = {x, 0.0};
  pc_pair_f64 ratio = pc_pair_div_f64(top, by), log = pc_log_pair_f64(ratio.hi);
  log = pc_sum_ordered_f64(log.hi, log.lo + ratio.lo / ratio.hi);
  pc_pair_f64 y = pc_plus_f64(pc_pair_mul_f64(of, log), pc_sum_f64(is_far ? a : 0.0, -x));
  y = pc_plus_f64(y, pc_pair_of_f64(is_far ? -pc_stirling_of_f64(1.0 / a) : 0.0));
  near.hi = is_far ? __builtin_sqrt(a * 0x1.45f306dc9c883p-3) : near.hi; /* 1 / (2 pi) */
  near.lo = is_far ? 0.0 : near.lo;
  pc_gamma_power_f64s out = {pc_exp_by_f64(y, near), s.under};
  return out;
}

/* Q for small a and x, `own` is 1 / Gamma(1 + a): 1 - own x^a (1 + a sum), of which what cancels is added as pairs. */
PC_INLINE pc_f64 pc_gamma_rest_of_f64(pc_f64 a, pc_f64 x, pc_f64 log, pc_pair_f64 own) {
  pc_pair_f64 first = pc_pair_div_f64(pc_pair_of_f64(x), pc_sum_f64(1.0, a));
  pc_pair_f64 sum = pc_sum_ordered_f64(first.hi, x * pc_gamma_sum_after_f64(a, x, 20));
  pc_pair_f64 part = pc_product_f64(a, sum.hi);
  pc_f64 less = own.hi - 1.0, more = own.lo + own.hi * pc_expm1_f64(a * log);
  pc_pair_f64 y = pc_sum_f64(part.hi, -less);
  return y.hi + ((y.lo - more) + ((part.lo + a * (sum.lo + first.lo)) + (less + more) * part.hi));
}

PC_INLINE uint64_t pc_gammainc_is_usual_f64(pc_f64 a, pc_f64 x) {
  return (uint64_t)(a > 0.0) & (uint64_t)(a < 20.0) & (uint64_t)(x > 0x1p-1001) & (uint64_t)(x < 200.0);
}
PC_INLINE uint64_t pc_gammaincc_is_usual_f64(pc_f64 a, pc_f64 x) { return pc_gammainc_is_usual_f64(a, x); }

PC_INLINE pc_f64 pc_gammainc_usual_f64(pc_f64 a, pc_f64 x) {
  pc_f64 c = a < 0x1p-900 ? 0x1p-900 : a, least = c > 1.1 ? c : 1.1;
  int is_upper = x > least;
  pc_f64 low = pc_gamma_series_of_steps_f64(c, is_upper ? 1.0 : x, 50) / c;
  pc_f64 high = pc_gamma_fraction_of_steps_f64(is_upper ? c : 1.0, is_upper ? x : 1.5, 76);
  pc_f64 y = pc_gamma_power_of_f64(c, x, c >= 3.0).power * (is_upper ? high : low);
  y = y > 1.0 ? 1.0 : y;
  y = is_upper ? 1.0 - y : y;
  return a < 0x1p-900 ? 1.0 : y;
}

PC_INLINE pc_f64 pc_gammaincc_usual_f64(pc_f64 a, pc_f64 x) {
  pc_f64 c = a < 0x1p-900 ? 0x1p-900 : a, least = c > 1.1 ? c : 1.1, log = pc_log_f64(x);
  int is_upper = x > least, is_rest = pc_gamma_is_rest_f64(c, x, log);
  pc_gamma_power_f64s p = pc_gamma_power_of_f64(c, x, c >= 3.0);
  pc_f64 low = pc_gamma_series_of_steps_f64(c, is_upper ? 1.0 : x, 50) / c;
  pc_f64 high = pc_gamma_fraction_of_steps_f64(is_upper ? c : 1.0, is_upper ? x : 1.5, 76);
  pc_f64 y = p.power * (is_upper ? high : low), rest = pc_gamma_rest_of_f64(c, is_rest ? x : 1.0, log, p.own);
  y = y > 1.0 ? 1.0 : y;
  y = is_upper ? y : 1.0 - y;
  y = is_rest ? rest : y;
  return y * (a < 0x1p-900 ? a * 0x1p900 : 1.0);
}

/* The same, P or Q if `upper`, by branches for one element. */
PC_TAIL pc_f64 pc_gamma_tail_usual_f64(pc_f64 a, pc_f64 x, int upper) {
  pc_f64 c = a < 0x1p-900 ? 0x1p-900 : a, scale = a < 0x1p-900 ? a * 0x1p900 : 1.0, y;
  int is_upper = x > 1.1 && x > c;
  if (!upper && a < 0x1p-900) return 1.0;
  if (upper && x <= 1.1 && c <= 1.25) {
    pc_f64 log = pc_log_f64(x);
    if (pc_gamma_is_rest_f64(c, x, log)) return scale * pc_gamma_rest_of_f64(c, x, log, pc_gamma_parts_of_f64(c, 1).under);
  }
  y = (c >= 3.0 ? pc_gamma_power_of_f64(c, x, 1) : pc_gamma_power_of_f64(c, x, 0)).power;
  y = y * (is_upper ? pc_gamma_fraction_of_steps_f64(c, x, 76) : pc_gamma_series_of_steps_f64(c, x, 50) / c);
  y = y > 1.0 ? 1.0 : y;
  return (is_upper == upper ? y : 1.0 - y) * (upper ? scale : 1.0);
}

#endif
