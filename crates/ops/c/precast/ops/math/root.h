/* precast/ops/math/root.h: the cube root and the length of a vector. */
#ifndef PRECAST_OPS_MATH_ROOT_H
#define PRECAST_OPS_MATH_ROOT_H

#include <precast/ops/math/f32/root.h>
#include <precast/ops/math/pair.h>

/* The length of (a, b) for a >= b >= 0, a between 2^-400 and 2^400 or 0, to about 2^-60. The first 26 bits of a number have an exact square. What
 * the root of the rounded sum lacks is the remainder over twice the root, which is to be known to a few bits alone. */
PC_INLINE pc_pair_f64 pc_length_f64(pc_f64 a, pc_f64 b) {
  pc_f64 r = __builtin_sqrt(a * a + b * b), ah = pc_head_f64(a), bh = pc_head_f64(b), rh = pc_head_f64(r), twice = r + r;
  pc_f64 y = pc_near_inverse_f64(twice), below = ((a - ah) * (a + ah) + (b - bh) * (b + bh)) - (r - rh) * (r + rh);
  pc_pair_f64 out = {r, (((ah * ah - rh * rh) + bh * bh) + below) * (y * (2.0 - twice * y))};
  return out;
}

/* sqrt(x^2 + y^2) without overflow on the way; inf if either is, even beside a NaN. */
PC_INLINE pc_f64 pc_hypot_f64(pc_f64 x, pc_f64 y) {
  const pc_f64 inf = __builtin_inf();
  pc_f64 ax = pc_magnitude_f64(x), ay = pc_magnitude_f64(y), a = ax > ay ? ax : ay, b = ax > ay ? ay : ax;
  pc_f64 scale = pc_unscale_f64(a), c = b * scale;
  pc_pair_f64 r = pc_length_f64(a * scale, c);
  pc_f64 length = (r.hi + r.lo) * 0.5 * pc_from_bits_f64(0x7ff0000000000000u - pc_bits_f64(scale));
  return (ax == inf) | (ay == inf) ? inf : length;
}

/* x^(1/3) of any sign. Less a third of the exponent, with a constant for the mantissa's curve, is within 5 % of the inverse; a polynomial of
 * degree 4 makes that 23 bits. Of their square times x 23 bits are kept, so that t^2 is exact: with q = x / t^2 the root is
 * t (1 + (q - t) / t)^(1/3), two terms of which count. After W. Kahan. */
PC_INLINE pc_f64 pc_cbrt_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x);
  int small = a < 0x1p-1022;
  pc_f64 c = small ? a * 0x1p54 : a, back = small ? 0x1p-18 : 1.0;
  pc_f64 top = pc_from_bits_f64((pc_bits_f64(c) >> 32) | 0x4330000000000000u) - 4503599627370496.0;
  pc_f64 third = (4503599627370496.0 + 1430159797.0) - top * 0x1.5555555555555p-2;
  pc_f64 y = pc_from_bits_f64(pc_bits_f64(third) << 32), r = (y * y) * (y * c), r2 = r * r;
  pc_f64 p01 = 0x1.e7f644720b4bcp+0 + r * -0x1.012d69b1e3697p+1, p23 = 0x1.d02abfe291bb7p+0 + r * -0x1.c790fbec2e2f7p-1;
  y = y * (p01 + r2 * (p23 + r2 * 0x1.70126bfa4c3ccp-3));
  pc_f64 t = pc_from_bits_f64((pc_bits_f64((y * y) * c) + 0x80000000u) & 0xffffffffc0000000u);
  pc_f64 d = c / (t * t) - t, root = (t + d * (0x1.5555555555555p-2 - d * y * 0x1.c71c71c71c71cp-4)) * back;
  root = (a > 0.0) & (a < __builtin_inf()) ? root : a;
  return pc_signed_f64(root, pc_sign_f64(x));
}

#endif
