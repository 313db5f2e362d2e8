/* precast/ops/math/f32/exp2.h: 2^x, e^x - 1 and ln(1 - e^x) of f32, in f64. */
#ifndef PRECAST_OPS_MATH_F32_EXP2_H
#define PRECAST_OPS_MATH_F32_EXP2_H

#include <precast/ops/math/f32/short.h>

/* 2^v for |v| < 2^80: inf from 128 on, 0 below -150, without a number that is too small for f32, which is slow to round: of such a v the
 * scale is 0, and the rest may have any sign. */
PC_INLINE pc_f32 pc_exp2_rounded_f32(pc_f64 v) {
  pc_power_short_f64 p = pc_power_short_of_f64(v);
  pc_f64 up = v < -150.0 ? 0.0 : p.up, y = pc_exp2_short_f64(p.r) * up;
  return pc_magnitude_f32((pc_f32)(v >= 128.0 ? __builtin_inf() : y));
}

/* 2^x; exact for whole x. x = k + r, exactly in f32, where the small part r^3 P(r) of 2^r is computed, too: P of degree 3, error 2^-28.
 * The scale is 0 below -150: a number that is too small for f32 is slow to round. */
PC_INLINE pc_f32 pc_exp2_f32(pc_f32 x) {
  const pc_f32 magic = 12582912.0f + 1023.0f;
  pc_f32 t = x + magic, r = x - (t - magic), r2 = r * r;
  pc_f32 p = r2 * ((0x1.c6afa0p-5f + r * 0x1.3b2bd2p-7f) + r2 * (0x1.5ef6d4p-10f + r * 0x1.42733cp-13f));
  int none = x < -150.0f;
  pc_f64 up = pc_from_bits_f64((uint64_t)(none ? 0 : pc_bits_f32(t)) << 52), f = (pc_f64)r;
  pc_f32 y = (pc_f32)((1.0 + f * ((0x1.62e42fefa39efp-1 + f * 0x1.ebfbdff82c58fp-3) + (pc_f64)p)) * up);
  y = none ? 0.0f : y;
  return x >= 128.0f ? __builtin_inff() : y;
}

/* 2^r - 1 for |r| <= 1/2, of which no digits are lost near 0. Polynomial of degree 7, error 2^-32. */
PC_INLINE pc_f64 pc_exp2m1_short_f64(pc_f64 r) {
  pc_f64 r2 = r * r, p01 = 0x1.62e42fefd33e0p-1 + r * 0x1.ebfbe04546f80p-3, p23 = 0x1.c6b08cb13a0a7p-5 + r * 0x1.3b2a1c16cf39cp-7;
  pc_f64 p45 = 0x1.5d88bdcdcc0e8p-10 + r * 0x1.443f81ee34482p-13;
  return r * ((p01 + r2 * p23) + (r2 * r2) * (p45 + r2 * 0x1.ffcbe6dabd492p-17));
}

/* e^x - 1; keeps the sign of zero. */
PC_INLINE pc_f32 pc_expm1_f32(pc_f32 x) {
  pc_power_short_f64 p = pc_power_short_of_f64((pc_f64)x * PC_LOG2E_F64);
  pc_f32 y = (pc_f32)((p.up - 1.0) + p.up * pc_exp2m1_short_f64(p.r));
  y = x > 89.0f ? __builtin_inff() : y;
  y = x < -20.0f ? -1.0f : y;
  return pc_from_bits_f32(pc_bits_f32(y) | pc_sign_f32(x));
}

/* ln(1 - e^x) for x <= 0; 0 gives -inf, a positive number NaN. Below -12 two terms of the series are enough, and 1 - e^x has too few digits. */
PC_INLINE pc_f32 pc_log1mexp_f32(pc_f32 x) {
  pc_f32 c = x < -104.0f ? -104.0f : x;
  pc_power_short_f64 p = pc_power_short_of_f64((pc_f64)c * PC_LOG2E_F64);
  pc_f64 m = pc_exp2m1_short_f64(p.r), up = x < -104.0f ? 0.0 : p.up, u = (1.0 - up) - up * m, e = up * (1.0 + m);
  pc_f64 y = x < -12.0f ? -(e + 0.5 * (e * e)) : pc_ln_short_f64(u);
  y = x == 0.0f ? -__builtin_inf() : y;
  return x <= 0.0f ? (pc_f32)y : __builtin_nanf("");
}

#endif
