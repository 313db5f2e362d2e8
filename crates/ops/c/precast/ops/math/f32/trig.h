/* precast/ops/math/f32/trig.h: sine, cosine and tangent of f32, in f64.
 *
 * sin and cos take off half turns: one polynomial serves both, sin r = r (1 + z P(z)), z = r^2, |r| <= pi / 2. tan takes off quarter
 * turns: tan r = r A(z) / B(z) or the opposite of its inverse. Below 2^20 pi is in two parts, after Cody and Waite; above it the
 * product with 1 / pi is made in parts of 28 bits, of which only those count that are no whole turns, after Payne and Hanek: every
 * product is exact but the last, and no f32 is closer to a multiple of pi / 2 than about 2^-31. Both have the form `near`, |x| < 2^20. */
#ifndef PRECAST_OPS_MATH_F32_TRIG_H
#define PRECAST_OPS_MATH_F32_TRIG_H

#include <precast/ops/math/f32/short.h>

/* pi: 33 bits and the rest. 1 / pi in words of 28 bits; W3 to W6 as whole tails, too. */
#define PC_PI_HEAD_F64 0x1.921fb54400000p+1
#define PC_PI_REST_F64 0x1.0b4611a626331p-33
#define PC_TURN_W0_F32 0x1.45f306c000000p-2
#define PC_TURN_W1_F32 0x1.c9c8828000000p-30
#define PC_TURN_W2_F32 0x1.29fc274000000p-57
#define PC_TURN_W3_F32 0x1.7d1f534000000p-85
#define PC_TURN_W4_F32 0x1.bb81b6c000000p-114
#define PC_TURN_W5_F32 0x1.4acc9e0000000p-144
#define PC_TURN_T3_F32 0x1.7d1f534ddc0dbp-85
#define PC_TURN_T4_F32 0x1.bb81b6c52b328p-114
#define PC_TURN_T5_F32 0x1.4acc9e21c8210p-144
#define PC_TURN_T6_F32 0x1.0e4107f9458ebp-171

/* An angle in [-pi/2, pi/2], or half of that for quarter turns, and in the lowest bit of `turns` whether an odd number was taken off. */
typedef struct pc_turn_f32 {
  pc_f64 r;
  uint64_t turns;
} pc_turn_f32;

/* |x| < 2^20: x - (n + off) pi `part`, for off = 0 or 1/2 and part = 1 or 1/2. */
PC_INLINE pc_turn_f32 pc_turn_near_f32(pc_f64 x, pc_f64 off, pc_f64 part) {
  pc_f64 t = (x * (0x1.45f306dc9c883p-2 / part) - off) + 6755399441055744.0, n = t - 6755399441055744.0, k = off == 0.0 ? n : n + off;
  pc_turn_f32 out = {(x - k * (PC_PI_HEAD_F64 * part)) - k * (PC_PI_REST_F64 * part), pc_bits_f64(t)};
  return out;
}

/* v less a multiple of 4, exactly, |v| < 2^54. */
PC_INLINE pc_f64 pc_turn_rest_f32(pc_f64 v) { return v - ((v + 27021597764222976.0) - 27021597764222976.0); }

/* x >= 2^20: the same. inf and NaN give NaN. */
PC_INLINE pc_turn_f32 pc_turn_far_f32(pc_f64 x, pc_f64 off, pc_f64 part) {
  pc_f64 y = x * (1.0 / part);
  int a = y >= 0x1p53, b = y >= 0x1p81, c = y >= 0x1p109;
  pc_f64 w0 = a ? PC_TURN_W1_F32 : PC_TURN_W0_F32, w1 = a ? PC_TURN_W2_F32 : PC_TURN_W1_F32;
  pc_f64 w2 = a ? PC_TURN_W3_F32 : PC_TURN_W2_F32, w3 = a ? PC_TURN_T4_F32 : PC_TURN_T3_F32;
  w0 = b ? PC_TURN_W2_F32 : w0, w1 = b ? PC_TURN_W3_F32 : w1, w2 = b ? PC_TURN_W4_F32 : w2, w3 = b ? PC_TURN_T5_F32 : w3;
  w0 = c ? PC_TURN_W3_F32 : w0, w1 = c ? PC_TURN_W4_F32 : w1, w2 = c ? PC_TURN_W5_F32 : w2, w3 = c ? PC_TURN_T6_F32 : w3;
  pc_f64 s0 = pc_turn_rest_f32(y * w0), s1 = pc_turn_rest_f32(y * w1), q2 = y * w2;
  pc_f64 t = (((s0 + s1) + q2) - off) + 6755399441055744.0, k = (t - 6755399441055744.0) + off;
  pc_f64 g = (((s0 - k) + s1) + q2) + y * w3;
  pc_turn_f32 out = {g * (0x1.921fb54442d18p+1 * part), pc_bits_f64(t)};
  return out;
}

/* x >= 0 of any size. */
PC_INLINE pc_turn_f32 pc_turn_of_f32(pc_f64 x, pc_f64 off, pc_f64 part) {
  int near = x < 0x1p20;
  pc_turn_f32 a = pc_turn_near_f32(x, off, part), b = pc_turn_far_f32(x, off, part);
  pc_turn_f32 out = {near ? a.r : b.r, near ? a.turns : b.turns};
  return out;
}

/* sin r for |r| <= pi / 2. Degree 4, error 2^-35. */
PC_INLINE pc_f64 pc_sin_short_f64(pc_f64 r) {
  pc_f64 z = r * r, z2 = z * z, p01 = -0x1.5555554767d40p-3 + z * 0x1.11110c498be06p-7;
  pc_f64 p23 = -0x1.a017d9777188ap-13 + z * 0x1.71707aa5e274ap-19;
  return r * (1.0 + z * (p01 + z2 * (p23 + z2 * -0x1.9a680709aaa6cp-26)));
}

/* 1 where the forms `near` give the bits of the general ones. */
PC_INLINE uint32_t pc_sin_is_near_f32(pc_f32 x) { return pc_magnitude_f32(x) < 0x1p20f ? 1 : 0; }
PC_INLINE uint32_t pc_cos_is_near_f32(pc_f32 x) { return pc_magnitude_f32(x) < 0x1p20f ? 1 : 0; }
PC_INLINE uint32_t pc_tan_is_near_f32(pc_f32 x) { return pc_magnitude_f32(x) < 0x1p20f ? 1 : 0; }

/* Returns the sine of x from the rest r of a reduction of |x|. */
PC_INLINE pc_f32 pc_sin_turned_f32(pc_turn_f32 r, pc_f32 x) {
  pc_f64 y = pc_signed_f64(pc_sin_short_f64(r.r), r.turns << 63);
  return pc_signed_f32((pc_f32)y, pc_sign_f32(x));
}

/* The sine; keeps the sign of zero; inf gives NaN. */
PC_INLINE pc_f32 pc_sin_near_f32(pc_f32 x) {
  return pc_sin_turned_f32(pc_turn_near_f32((pc_f64)pc_magnitude_f32(x), 0.0, 1.0), x);
}
PC_INLINE pc_f32 pc_sin_f32(pc_f32 x) { return pc_sin_turned_f32(pc_turn_of_f32((pc_f64)pc_magnitude_f32(x), 0.0, 1.0), x); }

/* Returns the cosine from the rest r after half turns and a quarter turn: minus its sine, negated for each half turn; inf gives NaN. */
PC_INLINE pc_f32 pc_cos_turned_f32(pc_turn_f32 r) {
  return (pc_f32)pc_signed_f64(pc_sin_short_f64(r.r), (r.turns + 1u) << 63);
}
PC_INLINE pc_f32 pc_cos_near_f32(pc_f32 x) {
  return pc_cos_turned_f32(pc_turn_near_f32((pc_f64)pc_magnitude_f32(x), 0.5, 1.0));
}
PC_INLINE pc_f32 pc_cos_f32(pc_f32 x) { return pc_cos_turned_f32(pc_turn_of_f32((pc_f64)pc_magnitude_f32(x), 0.5, 1.0)); }

/* Returns the tangent of x from the rest r of a reduction of |x| by quarter turns. A and B have degree 2 each, error 2^-35. */
PC_INLINE pc_f32 pc_tan_turned_f32(pc_turn_f32 r, pc_f32 x) {
  pc_f64 z = r.r * r.r;
  pc_f64 n = r.r * ((0x1.0000000014110p+0 + z * -0x1.c81e01299bc1fp-4) + (z * z) * 0x1.19c2a000fea2dp-10);
  pc_f64 d = (1.0 + z * -0x1.c75cd586788ccp-2) + (z * z) * 0x1.05ad55bd3b76ep-6;
  int odd = (r.turns & 1u) != 0;
  pc_f64 over = odd ? -d : n, under = odd ? n : d;
  pc_f64 y = (pc_f64)(1.0f / (pc_f32)under), q = over * y; /* and one step of Newton's method */
  return pc_signed_f32((pc_f32)(q + q * (1.0 - under * y)), pc_sign_f32(x));
}

/* The tangent; keeps the sign of zero; inf gives NaN. */
PC_INLINE pc_f32 pc_tan_near_f32(pc_f32 x) {
  return pc_tan_turned_f32(pc_turn_near_f32((pc_f64)pc_magnitude_f32(x), 0.0, 0.5), x);
}
PC_INLINE pc_f32 pc_tan_f32(pc_f32 x) { return pc_tan_turned_f32(pc_turn_of_f32((pc_f64)pc_magnitude_f32(x), 0.0, 0.5), x); }

#endif
