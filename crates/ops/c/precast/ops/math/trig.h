/* precast/ops/math/trig.h: sine, cosine and tangent of any finite angle. turn.h takes off the quarter turns.
 *
 * sin r = r + r z P(z), cos r = 1 - z/2 + z^2 Q(z), z = r^2; tan is a quotient of polynomials, as pairs. */
#ifndef PRECAST_OPS_MATH_TRIG_H
#define PRECAST_OPS_MATH_TRIG_H

#include <precast/ops/math/f32/trig.h>
#include <precast/ops/math/sigmoid.h>
#include <precast/ops/math/turn.h>

/* Returns sin(hi + lo) - hi. */
PC_INLINE pc_f64 pc_sin_tail_f64(pc_f64 hi, pc_f64 lo) {
  pc_f64 z = hi * hi, z2 = z * z;
  pc_f64 p01 = -0x1.5555555555549p-3 + z * 0x1.111111110f869p-7;
  pc_f64 p23 = -0x1.a01a019c0f17ap-13 + z * 0x1.71de357550934p-19;
  pc_f64 p45 = -0x1.ae5e64349b7bfp-26 + z * 0x1.5d926189b476ap-33;
  return hi * (z * ((p01 + z2 * p23) + (z2 * z2) * p45)) + (lo - 0.5 * z * lo);
}

/* Returns cos(hi + lo). */
PC_INLINE pc_pair_f64 pc_cos_pair_f64(pc_f64 hi, pc_f64 lo) {
  pc_f64 z = hi * hi, z2 = z * z, half = 0.5 * z, w = 1.0 - half;
  pc_f64 q01 = 0x1.555555555554cp-5 - z * 0x1.6c16c16c15163p-10;
  pc_f64 q23 = 0x1.a01a019caefdcp-16 - z * 0x1.27e4f807dccd6p-22;
  pc_f64 q45 = 0x1.1ee9ea70e148bp-29 - z * 0x1.8fadd266e04a4p-37;
  pc_f64 q = z2 * ((q01 + z2 * q23) + (z2 * z2) * q45);
  return pc_sum_ordered_f64(w, ((1.0 - w) - half) + (q - hi * lo));
}

/* Returns |x|, or 0 instead of a number with a subnormal square: below 2^-27 the functions are x or 1. */
PC_INLINE pc_f64 pc_turn_operand_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x);
  return a < 0x1p-27 ? 0.0 : a;
}

/* The functions of x, an angle that was reduced to r. */
PC_INLINE pc_f64 pc_sin_reduced_f64(pc_f64 x, pc_turn_f64 r) {
  pc_pair_f64 c = pc_cos_pair_f64(r.hi, r.lo);
  pc_f64 s = r.hi + pc_sin_tail_f64(r.hi, r.lo);
  pc_f64 y = (r.quarters & 1) != 0 ? c.hi : s;
  y = pc_signed_f64(y, ((r.quarters & 2) << 62) ^ pc_sign_f64(x));
  return pc_magnitude_f64(x) < 0x1p-27 ? x : y;
}
PC_INLINE pc_f64 pc_cos_reduced_f64(pc_turn_f64 r) {
  pc_pair_f64 c = pc_cos_pair_f64(r.hi, r.lo);
  pc_f64 s = r.hi + pc_sin_tail_f64(r.hi, r.lo);
  pc_f64 y = (r.quarters & 1) != 0 ? s : c.hi;
  return pc_signed_f64(y, ((r.quarters + 1) & 2) << 62);
}

/* tan r = r (1 + z A(z)) / (1 - z/2 + z^2 B(z)), z = r^2: equal to it at Chebyshev's points, error 4.3e-19. */
PC_INLINE pc_f64 pc_tan_reduced_f64(pc_f64 x, pc_turn_f64 r) {
  pc_f64 z = r.hi * r.hi, z2 = z * z, half = 0.5 * z, w = 1.0 - half;
  pc_f64 head = pc_head_f64(r.hi), lost = (z - head * head) - (r.hi + head) * ((r.hi - head) + r.lo); /* z less r^2 */
  pc_f64 a = (-0x1.5555555555555p-3 + z * 0x1.f8459c4945fbdp-8) + z2 * (-0x1.d2a0be81f96acp-14 + z * 0x1.0b7594f040a34p-22);
  pc_f64 b = (0x1.5019c49a39cfep-5 + z * -0x1.1d6cdaa9b620ap-10) + z2 * 0x1.f30897910c28fp-18;
  pc_pair_f64 n = pc_sum_ordered_f64(r.hi, r.hi * (z * a) + (r.lo - 0.4 * z * r.lo));
  pc_pair_f64 d = pc_sum_ordered_f64(w, ((1.0 - w) - half) + (z2 * b + 0.5 * lost));
  int odd = (r.quarters & 1) != 0;
  pc_f64 y = pc_quotient_f64(odd ? -d.hi : n.hi, odd ? -d.lo : n.lo, odd ? n.hi : d.hi, odd ? n.lo : d.lo);
  return pc_magnitude_f64(x) < 0x1p-27 ? x : pc_signed_f64(y, pc_sign_f64(x));
}

/* The sine; keeps the sign of zero; inf gives NaN. */
PC_INLINE pc_f64 pc_sin_f64(pc_f64 x) { return pc_sin_reduced_f64(x, pc_turn_of_f64(pc_turn_operand_f64(x))); }

/* The cosine; inf gives NaN. */
PC_INLINE pc_f64 pc_cos_f64(pc_f64 x) { return pc_cos_reduced_f64(pc_turn_of_f64(pc_turn_operand_f64(x))); }

/* The tangent; keeps the sign of zero; inf gives NaN. */
PC_INLINE pc_f64 pc_tan_f64(pc_f64 x) { return pc_tan_reduced_f64(x, pc_turn_of_f64(pc_turn_operand_f64(x))); }

/* The region `near`: |x| < 2^20, where the reduction after Cody and Waite is enough. */
PC_INLINE uint64_t pc_turn_is_near_f64(pc_f64 x) { return pc_magnitude_f64(x) < 0x1p20; }
PC_INLINE uint64_t pc_sin_is_near_f64(pc_f64 x) { return pc_turn_is_near_f64(x); }
PC_INLINE uint64_t pc_cos_is_near_f64(pc_f64 x) { return pc_turn_is_near_f64(x); }
PC_INLINE uint64_t pc_tan_is_near_f64(pc_f64 x) { return pc_turn_is_near_f64(x); }
PC_INLINE pc_f64 pc_sin_near_f64(pc_f64 x) { return pc_sin_reduced_f64(x, pc_turn_near_f64(pc_turn_operand_f64(x))); }
PC_INLINE pc_f64 pc_cos_near_f64(pc_f64 x) { return pc_cos_reduced_f64(pc_turn_near_f64(pc_turn_operand_f64(x))); }
PC_INLINE pc_f64 pc_tan_near_f64(pc_f64 x) { return pc_tan_reduced_f64(x, pc_turn_near_f64(pc_turn_operand_f64(x))); }

#endif
