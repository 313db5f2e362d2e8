/* precast/ops/math/betaincinv.h: the inverse of the regularized incomplete beta function, by x.
 *
 * The smaller one of x and 1 - x is solved for, as in gammaincinv.h: by the tail of betainc.h on the side of the mean where it is, or, for
 * a < 1 and small x, by
 *
 *   ln I = a ln x - ln(a B(a, b)) + ln(1 + a sum)        of which no digit is lost for small a
 *
 * Below 2^-60 this is solved for ln x. */
#ifndef PRECAST_OPS_MATH_BETAINCINV_H
#define PRECAST_OPS_MATH_BETAINCINV_H

#include <precast/ops/math/beta.h>
#include <precast/ops/math/betainc.h>
#include <precast/ops/math/inverse.h>
#include <precast/ops/math/sigmoid.h>

/* ln(a B(a, b)), to be divided by a: relative to a for small a, as a pair for all others. */
PC_TAIL pc_pair_f64 pc_beta_log_pair_f64(pc_f64 a, pc_f64 b) {
  if (a < 0x1p-7 * (b < 1.0 ? b : 1.0)) return pc_pair_of_f64(pc_beta_log_f64(b, a));
  return pc_plus_f64(a > b ? pc_log_beta_f64(a, b).log : pc_log_beta_f64(b, a).log, pc_log_pair_f64(a));
}

/* (ln p + ln(a B(a, b))) / a: ln x where x is tiny. */
PC_TAIL pc_pair_f64 pc_beta_least_f64(pc_f64 a, pc_f64 b, pc_pair_f64 p) {
  return pc_pair_div_f64(pc_plus_f64(pc_log_of_pair_f64(p), pc_beta_log_pair_f64(a, b)), pc_pair_of_f64(a));
}

/* Whether x is on the side of a: up to the mean, or up to where the fraction of a converges fast. */
PC_TAIL int pc_beta_is_below_f64(const pc_betainc_parts_f64 *s) {
  pc_f64 least = s->a < s->b ? s->a : s->b;
  return s->d.hi >= 0.0 || (least < PC_TAIL_LEAST && s->x.hi * (s->r.hi + 2.0) <= s->a + 1.0);
}

/* The difference of the logarithms of a tail at x and of t, and its derivative by ln x; `least` is ln x where x is tiny. */
PC_TAIL pc_step_f64 pc_beta_off_f64(pc_f64 a, pc_f64 b, pc_f64 x, pc_tails_f64 t, pc_pair_f64 least) {
  if (a < 1.0 && x * (b < 1.0 ? 1.0 : b) < 0.7) {
    pc_f64 sum = a * pc_beta_sum_f64(a, b, x), y = pc_exp_f64((b - 1.0) * pc_log1p_f64(-x));
    pc_pair_f64 log = pc_pair_mul_f64(pc_pair_of_f64(a), pc_plus_f64(pc_log_pair_f64(x), pc_minus_f64(least)));
    return pc_step_of_f64((log.hi + log.lo) + pc_log1p_f64(sum), a * y / (1.0 + sum));
  }
  pc_betainc_parts_f64 s = pc_beta_of_f64(a, b, x);
  pc_f64 slope = pc_beta_power_f64(&s) / s.y.hi;
  if (pc_beta_is_below_f64(&s)) return pc_off_f64(pc_beta_tail_f64(&s), t.p, slope);
  s = pc_beta_turned_f64(s);
  return pc_off_f64(pc_beta_tail_f64(&s), t.q, -slope);
}

/* Where to begin: the normal quantile of ln(x / (1 - x)), or the power below. */
PC_TAIL pc_f64 pc_beta_start_f64(pc_f64 a, pc_f64 b, pc_tails_f64 t, pc_f64 least) {
  if (a < 1.0 || b < 1.0) return least < 0.25 ? least : 0.25;
  pc_f64 z = t.p.hi < t.q.hi ? pc_ndtri_f64(t.p.hi) : -pc_ndtri_f64(t.q.hi);
  pc_f64 x = pc_sigmoid_f64(pc_log_f64(a / b) + z * __builtin_sqrt(1.0 / a + 1.0 / b));
  return x < 0.5 ? x : 0.5;
}

/* The x of which the tails are p and q, x <= 1/2. */
PC_TAIL pc_f64 pc_beta_inverse_of_f64(pc_f64 a, pc_f64 b, pc_tails_f64 t) {
  if (a < 0x1p-1000) return 0.0;
  pc_pair_f64 log = pc_beta_least_f64(a, b, t.p);
  if (log.hi < -42.0 && log.hi + pc_log_f64(b < 1.0 ? 1.0 : b) < -42.0) return log.hi < -800.0 ? 0.0 : pc_exp_pair_f64(log);
  pc_bounds_f64 s = {0.0, 0.5};
  pc_f64 least = pc_exp_f64(log.hi), x = pc_beta_start_f64(a, b, t, least);
  for (int i = 0; i < PC_INVERSE_STEPS; i++) {
    pc_f64 known = x;
    x = pc_next_f64(&s, x, pc_beta_off_f64(a, b, x, t, log));
    if (pc_magnitude_f64(x - known) <= 0x1p-52 * x) break;
  }
  return x < 0.5 ? x : 0.5;
}

/* The x of betainc(a, b, x) = p; 0 and 1 for p = 0 and 1; NaN for other p if a or b is infinite, and outside of the domain. */
PC_TAIL pc_f64 pc_betaincinv_f64(pc_f64 a, pc_f64 b, pc_f64 p) {
  const pc_f64 inf = __builtin_inf();
  if (!(a > 0.0 && b > 0.0 && p >= 0.0 && p <= 1.0)) return __builtin_nan("");
  if (p == 0.0 || p == 1.0) return p;
  if (a == inf || b == inf) return __builtin_nan("");
  pc_tails_f64 t = pc_tails_of_f64(p), turned = {t.q, t.p};
  pc_f64 half = pc_betainc_f64(a, b, 0.5);
  if (p == half && a == b) return 0.5;
  return p <= half ? pc_beta_inverse_of_f64(a, b, t) : 1.0 - pc_beta_inverse_of_f64(b, a, turned);
}

PC_INLINE pc_f32 pc_betaincinv_f32(pc_f32 a, pc_f32 b, pc_f32 p) { return (pc_f32)pc_betaincinv_f64((pc_f64)a, (pc_f64)b, (pc_f64)p); }

#endif
