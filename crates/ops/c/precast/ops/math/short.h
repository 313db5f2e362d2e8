/* precast/ops/math/short.h: parts of f32 functions, computed in f64 with short polynomials.
 *
 * An f32 has 24 bits. Relative errors of 2^-33 on the way to a result that is rounded once leave it within 0.502 ulp. The coefficients are
 * minimax fits (crates/ops/c/minimax.py). Operands come from f32, so nothing overflows and nothing is subnormal on the way. */
#ifndef PRECAST_OPS_MATH_SHORT_H
#define PRECAST_OPS_MATH_SHORT_H

#include <precast/ops/math/ln2.h>
#include <precast/ops/math/pair.h>

/* e^x = 2^k (1 + p). `scale` is 2^k. */
typedef struct pc_short_exp_f64 {
  pc_f64 scale, p;
} pc_short_exp_f64;

/* 2^k for the k in the low bits of `t`, to which 1.5 * 2^52 + 1023 was added. */
PC_INLINE pc_f64 pc_short_scale_f64(pc_f64 t) { return pc_from_bits_f64(pc_bits_f64(t) << 52); }

/* |x| < 700. Polynomial of degree 7, error 5.4e-11. */
PC_INLINE pc_short_exp_f64 pc_short_exp_of_f64(pc_f64 x) {
  const pc_f64 magic = 6755399441055744.0 + 1023.0;
  pc_f64 t = x * PC_LOG2E_F64 + magic, k = t - magic;
  pc_f64 r = (x - k * PC_LN2_HI_F64) - k * PC_LN2_LO_F64, r2 = r * r;
  pc_f64 p01 = 0x1.00000038d1ac0p-1 + r * 0x1.55555441d6effp-3, p23 = 0x1.55548fb44c440p-5 + r * 0x1.1112740b64338p-7;
  pc_f64 p45 = 0x1.6d8bb92ab8798p-10 + r * 0x1.9f0305c5750a4p-13;
  pc_short_exp_f64 out = {pc_short_scale_f64(t), r + r2 * ((p01 + r2 * p23) + (r2 * r2) * p45)};
  return out;
}

/* e^x, |x| < 700. */
PC_INLINE pc_f64 pc_short_exp_whole_f64(pc_f64 x) {
  pc_short_exp_f64 e = pc_short_exp_of_f64(x);
  return e.scale + e.scale * e.p;
}

/* e^x - 1, |x| < 700. */
PC_INLINE pc_f64 pc_short_expm1_f64(pc_f64 x) {
  pc_short_exp_f64 e = pc_short_exp_of_f64(x);
  return (e.scale - 1.0) + e.scale * e.p;
}

/* ln x = k ln 2 + rest. */
typedef struct pc_short_log_f64 {
  pc_f64 k, rest;
} pc_short_log_f64;

/* A normal finite x > 0; k = 0 and a full relative accuracy around 1. Of degree 4 in z, error 3e-14: powers multiply it. */
PC_INLINE pc_short_log_f64 pc_short_log_of_f64(pc_f64 x) {
  const uint64_t half = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u;
  uint64_t u = pc_bits_f64(x) + (one - half);
  pc_f64 m = pc_from_bits_f64((u & 0x000fffffffffffffu) + half);
  pc_f64 k = pc_from_bits_f64((u >> 52) | 0x4330000000000000u) - (4503599627370496.0 + 1023.0);
  pc_f64 f = m - 1.0, s = f / (2.0 + f), z = s * s, z2 = z * z;
  pc_f64 p01 = 0x1.555555561d6f8p-1 + z * 0x1.999996aab09b9p-2, p23 = 0x1.2494118fdc971p-2 + z * 0x1.c62b268b2d289p-3;
  pc_f64 r = z * ((p01 + z2 * p23) + (z2 * z2) * 0x1.911520099da1dp-3);
  pc_short_log_f64 out = {k, f - s * (f - r)};
  return out;
}

/* ln x of a normal finite x > 0. */
PC_INLINE pc_f64 pc_short_log_whole_f64(pc_f64 x) {
  pc_short_log_f64 l = pc_short_log_of_f64(x);
  return l.k * 0x1.62e42fefa39efp-1 + l.rest;
}

/* What a logarithm in base b gives for x: `y` if x is positive and finite. */
PC_INLINE pc_f32 pc_short_log_edges_f32(pc_f32 x, pc_f64 y) {
  pc_f32 edge = x == 0.0f ? -__builtin_inff() : __builtin_nanf("");
  pc_f32 right = x == __builtin_inff() ? x : (pc_f32)y;
  return x > 0.0f ? right : edge;
}

/* sin r and cos r for |r| <= pi / 4; errors 4.9e-12 and 9.6e-11. */
PC_INLINE pc_f64 pc_short_sin_f64(pc_f64 r) {
  pc_f64 z = r * r, z2 = z * z;
  pc_f64 p01 = -0x1.5555554cb4014p-3 + z * 0x1.1111089182dbdp-7, p23 = -0x1.a00f998ee864bp-13 + z * 0x1.6cd754617f897p-19;
  return r + r * (z * (p01 + z2 * p23));
}
PC_INLINE pc_f64 pc_short_cos_f64(pc_f64 r) {
  pc_f64 z = r * r, z2 = z * z;
  return (1.0 - 0.5 * z) + z2 * ((0x1.55554aabeada2p-5 + z * -0x1.6c0c868ac4b04p-10) + z2 * 0x1.9a00ceb8a62edp-16);
}

/* The angle in [0, pi/2] of a point (d, n); n, d >= 0, neither inf, not both 0. Error 2.2e-11. */
PC_INLINE pc_f64 pc_short_angle_f64(pc_f64 n, pc_f64 d) {
  int steep = n > d * 0x1.3504f333f9de6p+1, middle = n > d * 0x1.a827999fcef32p-2;
  pc_f64 over = middle ? n - d : n, under = middle ? n + d : d;
  over = steep ? -d : over;
  under = steep ? n : under;
  pc_f64 base = middle ? 0x1.921fb54442d18p-1 : 0.0;
  base = steep ? 0x1.921fb54442d18p+0 : base;
  pc_f64 t = over / under, z = t * t, z2 = z * z;
  pc_f64 p01 = -0x1.555554c8ffe03p-2 + z * 0x1.99991a58abe9bp-3, p23 = -0x1.247f048327e09p-3 + z * 0x1.c4678cdd5c3eap-4;
  pc_f64 p45 = -0x1.5b41b0fe589afp-4 + z * 0x1.84e25a5765ca7p-5;
  return base + (t + t * (z * ((p01 + z2 * p23) + (z2 * z2) * p45)));
}

/* asin s for 0 <= s <= 1/2, z = s^2. Error 1.7e-11. */
PC_INLINE pc_f64 pc_short_asin_f64(pc_f64 s, pc_f64 z) {
  pc_f64 z2 = z * z;
  pc_f64 p01 = 0x1.55555608640ddp-3 + z * 0x1.3332a84268ae5p-4, p23 = 0x1.6ddb2194ced50p-5 + z * 0x1.ed5393466411ep-6;
  pc_f64 p45 = 0x1.935b046c0c793p-6 + z * 0x1.e94ee82d1e9e3p-8;
  return s + s * (z * ((p01 + z2 * p23) + (z2 * z2) * (p45 + z2 * 0x1.1c3e6d4e8d622p-5)));
}

/* sinh a for 0 <= a <= 1. Error 5.7e-11. */
PC_INLINE pc_f64 pc_short_sinh_f64(pc_f64 a) {
  pc_f64 z = a * a, z2 = z * z;
  pc_f64 p01 = 0x1.55555517fafdcp-3 + z * 0x1.1111363e273cbp-7, p23 = 0x1.9ffe0499b586bp-13 + z * 0x1.7a287dea7a87cp-19;
  return a + a * (z * (p01 + z2 * p23));
}

/* A result with the sign of x. */
PC_INLINE pc_f32 pc_short_signed_f32(pc_f64 y, pc_f64 x) { return (pc_f32)pc_signed_f64(y, pc_sign_f64(x)); }

#endif
