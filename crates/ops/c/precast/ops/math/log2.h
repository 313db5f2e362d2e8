/* precast/ops/math/log2.h: logarithms to the bases 2 and 10.
 *
 * As ln: x = 2^k m, f = m - 1, ln m = f - f^2/2 + s (f^2/2 + R). The first 21 bits of ln m times the first 21 of 1 / ln b are
 * exact, so k + log_b m is rounded about once, and log2 of a power of two is exact. After K. C. Ng's fdlibm. */
#ifndef PRECAST_OPS_MATH_LOG2_H
#define PRECAST_OPS_MATH_LOG2_H

#include <precast/ops/math/f32/log2.h>
#include <precast/ops/bits.h>

/* 1 / ln 2, 1 / ln 10, log10 2: a first part of few bits and the rest. */
#define PC_LOG2E_HI_F64 0x1.7154700000000p+0
#define PC_LOG2E_LO_F64 0x1.94ae0bf85ddf4p-22
#define PC_LOG10E_HI_F64 0x1.bcb7b00000000p-2
#define PC_LOG10E_LO_F64 0x1.526e50e32a6abp-26
#define PC_LOG10_2_HI_F64 0x1.34413509f7800p-2
#define PC_LOG10_2_LO_F64 0x1.fef311f12b358p-46

/* x = 2^k m, and ln m = hi + lo, hi of 21 bits. */
typedef struct pc_log_parts_f64 {
  pc_f64 k, hi, lo;
} pc_log_parts_f64;

/* The parts of a positive number. */
PC_INLINE pc_log_parts_f64 pc_log_parts_of_f64(pc_f64 x) {
  const uint64_t half = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u;
  int small = x < 0x1p-1022;
  uint64_t u = pc_bits_f64(small ? x * 0x1p54 : x) + (one - half);
  pc_f64 m = pc_from_bits_f64((u & 0x000fffffffffffffu) + half);
  pc_f64 k = pc_from_bits_f64((u >> 52) | 0x4330000000000000u) - (small ? 4503599627370496.0 + 1077.0 : 4503599627370496.0 + 1023.0);
  pc_f64 f = m - 1.0, s = f / (2.0 + f), z = s * s, z2 = z * z;
  pc_f64 p01 = 0x1.5555555555592p-1 + z * 0x1.999999997ffa0p-2;
  pc_f64 p23 = 0x1.24924941dee31p-2 + z * 0x1.c71c521341c60p-3;
  pc_f64 p45 = 0x1.74663da64d2d6p-3 + z * 0x1.39a1cb220c990p-3;
  pc_f64 r = z * ((p01 + z2 * p23) + (z2 * z2) * (p45 + z2 * 0x1.2f0545f63b365p-3));
  pc_f64 square = 0.5 * f * f;
  pc_f64 hi = pc_from_bits_f64(pc_bits_f64(f - square) & 0xffffffff00000000u);
  pc_log_parts_f64 out = {k, hi, ((f - hi) - square) + s * (square + r)};
  return out;
}

/* Returns y for a finite x > 0; else the limit of a logarithm at 0 or inf, or NaN. */
PC_INLINE pc_f64 pc_log_edges_f64(pc_f64 x, pc_f64 y) {
  pc_f64 finite = x == __builtin_inf() ? x : y;
  pc_f64 edge = x == 0.0 ? -__builtin_inf() : __builtin_nan("");
  return x > 0.0 ? finite : edge;
}

/* Returns the logarithm to the base 2; exact for powers of two. */
PC_INLINE pc_f64 pc_log2_f64(pc_f64 x) {
  pc_log_parts_f64 l = pc_log_parts_of_f64(x);
  pc_f64 hi = l.hi * PC_LOG2E_HI_F64;
  pc_f64 lo = (l.lo + l.hi) * PC_LOG2E_LO_F64 + l.lo * PC_LOG2E_HI_F64;
  pc_f64 w = l.k + hi;
  return pc_log_edges_f64(x, w + (lo + ((l.k - w) + hi)));
}

/* The logarithm to the base 10. */
PC_INLINE pc_f64 pc_log10_f64(pc_f64 x) {
  pc_log_parts_f64 l = pc_log_parts_of_f64(x);
  pc_f64 hi = l.hi * PC_LOG10E_HI_F64, whole = l.k * PC_LOG10_2_HI_F64;
  pc_f64 lo = l.k * PC_LOG10_2_LO_F64 + ((l.lo + l.hi) * PC_LOG10E_LO_F64 + l.lo * PC_LOG10E_HI_F64);
  pc_f64 w = whole + hi;
  return pc_log_edges_f64(x, w + (lo + ((whole - w) + hi)));
}

#endif
