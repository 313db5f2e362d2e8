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

/* Whether x is on the side of a: up to the mean, or up to where the fraction of a converges fast, unless the tail p is about 1. */
PC_TAIL int pc_beta_is_below_f64(const pc_betainc_parts_f64 *s, pc_f64 p) {
  pc_f64 least = s->a < s->b ? s->a : s->b;
  return s->d.hi >= 0.0 || (least < PC_TAIL_LEAST && p < 0.75 && s->x.hi * (s->r.hi + 2.0) <= s->a + 1.0);
}

/* Whether x is so small that the sum of the powers of x stands for a tail of a < 1. */
PC_TAIL int pc_beta_is_power_f64(pc_f64 a, pc_f64 b, pc_f64 x) { return a < 1.0 && x * (b < 1.0 ? 1.0 : b) < 0.7; }

/* A step whose second derivative is that of a tail: the quotient of both is a - (b - 1) x / (1 - x) less the first one, which is g. */
PC_TAIL pc_step_f64 pc_beta_bent_f64(pc_step_f64 s, pc_f64 a, pc_f64 b, pc_f64 x, pc_f64 g) {
  return pc_bent_f64(s, (a - (b - 1.0) * (x / (1.0 - x))) - g);
}

/* Returns the step for a < 1 and small x; `off` is the difference of ln x and its approximation for tiny x. */
PC_TAIL pc_step_f64 pc_beta_off_power_f64(pc_f64 a, pc_f64 b, pc_f64 x, pc_pair_f64 off) {
  pc_pair_f64 first = pc_pair_div_f64(pc_pair_by_f64(pc_sum_f64(1.0, -b), x), pc_sum_f64(1.0, a));
  pc_pair_f64 sum = pc_pair_by_f64(pc_plus_f64(first, pc_pair_of_f64(pc_beta_sum_from_f64(a, b, x, (1.0 - b) * x, 2))), a);
  pc_f64 g = a * pc_exp_f64((b - 1.0) * pc_log1p_f64(-x)) / (1.0 + sum.hi);
  pc_pair_f64 above = pc_plus_f64(pc_pair_of_f64(1.0), sum), log = a < 0x1p-8 ? pc_pair_of_f64(pc_log1p_f64(sum.hi)) : pc_log_of_pair_f64(above);
  log = pc_plus_f64(pc_pair_by_f64(off, a), log);
  return pc_beta_bent_f64(pc_step_of_f64(log.hi + log.lo, g), a, b, x, g);
}

/* The same to about 2^-32. */
PC_TAIL pc_step_f64 pc_beta_off_power_short_f64(pc_f64 a, pc_f64 b, pc_f64 x, pc_f64 off) {
  pc_f64 sum = a * pc_beta_sum_f64(a, b, x), g = a * pc_exp_f64((b - 1.0) * pc_log1p_f64(-x)) / (1.0 + sum);
  return pc_beta_bent_f64(pc_step_of_f64(a * off + pc_log1p_f64(sum), g), a, b, x, g);
}

/* The arguments up to which a step needs no pairs to about 2^-32. */
#define PC_BETA_ROUGH 4096.0

/* The difference of the logarithms of a tail at x and of t, and its derivative by ln x; `least` is ln x where x is tiny. */
PC_TAIL pc_step_f64 pc_beta_off_f64(pc_f64 a, pc_f64 b, pc_f64 x, pc_tails_f64 t, pc_pair_f64 least) {
  if (pc_beta_is_power_f64(a, b, x)) return pc_beta_off_power_f64(a, b, x, pc_plus_f64(pc_log_pair_f64(x), pc_minus_f64(least)));
  pc_betainc_parts_f64 s = pc_beta_of_f64(a, b, x);
  pc_f64 power = pc_beta_power_f64(&s), slope = power / s.y.hi;
  int is_below = pc_beta_is_below_f64(&s, t.p.hi);
  if (!is_below) s = pc_beta_turned_f64(s);
  /* Where the tail is steep, the fraction is exact enough. */
  int is_steep = a >= PC_TAIL_LEAST && b >= PC_TAIL_LEAST && a + b < 2.0 * PC_BETA_ROUGH;
  pc_f64 y = is_steep ? power * pc_beta_fraction_f64(&s, 0x1p-53) : pc_beta_tail_f64(&s);
  return pc_beta_bent_f64(is_below ? pc_off_f64(y, t.p, slope) : pc_off_f64(y, t.q, -slope), a, b, x, is_below ? slope / y : -slope / y);
}

/* The same to about 2^-32, `own` is ln B(a, b). */
PC_TAIL pc_step_f64 pc_beta_off_short_f64(pc_f64 a, pc_f64 b, pc_f64 x, pc_tails_f64 t, pc_f64 least, pc_f64 own) {
  pc_f64 log = pc_log_f64(x);
  if (pc_beta_is_power_f64(a, b, x)) return pc_beta_off_power_short_f64(a, b, x, log - least);
  pc_betainc_parts_f64 s = pc_beta_of_f64(a, b, x);
  pc_f64 power = pc_exp_f64(a * log + b * pc_log1p_f64(-x) - own), slope = power / s.y.hi;
  int is_below = s.d.hi >= 0.0;
  if (!is_below) s = pc_beta_turned_f64(s);
  pc_f64 y = pc_beta_is_rest_f64(&s) ? pc_beta_tail_short_f64(&s) : power * pc_beta_fraction_f64(&s, 0x1p-32);
  return pc_beta_bent_f64(is_below ? pc_off_f64(y, t.p, slope) : pc_off_f64(y, t.q, -slope), a, b, x, is_below ? slope / y : -slope / y);
}

/* How many terms of the fraction are pairs, as further ones count little: for a below 256, and beyond, where terms are next to -1. */
#define PC_BETA_PAIRS 12
#define PC_BETA_PAIRS_FAR 64

/* Returns a tail by the power, 1 / (a (1 + d(1) / (1 + d(2) / (1 + ...)))): the first terms in pairs from the end, later ones from the front
 * (W. J. Lentz, 1976). */
PC_TAIL pc_pair_f64 pc_beta_fraction_pair_f64(const pc_betainc_parts_f64 *s) {
  const pc_pair_f64 one = {1.0, 0.0};
  pc_f64 above = 1.0, below = 0.0, rest = 1.0, last = 1.0;
  int pairs = s->a < 256.0 ? PC_BETA_PAIRS : PC_BETA_PAIRS_FAR;
  for (int i = pairs + 1; i < PC_TAIL_STEPS; i++) {
    pc_f64 m = i / 2, over = (i & 1) != 0 ? -(s->a + m) * (s->r.hi + m) : m * (s->b - m), d = over * s->x.hi / ((s->a + i) * (s->a + (i - 1.0)));
    below = 1.0 / (1.0 + d * below);
    above = 1.0 + d / above;
    pc_f64 by = above * below, known = last;
    rest = rest * by;
    last = pc_magnitude_f64(by - 1.0);
    if (last <= 0x1p-52 && known <= 0x1p-52) break;
  }
  pc_pair_f64 y = pc_pair_of_f64(rest);
  for (int i = pairs; i > 0; i--) {
    pc_f64 m = i / 2;
    pc_pair_f64 over = (i & 1) != 0 ? pc_minus_f64(pc_pair_mul_f64(pc_sum_f64(s->a, m), pc_plus_f64(s->r, pc_pair_of_f64(m))))
                                    : pc_pair_by_f64(pc_sum_f64(s->b, -m), m);
    pc_pair_f64 under = pc_pair_mul_f64(pc_pair_mul_f64(pc_sum_f64(s->a, i), pc_sum_f64(s->a, i - 1.0)), y);
    y = pc_plus_f64(one, pc_pair_div_f64(pc_pair_mul_f64(over, s->x), under));
  }
  return pc_pair_div_f64(one, pc_pair_by_f64(y, s->a));
}

/* x after a last step whose difference of logarithms is a pair, unless both arguments are large; `own` is ln B(a, b). */
PC_TAIL pc_f64 pc_beta_last_f64(pc_f64 a, pc_f64 b, pc_f64 x, pc_tails_f64 t, pc_pair_f64 own) {
  pc_betainc_parts_f64 s = pc_beta_of_f64(a, b, x), of = s;
  int is_below = pc_beta_is_below_f64(&s, t.p.hi);
  if (!is_below) of = pc_beta_turned_f64(s);
  pc_pair_f64 part = pc_beta_fraction_pair_f64(&of), power = pc_pair_mul_f64(pc_pair_of_f64(a), pc_log_pair_f64(x));
  power = pc_plus_f64(power, pc_pair_mul_f64(pc_pair_of_f64(b), pc_log_of_pair_f64(s.y)));
  pc_pair_f64 log = pc_plus_f64(pc_plus_f64(power, pc_minus_f64(own)), pc_log_of_pair_f64(part));
  pc_f64 off = pc_plus_f64(log, pc_minus_f64(pc_log_of_pair_f64(is_below ? t.p : t.q))).hi, g = 1.0 / (part.hi * s.y.hi);
  if (!is_below) g = -g;
  pc_step_f64 step = pc_beta_bent_f64(pc_step_of_f64(off, g), a, b, x, g);
  return pc_magnitude_f64(step.step) < 0x1p-10 ? x + x * (step.step + 0.5 * (step.step * step.step)) : x;
}

/* Where to begin: by a normal quantile after A. H. Carter (1947), or where an argument is below 1 by the power of the side of p. */
PC_TAIL pc_f64 pc_beta_start_f64(pc_f64 a, pc_f64 b, pc_tails_f64 t) {
  if (a < 1.0 || b < 1.0) {
    /* The powers of both sides, by a and b, as e^(a ln(a / r)) - 1: 1 where these are tiny. */
    pc_f64 r = a + b, u = pc_expm1_f64(a * pc_log_f64(a / r)), w = pc_expm1_f64(b * pc_log_f64(b / r));
    pc_f64 part = b / a * (1.0 + u), other = a / b * (1.0 + w);
    if (t.p.hi < 1.0 / (1.0 + other / (1.0 + u))) return pc_exp_f64((pc_log1p_f64(u + other) + pc_log_f64(t.p.hi)) / a);
    return -pc_expm1_f64((pc_log1p_f64(w + part) + pc_log1p_f64(-t.p.hi)) / b);
  }
  pc_f64 z = t.p.hi < t.q.hi ? pc_inverse_normal_f64(t.p.hi) : -pc_inverse_normal_f64(t.q.hi);
  pc_f64 u = 1.0 / (2.0 * a - 1.0), v = 1.0 / (2.0 * b - 1.0), part = (z * z - 3.0) / 6.0, h = 2.0 / (u + v), root = h + part;
  pc_f64 w = z * __builtin_sqrt(root > 0.0 ? root : 0.0) / h - (v - u) * (part + 5.0 / 6.0 - 2.0 / (3.0 * h));
  return w < 300.0 ? a / (a + b * pc_exp_f64(2.0 * w)) : 0.0;
}

/* x where b is far above a. The density of u is that of the gamma function times 1 + (a - 1) (u / N)^2 / 24 + ... */
PC_TAIL pc_f64 pc_beta_far_inverse_f64(pc_f64 a, pc_f64 b, pc_tails_f64 t) {
  pc_f64 n = b + 0.5 * (a - 1.0), u = pc_gamma_inverse_of_f64(a, t, 0), part = u / n;
  return -pc_expm1_f64(-(part + part * ((a - 1.0) / n * ((a + 1.0 + u) / n) / 24.0)));
}

/* The x of which the tails are p and q, from `begin` on; of f32 if `is_short`. */
PC_TAIL pc_f64 pc_beta_inverse_of_f64(pc_f64 a, pc_f64 b, pc_tails_f64 t, pc_f64 begin, int is_short) {
  if (a < 0x1p-1000) return 0.0;
  if (b > 0x1p18 && b * 0x1p-18 - 1.0 > a) return pc_beta_far_inverse_f64(a, b, t);
  if (a > 0x1p120 && b > 0x1p120) return a < b ? a / b / (1.0 + a / b) : 1.0 / (1.0 + b / a);
  pc_pair_f64 own = pc_beta_log_pair_f64(a, b, is_short), log = pc_pair_div_f64(pc_plus_f64(pc_log_of_pair_f64(t.p), own), pc_pair_of_f64(a));
  if (log.hi < -42.0 && log.hi + pc_log_f64(b < 1.0 ? 1.0 : b) < -42.0) return log.hi < -800.0 ? 0.0 : pc_exp_pair_f64(log);
  pc_bounds_f64 s = {0.0, 1.0};
  pc_f64 least = pc_exp_f64(log.hi), x = begin;
  pc_pair_f64 beta = pc_plus_f64(own, pc_minus_f64(pc_log_pair_f64(a)));
  if ((a < 1.0 && least < 0.25) || (b >= 1.0 ? x < least : x > least || x <= 0.0)) x = least;
  x = x < 0x1.fffffp-1 ? x : 0x1.fffffp-1;
  int is_rough = a < PC_BETA_ROUGH && b < PC_BETA_ROUGH && a > 0x1p-40 && b > 0x1p-40;
  int is_large = a >= PC_TAIL_LEAST && b >= PC_TAIL_LEAST;
  for (int i = 0; i < PC_INVERSE_STEPS; i++) {
    pc_f64 known = x;
    pc_step_f64 step = is_rough ? pc_beta_off_short_f64(a, b, x, t, log.hi, beta.hi) : pc_beta_off_f64(a, b, x, t, log);
    x = pc_next_f64(&s, x, step);
    /* Estimates the error after a step of third order. */
    pc_f64 by = pc_magnitude_f64(step.step), left = by * by * by * (4.0 + a + a * a / b);
    if (!is_rough && (left < 0x1p-56 || pc_magnitude_f64(x - known) <= 0x1p-52 * x)) break;
    if (is_rough && left < 0x1p-30) {
      if (is_short || !(is_large || pc_beta_is_power_f64(a, b, x))) break;
      is_rough = 0;
      s.low = 0.0;
      s.high = 1.0;
    }
  }
  return is_short || is_large || pc_beta_is_power_f64(a, b, x) ? x : pc_beta_last_f64(a, b, x, t, beta);
}

/* The x of betainc(a, b, x) = p; 0 and 1 for p = 0 and 1; NaN for other p if a or b is infinite, and outside of the domain. */
PC_TAIL pc_f64 pc_betaincinv_any_f64(pc_f64 a, pc_f64 b, pc_f64 p, int is_short) {
  const pc_f64 inf = __builtin_inf();
  if (!(a > 0.0 && b > 0.0 && p >= 0.0 && p <= 1.0)) return __builtin_nan("");
  if (p == 0.0 || p == 1.0) return p;
  if (a == inf || b == inf) return __builtin_nan("");
  if (b < 0x1p-900 && a > 0x1p-64) { /* the function is proportional to b */
    pc_f64 part = p * (0x1p-900 / b);
    return part < 0x1p-880 ? pc_betaincinv_any_f64(a, 0x1p-900, part, is_short) : 1.0;
  }
  if (p == 0.5 && a == b) return 0.5;
  pc_tails_f64 t = pc_tails_of_f64(p), turned = {t.q, t.p};
  pc_f64 begin = pc_beta_start_f64(a, b, t);
  if (begin > 0.5) {
    pc_f64 y = pc_beta_inverse_of_f64(b, a, turned, pc_beta_start_f64(b, a, turned), is_short);
    if (y <= 0.5) return 1.0 - y;
  }
  return pc_beta_inverse_of_f64(a, b, t, begin, is_short);
}

PC_INLINE pc_f64 pc_betaincinv_f64(pc_f64 a, pc_f64 b, pc_f64 p) { return pc_betaincinv_any_f64(a, b, p, 0); }
PC_INLINE pc_f32 pc_betaincinv_f32(pc_f32 a, pc_f32 b, pc_f32 p) { return (pc_f32)pc_betaincinv_any_f64((pc_f64)a, (pc_f64)b, (pc_f64)p, 1); }

#endif
