/* precast/ops/math/f32/arc.h: the arc sine and the arc cosine of f32.
 *
 * As of f64: asin s = s + s z P(z), z = s^2; beyond 9/16 asin a = pi/2 - 2 asin s with s = sqrt((1 - a) / 2). P is 1/8, whose product is
 * exact, and the rest. The root is a pair, whose second part needs few digits: 1 / (2s) is made of bits, to 5 %. */
#ifndef PRECAST_OPS_MATH_F32_ARC_H
#define PRECAST_OPS_MATH_F32_ARC_H

#include <precast/ops/math/f32/short.h>

/* asin a = most + tail; for a > 9/16 it is that of the root s, and twice / 2 is left. P has degree 6, error 2^-30.7. */
typedef struct pc_arc_f32 {
  pc_f32 most, tail, twice;
  int far;
} pc_arc_f32;

PC_INLINE pc_arc_f32 pc_arc_of_f32(pc_f32 a) {
  int far = a > 0.5625f;
  pc_f32 w = 0.5f - 0.5f * a, root = __builtin_sqrtf(w), head = pc_head_f32(root);
  pc_f32 twice = ((w - head * head) - (root - head) * (root + head)) * pc_from_bits_f32(0x7ef6c000u - pc_bits_f32(root));
  pc_f32 c = a < 0x1p-30f ? 0.0f : a, z = far ? w : c * c, s = far ? root : a, z2 = z * z; /* no subnormal square */
  pc_f32 p12 = 0x1.33302cp-4f + z * 0x1.6e5532p-5f, p34 = 0x1.e29e84p-6f + z * 0x1.cffb28p-6f;
  pc_f32 p56 = -0x1.72504cp-9f + z * 0x1.77e0bcp-5f, p = 0x1.555568p-5f + z * (p12 + z2 * (p34 + z2 * p56));
  pc_f32 cube = s * z, eighth = 0.125f * cube, most = s + eighth;
  pc_arc_f32 out = {most, ((s - most) + eighth) + cube * p, twice, far};
  return out;
}

/* The arc sine; keeps the sign of zero; NaN outside of [-1, 1]. */
PC_INLINE pc_f32 pc_asin_f32(pc_f32 x) {
  pc_arc_f32 r = pc_arc_of_f32(pc_magnitude_f32(x));
  pc_f32 b = r.most + r.most, y = 0x1.921fb6p+0f - b, rest = ((0x1.921fb6p+0f - y) - b) - (r.twice + 0x1.777a5cp-25f);
  y = r.far ? y + (rest - (r.tail + r.tail)) : r.most + r.tail;
  return pc_signed_f32(y, pc_sign_f32(x));
}

/* The arc cosine, in [0, pi]; NaN outside of [-1, 1]. */
PC_INLINE pc_f32 pc_acos_f32(pc_f32 x) {
  pc_arc_f32 r = pc_arc_of_f32(pc_magnitude_f32(x));
  pc_f32 base = x < 0.0f ? 0x1.921fb6p+1f : 0.0f, last = x < 0.0f ? -0x1.777a5cp-24f : 0.0f;
  uint32_t sign = pc_sign_f32(x) ^ (r.far ? 0u : 0x80000000u);
  base = r.far ? base : 0x1.921fb6p+0f;
  last = r.far ? last : -0x1.777a5cp-25f;
  pc_f32 b = pc_signed_f32(r.far ? r.most + r.most : r.most, sign), y = base + b;
  pc_f32 rest = pc_signed_f32(r.far ? (r.tail + r.tail) + r.twice : r.tail, sign);
  return y + (((base - y) + b) + (last + rest));
}

#endif
