/* precast/ops/math/entropy.h: products with a logarithm, and the logarithm of odds.
 *
 * A product is 0 where its factor is, whatever the logarithm. Where two terms cancel, the logarithm is that of a quotient, and known as a
 * sum. */
#ifndef PRECAST_OPS_MATH_ENTROPY_H
#define PRECAST_OPS_MATH_ENTROPY_H

#include <precast/ops/math/f32/entropy.h>
#include <precast/ops/math/log1p.h>

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
  pc_f64 y = 0.0 - x * pc_log_f64(pc_magnitude_f64(x));
  y = x < 0.0 ? -__builtin_inf() : y;
  return x == 0.0 ? 0.0 : y;
}

/* ln(x / y) of positive finite numbers to about 2^-58: k ln 2, to which the logarithm of s is added, and s = x' / y' for multiples of x and y by
 * powers of two. */
typedef struct pc_log_ratio_f64 {
  pc_f64 whole, low, x, y;
  pc_atanh_parts_f64 log;
} pc_log_ratio_f64;

PC_INLINE pc_log_ratio_f64 pc_log_ratio_of_f64(pc_f64 x, pc_f64 y) {
  const uint64_t exponents = 0x7ff0000000000000u, one = 0x3ff0000000000000u;
  int small_x = x < 0x1p-1022, small_y = y < 0x1p-1022;
  pc_f64 a = small_x ? x * 0x1p54 : x, b = small_y ? y * 0x1p54 : y, more = (small_y ? 54.0 : 0.0) - (small_x ? 54.0 : 0.0);
  uint64_t power = pc_ratio_exponent_f64(a, b), unit = (pc_bits_f64(a) & exponents) - one;
  pc_f64 k = pc_exponent_number_f64(power) + more;
  pc_f64 m = pc_from_bits_f64(pc_bits_f64(a) - unit), n = pc_from_bits_f64(pc_bits_f64(b) + power - unit), den = m + n;
  pc_f64 larger = m > n ? m : n, least = m > n ? n : m;
  pc_log_ratio_f64 out = {k * PC_LN2_HI_F64, k * PC_LN2_LO_F64, m, n, pc_atanh_twice_f64(m - n, 0.0, den, least - (den - larger))};
  return out;
}

/* x ln(x / y); inf where x is negative, or y is not positive and x is not 0. */
PC_INLINE pc_f64 pc_rel_entr_f64(pc_f64 x, pc_f64 y) {
  const pc_f64 inf = __builtin_inf();
  pc_log_ratio_f64 r = pc_log_ratio_of_f64(x, y);
  pc_pair_f64 log = pc_sum_ordered_f64(r.whole, r.log.hi);
  pc_f64 inside = x * (log.hi + (log.lo + ((r.log.lo + r.log.tail) + r.low))), zero = y >= 0.0 ? 0.0 : inf, outside = x == 0.0 ? zero : inf;
  pc_f64 most = y == inf ? __builtin_nan("") : inf;
  inside = y == inf ? -inf : inside;
  inside = x == inf ? most : inside;
  inside = y > 0.0 ? inside : inf;
  inside = x > 0.0 ? inside : outside;
  inside = x == x ? inside : x;
  return y == y ? inside : y;
}

/* y - x + x ln(x / y) for positive finite numbers. Where k is 0 the first terms cancel: with u = 2 (x - y) / (x + y) it is
 * (x - y) u / 2 + x (ln(x / y) - u). The larger number is scaled to [2, 4). */
PC_INLINE pc_f64 pc_divergence_f64(pc_f64 x, pc_f64 y) {
  pc_log_ratio_f64 r = pc_log_ratio_of_f64(x, y);
  pc_f64 scale = pc_unscale_f64(x > y ? x : y), a = x * scale, b = y * scale;
  pc_f64 d = a - b, dh = pc_head_f64(d), h = 0.5 * r.log.hi;
  pc_f64 near = dh * h + (((d - dh) * h + 0.5 * d * r.log.lo) + a * r.log.tail);
  pc_f64 lh = pc_head_f64(r.whole + r.log.hi), ll = ((r.whole - lh) + r.log.hi) + ((r.log.lo + r.log.tail) + r.low), ah = pc_head_f64(a);
  pc_pair_f64 rest = pc_sum_f64(b, -a), all = pc_sum_f64(rest.hi, ah * lh);
  pc_f64 far = all.hi + (all.lo + (rest.lo + ((a - ah) * lh + a * ll)));
  pc_f64 sum = r.whole == 0.0 ? near : far;
  return sum * 0.5 * pc_from_bits_f64(0x7ff0000000000000u - pc_bits_f64(scale));
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
  const uint64_t exponents = 0x7ff0000000000000u, one = 0x3ff0000000000000u;
  int small = x < 0x1p-1022;
  pc_f64 a = small ? x * 0x1p54 : x, b = 1.0 - x, lost = (1.0 - b) - x;
  uint64_t power = pc_ratio_exponent_f64(a, b), unit = (pc_bits_f64(a) & exponents) - one;
  pc_f64 k = pc_exponent_number_f64(power) - (small ? 54.0 : 0.0), scale = pc_from_bits_f64(one + power - unit);
  pc_f64 m = pc_from_bits_f64(pc_bits_f64(a) - unit), n = b * scale, low = lost * scale;
  pc_f64 d = m - n, num = d - low, den = m + n, larger = m > n ? m : n, least = m > n ? n : m;
  pc_atanh_parts_f64 l = pc_atanh_twice_f64(num, (d - num) - low, den, (least - (den - larger)) + low);
  pc_pair_f64 s = pc_sum_ordered_f64(k * PC_LN2_HI_F64, l.hi);
  pc_f64 y = s.hi + (s.lo + ((l.lo + l.tail) + k * PC_LN2_LO_F64)), edge = x == 0.0 ? -__builtin_inf() : __builtin_nan("");
  y = x == 1.0 ? __builtin_inf() : y;
  y = x <= 1.0 ? y : __builtin_nan("");
  return x > 0.0 ? y : edge;
}

#endif
