/* precast/ops/math/atan.h: the angle of a point, and the arc tangent.
 *
 * The angle of (d, n) is one of five multiples of pi / 4 and the arc tangent of a quotient of at most 1/2, which a polynomial gives. The
 * rounding error of the quotient is added; where it is the difference to a multiple that is not 0, so is the error of its divisor. */
#ifndef PRECAST_OPS_MATH_ATAN_H
#define PRECAST_OPS_MATH_ATAN_H

#include <precast/ops/math/f32/atan.h>
#include <precast/ops/math/pair.h>

/* atan t - t for |t| <= 1/2. Polynomial of degree 11, error 4.1e-18. */
PC_INLINE pc_f64 pc_atan_tail_f64(pc_f64 t) {
  pc_f64 z = t * t, z2 = z * z, z4 = z2 * z2;
  pc_f64 p01 = -0x1.5555555555517p-2 + z * 0x1.99999999912afp-3, p23 = -0x1.24924921633b8p-3 + z * 0x1.c71c709232b13p-4;
  pc_f64 p45 = -0x1.745cf4e296ca7p-4 + z * 0x1.3b113ecaa732cp-4, p67 = -0x1.10f326ac014d7p-4 + z * 0x1.dfe9bdfb6db2fp-5;
  pc_f64 p89 = -0x1.a3992a9e82a4bp-5 + z * 0x1.56f6e3dd344edp-5, pab = -0x1.c1809de727a4bp-6 + z * 0x1.4b81da9068091p-7;
  return t * (z * ((p01 + z2 * p23) + z4 * ((p45 + z2 * p67) + z4 * (p89 + z2 * pab))));
}

/* One half, one whole or no pi / 2: its bits where `up` is all bits, and twice the number where `steep` is. */
PC_INLINE pc_f64 pc_angle_part_f64(pc_f64 part, uint64_t up, uint64_t steep) {
  return pc_from_bits_f64((pc_bits_f64(part) & up) + (0x0010000000000000u & steep));
}

/* Returns the angle of the point (d, n), or with a sign in `left` of (-d, n), in [0, pi]; n, d >= 0, none above 2^1000, not both 0. Choices
 * are made by masks: gcc duplicates the code after a choice of constants. */
PC_INLINE pc_f64 pc_angle_f64(pc_f64 n, pc_f64 d, uint64_t left) {
  uint64_t up = -(uint64_t)(n + n > d), steep = -(uint64_t)(n > d + d), turned = (uint64_t)((int64_t)left >> 63);
  pc_f64 first = pc_masked_f64(d, ~steep), more = pc_masked_f64(n, up), den = first + more, lost = more - (den - first);
  pc_f64 num = pc_signed_f64(pc_masked_f64(n, ~steep) - pc_masked_f64(d, up), left);
  pc_f64 t = num / den, head = pc_head_f64(t), tail = t - head, divisor = pc_head_f64(den), other = (den - divisor) + lost;
  pc_f64 rest = (((num - head * divisor) - tail * divisor) - head * other) - tail * other;
  rest = rest * pc_near_inverse_f64(den);
  rest = pc_magnitude_f64(t) < 0x1p-60 ? 0.0 : rest; /* a tiny quotient needs no rest */
  pc_f64 base = pc_signed_f64(pc_angle_part_f64(0x1.921fb54442d18p-1, up, steep), left) + pc_masked_f64(0x1.921fb54442d18p+1, turned);
  pc_f64 low = pc_signed_f64(pc_angle_part_f64(0x1.1a62633145c07p-55, up, steep), left) + pc_masked_f64(0x1.1a62633145c07p-53, turned);
  pc_pair_f64 s = pc_sum_ordered_f64(base, t);
  return s.hi + (s.lo + ((low + rest) + pc_atan_tail_f64(t)));
}

/* The arc tangent, in [-pi/2, pi/2]; keeps the sign of zero. */
PC_INLINE pc_f64 pc_atan_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x);
  a = a > 0x1p60 ? 0x1p60 : a;
  uint64_t up = -(uint64_t)(a > 0.5), steep = -(uint64_t)(a > 2.0);
  pc_f64 first = pc_masked_f64(1.0, ~steep), more = pc_masked_f64(a, up), den = first + more, lost = more - (den - first);
  pc_f64 num = pc_masked_f64(a, ~steep) - pc_masked_f64(1.0, up);
  pc_f64 y = 1.0 / den, t = num * y, head = pc_head_f64(t), divisor = pc_head_f64(den);
  pc_f64 rest = ((num - head * divisor) - head * ((den - divisor) + lost)) * y;
  pc_pair_f64 s = pc_sum_ordered_f64(pc_angle_part_f64(0x1.921fb54442d18p-1, up, steep), head);
  pc_f64 low = s.lo + pc_angle_part_f64(0x1.1a62633145c07p-55, up, steep);
  return pc_signed_f64(s.hi + ((low + rest) + pc_atan_tail_f64(t)), pc_sign_f64(x));
}

/* The angle of the point (x, y) in [-pi, pi], with the signs of zeros and the infinities of C99. The larger of both is scaled to [2, 4), or to 0
 * if it is infinite; then those that are count as 1. */
PC_INLINE pc_f64 pc_atan2_f64(pc_f64 y, pc_f64 x) {
  const pc_f64 inf = __builtin_inf();
  pc_f64 n = pc_magnitude_f64(y), d = pc_magnitude_f64(x), most = n > d ? n : d;
  pc_f64 scale = pc_unscale_f64(most), n1 = n * scale, d1 = d * scale;
  n1 = n == inf ? 1.0 : n1;
  d1 = d == inf ? 1.0 : d1;
  return pc_signed_f64(pc_angle_f64(n1, d1 + 0x1p-900, pc_sign_f64(x)), pc_sign_f64(y)); /* of the origin as well */
}

#endif
