/* precast/ops/math/f32/root.h: the cube root of f32 and the length of a vector, in f64. */
#ifndef PRECAST_OPS_MATH_F32_ROOT_H
#define PRECAST_OPS_MATH_F32_ROOT_H

#include <precast/ops/math/f32/short.h>

/* x^(1/3) of any sign, without a quotient: t is x^(-1/3) to 3.5 % from a third of the exponent, as in pc_cbrt_f64, and with
 * e = 1 - x t^3 the root is x t^2 (1 - e)^(-2/3). Polynomial of degree 6, error 2^-30.3. */
PC_INLINE pc_f32 pc_cbrt_f32(pc_f32 x) {
  pc_f32 f = pc_magnitude_f32(x);
  pc_f64 a = (pc_f64)f, top = pc_from_bits_f64((pc_bits_f64(a) >> 32) | 0x4330000000000000u) - 4503599627370496.0;
  pc_f64 t = pc_from_bits_f64(pc_bits_f64((4503599627370496.0 + 1430186664.0) - top * 0x1.5555555555555p-2) << 32);
  pc_f64 w = a * (t * t), e = 1.0 - w * t, e2 = e * e;
  pc_f64 p01 = 0x1.ffffffffccb2ep-1 + e * 0x1.5555571476135p-1, p23 = 0x1.1c71ca1a098a9p-1 + e * 0x1.f9a3a7cd9065fp-2;
  pc_f64 p45 = 0x1.cf7db2bf6ed3ep-2 + e * 0x1.b806485611f1dp-2, p = (p01 + e2 * p23) + (e2 * e2) * (p45 + e2 * 0x1.a04dfc34a1b17p-2);
  pc_f64 y = w * p;
  y = f < __builtin_inff() ? y : a;
  return pc_signed_f32((pc_f32)y, pc_sign_f32(x));
}

/* sqrt(x^2 + y^2); inf if either is, even beside a NaN. */
PC_INLINE pc_f32 pc_hypot_f32(pc_f32 x, pc_f32 y) {
  pc_f64 a = (pc_f64)x, b = (pc_f64)y;
  pc_f64 r = __builtin_sqrt(a * a + b * b);
  int infinite = (pc_magnitude_f64(a) == __builtin_inf()) | (pc_magnitude_f64(b) == __builtin_inf());
  return (pc_f32)(infinite ? __builtin_inf() : r);
}

#endif
