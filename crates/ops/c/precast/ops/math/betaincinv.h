/* precast/ops/math/betaincinv.h: the inverse of the regularized incomplete beta function, by x.
 *
 * The smaller one of x and 1 - x is solved for, as in gammaincinv.h: by the tail of betainc.h on the side of the mean where it is, or, for
 * a < 1 and small x, by
 *
 *   ln I = a ln x - ln(a B(a, b)) + ln(1 + a sum)        of which no digit is lost for small a
 *
 * Below 2^-60 this is solved for ln x. Unless both arguments are large, the logarithm of the tail is a pair in the last step.
 *
 * Where b is far above a, x = 1 - e^(-u / N) with N = b + (a - 1) / 2 and the inverse u of the gamma function (J. Wise, 1950). Where both are above
 * 2^120, x is the mean. */
#ifndef PRECAST_OPS_MATH_BETAINCINV_H
#define PRECAST_OPS_MATH_BETAINCINV_H

#include <precast/ops/math/beta.h>
#include <precast/ops/math/betainc.h>
#include <precast/ops/math/gammaincinv.h>
#include <precast/ops/math/inverse.h>
#include <precast/ops/math/sigmoid.h>

/* (ln p + ln(a B(a, b))) / a: ln x where x is tiny. */
PC_TAIL pc_pair_f64 pc_beta_least_f64(pc_f64 a, pc_f64 b, pc_pair_f64 p) {
  return pc_pair_div_f64(pc_plus_f64(pc_log_of_pair_f64(p), pc_beta_log_pair_f64(a, b)), pc_pair_of_f64(a));
}

/* Whether x is on the side of a: up to the mean, or up to where the fraction of a converges fast. */
PC_TAIL int pc_beta_is_below_f64(const pc_betainc_parts_f64 *s) {
  pc_f64 least = s->a < s->b ? s->a : s->b;
  return s->d.hi >= 0.0 || (least < PC_TAIL_LEAST && s->x.hi * (s->r.hi + 2.0) <= s->a + 1.0);
}

/* Whether x is so small that the sum of the powers of x stands for a tail of a < 1. */
PC_TAIL int pc_beta_is_power_f64(pc_f64 a, pc_f64 b, pc_f64 x) { return a < 1.0 && x * (b < 1.0 ? 1.0 : b) < 0.7; }

/* The difference of the logarithms of a tail at x and of t, and its derivative by ln x; `least` is ln x where x is tiny. */
PC_TAIL pc_step_f64 pc_beta_off_f64(pc_f64 a, pc_f64 b, pc_f64 x, pc_tails_f64 t, pc_pair_f64 least) {
  if (pc_beta_is_power_f64(a, b, x)) {
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

/* A tail by the power, 1 / (a (1 + d(1) / (1 + d(2) / (1 + ...)))), from the front (W. J. Lentz, 1976) in pairs. */
PC_TAIL pc_pair_f64 pc_beta_fraction_pair_f64(const pc_betainc_parts_f64 *s) {
  const pc_pair_f64 one = {1.0, 0.0};
  pc_pair_f64 above = one, below = {0.0, 0.0}, y = one;
  for (int i = 1; i < PC_TAIL_STEPS; i++) {
    pc_f64 m = i / 2;
    pc_pair_f64 even = pc_pair_mul_f64(pc_pair_of_f64(m), pc_sum_f64(s->b, -m));
    pc_pair_f64 odd = pc_minus_f64(pc_pair_mul_f64(pc_sum_f64(s->a, m), pc_plus_f64(s->r, pc_pair_of_f64(m))));
    pc_pair_f64 under = pc_pair_mul_f64(pc_sum_f64(s->a, i), pc_sum_f64(s->a, i - 1.0));
    pc_pair_f64 d = pc_pair_div_f64(pc_pair_mul_f64((i & 1) != 0 ? odd : even, s->x), under);
    below = pc_pair_div_f64(one, pc_plus_f64(one, pc_pair_mul_f64(d, below)));
    above = pc_plus_f64(one, pc_pair_div_f64(d, above));
    pc_pair_f64 by = pc_pair_mul_f64(above, below);
    y = pc_pair_mul_f64(y, by);
    if (pc_magnitude_f64((by.hi - 1.0) + by.lo) <= 0x1p-62) break;
  }
  return pc_pair_div_f64(one, pc_pair_mul_f64(pc_pair_of_f64(s->a), y));
}

/* ln of x^a y^b / B(a, b). */
PC_TAIL pc_pair_f64 pc_beta_power_log_f64(const pc_betainc_parts_f64 *s) {
  const pc_pair_f64 turn = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55}; /* ln(2 pi) / 2 */
  pc_pair_f64 root = pc_plus_f64(pc_plus_f64(pc_log_pair_f64(s->a), pc_log_pair_f64(s->b)), pc_minus_f64(pc_log_of_pair_f64(s->r)));
  root.hi = 0.5 * root.hi;
  root.lo = 0.5 * root.lo;
  pc_pair_f64 less = pc_plus_f64(pc_plus_f64(pc_beta_deviance_f64(s), pc_beta_correction_f64(s)), turn);
  return pc_plus_f64(root, pc_minus_f64(less));
}

/* x after a last step whose difference of logarithms is a pair. */
PC_TAIL pc_f64 pc_beta_last_f64(pc_f64 a, pc_f64 b, pc_f64 x, pc_tails_f64 t) {
  if (pc_beta_is_power_f64(a, b, x) || (a >= PC_TAIL_LEAST && b >= PC_TAIL_LEAST)) return x;
  pc_betainc_parts_f64 s = pc_beta_of_f64(a, b, x), of = s;
  int is_below = pc_beta_is_below_f64(&s);
  if (!is_below) of = pc_beta_turned_f64(s);
  pc_pair_f64 part = pc_beta_fraction_pair_f64(&of);
  pc_pair_f64 log = pc_plus_f64(pc_beta_power_log_f64(&of), pc_log_of_pair_f64(part));
  pc_f64 off = pc_plus_f64(log, pc_minus_f64(pc_log_of_pair_f64(is_below ? t.p : t.q))).hi, step = off * part.hi * s.y.hi;
  return is_below ? x - x * step : x + x * step;
}

/* Where to begin: the normal quantile of ln(x / (1 - x)), or the power below. */
PC_TAIL pc_f64 pc_beta_start_f64(pc_f64 a, pc_f64 b, pc_tails_f64 t, pc_f64 least) {
  if (a < 1.0 || b < 1.0) return least < 0.25 ? least : 0.25;
  pc_f64 z = t.p.hi < t.q.hi ? pc_ndtri_f64(t.p.hi) : -pc_ndtri_f64(t.q.hi);
  pc_f64 x = pc_sigmoid_f64(pc_log_f64(a / b) + z * __builtin_sqrt(1.0 / a + 1.0 / b));
  return x < 0.5 ? x : 0.5;
}

/* x where b is far above a. The density of u is that of the gamma function times 1 + (a - 1) (u / N)^2 / 24 + ... */
PC_TAIL pc_f64 pc_beta_far_inverse_f64(pc_f64 a, pc_f64 b, pc_tails_f64 t) {
  pc_f64 n = b + 0.5 * (a - 1.0), u = pc_gamma_inverse_of_f64(a, t), part = u / n;
  return -pc_expm1_f64(-(part + part * ((a - 1.0) / n * ((a + 1.0 + u) / n) / 24.0)));
}

/* The x of which the tails are p and q, x <= 1/2. */
PC_TAIL pc_f64 pc_beta_inverse_of_f64(pc_f64 a, pc_f64 b, pc_tails_f64 t) {
  if (a < 0x1p-1000) return 0.0;
  if (b > 0x1p18 && b * 0x1p-18 - 1.0 > a) return pc_beta_far_inverse_f64(a, b, t);
  if (a > 0x1p120 && b > 0x1p120) return a < b ? a / b / (1.0 + a / b) : 0.5;
  pc_pair_f64 log = pc_beta_least_f64(a, b, t.p);
  if (log.hi < -42.0 && log.hi + pc_log_f64(b < 1.0 ? 1.0 : b) < -42.0) return log.hi < -800.0 ? 0.0 : pc_exp_pair_f64(log);
  pc_bounds_f64 s = {0.0, 0.5};
  pc_f64 least = pc_exp_f64(log.hi), x = pc_beta_start_f64(a, b, t, least);
  for (int i = 0; i < PC_INVERSE_STEPS; i++) {
    pc_f64 known = x;
    x = pc_next_f64(&s, x, pc_beta_off_f64(a, b, x, t, log));
    if (pc_magnitude_f64(x - known) <= 0x1p-52 * x) break;
  }
  x = pc_beta_last_f64(a, b, x, t);
  return x < 0.5 ? x : 0.5;
}

/* The x of betainc(a, b, x) = p; 0 and 1 for p = 0 and 1; NaN for other p if a or b is infinite, and outside of the domain. */
PC_TAIL pc_f64 pc_betaincinv_f64(pc_f64 a, pc_f64 b, pc_f64 p) {
  const pc_f64 inf = __builtin_inf();
  if (!(a > 0.0 && b > 0.0 && p >= 0.0 && p <= 1.0)) return __builtin_nan("");
  if (p == 0.0 || p == 1.0) return p;
  if (a == inf || b == inf) return __builtin_nan("");
  if (b < 0x1p-900 && a > 0x1p-64) { /* the function is proportional to b */
    pc_f64 part = p * (0x1p-900 / b);
    return part < 0x1p-880 ? pc_betaincinv_f64(a, 0x1p-900, part) : 1.0;
  }
  pc_tails_f64 t = pc_tails_of_f64(p), turned = {t.q, t.p};
  pc_f64 half = pc_betainc_f64(a, b, 0.5);
  if (p == half && a == b) return 0.5;
  return p <= half ? pc_beta_inverse_of_f64(a, b, t) : 1.0 - pc_beta_inverse_of_f64(b, a, turned);
}

PC_INLINE pc_f32 pc_betaincinv_f32(pc_f32 a, pc_f32 b, pc_f32 p) { return (pc_f32)pc_betaincinv_f64((pc_f64)a, (pc_f64)b, (pc_f64)p); }

#endif
