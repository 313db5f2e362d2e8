/* precast/ops/math/complex/root.h: the square root, after W. Kahan, "Branch cuts for complex elementary functions" (1987), in pairs.
 *
 * With t = sqrt((|z| + |x|) / 2): t + i y / 2t to the right, |y| / 2t +- i t to the left. */
#ifndef PRECAST_OPS_MATH_COMPLEX_ROOT_H
#define PRECAST_OPS_MATH_COMPLEX_ROOT_H

#include <precast/ops/math/complex/number.h>
#include <precast/ops/math/root.h>

/* The root with a real part that is not negative; special values are those of C99's Annex G. The larger part is scaled to [2, 8) by an even
 * power of two. */
PC_INLINE pc_c128 pc_sqrt_c128(pc_c128 z) {
  const uint64_t exponents = 0x7ff0000000000000u, least = 0x0020000000000000u, even = 0x0010000000000000u;
  const pc_f64 inf = __builtin_inf();
  pc_f64 x = pc_magnitude_f64(z.re), y = pc_magnitude_f64(z.im), a = x > y ? x : y, b = x > y ? y : x;
  uint64_t u = pc_bits_f64(a) & exponents, power = (exponents - (u > least ? u : least)) | even;
  pc_f64 scale = pc_from_bits_f64(power), down = pc_from_bits_f64((0xbfd0000000000000u - power) >> 1); /* its root's inverse */
  pc_pair_f64 r = pc_length_f64(a * scale, b * scale), s = pc_sum_ordered_f64(r.hi, x * scale);
  pc_f64 mean = 0.5 * s.hi, t = __builtin_sqrt(mean), head = pc_head_f64(t), twice = t + t, near = pc_near_inverse_f64(twice);
  pc_f64 rest = ((mean - head * head) - (t - head) * (t + head)) + 0.5 * (s.lo + r.lo);
  pc_f64 inverse = near * (2.0 - twice * near), lost = rest * inverse; /* of twice t, to a hundredth */
  pc_f64 first = (t + lost) * down, q = y / (2.0 * (t * down) + 0x1p-700), second = q - q * ((lost + lost) * inverse);
  first = x == inf ? x : first;
  second = (x == inf) & (y == y) ? 0.0 : second;
  int left = pc_known_sign_f64(z.re) != 0;
  pc_f64 re = left ? second : first, im = left ? first : second;
  re = y == inf ? y : re;
  im = y == inf ? y : im;
  pc_c128 out = {re, pc_signed_f64(im, pc_known_sign_f64(z.im))};
  return out;
}

PC_INLINE pc_c64 pc_sqrt_c64(pc_c64 z) { return pc_narrowed_c128(pc_sqrt_c128(pc_widened_c64(z))); }

#endif
