/* precast/ops/math/area.h: asinh, acosh and atanh, the inverses of the hyperbolic functions.
 *
 * Each is the logarithm of a number near 1 or above that is known as a pair, so small results are as exact as large ones. */
#ifndef PRECAST_OPS_MATH_AREA_H
#define PRECAST_OPS_MATH_AREA_H

#include <precast/ops/math/f32/area.h>
#include <precast/ops/math/log1p.h>

/* From here on sqrt(a^2 +- 1) is a. */
#define PC_AREA_FAR_F64 0x1p+28

/* Returns ln(a + sqrt t), or ln(2a) far out. One division serves the rounding errors of both the root and the sum. */
PC_INLINE pc_f64 pc_area_log_f64(pc_f64 a, pc_pair_f64 t) {
  pc_f64 r = __builtin_sqrt(t.hi), h = pc_head_f64(r), l = r - h, rest = ((t.hi - h * h) - (r + h) * l) + t.lo, twice = r + r;
  int far = a >= PC_AREA_FAR_F64;
  pc_pair_f64 w = pc_sum_f64(a, r);
  pc_f64 u = far ? a : w.hi, add = (w.lo * twice + rest) / (twice * w.hi + 0x1p-700); /* of a root of 0 as well */
  return pc_log_sum_f64(far ? 0x1.62e42fefa3800p-1 : 0.0, u, far ? 0x1.ef35793c76730p-45 : add);
}

/* Returns ln(a + sqrt(a^2 + 1)) with the sign of x. */
PC_INLINE pc_f64 pc_asinh_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x);
  pc_f64 c = a < PC_AREA_FAR_F64 ? a : 0.0;
  pc_pair_f64 square = pc_product_f64(c, c);
  pc_pair_f64 t = pc_sum_f64(1.0, square.hi);
  t.lo = t.lo + square.lo;
  pc_f64 y = pc_area_log_f64(a, t);
  y = a < 0x1p-28 ? a : y;
  y = a < __builtin_inf() ? y : a;
  return pc_signed_f64(y, pc_sign_f64(x));
}

/* ln(x + sqrt(x^2 - 1)); below 1 gives NaN. */
PC_INLINE pc_f64 pc_acosh_f64(pc_f64 x) {
  pc_f64 c = x < PC_AREA_FAR_F64 ? x : 1.0;
  pc_pair_f64 square = pc_product_f64(c, c);
  pc_pair_f64 t = pc_sum_ordered_f64(square.hi, -1.0);
  pc_f64 y = pc_area_log_f64(x, pc_sum_ordered_f64(t.hi, t.lo + square.lo));
  y = x < __builtin_inf() ? y : x;
  return x >= 1.0 ? y : __builtin_nan("");
}

/* ln((1 + a) / (1 - a)) / 2 with the sign of x; 1 gives inf, more gives NaN. 1 + a and 1 - a are pairs, the latter a power of two as large. */
PC_INLINE pc_f64 pc_atanh_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x), m = 1.0 + a, above = a - (m - 1.0), b = 1.0 - a, below = (1.0 - b) - a;
  uint64_t power = pc_ratio_exponent_f64(m, b);
  pc_f64 k = pc_exponent_number_f64(power), scale = pc_from_bits_f64(0x3ff0000000000000u + power), n = b * scale, low = below * scale;
  pc_f64 d = m - n, rest = above - low, num = d + rest, den = m + n, larger = m > n ? m : n, least = m > n ? n : m;
  pc_atanh_parts_f64 l = pc_atanh_twice_f64(num, (d - num) + rest, den, (least - (den - larger)) + (above + low));
  pc_pair_f64 s = pc_sum_ordered_f64(k * PC_LN2_HI_F64, l.hi);
  pc_f64 y = 0.5 * (s.hi + (s.lo + ((l.lo + l.tail) + k * PC_LN2_LO_F64)));
  y = a < 0x1p-28 ? a : y;
  y = a == 1.0 ? __builtin_inf() : y;
  return pc_signed_f64(a <= 1.0 ? y : __builtin_nan(""), pc_sign_f64(x));
}

#endif
