/* precast/ops/math/beta.h: the beta function and its logarithm.
 *
 * Of f64 as of f32/beta.h, by pairs: for p >= q > 0 and r = p + q it is e^log over / under. Below 6 the reciprocals of Gamma p, Gamma q and
 * Gamma r lead to it; for r >= 6, and so p >= 3, J. Stirling's formula with d = q - p ln(1 + q / p), in which nothing cancels:
 *
 *   log = d - q ln r + c(p) - c(r)                          times sqrt(r / p) Gamma q
 *   log = d - q ln(r / q) - q + c(p) + c(q) - c(r)          times sqrt(2 pi r / (p q))          q >= 3 */
#ifndef PRECAST_OPS_MATH_BETA_H
#define PRECAST_OPS_MATH_BETA_H

#include <precast/ops/math/f32/beta.h>
#include <precast/ops/math/factorial.h>

/* The digamma function for 0 < x < 8, to about 2^-8. */
PC_INLINE pc_f64 pc_digamma_rough_f64(pc_f64 x) {
  return (-0.57444618 + x * (1.11633114 + x * 0.27162899)) / (1.0 + x * (0.8563013 + x * 0.06531053)) - 1.0 / x;
}

/* |B| = e^log over / under, with the sign of over. */
typedef struct pc_beta_split_f64 {
  pc_pair_f64 log, over, under;
} pc_beta_split_f64;

/* ln Gamma(p) / Gamma(r) and the like: see above. p >= 3, p >= q. */
PC_INLINE pc_pair_f64 pc_beta_far_log_f64(pc_pair_f64 p, pc_pair_f64 q, pc_pair_f64 r, pc_pair_f64 ratio, pc_pair_f64 by, int is_far) {
  pc_pair_f64 two = pc_sum_ordered_f64(2.0, by.hi);
  two.lo = two.lo + by.lo;
  pc_pair_f64 v = pc_pair_div_f64(by, two), z = pc_pair_mul_f64(v, v);
  pc_f64 u = z.hi, u2 = u * u, u4 = u2 * u2; /* 2 (atanh(v) / v - 1) = z (2/3 + z (3/8 + T(z))), z <= 1/9, T of degree 10, error 2^-57 */
  pc_f64 t01 = 0x1.999999999999ap-6 + u * 0x1.2492492492442p-2, t23 = 0x1.c71c71c72a75bp-3 + u * 0x1.745d173e29aabp-3;
  pc_f64 t45 = 0x1.3b13b35eccd30p-3 + u * 0x1.1110b807ddd37p-3, t67 = 0x1.e1f3da7afa283p-4 + u * 0x1.ae0020c2b9a1bp-4;
  pc_f64 high = (0x1.9238f550c57e0p-4 + u * 0x1.16ec7f136bd6dp-4) + u2 * 0x1.279ce6dc841d6p-3;
  pc_f64 t = ((t01 + u2 * t23) + u4 * (t45 + u2 * t67)) + (u4 * u4) * high, head = pc_head_f64(u);
  pc_pair_f64 w = pc_sum_ordered_f64(0x1.5555555555555p-1, 0.375 * head);
  w.lo = w.lo + ((0x1.5555555555555p-55 + z.lo * 0.4) + (0.375 * (u - head) + u * t));
  w = pc_pair_mul_f64(z, w);
  pc_pair_f64 less = pc_sum_ordered_f64(by.hi, -w.hi);
  less.lo = less.lo + (by.lo - w.lo);
  pc_pair_f64 d = pc_pair_mul_f64(p, pc_pair_mul_f64(v, less));
  pc_pair_f64 log = pc_log_pair_f64(ratio.hi);
  log = pc_sum_ordered_f64(log.hi, log.lo + ratio.lo / ratio.hi);
  pc_pair_f64 y = pc_plus_f64(pc_minus_f64(pc_pair_mul_f64(q, log)), d);
  pc_pair_f64 own = {is_far ? -q.hi : 0.0, is_far ? -q.lo : 0.0};
  pc_f64 c = pc_stirling_of_f64(1.0 / p.hi) - pc_stirling_of_f64(1.0 / r.hi);
  return pc_plus_f64(pc_plus_f64(y, own), pc_pair_of_f64(is_far ? c + pc_stirling_of_f64(1.0 / q.hi) : c));
}

/* B(p, q) for p >= q > 2^-121 and r = p + q, of which at most one has a lower part; is_far for r >= 6, is_far_q for q >= 3. */
PC_INLINE pc_beta_split_f64 pc_beta_positive_of_f64(pc_pair_f64 p, pc_pair_f64 q, pc_pair_f64 r, int is_far, int is_far_q) {
  const pc_pair_f64 turn = {0x1.40d931ff62706p+1, -0x1.a6a0d6f814637p-53}; /* sqrt(2 pi) */
  pc_gamma_parts_f64 of_p = pc_gamma_parts_of_f64(is_far ? 2.0 : p.hi, 4), of_r = pc_gamma_parts_of_f64(is_far ? 2.0 : r.hi, 4);
  pc_gamma_parts_f64 of_q = pc_gamma_parts_of_f64(is_far_q ? 2.0 : q.hi, 1);
  /* The lower parts, by the derivative. */
  pc_f64 inexact = p.lo != 0.0 ? p.hi : r.hi, lo = is_far ? 0.0 : p.lo - r.lo;
  inexact = is_far ? 2.0 : inexact;
  inexact = q.lo != 0.0 ? q.hi : inexact;
  lo = q.lo != 0.0 ? q.lo : lo;
  lo = lo * pc_digamma_rough_f64(is_far_q ? 2.0 : inexact);
  of_q.over.lo = of_q.over.lo + (is_far_q ? 0.0 : of_q.over.hi * lo);
  of_q.under = pc_pair_by_f64(of_q.under, q.hi < 1.5 ? q.hi : 1.0);
  pc_pair_f64 over = pc_pair_mul_f64(of_q.over, pc_pair_by_f64(of_r.under, r.hi < 1.5 ? r.hi : 1.0));
  over = pc_pair_mul_f64(over, of_p.over);
  pc_pair_f64 under = pc_pair_mul_f64(of_r.over, pc_pair_by_f64(of_p.under, p.hi < 1.5 ? p.hi : 1.0));
  under = pc_pair_mul_f64(under, of_q.under);
  const pc_pair_f64 one = {1.0, 0.0}, some = {8.0, 0.0}, more = {16.0, 0.0};
  p = pc_pair_if_f64(is_far, p, some);
  r = pc_pair_if_f64(is_far, r, more);
  pc_pair_f64 least = pc_pair_if_f64(is_far_q, q, one), by = pc_pair_div_f64(q, p), near = pc_sum_ordered_f64(1.0, by.hi);
  near.lo = near.lo + by.lo;
  pc_pair_f64 log = pc_beta_far_log_f64(p, q, r, pc_pair_div_f64(r, least), by, is_far_q);
  pc_pair_f64 far = pc_pair_mul_f64(pc_pair_sqrt_f64(pc_pair_div_f64(near, least)), pc_pair_if_f64(is_far_q, turn, of_q.over));
  pc_beta_split_f64 out = {{is_far ? log.hi : 0.0, is_far ? log.lo : 0.0}, pc_pair_if_f64(is_far, far, over), under};
  under = pc_pair_if_f64(is_far, pc_pair_if_f64(is_far_q, one, of_q.under), under);
  out.under = pc_sum_ordered_f64(under.hi, under.lo);
  return out;
}

PC_INLINE pc_beta_split_f64 pc_beta_positive_f64(pc_pair_f64 p, pc_pair_f64 q, pc_pair_f64 r) {
  return pc_beta_positive_of_f64(p, q, r, r.hi >= 6.0, q.hi >= 3.0);
}

/* B(a, b) for a >= b where neither a limit nor a pole is, |a|, |b| >= 2^-120. */
PC_INLINE pc_beta_split_f64 pc_beta_parts_f64(pc_f64 a, pc_f64 b) {
  const pc_pair_f64 one = {1.0, 0.0}, pi = {-0x1.921fb54442d18p+1, -0x1.1a62633145c07p-53};
  pc_pair_f64 s = pc_sum_f64(a, b), minus = pc_minus_f64(s), of_a = {a, 0.0}, of_b = {b, 0.0};
  int is_left = s.hi < 0.0, both = a < 0.0, is_right = b >= 0.0;
  pc_pair_f64 u = pc_pair_if_f64(is_left, of_a, pc_minus_f64(of_b)), w = pc_pair_if_f64(is_left, minus, s);
  pc_pair_f64 r = pc_pair_if_f64(is_left, pc_minus_f64(of_b), of_a);
  u = pc_pair_if_f64(both, pc_minus_f64(of_a), u);
  w = pc_pair_if_f64(both, pc_minus_f64(of_b), w);
  r = pc_pair_if_f64(both, minus, r);
  u = pc_pair_if_f64(is_right, of_a, u);
  w = pc_pair_if_f64(is_right, of_b, w);
  r = pc_pair_if_f64(is_right, s, r);
  int is_u = u.hi > w.hi;
  pc_beta_split_f64 y = pc_beta_positive_f64(pc_pair_if_f64(is_u, u, w), pc_pair_if_f64(is_u, w, u), r);
  const pc_pair_f64 half = {0.5, 0.0}; /* whose sine is 1 / 2 */
  pc_pair_f64 sine_b = pc_sine_times_f64(pc_pair_if_f64(is_right, half, pc_minus_f64(of_b)));
  pc_pair_f64 sine_a = pc_sine_times_f64(pc_pair_if_f64(both, pc_minus_f64(of_a), half));
  pc_pair_f64 sine_s = pc_sine_times_f64(pc_pair_if_f64(is_left, minus, half));
  pc_pair_f64 by_a = pc_pair_if_f64(both, sine_a, one), by_b = pc_pair_if_f64(is_right, one, sine_b), by_s = pc_pair_if_f64(is_left, sine_s, one);
  pc_f64 turn = is_left ? 0.0 : 1.0;
  turn = both ? 1.0 : turn;
  turn = is_right ? 0.0 : turn;
  int is_turned = turn > 0.5;
  pc_pair_f64 top = pc_pair_if_f64(is_turned, pc_pair_mul_f64(y.under, pi), y.over), bottom = pc_pair_if_f64(is_turned, y.over, y.under);
  pc_beta_split_f64 out = {pc_pair_if_f64(is_turned, pc_minus_f64(y.log), y.log), pc_pair_mul_f64(top, by_s),
                           pc_pair_mul_f64(bottom, pc_pair_mul_f64(by_a, by_b))};
  return out;
}

/* ln |B| of what pc_beta_parts_f64 gives. */
PC_INLINE pc_pair_f64 pc_betaln_of_f64(pc_beta_split_f64 s) {
  pc_pair_f64 by = pc_pair_div_f64(s.over, s.under), log = pc_log_pair_f64(pc_magnitude_f64(by.hi));
  return pc_plus_f64(s.log, pc_sum_ordered_f64(log.hi, log.lo + by.lo / by.hi));
}

/* The regions `right` of beta and betaln: positive operands that are neither tiny nor huge. */
PC_INLINE uint64_t pc_beta_is_right_f64(pc_f64 a, pc_f64 b) {
  return (uint64_t)(a > 0x1p-120) & (uint64_t)(a < 0x1p200) & (uint64_t)(b > 0x1p-120) & (uint64_t)(b < 0x1p200);
}
PC_INLINE uint64_t pc_betaln_is_right_f64(pc_f64 a, pc_f64 b) { return pc_beta_is_right_f64(a, b); }

PC_INLINE pc_beta_split_f64 pc_beta_right_parts_f64(pc_f64 a, pc_f64 b) {
  pc_pair_f64 p = {a > b ? a : b, 0.0}, q = {a > b ? b : a, 0.0};
  return pc_beta_positive_f64(p, q, pc_sum_f64(p.hi, q.hi));
}

PC_INLINE pc_f64 pc_beta_right_f64(pc_f64 a, pc_f64 b) {
  pc_beta_split_f64 s = pc_beta_right_parts_f64(a, b);
  return pc_exp_by_f64(s.log, pc_pair_div_f64(s.over, s.under));
}

PC_INLINE pc_f64 pc_betaln_right_f64(pc_f64 a, pc_f64 b) {
  pc_pair_f64 y = pc_betaln_of_f64(pc_beta_right_parts_f64(a, b));
  return (y.hi + y.lo) + 0.0;
}

/* The ordered operands of B, the sign of B, its parts, and the scale, operands and pole that replace the parts for tiny or huge operands. */
typedef struct pc_beta_all_f64 {
  pc_f64 a, b;
  uint64_t sign;
  pc_beta_split_f64 parts;
  pc_f64 scale, tiny, other, pole;
} pc_beta_all_f64;

PC_INLINE pc_beta_all_f64 pc_beta_all_of_f64(pc_f64 x, pc_f64 y) {
  pc_beta_operands_f64 of = pc_beta_operands_of_f64(x, y);
  pc_f64 scale = of.b > 0x1p200 ? of.a > 0x1p900 ? 0x1p-100 : 1.0 : 1.0;
  pc_f64 of_a = pc_magnitude_f64(of.a), of_b = pc_magnitude_f64(of.b);
  pc_pair_f64 s = pc_sum_f64(of.a, of.b);
  pc_f64 pole = pc_fraction_f64(pc_magnitude_f64(s.hi)) + s.lo;
  pc_beta_all_f64 out = {of.a, of.b, of.sign, pc_beta_parts_f64(of_a < 0x1p-120 ? 1.0 : of.a * scale, of_b < 0x1p-120 ? 1.0 : of.b * scale),
                         scale, of_a < of_b ? of.a : of.b, of_a < of_b ? of.b : of.a, s.hi <= 0.0 ? pole : 0.5};
  return out;
}

/* 1 / tiny + 1 / other, rounded once, or where `other` is not small 1 / tiny, by multiples of both whose product and its inverse are normal
 * numbers. */
PC_INLINE pc_f64 pc_beta_tiny_f64(pc_f64 tiny, pc_f64 other) {
  const pc_f64 scale = 0x1p570;
  int is_both = pc_magnitude_f64(other) < 0x1p-50;
  pc_f64 u = tiny * scale, v = is_both ? other * scale : 1.0;
  pc_pair_f64 sum = pc_sum_f64(u, v), product = pc_product_f64(u, v);
  pc_f64 over = is_both ? sum.hi : 1.0, by = 1.0 / product.hi, y = over * by;
  pc_pair_f64 back = pc_product_f64(y, product.hi);
  pc_f64 rest = ((over - back.hi) - back.lo) + ((is_both ? sum.lo : 0.0) - y * product.lo);
  return (y + rest * by) * scale;
}

/* The beta function. inf where a or b is 0 or a negative integer; 0 where a + b is. Next to 0 B is 1 / a + 1 / b. */
PC_INLINE pc_f64 pc_beta_f64(pc_f64 a, pc_f64 b) {
  pc_beta_all_f64 of = pc_beta_all_of_f64(a, b);
  pc_f64 y = pc_exp_by_f64(of.parts.log, pc_pair_div_f64(of.parts.over, of.parts.under)), near = pc_whole_f64(of.b);
  y = of.scale < 1.0 ? 0.0 : y;
  y = pc_magnitude_f64(of.tiny) < 0x1p-120 ? pc_beta_tiny_f64(of.tiny, of.other) : y;
  y = pc_signed_f64(y, of.sign);
  return pc_beta_edges_f64(of.a, of.b, of.pole, y, 0.0, pc_odd_sign_f64(near > of.b ? near - 1.0 : near));
}

/* ln |B(a, b)|. */
PC_INLINE pc_f64 pc_betaln_f64(pc_f64 a, pc_f64 b) {
  pc_beta_all_f64 of = pc_beta_all_of_f64(a, b);
  pc_pair_f64 sum = pc_betaln_of_f64(of.parts);
  pc_f64 y = of.scale < 1.0 ? of.parts.log.hi * 0x1p100 : sum.hi + sum.lo;
  pc_f64 part = pc_magnitude_f64(of.other) < 0x1p-50 ? pc_magnitude_f64((of.a + of.b) / of.other) : 1.0;
  y = pc_magnitude_f64(of.tiny) < 0x1p-120 ? pc_log_f64(part) - pc_log_f64(pc_magnitude_f64(of.tiny)) : y;
  return pc_beta_edges_f64(of.a, of.b, of.pole, y + 0.0, -__builtin_inf(), 0); /* no zero is -0 */
}

/* ln B(a, b) for positive a and b. */
PC_TAIL pc_pair_f64 pc_betaln_pair_f64(pc_f64 a, pc_f64 b) {
  pc_f64 most = a > b ? a : b, least = a > b ? b : a;
  pc_pair_f64 r = pc_sum_f64(most, least), one = pc_pair_of_f64(most), other = pc_pair_of_f64(least);
  if (least < 0x1p-120) {
    pc_pair_f64 log = pc_minus_f64(pc_log_pair_f64(least));
    return most < 0x1p-50 ? pc_plus_f64(log, pc_log_of_pair_f64(pc_pair_div_f64(r, one))) : log;
  }
  if (least > 0x1p200 && most > 0x1p900) return pc_pair_by_f64(pc_betaln_pair_f64(a * 0x1p-100, b * 0x1p-100), 0x1p100);
  if (r.hi < 6.0) return pc_betaln_of_f64(pc_beta_positive_of_f64(one, other, r, 0, 0));
  if (least < 3.0) return pc_betaln_of_f64(pc_beta_positive_of_f64(one, other, r, 1, 0));
  return pc_betaln_of_f64(pc_beta_positive_of_f64(one, other, r, 1, 1));
}

#endif
