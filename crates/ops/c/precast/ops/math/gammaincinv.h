/* precast/ops/math/gammaincinv.h: the inverses of the regularized incomplete gamma functions, by x.
 *
 * ln of a tail T is concave in ln x, and I. Newton's method solves ln T(x) = ln t within bounds that are halved where a step leaves them:
 *
 *   a < 1, x <= 1/2                 ln P = a ln x - ln Gamma(1 + a) + ln(1 + a sum), of which no digit is lost for small a
 *   a >= 48, x within 0.3 a of a    the smaller tail by the expansion of tail.h
 *   x > a                           Q by the continued fraction of gammainc.h
 *   else                            P by its power series
 *
 * Below 2^-60 the first form is solved for ln x. */
#ifndef PRECAST_OPS_MATH_GAMMAINCINV_H
#define PRECAST_OPS_MATH_GAMMAINCINV_H

#include <precast/ops/math/factorial.h>
#include <precast/ops/math/gammainc.h>
#include <precast/ops/math/inverse.h>

/* ln x of the first form without the sum: (ln p + ln Gamma(1 + a)) / a, which is at most ln of the result. */
PC_TAIL pc_pair_f64 pc_gamma_least_f64(pc_f64 a, pc_pair_f64 p) {
  pc_pair_f64 own = a < 1.0 ? pc_pair_of_f64(pc_gammaln_above_f64(a)) : pc_plus_f64(pc_gammaln_pair_f64(a), pc_log_pair_f64(a));
  return pc_pair_div_f64(pc_plus_f64(pc_log_of_pair_f64(p), own), pc_pair_of_f64(a));
}

/* The difference of the logarithms of a tail at x and of t, and its derivative by ln x; `least` is ln x where x is tiny. */
PC_TAIL pc_step_f64 pc_gamma_off_f64(pc_f64 a, pc_f64 x, pc_tails_f64 t, pc_pair_f64 least) {
  if (a < 1.0 && x <= 0.5) {
    pc_f64 sum = a * pc_gamma_sum_f64(a, x);
    pc_pair_f64 log = pc_pair_mul_f64(pc_pair_of_f64(a), pc_plus_f64(pc_log_pair_f64(x), pc_minus_f64(least)));
    return pc_step_of_f64((log.hi + log.lo) + pc_log1p_f64(sum), a * pc_exp_f64(-x) / (1.0 + sum));
  }
  pc_f64 power = pc_gamma_power_f64(a, x);
  if (a >= PC_TAIL_LEAST && pc_magnitude_f64(x - a) <= PC_TAIL_WIDTH * a) {
    pc_f64 y = pc_gamma_near_f64(a, x);
    return x > a ? pc_off_f64(y, t.q, -power) : pc_off_f64(y, t.p, power);
  }
  if (x > a) return pc_off_f64(power * pc_gamma_fraction_f64(a, x), t.q, -power);
  return pc_off_f64(power * pc_gamma_series_f64(a, x), t.p, power);
}

/* Where to begin: E. B. Wilson's and M. M. Hilferty's cube of a normal quantile, the power below, or the exponential tail. */
PC_TAIL pc_f64 pc_gamma_start_f64(pc_f64 a, pc_tails_f64 t, pc_f64 least) {
  if (a < 1.0) {
    if (least <= 0.5) return least;
    pc_f64 y = -pc_log_f64(t.q.hi), x = y + (a - 1.0) * pc_log_f64(y > 0.5 ? y : 0.5) - pc_gammaln_f64(a);
    return x > least ? x : least;
  }
  pc_f64 z = t.p.hi < t.q.hi ? pc_ndtri_f64(t.p.hi) : -pc_ndtri_f64(t.q.hi);
  pc_f64 root = (1.0 - 1.0 / (9.0 * a)) + z / (3.0 * __builtin_sqrt(a)), x = a * root * root * root;
  return root > 0.3 && x > least ? x : least;
}

/* The x of which the tails are p and q, finite a > 0. */
PC_TAIL pc_f64 pc_gamma_inverse_of_f64(pc_f64 a, pc_tails_f64 t) {
  if (a > 0x1p120) return a;
  if (a < 0x1p-900) { /* Q is proportional to a */
    pc_f64 q = t.q.hi * (0x1p-900 / a);
    pc_tails_f64 moved = {pc_sum_f64(1.0, -q), pc_pair_of_f64(q)};
    return q < 0x1p-880 ? pc_gamma_inverse_of_f64(0x1p-900, moved) : 0.0;
  }
  pc_pair_f64 log = pc_gamma_least_f64(a, t.p);
  if (log.hi < -42.0) return log.hi < -800.0 ? 0.0 : pc_exp_pair_f64(log);
  pc_bounds_f64 s = {0.5 * pc_exp_f64(log.hi), __builtin_inf()};
  pc_f64 x = pc_gamma_start_f64(a, t, pc_exp_f64(log.hi));
  for (int i = 0; i < PC_INVERSE_STEPS; i++) {
    pc_f64 known = x;
    x = pc_next_f64(&s, x, pc_gamma_off_f64(a, x, t, log));
    if (pc_magnitude_f64(x - known) <= 0x1p-52 * x) break;
  }
  return x;
}

/* The edges, then what lies between. */
PC_TAIL pc_f64 pc_gamma_inverse_edges_f64(pc_f64 a, pc_f64 p, pc_tails_f64 t) {
  if (!(a >= 0.0 && p >= 0.0 && p <= 1.0)) return __builtin_nan("");
  if (t.p.hi == 0.0) return 0.0;
  if (t.q.hi == 0.0) return __builtin_inf();
  if (a == 0.0 || a == __builtin_inf()) return __builtin_nan("");
  return pc_gamma_inverse_of_f64(a, t);
}

/* The x of gammainc(a, x) = p; 0 and inf for p = 0 and 1; NaN for other p if a is 0 or infinite, and outside of the domain. */
PC_TAIL pc_f64 pc_gammaincinv_f64(pc_f64 a, pc_f64 p) { return pc_gamma_inverse_edges_f64(a, p, pc_tails_of_f64(p)); }

/* The x of gammaincc(a, x) = q. */
PC_TAIL pc_f64 pc_gammainccinv_f64(pc_f64 a, pc_f64 q) {
  pc_tails_f64 t = pc_tails_of_f64(q), turned = {t.q, t.p};
  return pc_gamma_inverse_edges_f64(a, q, turned);
}

PC_INLINE pc_f32 pc_gammaincinv_f32(pc_f32 a, pc_f32 p) { return (pc_f32)pc_gammaincinv_f64((pc_f64)a, (pc_f64)p); }
PC_INLINE pc_f32 pc_gammainccinv_f32(pc_f32 a, pc_f32 q) { return (pc_f32)pc_gammainccinv_f64((pc_f64)a, (pc_f64)q); }

#endif
