/* precast/ops/math/f32/root.h: the cube root of f32, and the length of a vector, in f64. */
#ifndef PRECAST_OPS_MATH_F32_ROOT_H
#define PRECAST_OPS_MATH_F32_ROOT_H

#include <precast/ops/math/f32/short.h>

/* x^(1/3) of any sign. t is x^(-1/3) to 3.5 % from a third of the exponent, x t^2 (1 - e)^(-2/3) with e = 1 - x t^3 is the root, to
 * 2^-8.4 by a line. Of it 8 bits are kept, so its cube is exact, and so is the small x - root^3, whose quotient d with the cube gives the
 * rest: (1 + d)^(1/3) - 1 = d P(d). P of degree 2, error 2^-29.3. */
PC_INLINE pc_f32 pc_cbrt_f32(pc_f32 x) {
  uint32_t u = pc_bits_f32(x) & 0x7fffffffu;
  int small = u < 0x03800000u; /* 2^-120 */
  pc_f32 a = pc_from_bits_f32(u) * (small ? 0x1p24f : 0x1p-3f);
  pc_f32 third = 1419900000.0f - (pc_f32)(int32_t)pc_bits_f32(a) * 0x1.555556p-2f;
  pc_f32 t = pc_from_bits_f32((uint32_t)(int32_t)third);
  pc_f32 w = a * (t * t), e = 1.0f - w * t;
  pc_f32 r = pc_from_bits_f32((pc_bits_f32(w * (0x1.00be8cp+0f + e * 0x1.5707aap-1f)) + 0x8000u) & 0xffff0000u), cube = (r * r) * r;
  pc_f32 d = (a - cube) / cube, y = r + (r * d) * (0x1.555556p-2f + d * (-0x1.c72c22p-4f + d * 0x1.f9d1b8p-5f));
  y = y * (small ? 0x1p-8f : 2.0f);
  y = u - 1u < 0x7f7fffffu ? y : pc_from_bits_f32(u);
  return pc_signed_f32(y, pc_sign_f32(x));
}

/* sqrt(x^2 + y^2); inf if either is, even beside a NaN. */
PC_INLINE pc_f32 pc_hypot_f32(pc_f32 x, pc_f32 y) {
  pc_f64 a = (pc_f64)x, b = (pc_f64)y;
  pc_f64 r = __builtin_sqrt(a * a + b * b);
  int infinite = (pc_magnitude_f64(a) == __builtin_inf()) | (pc_magnitude_f64(b) == __builtin_inf());
  return (pc_f32)(infinite ? __builtin_inf() : r);
}

#endif
