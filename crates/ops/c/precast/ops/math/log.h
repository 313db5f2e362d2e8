/* precast/ops/math/log.h: the natural logarithm. */
#ifndef PRECAST_OPS_MATH_LOG_H
#define PRECAST_OPS_MATH_LOG_H

#include <precast/ops/math/ln2.h>

/* Returns ln x. 0 gives -inf, a negative number gives NaN. x = 2^k m, m in [sqrt 1/2, sqrt 2), f = m - 1, s = f / (2 + f). All
 * choices by the size of x are made together: gcc duplicates the code between two choices. */
PC_INLINE pc_f64 pc_log_f64(pc_f64 x) {
  const uint64_t half = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u;
  int small = x < 0x1p-1022;
  pc_f64 c = small ? x * 0x1p54 : x, bias = 4503599627370496.0 + (small ? 1077.0 : 1023.0);
  uint64_t u = pc_bits_f64(c) + (one - half);
  pc_f64 m = pc_from_bits_f64((u & 0x000fffffffffffffu) + half);
  pc_f64 k = pc_from_bits_f64((u >> 52) | 0x4330000000000000u) - bias;
  pc_f64 f = m - 1.0, s = f / (2.0 + f), z = s * s, z2 = z * z;
  pc_f64 p01 = 0x1.5555555555592p-1 + z * 0x1.999999997ffa0p-2;
  pc_f64 p23 = 0x1.24924941dee31p-2 + z * 0x1.c71c521341c60p-3;
  pc_f64 p45 = 0x1.74663da64d2d6p-3 + z * 0x1.39a1cb220c990p-3;
  pc_f64 r = z * ((p01 + z2 * p23) + (z2 * z2) * (p45 + z2 * 0x1.2f0545f63b365p-3));
  pc_f64 y = k * PC_LN2_HI_F64 + (f - (s * (f - r) - k * PC_LN2_LO_F64));
  y = x == __builtin_inf() ? x : y;
  pc_f64 edge = x == 0.0 ? -__builtin_inf() : __builtin_nan("");
  return x > 0.0 ? y : edge;
}

/* x = 2^k m for a normal finite x > 0, m in [sqrt 1/2, sqrt 2); `scale` is k where the bits have an exponent. */
typedef struct pc_parts_f32 {
  pc_f32 m;
  int32_t k;
  uint32_t scale;
} pc_parts_f32;

PC_INLINE pc_parts_f32 pc_parts_of_f32(pc_f32 x) {
  uint32_t u = pc_bits_f32(x) - 0x3f3504f3u, scale = u & 0xff800000u;
  pc_parts_f32 out = {pc_from_bits_f32(pc_bits_f32(x) - scale), (int32_t)u >> 23, scale};
  return out;
}

/* f - ln(1 + f) for 1 + f = m. */
PC_INLINE pc_f32 pc_log_tail_f32(pc_f32 f) {
  pc_f32 s = f / (2.0f + f), z = s * s;
  return s * (f - z * (0x1.55557ap-1f + z * (0x1.995ebap-2f + z * 0x1.31e364p-2f)));
}

/* ln x, as of f64. */
PC_INLINE pc_f32 pc_log_f32(pc_f32 x) {
  int small = x < 0x1p-126f;
  pc_f32 c = small ? x * 0x1p25f : x;
  int32_t bias = small ? 25 : 0;
  pc_parts_f32 parts = pc_parts_of_f32(c);
  pc_f32 f = parts.m - 1.0f, y = (pc_f32)(parts.k - bias) * PC_LN2_F32 + (f - pc_log_tail_f32(f));
  y = x == __builtin_inff() ? x : y;
  pc_f32 edge = x == 0.0f ? -__builtin_inff() : __builtin_nanf("");
  return x > 0.0f ? y : edge;
}

#endif
