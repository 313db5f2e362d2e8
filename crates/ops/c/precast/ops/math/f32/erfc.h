/* precast/ops/math/f32/erfc.h: 1 - erf x of f32, in f64: e^(-x^2) F(t), t = (x - 3) / (x + 3), for all x >= 0, and 2 less that. */
#ifndef PRECAST_OPS_MATH_F32_ERFC_H
#define PRECAST_OPS_MATH_F32_ERFC_H

#include <precast/ops/math/f32/short.h>

/* F: e^(x^2) erfc x for 0 <= x <= 10.1875. Degree 10, error 2^-29.4. */
PC_INLINE pc_f64 pc_erfc_factor_short_f64(pc_f64 x) {
  pc_f64 t = (x - 3.0) * pc_inverse_short_f64(x + 3.0), t2 = t * t, t4 = t2 * t2;
  pc_f64 f01 = 0x1.6e9827d50652cp-3 + t * -0x1.4e102bddfece5p-2, f23 = 0x1.f6ff1fb1cea86p-3 + t * -0x1.336fe729f8a77p-3;
  pc_f64 f45 = 0x1.258b1afd7d527p-4 + t * -0x1.8facd34310e69p-6, f67 = 0x1.17c3d7f197fb7p-8 + t * 0x1.773ff792e1f7dp-11;
  pc_f64 f89 = -0x1.37b994a1a4859p-11 + t * 0x1.e483a71fec035p-16;
  return ((f01 + t2 * f23) + t4 * (f45 + t2 * f67)) + (t4 * t4) * (f89 + t2 * 0x1.d50c595d90f4fp-15);
}

/* 1 - erf x for 0 <= x <= 10.1875; 0 from 10.125 on, and so no number too small for f32 is rounded. */
PC_INLINE pc_f64 pc_erfc_short_f64(pc_f64 x) {
  pc_power_short_f64 p = pc_power_short_of_f64(-(x * x) * PC_LOG2E_F64);
  return (pc_exp2_short_f64(p.r) * pc_erfc_factor_short_f64(x)) * (x > 10.125 ? 0.0 : p.up);
}

/* 1 - erf x, down to the subnormals; 2 far to the left. */
PC_INLINE pc_f32 pc_erfc_f32(pc_f32 x) {
  pc_f32 f = pc_magnitude_f32(x);
  pc_f64 y = pc_erfc_short_f64((pc_f64)(f > 10.1875f ? 10.1875f : f));
  return (pc_f32)(x < 0.0f ? 2.0 - y : y);
}

#endif
