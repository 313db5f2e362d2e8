/* precast/ops/math/f32/arc.h: the arc sine and the arc cosine of f32, in f64.
 *
 * As of f64: asin s = s + s z P(z), z = s^2 up to 1/4; beyond, asin a = pi/2 - 2 asin s with s = sqrt((1 - a) / 2). */
#ifndef PRECAST_OPS_MATH_F32_ARC_H
#define PRECAST_OPS_MATH_F32_ARC_H

#include <precast/ops/math/f32/short.h>

/* asin s, where s is a, or for a > 1/2 the root. P has degree 5, error 2^-31.7. */
PC_INLINE pc_f64 pc_asin_short_f64(pc_f64 a) {
  pc_f64 w = (1.0 - a) * 0.5, root = pc_root_short_f64(w), z = a > 0.5 ? w : a * a, s = a > 0.5 ? root : a, z2 = z * z;
  pc_f64 p01 = 0x1.55554c303e346p-3 + z * 0x1.333891eee192dp-4, p23 = 0x1.6cabb55f50f20p-5 + z * 0x1.04ab03bf27c5bp-5;
  pc_f64 p45 = 0x1.d7a7a0db139f3p-7 + z * 0x1.33d7422f40bebp-5;
  return s + s * (z * (p01 + z2 * (p23 + z2 * p45)));
}

/* The arc sine; keeps the sign of zero; NaN outside of [-1, 1]. */
PC_INLINE pc_f32 pc_asin_f32(pc_f32 x) {
  pc_f64 a = (pc_f64)pc_magnitude_f32(x), y = pc_asin_short_f64(a);
  y = a > 0.5 ? 0x1.921fb54442d18p+0 - (y + y) : y;
  return pc_signed_f32((pc_f32)y, pc_sign_f32(x));
}

/* The arc cosine, in [0, pi]; NaN outside of [-1, 1]. */
PC_INLINE pc_f32 pc_acos_f32(pc_f32 x) {
  pc_f64 a = (pc_f64)pc_magnitude_f32(x), y = pc_asin_short_f64(a), turned = pc_signed_f64(y, pc_sign_f64((pc_f64)x));
  pc_f64 far = x < 0.0f ? 0x1.921fb54442d18p+1 - (y + y) : y + y;
  return (pc_f32)(a > 0.5 ? far : 0x1.921fb54442d18p+0 - turned);
}

#endif
