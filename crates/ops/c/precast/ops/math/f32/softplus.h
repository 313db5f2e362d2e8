/* precast/ops/math/f32/softplus.h: ln(1 + e^x) of f32, in f64, from e^-|x|. */
#ifndef PRECAST_OPS_MATH_F32_SOFTPLUS_H
#define PRECAST_OPS_MATH_F32_SOFTPLUS_H

#include <precast/ops/math/f32/short.h>

/* e^-|x|; 0 where it is too small for f32. */
PC_INLINE pc_f64 pc_exp_down_short_f64(pc_f32 x) {
  pc_f32 f = pc_magnitude_f32(x);
  pc_power_short_f64 p = pc_power_short_of_f64(-(pc_f64)(f > 104.5f ? 104.5f : f) * PC_LOG2E_F64);
  return pc_exp2_short_f64(p.r) * (f > 104.0f ? 0.0 : p.up);
}

/* ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|). */
PC_INLINE pc_f32 pc_softplus_f32(pc_f32 x) {
  pc_f64 e = pc_exp_down_short_f64(x), y = e < 0x1p-20 ? e - 0.5 * (e * e) : pc_ln_short_f64(1.0 + e);
  y = (x > 0.0f ? (pc_f64)x : 0.0) + y;
  return x == x ? (pc_f32)y : x;
}

#endif
