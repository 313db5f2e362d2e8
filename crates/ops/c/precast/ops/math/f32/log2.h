/* precast/ops/math/f32/log2.h: logarithms of f32 to the bases 2 and 10. x = 2^k m, m in [sqrt 1/2, sqrt 2), s = (m - 1) / (m + 1),
 * z = s^2: log m = c s + s z Q(z), c = 2 / ln b. What must be known to more than 24 bits is a pair. */
#ifndef PRECAST_OPS_MATH_F32_LOG2_H
#define PRECAST_OPS_MATH_F32_LOG2_H

#include <precast/ops/math/f32/short.h>

/* 2 / ln 2, 2 / ln 10, log10 2: a first part of few bits and the rest. */
#define PC_LOG2E_TWICE_HI_F32 0x1.716000p+1f
#define PC_LOG2E_TWICE_LO_F32 -0x1.7135a8p-12f
#define PC_LOG10E_TWICE_HI_F32 0x1.bcc000p-1f
#define PC_LOG10E_TWICE_LO_F32 -0x1.09d5b2p-14f
#define PC_LOG10_2_HI_F32 0x1.344200p-2f
#define PC_LOG10_2_LO_F32 -0x1.95ec10p-19f

/* For x > 0: s = hi + lo to 2^-35, hi of 12 bits, and s to 2^-22, of which z and s z are. */
typedef struct pc_log_parts_f32 {
  pc_f32 k, hi, lo, z, cube;
} pc_log_parts_f32;

PC_INLINE pc_log_parts_f32 pc_log_parts_of_f32(pc_f32 x) {
  int small = x < 0x1p-126f;
  uint32_t c = pc_bits_f32(small ? x * 0x1p25f : x), u = c - 0x3f3504f3u;
  pc_f32 f = pc_from_bits_f32(c - (u & 0xff800000u)) - 1.0f, d = 2.0f + f, y = 1.0f / d, s = f * y, z = s * s;
  pc_f32 head = pc_head_f32(d), rest = (d - head) + (f - (d - 2.0f)), hi = pc_head_f32(s);
  pc_log_parts_f32 out = {(pc_f32)(((int32_t)u >> 23) - (small ? 25 : 0)), hi, ((f - hi * head) - hi * rest) * y, z, s * z};
  return out;
}

/* Returns y for a finite x > 0; else the limit of a logarithm at 0 or inf, or NaN. */
PC_INLINE pc_f32 pc_log_edges_f32(pc_f32 x, pc_f32 y) {
  y = x == __builtin_inff() ? x : y;
  pc_f32 edge = x == 0.0f ? -__builtin_inff() : __builtin_nanf("");
  return x > 0.0f ? y : edge;
}

/* Returns the logarithm to the base 2; exact for powers of two. Q of degree 2, error 2^-30.1. */
PC_INLINE pc_f32 pc_log2_f32(pc_f32 x) {
  pc_log_parts_f32 l = pc_log_parts_of_f32(x);
  pc_f32 q = 0x1.ec70d4p-1f + l.z * (0x1.274c1cp-1f + l.z * 0x1.b94f58p-2f), part = l.hi * PC_LOG2E_TWICE_HI_F32, y = l.k + part;
  pc_f32 low = (l.hi * PC_LOG2E_TWICE_LO_F32 + l.lo * 0x1.715476p+1f) + l.cube * q;
  return pc_log_edges_f32(x, y + (((l.k - y) + part) + low));
}

/* The logarithm to the base 10. Q of degree 2, error 2^-30.1. */
PC_INLINE pc_f32 pc_log10_f32(pc_f32 x) {
  pc_log_parts_f32 l = pc_log_parts_of_f32(x);
  pc_f32 q = 0x1.287a96p-2f + l.z * (0x1.63930cp-3f + l.z * 0x1.09b262p-3f), part = l.hi * PC_LOG10E_TWICE_HI_F32;
  pc_f32 low = (l.k * PC_LOG10_2_LO_F32 + (l.hi * PC_LOG10E_TWICE_LO_F32 + l.lo * 0x1.bcb7b2p-1f)) + l.cube * q;
  pc_f32 whole = l.k * PC_LOG10_2_HI_F32, y = whole + part;
  return pc_log_edges_f32(x, y + (((whole - y) + part) + low));
}

#endif
