/* precast/ops/math/f32/atan.h: the arc tangent of f32 and the angle of a point, in f64.
 *
 * As of f64: one of five multiples of pi / 4 and the arc tangent of a quotient of at most tan(pi / 8). */
#ifndef PRECAST_OPS_MATH_F32_ATAN_H
#define PRECAST_OPS_MATH_F32_ATAN_H

#include <precast/ops/math/f32/short.h>

/* The angle of the point (d, n) in [0, pi / 2]; n, d >= 0, not both 0, the larger one between 2^-60 and 2^60. Degree 4, error 2^-30.5. */
PC_INLINE pc_f64 pc_angle_short_f64(pc_f64 n, pc_f64 d) {
  int steep = n > d * 0x1.3504f333f9de6p+1, middle = n > d * 0x1.a827999fcef32p-2;
  pc_f64 over = middle ? n - d : n, under = middle ? n + d : d, base = middle ? 0x1.921fb54442d18p-1 : 0.0;
  over = steep ? -d : over;
  under = steep ? n : under;
  base = steep ? 0x1.921fb54442d18p+0 : base;
  pc_f64 q = over * pc_inverse_short_f64(under), z = q * q, z2 = z * z;
  pc_f64 p01 = -0x1.5555495074de1p-2 + z * 0x1.9991a6d9cffe7p-3, p23 = -0x1.23b6364b7ed47p-3 + z * 0x1.b1fa12c6e34b0p-4;
  return base + q * (1.0 + z * (p01 + z2 * (p23 + z2 * -0x1.f22af9d8cbaa7p-5)));
}

/* The arc tangent, in [-pi/2, pi/2]; keeps the sign of zero. */
PC_INLINE pc_f32 pc_atan_f32(pc_f32 x) {
  pc_f32 a = pc_magnitude_f32(x);
  a = a > 0x1p60f ? 0x1p60f : a;
  return pc_signed_f32((pc_f32)pc_angle_short_f64((pc_f64)a, 1.0), pc_sign_f32(x));
}

/* The angle of the point (x, y) in [-pi, pi], with the signs of zeros and the infinities of C99. The larger of both is brought to
 * between 1 and 2 first. */
PC_INLINE pc_f32 pc_atan2_f32(pc_f32 y, pc_f32 x) {
  pc_f32 ax = pc_magnitude_f32(x), ay = pc_magnitude_f32(y), most = ay > ax ? ay : ax;
  pc_f64 n = (pc_f64)ay, d = (pc_f64)ax, m = (pc_f64)most;
  pc_f64 scale = pc_from_bits_f64(0x7fe0000000000000u - (pc_bits_f64(m) & 0x7ff0000000000000u));
  int infinite = most == __builtin_inff(), origin = most == 0.0f;
  pc_f64 n1 = infinite ? (ay == most ? 1.0 : 0.0) : n * scale, d1 = infinite ? (ax == most ? 1.0 : 0.0) : d * scale;
  pc_f64 a = pc_angle_short_f64(n1, origin ? 1.0 : d1);
  a = pc_sign_f32(x) != 0 ? 0x1.921fb54442d18p+1 - a : a;
  pc_f32 z = pc_signed_f32((pc_f32)a, pc_sign_f32(y));
  return (x != x) | (y != y) ? x + y : z;
}

#endif
