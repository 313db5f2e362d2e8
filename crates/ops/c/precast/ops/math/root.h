/* precast/ops/math/root.h: the cube root and the length of a vector. */
#ifndef PRECAST_OPS_MATH_ROOT_H
#define PRECAST_OPS_MATH_ROOT_H

#include <precast/ops/math/f32/root.h>
#include <precast/ops/math/pair.h>

/* sqrt(x^2 + y^2) without overflow on the way; inf if either is, even beside a NaN. */
PC_INLINE pc_f64 pc_hypot_f64(pc_f64 x, pc_f64 y) {
  pc_f64 ax = pc_magnitude_f64(x), ay = pc_magnitude_f64(y);
  pc_f64 a = ax > ay ? ax : ay, b = ax > ay ? ay : ax;
  pc_f64 up = a > 0x1p500 ? 0x1p-600 : (a < 0x1p-400 ? 0x1p600 : 1.0);
  pc_f64 down = a > 0x1p500 ? 0x1p600 : (a < 0x1p-400 ? 0x1p-600 : 1.0);
  pc_pair_f64 p = pc_product_f64(a * up, a * up), q = pc_product_f64(b * up, b * up);
  pc_pair_f64 r = pc_pair_sqrt_f64(pc_pair_add_f64(p, q));
  int infinite = (ax == __builtin_inf()) | (ay == __builtin_inf());
  pc_f64 y2 = (r.hi + r.lo) * down;
  y2 = (x != x) | (y != y) ? x + y : y2;
  return infinite ? __builtin_inf() : y2;
}

/* x^(1/3) of any sign. A third of the exponent, with a constant for the mantissa's curve, is within 5 %; a polynomial makes
 * that 23 bits, which are kept, so that their square is exact in one Newton step. After W. Kahan. */
PC_INLINE pc_f64 pc_cbrt_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x);
  int small = a < 0x1p-1022;
  pc_f64 c = small ? a * 0x1p54 : a;
  pc_f64 top = pc_from_bits_f64((pc_bits_f64(c) >> 32) | 0x4330000000000000u) - 4503599627370496.0;
  pc_f64 third = top * 0x1.5555555555555p-2 + (4503599627370496.0 + 715094163.0);
  pc_f64 t = pc_from_bits_f64(pc_bits_f64(third) << 32);
  pc_f64 r = (t * t) * (t / c), r2 = r * r;
  pc_f64 p = (0x1.e014be3fe426bp+0 + r * -0x1.e19241213a6e4p+0) + r2 * ((0x1.9d1c98803d69dp+0 + r * -0x1.8101d86f4bc6cp-1) + r2 * 0x1.270eaf9b97527p-3);
  t = pc_from_bits_f64((pc_bits_f64(t * p) + 0x80000000u) & 0xffffffffc0000000u);
  pc_f64 s = t * t, q = c / s;
  pc_f64 y = t + t * ((q - t) / ((t + t) + q));
  y = y * (small ? 0x1p-18 : 1.0);
  y = (a > 0.0) & (a < __builtin_inf()) ? y : a;
  return pc_signed_f64(y, pc_sign_f64(x));
}

#endif
