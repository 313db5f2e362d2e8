/* precast/ops/math/atan.h: the angle of a point, and the arc tangent.
 *
 * The angle of (d, n) is one of five multiples of pi / 4 and the arc tangent of a quotient of at most tan(pi / 8), which a
 * polynomial gives; quotient and multiple are pairs. */
#ifndef PRECAST_OPS_MATH_ATAN_H
#define PRECAST_OPS_MATH_ATAN_H

#include <precast/ops/math/f32/atan.h>
#include <precast/ops/math/pair.h>

/* The angle of the point (d, n), or with `left` of (-d, n), in [0, pi]; n, d >= 0, neither inf, not both 0. */
PC_INLINE pc_pair_f64 pc_angle_f64(pc_f64 n, pc_f64 d, int left) {
  int steep = n > d * 0x1.3504f333f9de6p+1, middle = n > d * 0x1.a827999fcef32p-2;
  pc_f64 less = middle ? d : 0.0, more = middle ? n : 0.0;
  pc_pair_f64 num = pc_sum_f64(steep ? -d : n, steep ? 0.0 : -less);
  pc_pair_f64 den = pc_sum_f64(steep ? n : d, steep ? 0.0 : more);
  pc_f64 q = num.hi / den.hi;
  pc_pair_f64 product = pc_product_f64(q, den.hi);
  pc_f64 rest = ((num.hi - product.hi) - product.lo) + (num.lo - q * den.lo);
  pc_pair_f64 t = {q, pc_magnitude_f64(q) < 0x1p-60 ? 0.0 : rest / den.hi}; /* a tiny quotient is exact as it is */
  pc_f64 z = t.hi * t.hi, z2 = z * z, z4 = z2 * z2;
  pc_f64 p01 = -0x1.5555555555554p-2 + z * 0x1.9999999999664p-3;
  pc_f64 p23 = -0x1.249249247603bp-3 + z * 0x1.c71c71b785ea4p-4;
  pc_f64 p45 = -0x1.745d14c0bd81ep-4 + z * 0x1.3b136eb49d6d7p-4;
  pc_f64 p67 = -0x1.110c7980d1f01p-4 + z * 0x1.e17271f7a6b40p-5;
  pc_f64 p89 = -0x1.ab8001a2c4b52p-5 + z * 0x1.70f63acc4c98cp-5;
  pc_f64 pab = -0x1.124a1cdc71725p-5 + z * 0x1.f22aa4de43542p-7;
  pc_f64 p = ((p01 + z2 * p23) + z4 * (p45 + z2 * p67)) + (z4 * z4) * (p89 + z2 * pab);
  pc_f64 tail = t.lo + t.hi * (z * p), head = t.hi;
  tail = left ? -tail : tail;
  head = left ? -head : head;
  pc_f64 flat_hi = left ? 0x1.921fb54442d18p+1 : 0.0, flat_lo = left ? 0x1.1a62633145c07p-53 : 0.0;
  pc_f64 middle_hi = left ? 0x1.2d97c7f3321d2p+1 : 0x1.921fb54442d18p-1;
  pc_f64 middle_lo = left ? 0x1.a79394c9e8a0ap-54 : 0x1.1a62633145c07p-55;
  pc_f64 hi = steep ? 0x1.921fb54442d18p+0 : (middle ? middle_hi : flat_hi);
  pc_f64 lo = steep ? 0x1.1a62633145c07p-54 : (middle ? middle_lo : flat_lo);
  pc_pair_f64 s = pc_sum_ordered_f64(hi, head);
  return pc_sum_ordered_f64(s.hi, s.lo + (lo + tail));
}

/* The arc tangent, in [-pi/2, pi/2]; keeps the sign of zero. */
PC_INLINE pc_f64 pc_atan_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x);
  a = a > 0x1p60 ? 0x1p60 : a;
  return pc_signed_f64(pc_angle_f64(a, 1.0, 0).hi, pc_sign_f64(x));
}

/* The angle of the point (x, y) in [-pi, pi], with the signs of zeros and the infinities of C99; to about 2^-58. */
PC_INLINE pc_pair_f64 pc_atan2_pair_f64(pc_f64 y, pc_f64 x) {
  pc_f64 n = pc_magnitude_f64(y), d = pc_magnitude_f64(x), most = n > d ? n : d;
  pc_f64 scale = most > 0x1p600 ? 0x1p-100 : (most < 0x1p-600 ? 0x1p600 : 1.0);
  int infinite = most == __builtin_inf(), origin = most == 0.0;
  pc_f64 n1 = infinite ? (n == most ? 1.0 : 0.0) : n * scale;
  pc_f64 d1 = infinite ? (d == most ? 1.0 : 0.0) : d * scale;
  pc_pair_f64 a = pc_angle_f64(n1, origin ? 1.0 : d1, pc_sign_f64(x) != 0);
  a.hi = (x != x) | (y != y) ? x + y : a.hi;
  pc_pair_f64 out = {pc_signed_f64(a.hi, pc_sign_f64(y)), pc_signed_f64(a.lo, pc_sign_f64(y))};
  return out;
}

/* The same, rounded. */
PC_INLINE pc_f64 pc_atan2_f64(pc_f64 y, pc_f64 x) { return pc_atan2_pair_f64(y, x).hi; }

#endif
