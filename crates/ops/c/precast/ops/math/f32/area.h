/* precast/ops/math/f32/area.h: asinh, acosh and atanh of f32, in f64, whose digits are enough for logarithms of numbers near 1:
 * only of arguments below 2^-10 the first terms of the series serve. */
#ifndef PRECAST_OPS_MATH_F32_AREA_H
#define PRECAST_OPS_MATH_F32_AREA_H

#include <precast/ops/math/f32/short.h>

/* From here on sqrt(a^2 +- 1) is a. */
#define PC_AREA_FAR_F32 0x1p30f

/* ln(a + sqrt(a^2 + 1)) with the sign of x. */
PC_INLINE pc_f32 pc_asinh_f32(pc_f32 x) {
  pc_f32 f = pc_magnitude_f32(x);
  pc_f64 a = (pc_f64)f, c = f < PC_AREA_FAR_F32 ? a : 0.0;
  pc_f64 root = pc_root_short_f64(c * c + 1.0);
  pc_f64 y = pc_ln_short_f64(a + (f < PC_AREA_FAR_F32 ? root : a));
  y = f < 0x1p-10f ? a - a * (a * a) * (0x1.5555555555555p-3 - (a * a) * 0x1.3333333333333p-4) : y;
  y = f < __builtin_inff() ? y : a;
  return pc_signed_f32((pc_f32)y, pc_sign_f32(x));
}

/* ln(x + sqrt(x^2 - 1)); below 1 gives NaN. */
PC_INLINE pc_f32 pc_acosh_f32(pc_f32 x) {
  pc_f64 a = (pc_f64)x, c = x < PC_AREA_FAR_F32 ? a : 1.0;
  c = x >= 1.0f ? c : 1.0;
  pc_f64 root = pc_root_short_f64(c * c - 1.0);
  pc_f64 y = pc_ln_short_f64(a + (x < PC_AREA_FAR_F32 ? root : a));
  y = x < __builtin_inff() ? y : a;
  return x >= 1.0f ? (pc_f32)y : __builtin_nanf("");
}

/* ln((1 + a) / (1 - a)) / 2 with the sign of x; 1 gives inf, more gives NaN. The quotient is 2^k n / d, n / d about between 2/3 and 3/2:
 * a difference of bits is about one of logarithms. Degree 3, error 2^-28.6. */
PC_INLINE pc_f32 pc_atanh_f32(pc_f32 x) {
  pc_f32 f = pc_magnitude_f32(x);
  pc_f64 a = (pc_f64)(f < 1.0f ? f : 0.5f), n = 1.0 + a, less = 1.0 - a; /* whatever is right from 1 on is chosen last */
  uint64_t u = pc_bits_f64(n) - pc_bits_f64(less) + 0x0008000000000000u;
  pc_f64 k = pc_from_bits_f64((u >> 52) | 0x4330000000000000u) - 4503599627370496.0;
  pc_f64 d = pc_from_bits_f64(pc_bits_f64(less) + (u & 0xfff0000000000000u));
  pc_f64 s = (n - d) * pc_inverse_short_f64(n + d), z = s * s;
  pc_f64 q = (0x1.ffffffeaf9763p+0 + z * 0x1.5555d7646b488p-1) + (z * z) * (0x1.991c408027210p-2 + z * 0x1.37c0ef0fad2c1p-2);
  pc_f64 y = k * 0x1.62e42fefa39efp-2 + (0.5 * s) * q;
  y = f < 0x1p-10f ? a + a * (a * a) * (0x1.5555555555555p-2 + (a * a) * 0x1.999999999999ap-3) : y;
  y = f == 1.0f ? __builtin_inf() : y;
  return pc_signed_f32(f <= 1.0f ? (pc_f32)y : __builtin_nanf(""), pc_sign_f32(x));
}

#endif
