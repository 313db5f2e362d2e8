/* precast/ops/math/entropy.h: products with a logarithm, and the logarithm of odds.
 *
 * A product is 0 where its factor is, whatever the logarithm. Where two terms cancel, the logarithm is that of a quotient known as a pair, or a
 * series. */
#ifndef PRECAST_OPS_MATH_ENTROPY_H
#define PRECAST_OPS_MATH_ENTROPY_H

#include <precast/ops/math/f32/entropy.h>
#include <precast/ops/math/log1p.h>
#include <precast/ops/math/stirling.h>

/* x ln y; 0 where x is 0 and y a number. */
PC_INLINE pc_f64 pc_xlogy_f64(pc_f64 x, pc_f64 y) {
  pc_f64 product = x * pc_log_f64(y);
  return x == 0.0 && y == y ? 0.0 : product;
}

/* x ln(1 + y); 0 where x is 0 and y a number. */
PC_INLINE pc_f64 pc_xlog1py_f64(pc_f64 x, pc_f64 y) {
  pc_f64 product = x * pc_log1p_f64(y);
  return x == 0.0 && y == y ? 0.0 : product;
}

/* -x ln x; -inf for negative numbers. */
PC_INLINE pc_f64 pc_entr_f64(pc_f64 x) {
  pc_f64 y = 0.0 - x * pc_log_f64(x > 0.0 ? x : 1.0);
  y = x < 0.0 ? -__builtin_inf() : y;
  return x == 0.0 ? 0.0 : y;
}

/* x = 2^k m for a positive finite x, m in [1, 2). */
typedef struct pc_scaled_f64 {
  pc_f64 m, k;
} pc_scaled_f64;

PC_INLINE pc_scaled_f64 pc_scaled_of_f64(pc_f64 x) {
  int small = x < 0x1p-1022;
  uint64_t u = pc_bits_f64(small ? x * 0x1p54 : x);
  pc_f64 bias = 4503599627370496.0 + (small ? 1077.0 : 1023.0);
  pc_scaled_f64 out = {pc_from_bits_f64((u & 0x000fffffffffffffu) | 0x3ff0000000000000u),
                       pc_from_bits_f64((u >> 52) | 0x4330000000000000u) - bias};
  return out;
}

/* ln q - less ln 2 of a pair. */
PC_INLINE pc_pair_f64 pc_log_of_quotient_f64(pc_pair_f64 q, pc_f64 less) {
  return pc_plus_f64(pc_log_pair_less_f64(q.hi, less), pc_pair_of_f64(q.lo / q.hi));
}

/* ln(x / y) of positive finite numbers. */
PC_INLINE pc_pair_f64 pc_log_ratio_f64(pc_f64 x, pc_f64 y) {
  pc_scaled_f64 a = pc_scaled_of_f64(x), b = pc_scaled_of_f64(y);
  return pc_log_of_quotient_f64(pc_pair_div_f64(pc_pair_of_f64(a.m), pc_pair_of_f64(b.m)), b.k - a.k);
}

/* x ln(x / y); inf where x is negative, or y is not positive and x is not 0. */
PC_INLINE pc_f64 pc_rel_entr_f64(pc_f64 x, pc_f64 y) {
  const pc_f64 inf = __builtin_inf();
  pc_pair_f64 log = pc_log_ratio_f64(x, y);
  pc_f64 inside = x * (log.hi + log.lo), zero = y >= 0.0 ? 0.0 : inf, outside = x == 0.0 ? zero : inf;
  pc_f64 most = y == inf ? __builtin_nan("") : inf;
  inside = y == inf ? -inf : inside;
  inside = x == inf ? most : inside;
  inside = y > 0.0 ? inside : inf;
  inside = x > 0.0 ? inside : outside;
  inside = x == x ? inside : x;
  return y == y ? inside : y;
}

/* y - x + x ln(x / y) for positive finite numbers. Near x it is x v (u - 2 v^2 (1/3 + v^2 / 5 + ...)), u = (y - x) / x, v = u / (2 + u). */
PC_INLINE pc_f64 pc_divergence_f64(pc_f64 x, pc_f64 y) {
  /* Far from x, a product with the logarithm may overflow. */
  pc_f64 scale = x > 0x1p1000 ? 0x1p-12 : 1.0, back = x > 0x1p1000 ? 0x1p12 : 1.0;
  pc_pair_f64 of = pc_pair_of_f64(x), d = pc_sum_f64(y, -x), part = pc_pair_of_f64(x * scale);
  pc_pair_f64 u = pc_pair_div_f64(d, of), v = pc_pair_div_f64(u, pc_plus_f64(pc_pair_of_f64(2.0), u));
  pc_f64 z = v.hi * v.hi;
  pc_f64 t = 1.0 / 13.0 + z * (1.0 / 15.0 + z * (1.0 / 17.0));
  t = 2.0 * z * (1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * (1.0 / 11.0 + z * t)))));
  pc_pair_f64 near = pc_pair_mul_f64(of, pc_pair_mul_f64(v, pc_plus_f64(u, pc_pair_of_f64(-t))));
  pc_pair_f64 rest = pc_sum_f64(y * scale, -part.hi);
  pc_pair_f64 far = pc_plus_f64(rest, pc_pair_mul_f64(part, pc_log_ratio_f64(x, y)));
  return pc_magnitude_f64(d.hi) < 0.125 * x ? near.hi + near.lo : (far.hi + far.lo) * back;
}

/* x ln(x / y) - x + y; inf where x or y is negative, or y is 0 and x is not. */
PC_INLINE pc_f64 pc_kl_div_f64(pc_f64 x, pc_f64 y) {
  const pc_f64 inf = __builtin_inf();
  pc_f64 inside = pc_divergence_f64(x, y), zero = y >= 0.0 ? y : inf, outside = x == 0.0 ? zero : inf;
  pc_f64 most = y == inf ? __builtin_nan("") : inf;
  inside = y == inf ? inf : inside;
  inside = x == inf ? most : inside;
  inside = y > 0.0 ? inside : inf;
  inside = x > 0.0 ? inside : outside;
  inside = x == x ? inside : x;
  return y == y ? inside : y;
}

/* ln(x / (1 - x)); NaN outside of 0 to 1. */
PC_INLINE pc_f64 pc_logit_f64(pc_f64 x) {
  pc_pair_f64 log = pc_log_of_quotient_f64(pc_pair_div_f64(pc_pair_of_f64(x), pc_sum_ordered_f64(1.0, -x)), 0.0);
  pc_f64 y = x == 1.0 ? __builtin_inf() : log.hi + log.lo, edge = x == 0.0 ? -__builtin_inf() : __builtin_nan("");
  y = x <= 1.0 ? y : __builtin_nan("");
  return x > 0.0 ? y : edge;
}

#endif
