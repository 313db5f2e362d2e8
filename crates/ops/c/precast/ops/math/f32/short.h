/* precast/ops/math/f32/short.h: shared parts of the f32 functions, most of them for functions that are computed in f64 and rounded once.
 *
 * Such a function needs its result in f64 to about 2^-30 only, so polynomials are short and no numbers are pairs. Division of f64 is slow:
 * a quotient or a square root is computed in f32, and one step of Newton's method makes it exact to about 2^-46. The bits do not need a fused
 * multiply-add. */
#ifndef PRECAST_OPS_MATH_F32_SHORT_H
#define PRECAST_OPS_MATH_F32_SHORT_H

#include <precast/ops/math/ln2.h>
#include <precast/ops/math/pair.h>

/* Returns |x|, or the sign of x alone. */
PC_INLINE pc_f32 pc_magnitude_f32(pc_f32 x) { return pc_from_bits_f32(pc_bits_f32(x) & 0x7fffffffu); }
PC_INLINE uint32_t pc_sign_f32(pc_f32 x) { return pc_bits_f32(x) & 0x80000000u; }

/* x >= 0 with a sign put on it, or the sign of a number turned. */
PC_INLINE pc_f32 pc_signed_f32(pc_f32 x, uint32_t sign) { return pc_from_bits_f32(pc_bits_f32(x) ^ sign); }

/* The first 12 bits of a: the product of two such is exact. */
PC_INLINE pc_f32 pc_head_f32(pc_f32 a) { return pc_from_bits_f32(pc_bits_f32(a) & 0xfffff000u); }

/* 1 / d to about 2^-46, for 2^-120 < |d| < 2^120. */
PC_INLINE pc_f64 pc_inverse_short_f64(pc_f64 d) {
  pc_f64 y = (pc_f64)(1.0f / (pc_f32)d);
  return y + y * (1.0 - d * y);
}

/* The square root of a to about 2^-46, for a = 0 or 2^-120 < a < 2^120; NaN for negative a. */
PC_INLINE pc_f64 pc_root_short_f64(pc_f64 a) {
  pc_f32 s = __builtin_sqrtf((pc_f32)a), half = 0.5f / (s == 0.0f ? 1.0f : s);
  pc_f64 r = (pc_f64)s;
  return r + (a - r * r) * (pc_f64)half;
}

/* v = k + r with |r| <= 1/2, and 2^k in two forms, for |v| < 2^9; of a larger v anything. */
typedef struct pc_power_short_f64 {
  pc_f64 r, up;
  uint64_t bits;
} pc_power_short_f64;

PC_INLINE pc_power_short_f64 pc_power_short_of_f64(pc_f64 v) {
  const pc_f64 magic = 6755399441055744.0 + 1023.0;
  pc_f64 t = v + magic;
  pc_power_short_f64 out = {v - (t - magic), pc_from_bits_f64(pc_bits_f64(t) << 52), pc_bits_f64(t)};
  return out;
}

/* 2^-k. */
PC_INLINE pc_f64 pc_power_short_down_f64(pc_power_short_f64 p) { return pc_from_bits_f64((2046u - p.bits) << 52); }

/* 2^r for |r| <= 1/2. Polynomial of degree 6, error 2^-28.9. */
PC_INLINE pc_f64 pc_exp2_short_f64(pc_f64 r) {
  pc_f64 r2 = r * r, p01 = 0x1.62e430af65ad7p-1 + r * 0x1.ebfbdc3b03c13p-3;
  pc_f64 p23 = 0x1.c6aee83671df4p-5 + r * 0x1.3b2d4d835886fp-7, p45 = 0x1.5f3e8075a5cd7p-10 + r * 0x1.41fb98cd67097p-13;
  return 1.0 + r * (p01 + r2 * (p23 + r2 * p45));
}

/* e^x for |x| < 2^8. */
PC_INLINE pc_f64 pc_exp_short_f64(pc_f64 x) {
  pc_power_short_f64 p = pc_power_short_of_f64(x * PC_LOG2E_F64);
  return pc_exp2_short_f64(p.r) * p.up;
}

/* x = 2^k m for a normal positive x, m in [sqrt 1/2, sqrt 2); s = (m - 1) / (m + 1), z = s^2. */
typedef struct pc_log_short_f64 {
  pc_f64 k, s, z;
} pc_log_short_f64;

PC_INLINE pc_log_short_f64 pc_log_short_of_f64(pc_f64 x) {
  const uint64_t half = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u;
  uint64_t u = pc_bits_f64(x) + (one - half);
  pc_f64 m = pc_from_bits_f64((u & 0x000fffffffffffffu) + half);
  pc_f64 k = pc_from_bits_f64((u >> 52) | 0x4330000000000000u) - (4503599627370496.0 + 1023.0);
  pc_f64 f = m - 1.0, s = f * pc_inverse_short_f64(m + 1.0);
  pc_log_short_f64 out = {k, s, s * s};
  return out;
}

/* ln x of a normal positive x. Polynomial of degree 3, error 2^-30.4. */
PC_INLINE pc_f64 pc_ln_short_f64(pc_f64 x) {
  pc_log_short_f64 l = pc_log_short_of_f64(x);
  pc_f64 q = (0x1.fffffffa11144p+0 + l.z * 0x1.55558780498dcp-1) + (l.z * l.z) * (0x1.99577575564ebp-2 + l.z * 0x1.327222856ad2ap-2);
  return l.k * 0x1.62e42fefa39efp-1 + l.s * q;
}

#endif
