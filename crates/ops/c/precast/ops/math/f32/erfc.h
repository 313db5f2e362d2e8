/* precast/ops/math/f32/erfc.h: 1 - erf x of f32, in f64: e^(-x^2) F(t), t = (x - 3) / (x + 3), for all x >= 0, and 2 less that. */
#ifndef PRECAST_OPS_MATH_F32_ERFC_H
#define PRECAST_OPS_MATH_F32_ERFC_H

#include <precast/ops/math/f32/short.h>

/* 1 - erf x, down to the subnormals; 2 far to the left. F has degree 10, error 2^-29.4. */
PC_INLINE pc_f32 pc_erfc_f32(pc_f32 x) {
  pc_f32 f = pc_magnitude_f32(x);
  pc_f64 a = (pc_f64)(f > 10.1875f ? 10.1875f : f);
  pc_f64 t = (a - 3.0) * pc_inverse_short_f64(a + 3.0), t2 = t * t, t4 = t2 * t2;
  pc_f64 f01 = 0x1.6e9827d50652cp-3 + t * -0x1.4e102bddfece5p-2, f23 = 0x1.f6ff1fb1cea86p-3 + t * -0x1.336fe729f8a77p-3;
  pc_f64 f45 = 0x1.258b1afd7d527p-4 + t * -0x1.8facd34310e69p-6, f67 = 0x1.17c3d7f197fb7p-8 + t * 0x1.773ff792e1f7dp-11;
  pc_f64 f89 = -0x1.37b994a1a4859p-11 + t * 0x1.e483a71fec035p-16;
  pc_f64 g = ((f01 + t2 * f23) + t4 * (f45 + t2 * f67)) + (t4 * t4) * (f89 + t2 * 0x1.d50c595d90f4fp-15);
  pc_power_short_f64 p = pc_power_short_of_f64(-(a * a) * PC_LOG2E_F64);
  pc_f64 y = (pc_exp2_short_f64(p.r) * g) * (f > 10.125f ? 0.0 : p.up); /* and so no number too small for f32 is rounded */
  return (pc_f32)(x < 0.0f ? 2.0 - y : y);
}

#endif
