/* precast/ops/math/f32/area.h: asinh, acosh and atanh of f32: a polynomial for small results, a logarithm for all larger ones. The rounding
 * error of the logarithm's argument u is added to the logarithm: `rest`, over u. */
#ifndef PRECAST_OPS_MATH_F32_AREA_H
#define PRECAST_OPS_MATH_F32_AREA_H

#include <precast/ops/math/f32/short.h>

/* From here on sqrt(a^2 +- 1) is a. */
#define PC_AREA_FAR_F32 0x1p30f

/* ln u + rest + more ln 2 for u >= 1.37, as k ln 2 + f - f^2 / 2 + f^3 P(f), u = 2^k (1 + f), 1 + f in [0.685, 1.37). P has degree 7,
 * error 2^-29.6. */
PC_INLINE pc_f32 pc_ln_sum_f32(pc_f32 u, pc_f32 rest, int32_t more) {
  uint32_t c = pc_bits_f32(u), b = c - 0x3f2f5c29u;
  pc_f32 k = (pc_f32)(((int32_t)b >> 23) + more), f = pc_from_bits_f32(c - (b & 0xff800000u)) - 1.0f, f2 = f * f;
  pc_f32 p01 = 0x1.5554f8p-2f + f * -0x1.000178p-2f, p23 = 0x1.99d228p-3f + f * -0x1.54df8ap-3f;
  pc_f32 p45 = 0x1.1ef4c8p-3f + f * -0x1.04746ap-3f, p67 = 0x1.1cb946p-3f + f * -0x1.aad87cp-4f;
  pc_f32 p = (p01 + f2 * p23) + (f2 * f2) * (p45 + f2 * p67), whole = k * PC_LN2_HI_F32;
  pc_f32 square = 0.5f * f2, v = f - square, y = whole + v;
  return y + ((((whole - y) + v) + (((f - v) - square) + (k * PC_LN2_LO_F32 + rest))) + f2 * (f * p));
}

/* Returns ln(a + sqrt(a^2 + 1)) with the sign of x. With v = u - 2a, about 1 / u, the correction of u is (1 - u v) / (u + v). Below 7/16
 * a + a z P(z), z = a^2, degree 4, error 2^-29.3. */
PC_INLINE pc_f32 pc_asinh_f32(pc_f32 x) {
  pc_f32 a = pc_magnitude_f32(x), c = a < 0x1p-30f ? 0.0f : a, z = c * c, z2 = z * z; /* no subnormal square */
  pc_f32 p = (-0x1.555536p-3f + z * 0x1.332526p-4f) + z2 * ((-0x1.6b9b72p-5f + z * 0x1.cd9af4p-6f) + z2 * -0x1.b207b6p-7f);
  pc_f32 near = a + a * (z * p);
  int far = a >= PC_AREA_FAR_F32;
  pc_f32 u = a + (far ? 0.0f : __builtin_sqrtf(z + 1.0f)), v = u - (a + a), uh = pc_head_f32(u), vh = pc_head_f32(v);
  pc_f32 rest = (((1.0f - uh * vh) - uh * (v - vh)) - (u - uh) * v) / (u * (u + v));
  pc_f32 y = pc_ln_sum_f32(u, far ? 0.0f : rest, far ? 1 : 0);
  y = a < 0.4375f ? near : y;
  y = a < __builtin_inff() ? y : a;
  return pc_signed_f32(y, pc_sign_f32(x));
}

/* Returns ln(x + sqrt(x^2 - 1)); NaN below 1. As asinh, v = 2x - u. Below 1.4375 s + s t P(t), t = x - 1, s = sqrt(2t), degree 4, error
 * 2^-29.3; the rounding error of s needs few digits, so 1 / (2s) is made from bits, to 5 %. */
PC_INLINE pc_f32 pc_acosh_f32(pc_f32 x) {
  int close = x < 1.4375f, far = x >= PC_AREA_FAR_F32;
  pc_f32 t = x - 1.0f, w = close ? t + t : x * x - 1.0f, root = __builtin_sqrtf(w), head = pc_head_f32(root), t2 = t * t;
  pc_f32 p = (-0x1.555536p-4f + t * 0x1.332528p-6f) + t2 * ((-0x1.6b9bb4p-8f + t * 0x1.cd9dd4p-10f) + t2 * -0x1.b21268p-12f);
  pc_f32 low = ((w - head * head) - (root - head) * (root + head)) * pc_from_bits_f32(0x7e731000u - pc_bits_f32(root));
  pc_f32 near = root + (low + root * (t * p));
  pc_f32 u = x + (far ? 0.0f : root), v = x - (u - x), uh = pc_head_f32(u), vh = pc_head_f32(v);
  pc_f32 rest = (((uh * vh - 1.0f) + uh * (v - vh)) + (u - uh) * v) / (u * (u - v));
  pc_f32 y = pc_ln_sum_f32(u, far ? 0.0f : rest, far ? 1 : 0);
  y = close ? near : y;
  y = x < __builtin_inff() ? y : x;
  return x >= 1.0f ? y : __builtin_nanf("");
}

/* Returns ln((1 + a) / (1 - a)) / 2 with the sign of x; 1 gives inf, more gives NaN. The remainder of the quotient n / d is divided by n:
 * a linear function gives 1 / n to 2 %. Below 5/16 a + a z P(z), z = a^2, degree 4, error 2^-30.8. */
PC_INLINE pc_f32 pc_atanh_f32(pc_f32 x) {
  pc_f32 a = pc_magnitude_f32(x), c = a < 0x1p-30f ? 0.0f : a, z = c * c, z2 = z * z; /* no subnormal square */
  pc_f32 p = (0x1.555560p-2f + z * 0x1.999156p-3f) + z2 * ((0x1.259918p-3f + z * 0x1.ab07ccp-4f) + z2 * 0x1.0e1bccp-3f);
  pc_f32 near = a + a * (z * p), n = 1.0f + a, d = 1.0f - a, u = n / d, uh = pc_head_f32(u), dh = pc_head_f32(d);
  pc_f32 left = ((n - uh * dh) - uh * (d - dh)) - (u - uh) * d;
  pc_f32 lost = (a - (n - 1.0f)) - u * ((1.0f - d) - a), rest = (left + lost) * (1.2167f - 0.3636f * n);
  pc_f32 y = 0.5f * pc_ln_sum_f32(u, rest, 0);
  y = a < 0.3125f ? near : y;
  y = a < 1.0f ? y : __builtin_inff();
  return pc_signed_f32(a <= 1.0f ? y : __builtin_nanf(""), pc_sign_f32(x));
}

#endif
