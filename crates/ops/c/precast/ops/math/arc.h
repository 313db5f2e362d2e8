/* precast/ops/math/arc.h: the arc sine and the arc cosine.
 *
 * asin s = s + s z P(z), z = s^2 up to 1/4; beyond, asin a = pi/2 - 2 asin s with s = sqrt((1 - a) / 2) and the rounding error of that root. */
#ifndef PRECAST_OPS_MATH_ARC_H
#define PRECAST_OPS_MATH_ARC_H

#include <precast/ops/math/f32/arc.h>
#include <precast/ops/math/pair.h>

/* asin s - s for s = sqrt z <= 1/2. */
PC_INLINE pc_f64 pc_asin_tail_f64(pc_f64 s, pc_f64 z) {
  pc_f64 z2 = z * z, z4 = z2 * z2;
  pc_f64 p01 = 0x1.555555555538ep-3 + z * 0x1.333333336f085p-4;
  pc_f64 p23 = 0x1.6db6db420b3f2p-5 + z * 0x1.f1c72c614f607p-6;
  pc_f64 p45 = 0x1.6e89f03412e82p-6 + z * 0x1.1c6c2159d7528p-6;
  pc_f64 p67 = 0x1.c6f8b3e10499ep-7 + z * 0x1.8ee4c8f41a407p-7;
  pc_f64 p89 = 0x1.aaa765ba4552ep-8 + z * 0x1.40c0d248f7bf5p-6;
  pc_f64 pab = -0x1.0b15425abb02ap-6 + z * 0x1.05dc31cfd8b5bp-5;
  pc_f64 p = ((p01 + z2 * p23) + z4 * (p45 + z2 * p67)) + (z4 * z4) * (p89 + z2 * pab);
  return s * (z * p);
}

/* Returns the root of z >= 0, at most 1/4, and its rounding error to a hundredth: the remainder over twice the root. */
PC_INLINE pc_pair_f64 pc_arc_root_f64(pc_f64 z) {
  pc_f64 root = __builtin_sqrt(z), head = pc_head_f64(root), twice = root + root, y = pc_near_inverse_f64(twice);
  pc_f64 rest = (z - head * head) - (root - head) * (root + head);
  pc_pair_f64 out = {root, rest * (y * (2.0 - twice * y))};
  return out;
}

/* The arc sine; keeps the sign of zero; NaN outside of [-1, 1]. */
PC_INLINE pc_f64 pc_asin_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x), half = (1.0 - a) * 0.5;
  int far = a > 0.5;
  pc_pair_f64 root = pc_arc_root_f64(half);
  pc_f64 s = far ? root.hi : a, tail = pc_asin_tail_f64(s, far ? half : a * a);
  pc_pair_f64 w = pc_sum_ordered_f64(0x1.921fb54442d18p+0, -(root.hi + root.hi));
  pc_f64 beyond = w.hi + (w.lo + (0x1.1a62633145c07p-54 - 2.0 * (root.lo + tail)));
  return pc_signed_f64(far ? beyond : a + tail, pc_sign_f64(x));
}

/* The arc cosine, in [0, pi]; NaN outside of [-1, 1]. */
PC_INLINE pc_f64 pc_acos_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x), half = (1.0 - a) * 0.5;
  int far = a > 0.5;
  pc_pair_f64 root = pc_arc_root_f64(half);
  pc_f64 r = far ? root.hi : a, tail = pc_asin_tail_f64(r, far ? half : a * a) + (far ? root.lo : 0.0);
  /* pi/2 - asin x; far out twice asin s, to the left taken from pi: a base of pi/2, twice that or none, and a sign. */
  uint64_t left = (uint64_t)((int64_t)pc_bits_f64(x) >> 63), away = -(uint64_t)far, some = ~away | left, twice = away & 0x0010000000000000u;
  uint64_t sign = ~(away ^ left) & 0x8000000000000000u;
  pc_f64 s = far ? r + r : r, t = far ? tail + tail : tail;
  pc_f64 hi = pc_from_bits_f64((0x3ff921fb54442d18u + twice) & some), lo = pc_from_bits_f64((0x3c91a62633145c07u + twice) & some);
  s = pc_signed_f64(s, sign);
  t = pc_signed_f64(t, sign);
  pc_pair_f64 w = pc_sum_ordered_f64(hi, s);
  return w.hi + (w.lo + (lo + t));
}

#endif
