/* precast/ops/math/f32/atan.h: the arc tangent of f32 and the angle of a point.
 *
 * With n the smaller and d the larger one, atan(n / d) is the arc tangent of a quotient of at most 1/4, or that of 1/2 and the one of
 * (n - d / 2) / (d + n / 2), at most 1/3: atan q = q + q z P(z), z = q^2. Terms that are not small beside the result are pairs. */
#ifndef PRECAST_OPS_MATH_F32_ATAN_H
#define PRECAST_OPS_MATH_F32_ATAN_H

#include <precast/ops/math/f32/short.h>

/* The arc tangent of n / d with the sign `sign`, less that of 1/2 if n > d / 4, which `middle` says: hi has 12 bits. 0 <= n <= d, n is 0 or
 * at least 2^-60, d at most 2^60. P has degree 4, error 2^-33.9. */
typedef struct pc_angle_f32 {
  pc_f32 hi, lo;
  int middle;
} pc_angle_f32;

PC_INLINE pc_angle_f32 pc_angle_of_f32(pc_f32 n, pc_f32 d, uint32_t sign) {
  int middle = n > 0.25f * d;
  pc_f32 by = middle ? 0.5f : 0.0f, part = by * n, over = pc_signed_f32(n - by * d, sign), under = d + part, lost = part - (under - d);
  pc_f32 y = 1.0f / under, q = over * y, z = q * q, z2 = z * z, hi = pc_head_f32(q), a = pc_head_f32(under);
  pc_f32 lo = ((over - hi * a) - hi * ((under - a) + lost)) * y;
  pc_f32 p = (-0x1.555554p-2f + z * 0x1.999828p-3f) + z2 * ((-0x1.2452eep-3f + z * 0x1.bd9418p-4f) + z2 * -0x1.1f0eb4p-4f);
  pc_angle_f32 out = {hi, lo + ((hi + lo) * z) * p, middle};
  return out;
}

/* The arc tangent, in [-pi/2, pi/2]; keeps the sign of zero. */
PC_INLINE pc_f32 pc_atan_f32(pc_f32 x) {
  const uint32_t least = 0x38800000u, most = 0x5d800000u; /* 2^-14, 2^60 */
  uint32_t u = pc_bits_f32(x) & 0x7fffffffu, c = u > least ? u : least;
  pc_f32 a = pc_from_bits_f32(c < most ? c : most);
  int steep = u > 0x3f800000u;
  pc_angle_f32 r = pc_angle_of_f32(steep ? 1.0f : a, steep ? a : 1.0f, steep ? 0x80000000u : 0);
  pc_f32 hi = r.middle ? 0x1.dac670p-2f : 0.0f, lo = r.middle ? 0x1.586ed4p-28f : 0.0f; /* atan 1/2 */
  pc_f32 more = r.middle ? 0x1.1b6e1ap+0f : 0x1.921fb6p+0f, rest = r.middle ? -0x1.a28838p-25f : -0x1.777a5cp-25f;
  hi = steep ? more : hi;
  lo = steep ? rest : lo;
  pc_f32 s = hi + r.hi, y = s + (((hi - s) + r.hi) + (lo + r.lo));
  y = u > least ? y : pc_from_bits_f32(u);
  y = u > 0x7f800000u ? x : y;
  return pc_from_bits_f32(pc_bits_f32(y) | pc_sign_f32(x));
}

/* The angle of the point (x, y) in [-pi, pi], with the signs of zeros and the infinities of C99. The larger of both is brought to
 * between 2 and 4 first; where the angle is small, it is the quotient. The first part of pi and of the angle whose tangent is 1/2 are
 * multiples of 2^-18, so that their sums are exact. */
PC_INLINE pc_f32 pc_atan2_f32(pc_f32 y, pc_f32 x) {
  const uint32_t top = 0x7f800000u, highest = 0x7f000000u;
  uint32_t ux = pc_bits_f32(x) & 0x7fffffffu, uy = pc_bits_f32(y) & 0x7fffffffu, left = pc_sign_f32(x);
  uint32_t most = ux > uy ? ux : uy, least = ux > uy ? uy : ux, up = top - (most & top); /* 0 for inf */
  int steep = uy > ux;
  pc_f32 by = pc_from_bits_f32(up < highest ? up : highest);
  pc_f32 d = pc_from_bits_f32(most > 1u ? most : 1u) * by, n = pc_from_bits_f32(least) * by;
  d = most == top ? 1.0f : d;
  n = least == top ? 1.0f : n;
  uint32_t turn = (steep ? 0x80000000u : 0) ^ left;
  pc_angle_f32 r = pc_angle_of_f32(n, d, turn);
  pc_f32 base = left != 0 ? 0x1.921fc0p+1f : 0.0f, rest = left != 0 ? -0x1.5777a6p-20f : 0.0f;
  base = steep ? 0x1.921fc0p+0f : base;
  rest = steep ? -0x1.5777a6p-21f : rest;
  base = base + pc_signed_f32(r.middle ? 0x1.dac600p-2f : 0.0f, turn);
  rest = rest + pc_signed_f32(r.middle ? 0x1.c1586ep-20f : 0.0f, turn);
  pc_f32 s = base + r.hi, z = s + (((base - s) + r.hi) + (rest + r.lo));
  pc_f32 small = pc_magnitude_f32(y) / x;
  z = (small < 0x1p-14f) & (left == 0) ? small : z;
  z = pc_signed_f32(z, pc_sign_f32(y));
  return most > top ? x + y : z;
}

#endif
