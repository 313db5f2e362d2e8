/* precast/ops/math/betainc.h: the regularized incomplete beta function.
 *
 * The tail on the side of the mean a / (a + b) where x is is computed, and the other one is 1 less that:
 *
 *   a, b >= 48, x near the mean     the expansion of tail.h
 *   b < 1, x near 1, on any side    a power series in 1 - x, the 1 of which is taken from the power
 *   else                            the continued fraction BFRAC of A. R. DiDonato and A. H. Morris, "Algorithm 708" (1992)
 *   x below 2^-900                  x^a / (a B(a, b))
 *   a or b above 2^900              the limits, which are incomplete gamma functions
 *
 * NaN for negative a or b, where both are 0 or infinite, and where x is not between 0 and 1. */
#ifndef PRECAST_OPS_MATH_BETAINC_H
#define PRECAST_OPS_MATH_BETAINC_H

#include <precast/ops/math/beta.h>
#include <precast/ops/math/gammainc.h>

/* The operands of one tail: that of a below x, with y = 1 - x, r = a + b and d = a y - b x >= 0. */
typedef struct pc_betainc_parts_f64 {
  pc_f64 a, b;
  pc_pair_f64 x, y, r, d;
} pc_betainc_parts_f64;

PC_TAIL pc_betainc_parts_f64 pc_beta_of_f64(pc_f64 a, pc_f64 b, pc_f64 x) {
  pc_betainc_parts_f64 out = {a, b, pc_pair_of_f64(x), pc_sum_f64(1.0, -x), pc_sum_f64(a, b), {0.0, 0.0}};
  pc_pair_f64 right = pc_pair_mul_f64(pc_pair_of_f64(a), out.y);
  out.d = pc_plus_f64(right, pc_minus_f64(pc_product_f64(b, x)));
  return out;
}

/* The other tail. */
PC_TAIL pc_betainc_parts_f64 pc_beta_turned_f64(pc_betainc_parts_f64 s) {
  pc_betainc_parts_f64 out = {s.b, s.a, s.y, s.x, s.r, pc_minus_f64(s.d)};
  return out;
}

/* The deviance of x from the mean: a ln(a / (r x)) + b ln(b / (r y)). */
PC_TAIL pc_pair_f64 pc_beta_deviance_f64(const pc_betainc_parts_f64 *s) {
  return pc_plus_f64(pc_deviance_f64(s->a, pc_minus_f64(s->d)), pc_deviance_f64(s->b, s->d));
}

/* The corrections of 1 / B(a, b). */
PC_TAIL pc_pair_f64 pc_beta_correction_f64(const pc_betainc_parts_f64 *s) {
  return pc_plus_f64(pc_plus_f64(pc_stirling_f64(s->a), pc_stirling_f64(s->b)), pc_minus_f64(pc_stirling_f64(s->r.hi)));
}

/* x^a y^b / B(a, b). */
PC_TAIL pc_f64 pc_beta_power_f64(const pc_betainc_parts_f64 *s) {
  pc_pair_f64 log = pc_plus_f64(pc_beta_deviance_f64(s), pc_beta_correction_f64(s));
  pc_f64 least = s->a < s->b ? s->a : s->b, most = s->a < s->b ? s->b : s->a;
  return pc_exp_pair_f64(pc_minus_f64(log)) * __builtin_sqrt(0x1.45f306dc9c883p-3 * least * (most / s->r.hi)); /* 1 / (2 pi) */
}

/* The tail by the power, whose last step is at most `last` of it. */
PC_TAIL pc_f64 pc_beta_fraction_f64(const pc_betainc_parts_f64 *s, pc_f64 last) {
  pc_f64 a = s->a, b = s->b, x = s->x.hi, above = s->y.hi + 1.0;
  pc_f64 c = 1.0 + s->d.hi, c0 = b / a, c1 = 1.0 + 1.0 / a, p = 1.0, q = a + 1.0;
  pc_f64 an = 0.0, bn = 1.0, an1 = 1.0, bn1 = c / c1, y = c1 / c;
  for (int i = 1; i < PC_TAIL_STEPS; i++) {
    pc_f64 n = i, t = n / a, w = n * (b - n) * x, e = a / q;
    pc_f64 alpha = p * (p + c0) * e * e * (w * x);
    e = (1.0 + t) / (c1 + t + t);
    pc_f64 beta = n + w / q + e * (c + n * above);
    p = 1.0 + t;
    q = q + 2.0;
    t = alpha * an + beta * an1;
    an = an1;
    an1 = t;
    t = alpha * bn + beta * bn1;
    bn = bn1;
    bn1 = t;
    pc_f64 known = y;
    y = an1 / bn1;
    if (pc_magnitude_f64(y - known) <= last * y) break;
    an = an / bn1;
    bn = bn / bn1;
    an1 = y;
    bn1 = 1.0;
  }
  return y;
}

/* The tail about the mean, a and b >= 48. */
PC_TAIL pc_f64 pc_beta_near_f64(const pc_betainc_parts_f64 *s) {
  pc_f64 a = s->a, b = s->b, least = a < b ? a : b, most = a < b ? b : a, h = least / most;
  return pc_uniform_f64(h, (b - a) / most, 1.0 / __builtin_sqrt(least * (1.0 + h)), pc_beta_deviance_f64(s), pc_beta_correction_f64(s));
}

/* ln Gamma(z + b) - ln Gamma(z) for b <= 0.01 by C. F. Gauss's rule of three points. */
PC_TAIL pc_f64 pc_gammaln_step_f64(pc_f64 z, pc_f64 b) {
  const pc_f64 at = 0x1.cda042f0236e0p-4, half = 0.5; /* (1 - sqrt(3/5)) / 2 */
  pc_f64 ends = pc_digamma_f64(z + at * b) + pc_digamma_f64(z + (1.0 - at) * b);
  return b * (5.0 * ends + 8.0 * pc_digamma_f64(z + half * b)) / 18.0;
}

/* ln(b B(a, b)). */
PC_TAIL pc_f64 pc_beta_log_f64(pc_f64 a, pc_f64 b) {
  pc_f64 own = b <= 0.25 ? pc_gammaln_one_f64(b) : pc_gammaln_f64(1.0 + b);
  if (b <= 0.01) return own - (pc_gammaln_step_f64(1.0 + a, b) - pc_log1p_f64(b / a));
  pc_pair_f64 r = pc_sum_f64(a, b);
  /* (r - 1/2) ln r - (a - 1/2) ln a - b, and corrections: a ln(r / a) is b less the deviance. */
  pc_pair_f64 step = pc_pair_mul_f64(pc_pair_of_f64(b), pc_log_of_pair_f64(r));
  step = pc_plus_f64(step, pc_pair_of_f64(-0.5 * pc_log1p_f64(b / a)));
  step = pc_plus_f64(step, pc_minus_f64(pc_deviance_f64(a, pc_pair_of_f64(b))));
  step = pc_plus_f64(step, pc_stirling_f64(r.hi));
  step = pc_plus_f64(step, pc_minus_f64(pc_stirling_f64(a)));
  step = pc_plus_f64(pc_pair_of_f64(own), pc_minus_f64(step));
  return step.hi + step.lo;
}

/* (1 - b) x / (1 (a + 1)) + (1 - b) (2 - b) x^2 / (2 (a + 2)) + ..., from the term of `first` on, `term` is the one before times a + first - 1. */
PC_TAIL pc_f64 pc_beta_sum_from_f64(pc_f64 a, pc_f64 b, pc_f64 x, pc_f64 term, int first) {
  pc_f64 sum = 0.0;
  for (int i = first; i < PC_TAIL_STEPS; i++) {
    pc_f64 n = i;
    term = term * ((n - b) / n * x);
    sum = sum + term / (a + n);
    if (pc_magnitude_f64(term) <= 0x1p-58 * pc_magnitude_f64(sum)) break;
  }
  return sum;
}
PC_TAIL pc_f64 pc_beta_sum_f64(pc_f64 a, pc_f64 b, pc_f64 x) { return pc_beta_sum_from_f64(a, b, x, 1.0, 1); }

/* 1 less the tail of b below y, y^b / (b B(a, b)) (1 + b sum). */
PC_TAIL pc_f64 pc_beta_rest_f64(const pc_betainc_parts_f64 *s) {
  pc_f64 a = s->a, b = s->b, sum = pc_beta_sum_f64(b, a, s->y.hi);
  pc_pair_f64 log = pc_pair_mul_f64(pc_pair_of_f64(b), pc_log_of_pair_f64(s->y));
  pc_f64 l = (log.hi - pc_beta_log_f64(a, b)) + log.lo;
  return -pc_expm1_f64(l) - pc_exp_f64(l) * b * sum;
}

/* Whether pc_beta_rest_f64 converges. */
PC_TAIL int pc_beta_is_rest_f64(const pc_betainc_parts_f64 *s) { return s->b < 1.0 && s->y.hi * (s->a < 1.0 ? 1.0 : s->a) < 0.7; }

/* The tail of a below x. */
PC_TAIL pc_f64 pc_beta_tail_f64(const pc_betainc_parts_f64 *s) {
  pc_f64 least = s->a < s->b ? s->a : s->b;
  pc_f64 y;
  if (pc_beta_is_rest_f64(s)) {
    y = pc_beta_rest_f64(s);
  } else if (least >= PC_TAIL_LEAST && s->d.hi <= PC_TAIL_WIDTH * least) {
    y = pc_beta_near_f64(s);
  } else {
    y = pc_beta_power_f64(s);
    y = y > 0.0 ? y * pc_beta_fraction_f64(s, 0x1p-53) : 0.0;
  }
  return y > 1.0 ? 1.0 : y;
}

/* ln(Gamma(a + b) / Gamma(b)) for 0 < a < 1, to about 2^-60. From 16 on the powers that cancel are taken out. */
PC_TAIL pc_pair_f64 pc_beta_step_pair_f64(pc_f64 a, pc_f64 b) {
  pc_pair_f64 r = pc_sum_f64(b, a);
  if (b < 16.0) return pc_plus_f64(pc_gamma_log_f64(r.hi, r.lo).log, pc_minus_f64(pc_gammaln_pair_f64(b)));
  pc_pair_f64 log = pc_log_of_pair_f64(r), near = pc_log_of_pair_f64(pc_pair_div_f64(r, pc_pair_of_f64(b)));
  pc_pair_f64 step = pc_pair_mul_f64(pc_pair_of_f64(a), pc_plus_f64(log, pc_pair_of_f64(-1.0)));
  step = pc_plus_f64(step, pc_pair_mul_f64(pc_sum_f64(b, -0.5), near));
  return pc_plus_f64(step, pc_plus_f64(pc_stirling_f64(r.hi), pc_minus_f64(pc_stirling_f64(b))));
}

/* Returns ln(a B(a, b)), to be divided by a: relative to a for small a, else as a pair. Below 1 the pair needs more digits than
 * pc_betaln_pair_f64 gives, unless the result is for f32. */
PC_TAIL pc_pair_f64 pc_beta_log_pair_f64(pc_f64 a, pc_f64 b, int is_short) {
  if (a < 0x1p-7 * (b < 1.0 ? b : 1.0)) return pc_pair_of_f64(pc_beta_log_f64(b, a));
  pc_pair_f64 log = pc_log_pair_f64(a);
  if (a < 1.0 && b < 0x1p60 && !is_short) {
    return pc_plus_f64(pc_plus_f64(pc_gammaln_pair_f64(a), log), pc_minus_f64(pc_beta_step_pair_f64(a, b)));
  }
  return pc_plus_f64(pc_betaln_pair_f64(a, b), log);
}

/* The edges, then what lies between. The function is proportional to b below 2^-900. */
PC_TAIL pc_f64 pc_beta_below_f64(pc_f64 a, pc_f64 b, pc_f64 x) {
  const pc_f64 inf = __builtin_inf();
  if (!(a >= 0.0 && b >= 0.0 && x >= 0.0 && x <= 1.0)) return __builtin_nan("");
  if ((a == 0.0 && b == 0.0) || (a == inf && b == inf)) return __builtin_nan("");
  if (x == 0.0 || x == 1.0) return x;
  const pc_f64 tiny = 0x1p-900, huge = 0x1p900, some = 0x1p600, flat = 0x1p-64; /* a ln x and b ln(1 - x) are below 2^-53 */
  if (a < flat && b < flat) return b / (a + b);
  if (a < tiny || b == inf) return 1.0;
  if (a == inf) return 0.0;
  if (b < tiny) return pc_beta_below_f64(a, tiny, x) * (b * huge);
  if (b > huge && a < some) return pc_gamma_tail_f64(a, -b * pc_log1p_f64(-x), 0);
  if (a > huge && b < some) return pc_gamma_tail_f64(b, -a * pc_log_f64(x), 1);
  if (x < tiny && x * b < flat) {
    pc_pair_f64 log = pc_pair_mul_f64(pc_pair_of_f64(a), pc_log_pair_f64(x));
    log = pc_plus_f64(log, pc_minus_f64(pc_beta_log_pair_f64(a, b, 0)));
    return log.hi < -800.0 ? 0.0 : pc_exp_pair_f64(log);
  }
  pc_betainc_parts_f64 s = pc_beta_of_f64(a, b, x);
  if (s.d.hi >= 0.0 || pc_beta_is_rest_f64(&s)) return pc_beta_tail_f64(&s);
  s = pc_beta_turned_f64(s);
  return 1.0 - pc_beta_tail_f64(&s);
}

/* For f32, where a and b are not large: ln(b B(a, b)). */
PC_TAIL pc_f64 pc_beta_log_short_f64(pc_f64 a, pc_f64 b) {
  pc_beta_short_f64 s = pc_beta_right_short_f64(a > b ? a : b, a > b ? b : a, a + b);
  return s.log + pc_log_f64(b * s.over / s.under);
}

/* As pc_beta_tail_f64, to about 2^-32. */
PC_TAIL pc_f64 pc_beta_tail_short_f64(const pc_betainc_parts_f64 *s) {
  pc_f64 a = s->a, b = s->b, x = pc_log_f64(s->x.hi) + s->x.lo / s->x.hi, y = pc_log_f64(s->y.hi) + s->y.lo / s->y.hi;
  if (pc_beta_is_rest_f64(s)) {
    pc_f64 l = b * y - (b <= 0.01 ? pc_beta_log_f64(a, b) : pc_beta_log_short_f64(a, b));
    return -pc_expm1_f64(l) - pc_exp_f64(l) * b * pc_beta_sum_f64(b, a, s->y.hi);
  }
  pc_f64 power = b * pc_exp_f64(a * x + b * y - pc_beta_log_short_f64(a, b)), tail = power * pc_beta_fraction_f64(s, 0x1p-32);
  return tail > 1.0 ? 1.0 : tail;
}

/* As pc_beta_below_f64, to about 2^-32. */
PC_TAIL pc_f64 pc_beta_below_short_f64(pc_f64 a, pc_f64 b, pc_f64 x) {
  const pc_f64 least = 0x1p-40;
  if (!(a > least && a < PC_TAIL_SHORT && b > least && b < PC_TAIL_SHORT && x > 0x1p-100 && x < 1.0)) return pc_beta_below_f64(a, b, x);
  pc_betainc_parts_f64 s = pc_beta_of_f64(a, b, x);
  if (s.d.hi >= 0.0 || pc_beta_is_rest_f64(&s)) return pc_beta_tail_short_f64(&s);
  s = pc_beta_turned_f64(s);
  return 1.0 - pc_beta_tail_short_f64(&s);
}

PC_INLINE pc_f64 pc_betainc_f64(pc_f64 a, pc_f64 b, pc_f64 x) { return pc_beta_below_f64(a, b, x); }
PC_INLINE pc_f32 pc_betainc_f32(pc_f32 a, pc_f32 b, pc_f32 x) { return (pc_f32)pc_beta_below_short_f64((pc_f64)a, (pc_f64)b, (pc_f64)x); }

#endif
