/* precast/ops/math/hyp2f1.h: C. F. Gauss's hypergeometric function of real numbers, 1 + a b / c z + a (a + 1) b (b + 1) / (c (c + 1) 2) z^2 + ...
 *
 *   a or b a whole number <= 0    the polynomial; where its terms cancel, the recurrence by the degree (C. F. Gauss)
 *   c - a or c - b such a number  (1 - z)^(c - a - b) times a polynomial of c - a and c - b (L. Euler), z < 1
 *   z < 0                         (1 - z)^-a F(a, c - b; c; z / (z - 1)) (J. F. Pfaff), a the smaller one
 *   0 <= z <= 3/4                 the series
 *   3/4 < z < 1                   from 1/2 on series about further and further points, each half as far from 1 as the one before: their
 *                                 coefficients follow from Gauss's differential equation, and no case of c - a - b is special; for
 *                                 c < 0 the first point is nearer to 1, as errors grow by the power of -c of 1 / z
 *   z = 1                         Gamma(c) Gamma(c - a - b) / (Gamma(c - a) Gamma(c - b)); unless c > a + b, infinite with the sign of
 *                                 Gamma(c) Gamma(a) Gamma(b)
 *
 * All sums are of pairs: what cancels is lost from 100 bits. NaN for z > 1, where the function is not real; inf where c is a pole. */
#ifndef PRECAST_OPS_MATH_HYP2F1_H
#define PRECAST_OPS_MATH_HYP2F1_H

#include <precast/ops/math/beta.h>

/* A bound of the terms of a sum, and the largest degree of a polynomial. */
#define PC_HYPER_TERMS 20000
/* A bound of the points from 1/2 on: the last one is next to 1, or to -inf. */
#define PC_HYPER_POINTS 1100

typedef struct pc_hyper_f64 {
  pc_pair_f64 a, b, c;
} pc_hyper_f64;

/* The function and its derivative. */
typedef struct pc_hyper_at_f64 {
  pc_pair_f64 f, d;
} pc_hyper_at_f64;

PC_TAIL pc_pair_f64 pc_above_f64(pc_pair_f64 a, pc_f64 n) { return pc_plus_f64(a, pc_pair_of_f64(n)); }

/* Whether a is 0 or a negative integer, the degree of a polynomial. */
PC_TAIL int pc_hyper_is_degree_f64(pc_pair_f64 a) {
  return a.lo == 0.0 && a.hi <= 0.0 && pc_fraction_f64(-a.hi) == 0.0;
}

/* The number of terms before the sum may end: for c < 0 the terms by -c are large again, unless the power of z is not. */
PC_TAIL pc_f64 pc_hyper_least_f64(const pc_hyper_f64 *s, pc_f64 z) {
  if (!(s->c.hi < 0.0) || !(z < 1.0 && z > -1.0)) return 0.0;
  pc_f64 grow = (pc_magnitude_f64(s->a.hi) + pc_magnitude_f64(s->b.hi) + 2.0) * pc_log_f64(2.0 - s->c.hi);
  return s->c.hi * pc_log_f64(pc_magnitude_f64(z)) > 80.0 + grow ? 0.0 : -s->c.hi;
}

/* The series and polynomials, whose terms cancel by `lost`: the largest one by the sum. */
PC_TAIL pc_hyper_at_f64 pc_hyper_sum_f64(const pc_hyper_f64 *s, pc_pair_f64 z, pc_f64 *lost) {
  pc_pair_f64 term = pc_pair_of_f64(1.0), sum = term, rise = pc_pair_of_f64(0.0);
  pc_f64 least = pc_hyper_least_f64(s, z.hi), largest = 1.0;
  pc_hyper_at_f64 none = {pc_pair_of_f64(__builtin_nan("")), pc_pair_of_f64(__builtin_nan(""))};
  for (pc_f64 n = 0.0; n <= PC_HYPER_TERMS; n += 1.0) {
    pc_pair_f64 over = pc_pair_mul_f64(pc_above_f64(s->a, n), pc_above_f64(s->b, n)), next = pc_pair_of_f64(n + 1.0);
    pc_f64 size = pc_magnitude_f64(term.hi), ratio = 0.0;
    if (over.hi != 0.0) {
      pc_pair_f64 by = pc_pair_div_f64(over, pc_pair_mul_f64(pc_above_f64(s->c, n), next)), moved = pc_pair_mul_f64(term, by);
      term = pc_pair_mul_f64(moved, z);
      sum = pc_plus_f64(sum, term);
      rise = pc_plus_f64(rise, pc_pair_mul_f64(moved, next));
      size = pc_magnitude_f64(term.hi);
      ratio = pc_magnitude_f64(by.hi * z.hi);
      largest = size > largest ? size : largest;
    }
    if (!(size < __builtin_inf())) break;
    if (over.hi == 0.0 || (ratio < 1.0 && n >= least && size <= 0x1p-72 * (ratio < 0.9 ? 1.0 : 1.0 - ratio) * pc_magnitude_f64(sum.hi))) {
      pc_hyper_at_f64 out = {sum, rise};
      *lost = largest / pc_magnitude_f64(sum.hi);
      return out;
    }
  }
  *lost = __builtin_inf();
  return none;
}

PC_TAIL pc_hyper_at_f64 pc_hyper_series_f64(const pc_hyper_f64 *s, pc_pair_f64 z) {
  pc_f64 lost;
  return pc_hyper_sum_f64(s, z, &lost);
}

/* The polynomial of degree n, where a is -n: (c + k) F(k + 1) = (2 k + c - (k + b) z) F(k) + k (z - 1) F(k - 1). */
PC_TAIL pc_pair_f64 pc_hyper_degree_f64(pc_f64 n, pc_pair_f64 b, pc_pair_f64 c, pc_pair_f64 z) {
  const pc_pair_f64 one = pc_pair_of_f64(1.0);
  pc_pair_f64 known = one, here = pc_plus_f64(one, pc_minus_f64(pc_pair_div_f64(pc_pair_mul_f64(b, z), c))), less = pc_above_f64(z, -1.0);
  for (pc_f64 k = 1.0; k < n; k += 1.0) {
    pc_pair_f64 by = pc_plus_f64(pc_above_f64(c, 2.0 * k), pc_minus_f64(pc_pair_mul_f64(pc_above_f64(b, k), z)));
    pc_pair_f64 next = pc_plus_f64(pc_pair_mul_f64(by, here), pc_pair_mul_f64(pc_pair_mul_f64(pc_pair_of_f64(k), less), known));
    known = here;
    here = pc_pair_div_f64(next, pc_above_f64(c, k));
  }
  return n < 1.0 ? one : here;
}

/* A polynomial of degree n up to PC_HYPER_TERMS: a is -n. */
PC_TAIL pc_pair_f64 pc_hyper_polynomial_f64(pc_f64 n, const pc_hyper_f64 *s, pc_pair_f64 z) {
  pc_f64 lost;
  pc_pair_f64 y = pc_hyper_sum_f64(s, z, &lost).f;
  return lost <= 0x1p40 || n > PC_HYPER_TERMS ? y : pc_hyper_degree_f64(n, s->b, s->c, z);
}

/* At 1 - to from the values at 1 - s, s / 2 <= to < s: both are positive. */
PC_TAIL pc_hyper_at_f64 pc_hyper_step_f64(const pc_hyper_f64 *p, pc_hyper_at_f64 at, pc_f64 s, pc_pair_f64 to) {
  pc_pair_f64 h = pc_plus_f64(pc_pair_of_f64(s), pc_minus_f64(to)), z = pc_sum_f64(1.0, -s), part = pc_pair_div_f64(h, pc_pair_of_f64(s));
  pc_pair_f64 less = pc_plus_f64(z, pc_pair_of_f64(-s)); /* 2 z - 1 */
  pc_pair_f64 drift = pc_pair_mul_f64(pc_above_f64(pc_plus_f64(p->a, p->b), 1.0), z);
  drift = pc_plus_f64(drift, pc_minus_f64(p->c));
  pc_pair_f64 first = pc_pair_div_f64(part, z), second = pc_pair_mul_f64(first, h); /* h / (z s), h^2 / (z s) */
  pc_pair_f64 here = at.f, next = pc_pair_mul_f64(at.d, h), sum = pc_plus_f64(here, next), rise = next;
  for (pc_f64 n = 0.0; n < PC_HYPER_TERMS; n += 1.0) {
    pc_pair_f64 x = pc_plus_f64(pc_pair_mul_f64(less, pc_pair_of_f64(n)), drift);
    x = pc_pair_mul_f64(pc_pair_mul_f64(x, first), pc_pair_mul_f64(next, pc_pair_of_f64(n + 1.0)));
    pc_pair_f64 y = pc_pair_mul_f64(pc_above_f64(p->a, n), pc_above_f64(p->b, n));
    y = pc_pair_mul_f64(pc_pair_mul_f64(y, second), here);
    pc_pair_f64 term = pc_pair_div_f64(pc_plus_f64(x, y), pc_pair_of_f64((n + 1.0) * (n + 2.0)));
    here = next;
    next = term;
    sum = pc_plus_f64(sum, term);
    rise = pc_plus_f64(rise, pc_pair_mul_f64(term, pc_pair_of_f64(n + 2.0)));
    pc_f64 size = pc_magnitude_f64(here.hi) + pc_magnitude_f64(next.hi);
    if (!(size < __builtin_inf())) break;
    if (size * (n + 2.0) <= 0x1p-72 * (pc_magnitude_f64(sum.hi) + pc_magnitude_f64(rise.hi)) && size <= 0x1p-72 * pc_magnitude_f64(sum.hi)) break;
  }
  pc_hyper_at_f64 out = {sum, pc_pair_div_f64(rise, h)};
  return out;
}

/* Returns the function at z from 0 to 1, where s = 1 - z. Steps end early once the derivative is too small for further steps to change a digit. */
PC_TAIL pc_pair_f64 pc_hyper_right_f64(const pc_hyper_f64 *p, pc_pair_f64 z, pc_pair_f64 s) {
  if (s.hi >= 0.25) return pc_hyper_series_f64(p, z).f;
  pc_pair_f64 power = pc_plus_f64(p->c, pc_minus_f64(pc_plus_f64(p->a, p->b)));
  pc_f64 part = power.hi > 1.0 ? 1.0 : power.hi, from = 0.5;
  while (p->c.hi * from < -16.0 && s.hi < 0.5 * from) from = 0.5 * from;
  if (from < 0.5 && s.hi >= 0.5 * from) return pc_hyper_series_f64(p, z).f;
  pc_hyper_at_f64 at = pc_hyper_series_f64(p, pc_pair_of_f64(1.0 - from));
  for (int i = 0; i < PC_HYPER_POINTS && at.f.hi - at.f.hi == 0.0; i++) {
    int is_last = s.hi >= 0.5 * from;
    at = pc_hyper_step_f64(p, at, from, is_last ? s : pc_pair_of_f64(0.5 * from));
    from = 0.5 * from;
    if (is_last || pc_magnitude_f64(at.d.hi) * from < 0x1p-70 * part * pc_magnitude_f64(at.f.hi)) break;
  }
  return at.f;
}

/* s^power f. */
PC_TAIL pc_f64 pc_hyper_scaled_f64(pc_pair_f64 f, pc_pair_f64 s, pc_pair_f64 power) {
  if (f.hi == 0.0 || !(pc_magnitude_f64(f.hi) < __builtin_inf())) return f.hi;
  uint64_t sign = pc_sign_f64(f.hi);
  pc_pair_f64 log = pc_pair_mul_f64(power, pc_log_of_pair_f64(s));
  log = pc_plus_f64(log, pc_log_of_pair_f64(sign == 0 ? f : pc_minus_f64(f)));
  pc_f64 y = log.hi > 720.0 ? __builtin_inf() : log.hi < -800.0 ? 0.0 : pc_exp_pair_f64(log);
  return pc_signed_f64(y, sign);
}

/* z = 1. */
PC_TAIL pc_f64 pc_hyper_one_f64(const pc_hyper_f64 *p) {
  pc_pair_f64 ends[4] = {p->c, pc_plus_f64(p->c, pc_minus_f64(pc_plus_f64(p->a, p->b))), pc_plus_f64(p->c, pc_minus_f64(p->a)),
                         pc_plus_f64(p->c, pc_minus_f64(p->b))};
  if (ends[1].hi <= 0.0) {
    uint64_t sign = pc_gamma_log_f64(p->c.hi, 0.0).sign ^ pc_gamma_log_f64(p->a.hi, 0.0).sign ^ pc_gamma_log_f64(p->b.hi, 0.0).sign;
    return pc_signed_f64(__builtin_inf(), sign);
  }
  if (pc_is_pole_f64(ends[2].hi, ends[2].lo) || pc_is_pole_f64(ends[3].hi, ends[3].lo)) return 0.0;
  pc_log_signed_f64 sum = {{0.0, 0.0}, 0};
  for (int i = 0; i < 4; i++) {
    if (ends[i].hi < -0x1p51) return __builtin_nan("");
    pc_log_signed_f64 one = pc_gamma_log_f64(ends[i].hi, ends[i].lo);
    sum.log = pc_plus_f64(sum.log, i < 2 ? one.log : pc_minus_f64(one.log));
    sum.sign = sum.sign ^ one.sign;
  }
  return pc_signed_f64(sum.log.hi > 720.0 ? __builtin_inf() : pc_exp_pair_f64(sum.log), sum.sign);
}

/* z < 1, no polynomial and c no pole. */
PC_TAIL pc_f64 pc_hyper_left_f64(const pc_hyper_f64 *p, pc_f64 z) {
  pc_pair_f64 ca = pc_plus_f64(p->c, pc_minus_f64(p->a)), cb = pc_plus_f64(p->c, pc_minus_f64(p->b)), s = pc_sum_f64(1.0, -z);
  int of_a = pc_hyper_is_degree_f64(ca), of_b = pc_hyper_is_degree_f64(cb);
  if ((of_a && ca.hi >= -PC_HYPER_TERMS) || (of_b && cb.hi >= -PC_HYPER_TERMS)) {
    int is_a = of_a && !(of_b && cb.hi > ca.hi);
    pc_hyper_f64 turned = {is_a ? ca : cb, is_a ? cb : ca, p->c};
    pc_pair_f64 power = pc_plus_f64(cb, pc_minus_f64(p->a));
    return pc_hyper_scaled_f64(pc_hyper_polynomial_f64(-turned.a.hi, &turned, pc_pair_of_f64(z)), s, power);
  }
  if (z >= 0.0) {
    pc_pair_f64 y = pc_hyper_right_f64(p, pc_pair_of_f64(z), s);
    return y.hi;
  }
  /* A sum of terms of one sign where there is one. */
  int is_first = p->a.hi <= p->b.hi, is_turned = z >= -3.0 && (is_first ? cb.hi < 0.0 && ca.hi > cb.hi : ca.hi < 0.0 && cb.hi > ca.hi);
  int is_a = is_first != is_turned;
  pc_hyper_f64 turned = {is_a ? p->a : p->b, is_a ? cb : ca, p->c};
  pc_pair_f64 part = pc_pair_div_f64(pc_pair_of_f64(1.0), s), at = pc_pair_div_f64(pc_pair_of_f64(-z), s);
  return pc_hyper_scaled_f64(pc_hyper_right_f64(&turned, at, part), s, pc_minus_f64(turned.a));
}

/* Gauss's hypergeometric function. */
PC_TAIL pc_f64 pc_hyp2f1_f64(pc_f64 a, pc_f64 b, pc_f64 c, pc_f64 z) {
  const pc_f64 inf = __builtin_inf(), most = 0x1p500;
  pc_f64 large = pc_magnitude_f64(a) > pc_magnitude_f64(b) ? pc_magnitude_f64(a) : pc_magnitude_f64(b);
  large = large > pc_magnitude_f64(c) ? large : pc_magnitude_f64(c);
  if (a != a || b != b || c != c || z != z || large > most) return __builtin_nan("");
  pc_hyper_f64 p = {pc_pair_of_f64(a), pc_pair_of_f64(b), pc_pair_of_f64(c)};
  if (a == 0.0 || b == 0.0) return 1.0;
  int of_a = pc_hyper_is_degree_f64(p.a), of_b = pc_hyper_is_degree_f64(p.b);
  pc_f64 degree = of_a && of_b ? (a > b ? -a : -b) : of_a ? -a : of_b ? -b : inf;
  if (z == 0.0) return 1.0;
  int is_pole = c <= 0.0 && pc_is_pole_f64(c, 0.0);
  if (is_pole && -c < degree) return inf;
  if (is_pole || degree <= PC_HYPER_TERMS) {
    if (pc_magnitude_f64(z) == inf) return __builtin_nan("");
    pc_hyper_f64 of = {pc_pair_of_f64(-degree), pc_pair_of_f64(of_a && -a == degree ? b : a), p.c};
    return pc_hyper_polynomial_f64(degree, &of, pc_pair_of_f64(z)).hi;
  }
  if (!(z <= 1.0) || z == -inf) return __builtin_nan("");
  return z == 1.0 ? pc_hyper_one_f64(&p) : pc_hyper_left_f64(&p, z);
}

PC_INLINE pc_f32 pc_hyp2f1_f32(pc_f32 a, pc_f32 b, pc_f32 c, pc_f32 z) {
  return (pc_f32)pc_hyp2f1_f64((pc_f64)a, (pc_f64)b, (pc_f64)c, (pc_f64)z);
}

#endif
