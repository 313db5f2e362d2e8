/* precast/ops/math/complex/root.h: the square root, after W. Kahan, "Branch cuts for complex elementary functions" (1987), in pairs.
 *
 * With t = sqrt((|z| + |x|) / 2): t + i y / 2t to the right, |y| / 2t +- i t to the left. */
#ifndef PRECAST_OPS_MATH_COMPLEX_ROOT_H
#define PRECAST_OPS_MATH_COMPLEX_ROOT_H

#include <precast/ops/math/complex/number.h>

/* The root with a real part that is not negative; special values are those of C99's Annex G. */
PC_INLINE pc_c128 pc_sqrt_c128(pc_c128 z) {
  pc_f64 x = pc_magnitude_f64(z.re), y = pc_magnitude_f64(z.im), a = x > y ? x : y;
  int large = a > 0x1p500, small = a < 0x1p-400, left = pc_known_sign_f64(z.re) != 0;
  pc_f64 up = large ? 0x1p-600 : (small ? 0x1p600 : 1.0), down = large ? 0x1p300 : (small ? 0x1p-300 : 1.0);
  pc_f64 u = x * up, v = y * up;
  pc_pair_f64 r = pc_pair_sqrt_f64(pc_pair_sum_f64(pc_product_f64(u, u), pc_product_f64(v, v)));
  pc_pair_f64 half = {0.5 * u, 0.0}, mean = {0.5 * r.hi, 0.5 * r.lo};
  pc_pair_f64 t = pc_pair_sqrt_f64(pc_pair_sum_f64(mean, half));
  pc_f64 first = (t.hi + t.lo) * down, q = y / (2.0 * (t.hi * down));
  pc_f64 second = q - q * (t.lo / t.hi);
  pc_f64 re = left ? second : first, im = left ? first : second;
  int far = x == __builtin_inf();
  re = far ? (left ? (y == y ? 0.0 : y) : x) : re;
  im = far ? (left ? x : (y == y ? 0.0 : y)) : im;
  int zero = (x == 0.0) & (y == 0.0);
  re = zero ? 0.0 : re;
  im = zero ? 0.0 : im;
  int high = y == __builtin_inf();
  pc_c128 out = {high ? y : re, pc_signed_f64(high ? y : im, pc_known_sign_f64(z.im))};
  return out;
}

PC_INLINE pc_c64 pc_sqrt_c64(pc_c64 z) { return pc_narrowed_c128(pc_sqrt_c128(pc_widened_c64(z))); }

#endif
