/* precast/ops/math/gammaincinv.h: the inverses of the regularized incomplete gamma functions, by x.
 *
 * ln of a tail T is concave in ln x, and E. Halley's method solves ln T(x) = ln t within bounds that are halved where a step leaves them:
 *
 *   a < 1, x <= 1, or 1/2           ln P = a ln x - ln Gamma(1 + a) + ln(1 + a sum), of which no digit is lost for small a
 *   a >= 48, x within 0.3 a of a    the smaller tail by the expansion of tail.h
 *   x > a                           Q by the continued fraction of gammainc.h
 *   else                            P by its power series
 *
 * For a < 48 all steps but the last one are without pairs, and of f32 the last one too. Below 2^-60 the first form is solved for ln x. */
#ifndef PRECAST_OPS_MATH_GAMMAINCINV_H
#define PRECAST_OPS_MATH_GAMMAINCINV_H

#include <precast/ops/math/factorial.h>
#include <precast/ops/math/gammainc.h>
#include <precast/ops/math/inverse.h>

/* ln Gamma(1 + a) as a pair. */
PC_TAIL pc_pair_f64 pc_gamma_own_f64(pc_f64 a) {
  return a < 1.0 ? pc_pair_of_f64(pc_gammaln_above_f64(a)) : pc_plus_f64(pc_gammaln_pair_f64(a), pc_log_pair_f64(a));
}

/* ln x of the first form without the sum: (ln p + ln Gamma(1 + a)) / a, which is at most ln of the result. */
PC_TAIL pc_pair_f64 pc_gamma_least_f64(pc_f64 a, pc_pair_f64 p) {
  return pc_pair_div_f64(pc_plus_f64(pc_log_of_pair_f64(p), pc_gamma_own_f64(a)), pc_pair_of_f64(a));
}

/* A step whose second derivative is that of a tail: the quotient of both is a - x less the first one, which is g. */
PC_TAIL pc_step_f64 pc_gamma_bent_f64(pc_step_f64 s, pc_f64 a, pc_f64 x, pc_f64 g) { return pc_bent_f64(s, (a - x) - g); }

/* The difference of the logarithms of a tail at x and of t, and its derivative by ln x; `least` is ln x where x is tiny. */
PC_TAIL pc_step_f64 pc_gamma_off_f64(pc_f64 a, pc_f64 x, pc_tails_f64 t, pc_pair_f64 least) {
  if (a < 1.0 && x <= (a < 0x1p-8 ? 0.5 : 1.0)) {
    pc_pair_f64 first = pc_pair_div_f64(pc_pair_of_f64(-x), pc_sum_f64(1.0, a));
    pc_pair_f64 sum = pc_pair_by_f64(pc_plus_f64(first, pc_pair_of_f64(pc_gamma_sum_from_f64(a, x, -x, 2))), a), one = pc_pair_of_f64(1.0);
    pc_pair_f64 log = pc_pair_mul_f64(pc_pair_of_f64(a), pc_plus_f64(pc_log_pair_f64(x), pc_minus_f64(least)));
    log = pc_plus_f64(log, a < 0x1p-8 ? pc_pair_of_f64(pc_log1p_f64(sum.hi)) : pc_log_of_pair_f64(pc_plus_f64(one, sum)));
    pc_f64 g = a * pc_exp_f64(-x) / (1.0 + sum.hi);
    return pc_gamma_bent_f64(pc_step_of_f64(log.hi + log.lo, g), a, x, g);
  }
  pc_f64 power = pc_gamma_power_f64(a, x), y;
  int is_upper = x > a;
  if (a >= PC_TAIL_LEAST && pc_magnitude_f64(x - a) <= PC_TAIL_WIDTH * a) {
    y = pc_gamma_middle_f64(a, x);
  } else {
    y = power * (is_upper ? pc_gamma_fraction_f64(a, x) : pc_gamma_series_f64(a, x));
  }
  return pc_gamma_bent_f64(is_upper ? pc_off_f64(y, t.q, -power) : pc_off_f64(y, t.p, power), a, x, is_upper ? -power / y : power / y);
}

/* The same to about 2^-32, for a < 48, x < 1024, where `own` is ln Gamma(1 + a). */
PC_TAIL pc_step_f64 pc_gamma_off_short_f64(pc_f64 a, pc_f64 x, pc_tails_f64 t, pc_f64 least, pc_f64 own) {
  pc_f64 log = pc_log_f64(x);
  if (a < 1.0 && x <= 0.5) {
    pc_f64 sum = a * pc_gamma_sum_f64(a, x), g = a * pc_exp_f64(-x) / (1.0 + sum);
    return pc_gamma_bent_f64(pc_step_of_f64(a * (log - least) + pc_log1p_f64(sum), g), a, x, g);
  }
  pc_f64 power = pc_exp_f64(a * log - x - own), y;
  int is_upper = x > a;
  y = power * (is_upper ? pc_gamma_fraction_short_f64(a, x) : pc_gamma_series_short_f64(a, x));
  power = a * power;
  return pc_gamma_bent_f64(is_upper ? pc_off_f64(y, t.q, -power) : pc_off_f64(y, t.p, power), a, x, is_upper ? -power / y : power / y);
}

/* Where to begin, after A. R. DiDonato and A. H. Morris, "Computation of the incomplete gamma function ratios and their inverse" (1986): for
 * a < 1 the power below, or the exponential tail; else the expansion of E. A. Cornish and R. A. Fisher by the normal quantile. */
PC_TAIL pc_f64 pc_gamma_start_f64(pc_f64 a, pc_tails_f64 t, pc_f64 least, pc_f64 own) {
  pc_f64 low = least * (1.0 + least / (a + 1.0));
  if (a < 1.0) {
    pc_f64 y = -pc_log_f64(t.q.hi) - own + pc_log_f64(a); /* -ln(q Gamma a) */
    if (y < 1.0) return low < 0.7 || y < 0.3 ? low : least > 0.7 ? least : 0.7;
    pc_f64 u = y - (1.0 - a) * pc_log_f64(y);
    pc_f64 part = ((u + 2.0 * (3.0 - a)) * u + (2.0 - a) * (3.0 - a)) / ((u + (5.0 - a)) * u + 2.0);
    pc_f64 x = y - (1.0 - a) * pc_log_f64(u) - pc_log_f64(part);
    return x > least ? x : least;
  }
  pc_f64 z = t.p.hi < t.q.hi ? -pc_inverse_normal_f64(t.p.hi) : pc_inverse_normal_f64(t.q.hi), r = __builtin_sqrt(a), z2 = z * z;
  pc_f64 x = (a + z * r) + (z2 - 1.0) / 3.0 + z * (z2 - 7.0) / (36.0 * r);
  x = x - ((3.0 * z2 + 7.0) * z2 - 16.0) / (810.0 * a) + z * ((9.0 * z2 + 256.0) * z2 - 433.0) / (38880.0 * (a * r));
  return z > -0.5 * r && x > least && z < 3.0 * r ? x : z < 0.0 || low < 0.2 * (a + 1.0) ? low : a + z * r + z2 / 3.0;
}

/* The x of which the tails are p and q, finite a > 0; of f32 if `is_short`. */
PC_TAIL pc_f64 pc_gamma_inverse_of_f64(pc_f64 a, pc_tails_f64 t, int is_short) {
  if (a > 0x1p120) return a;
  if (a < 0x1p-900) { /* Q is proportional to a */
    pc_f64 q = t.q.hi * (0x1p-900 / a);
    pc_tails_f64 moved = {pc_sum_f64(1.0, -q), pc_pair_of_f64(q)};
    return q < 0x1p-880 ? pc_gamma_inverse_of_f64(0x1p-900, moved, is_short) : 0.0;
  }
  pc_f64 own = pc_gammaln_above_f64(a), about = (pc_log_f64(t.p.hi) + own) / a;
  pc_pair_f64 log = pc_pair_of_f64(about);
  if (about < -41.0 || a < 1.0) log = pc_gamma_least_f64(a, t.p);
  if (log.hi < -42.0) return log.hi < -800.0 ? 0.0 : pc_exp_pair_f64(log);
  pc_f64 least = pc_exp_f64(log.hi), x = pc_gamma_start_f64(a, t, least, own);
  pc_bounds_f64 s = {0.5 * least, __builtin_inf()};
  int is_rough = a < PC_TAIL_SHORT;
  for (int i = 0; i < PC_INVERSE_STEPS; i++) {
    pc_f64 known = x;
    int rough = is_rough && x < 1024.0;
    pc_step_f64 step = rough ? pc_gamma_off_short_f64(a, x, t, log.hi, own) : pc_gamma_off_f64(a, x, t, log);
    x = pc_next_f64(&s, x, step);
    /* Estimates the error after a step of third order. */
    pc_f64 by = pc_magnitude_f64(step.step), left = by * by * by * (4.0 + a);
    if (rough && left < 0x1p-30) {
      if (is_short) break;
      is_rough = 0;
      s.low = 0.0;
      s.high = __builtin_inf();
    }
    if (!rough && (left < 0x1p-56 || pc_magnitude_f64(x - known) <= 0x1p-52 * x)) break;
  }
  return x;
}

/* The edges, then what lies between. */
PC_TAIL pc_f64 pc_gamma_inverse_edges_f64(pc_f64 a, pc_f64 p, pc_tails_f64 t, int is_short) {
  if (!(a >= 0.0 && p >= 0.0 && p <= 1.0)) return __builtin_nan("");
  if (t.p.hi == 0.0) return 0.0;
  if (t.q.hi == 0.0) return __builtin_inf();
  if (a == 0.0 || a == __builtin_inf()) return __builtin_nan("");
  return pc_gamma_inverse_of_f64(a, t, is_short);
}

/* The x of gammainc(a, x) = p; 0 and inf for p = 0 and 1; NaN for other p if a is 0 or infinite, and outside of the domain. */
PC_TAIL pc_f64 pc_gammaincinv_any_f64(pc_f64 a, pc_f64 p, int is_short) { return pc_gamma_inverse_edges_f64(a, p, pc_tails_of_f64(p), is_short); }

/* The x of gammaincc(a, x) = q. */
PC_TAIL pc_f64 pc_gammainccinv_any_f64(pc_f64 a, pc_f64 q, int is_short) {
  pc_tails_f64 t = pc_tails_of_f64(q), turned = {t.q, t.p};
  return pc_gamma_inverse_edges_f64(a, q, turned, is_short);
}

PC_INLINE pc_f64 pc_gammaincinv_f64(pc_f64 a, pc_f64 p) { return pc_gammaincinv_any_f64(a, p, 0); }
PC_INLINE pc_f64 pc_gammainccinv_f64(pc_f64 a, pc_f64 q) { return pc_gammainccinv_any_f64(a, q, 0); }
PC_INLINE pc_f32 pc_gammaincinv_f32(pc_f32 a, pc_f32 p) { return (pc_f32)pc_gammaincinv_any_f64((pc_f64)a, (pc_f64)p, 1); }
PC_INLINE pc_f32 pc_gammainccinv_f32(pc_f32 a, pc_f32 q) { return (pc_f32)pc_gammainccinv_any_f64((pc_f64)a, (pc_f64)q, 1); }

#endif
