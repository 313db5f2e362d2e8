/* precast/ops/math/f32/pow.h: x^y of f32 = 2^(y log2 |x|), in f64. */
#ifndef PRECAST_OPS_MATH_F32_POW_H
#define PRECAST_OPS_MATH_F32_POW_H

#include <precast/ops/math/f32/exp2.h>

/* log2 a of a normal positive a, to 2^-45, since y takes it by up to 2^7. Degree 5. */
PC_INLINE pc_f64 pc_log2_short_f64(pc_f64 a) {
  pc_log_short_f64 l = pc_log_short_of_f64(a);
  pc_f64 z2 = l.z * l.z, q01 = 0x1.71547652b8251p+1 + l.z * 0x1.ec709dc53d3abp-1;
  pc_f64 q23 = 0x1.2776c29235db8p-1 + l.z * 0x1.a61a2fab22580p-2, q45 = 0x1.47952fbf0d0ecp-2 + l.z * 0x1.21b32f06abeabp-2;
  return l.k + l.s * (q01 + z2 * (q23 + z2 * q45));
}

/* The same of f32 for the power, k + s (c + z (c / 3 + z T(z))) with c = 2 / ln 2: exponent and rest are parted in 32 bits, and T, which is
 * less than 2^-12 of the sum, is computed in f32. T has degree 3, error 2^-42. */
PC_INLINE pc_f64 pc_log2_wide_f32(pc_f32 a) {
  uint32_t up = a < 0x1p-126f ? 0x0c800000u : 0; /* 25 more for the exponent of a subnormal number */
  uint32_t c = pc_bits_f32(a * pc_from_bits_f32(up + 0x3f800000u)), u = c - 0x3f3504f3u;
  pc_f32 m = pc_from_bits_f32(c - (u & 0xff800000u)) - 1.0f, quotient = 1.0f / (2.0f + m);
  pc_f64 f = (pc_f64)m, y = (pc_f64)quotient, d = 2.0 + f, q = f * y, s = q + q * (1.0 - d * y), z = s * s;
  pc_f32 g = m * quotient, h = g * g;
  pc_f32 t = (0x1.2776c4p-1f + h * 0x1.a61920p-2f) + (h * h) * (0x1.47be36p-2f + h * 0x1.1f9c94p-2f);
  return (pc_f64)((int32_t)(u - up) >> 23) + s * (0x1.71547652b82fep+1 + z * (0x1.ec709dc3a03fdp-1 + z * (pc_f64)t));
}

/* r = |x|^y gets its sign, and the cases of C99's Annex F in which a NaN comes out or does not. */
PC_INLINE pc_f32 pc_pow_edges_f32(pc_f32 x, pc_f32 y, pc_f32 r) {
  pc_f32 ax = pc_magnitude_f32(x), ay = pc_magnitude_f32(y), small = ay < 0x1p23f ? ay : 0.0f;
  pc_f32 t = small + 0x1p23f; /* where y may have a fraction */
  int whole = (t - 0x1p23f) == small;
  uint32_t last = ay < 0x1p23f ? pc_bits_f32(t) : pc_bits_f32(ay); /* from 2^23 to 2^24 the last bit is 1 */
  uint32_t odd = last << 31;
  odd = ay < 0x1p24f ? odd : 0;
  odd = whole ? odd : 0;
  pc_f32 inverse = ax == 0.0f ? __builtin_inff() : 0.0f, limit = y > 0.0f ? ax : inverse; /* of 0 and inf */
  pc_f32 negative = whole ? r : __builtin_nanf("");
  r = x < 0.0f ? negative : r;
  r = ax == 0.0f ? limit : r;
  r = ax == __builtin_inff() ? limit : r;
  r = pc_signed_f32(r, pc_sign_f32(x) & odd);
  r = x != x ? x : r;
  r = y != y ? y : r;
  r = y == 0.0f ? 1.0f : r;
  return x == 1.0f ? 1.0f : r;
}

/* x^y with C99's special cases: x^0 and 1^y are 1 even of NaN, (-1)^inf is 1, a negative x with a fractional y gives NaN. */
PC_INLINE pc_f32 pc_pow_f32(pc_f32 x, pc_f32 y) {
  pc_f32 c = y > 0x1p66f ? 0x1p66f : y; /* far enough for every x but 1 */
  c = c < -0x1p66f ? -0x1p66f : c;
  pc_f64 v = (pc_f64)c * pc_log2_wide_f32(pc_magnitude_f32(x));
  return pc_pow_edges_f32(x, y, pc_exp2_rounded_f32(v));
}

#endif
