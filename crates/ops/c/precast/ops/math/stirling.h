/* precast/ops/math/stirling.h: the correction c(z) to J. Stirling's formula, as a pair.
 *
 *   ln Gamma z = (z - 1/2) ln z - z + ln(2 pi) / 2 + c(z)
 *
 * Below 16 whole steps lead to where the series in 1 / z stands. */
#ifndef PRECAST_OPS_MATH_STIRLING_H
#define PRECAST_OPS_MATH_STIRLING_H

#include <precast/ops/math/pow.h>

/* A function that is called, not vector code: it has branches and loops. */
#define PC_TAIL __attribute__((unused, noinline)) static

/* a + b of any order. */
PC_INLINE pc_pair_f64 pc_plus_f64(pc_pair_f64 a, pc_pair_f64 b) {
  pc_pair_f64 s = pc_sum_f64(a.hi, b.hi);
  return pc_sum_ordered_f64(s.hi, s.lo + (a.lo + b.lo));
}

PC_INLINE pc_pair_f64 pc_minus_f64(pc_pair_f64 a) {
  pc_pair_f64 out = {-a.hi, -a.lo};
  return out;
}

PC_INLINE pc_pair_f64 pc_pair_of_f64(pc_f64 a) {
  pc_pair_f64 out = {a, 0.0};
  return out;
}

/* ln of a pair. */
PC_TAIL pc_pair_f64 pc_log_of_pair_f64(pc_pair_f64 a) {
  return pc_plus_f64(pc_log_pair_f64(a.hi), pc_pair_of_f64(a.lo / a.hi));
}

/* c(z) for z > 0. */
PC_TAIL pc_pair_f64 pc_stirling_f64(pc_f64 z) {
  pc_f64 n = z < 16.0 ? (pc_f64)(int)(17.0 - z) : 0.0;
  pc_pair_f64 w = pc_sum_f64(n, z);
  pc_f64 y = 1.0 / w.hi, q = y * y;
  pc_f64 series = 0x1.a41a41a41a41ap-8;
  series = -0x1.f6ab0d9993c7dp-10 + q * series;
  series = 0x1.b951e2b18ff23p-11 + q * series;
  series = -0x1.3813813813814p-11 + q * series;
  series = 0x1.a01a01a01a01ap-11 + q * series;
  series = -0x1.6c16c16c16c17p-9 + q * series;
  pc_pair_f64 c = pc_sum_f64(0x1.5555555555555p-4 * y, y * (q * series));
  if (n == 0.0) return c;
  pc_pair_f64 rest = pc_pair_of_f64(1.0);
  for (pc_f64 k = 1.0; k < n; k += 1.0) rest = pc_pair_mul_f64(rest, pc_sum_f64(k, z));
  pc_pair_f64 half = pc_plus_f64(w, pc_pair_of_f64(-0.5));
  pc_pair_f64 above = pc_plus_f64(pc_pair_mul_f64(half, pc_log_of_pair_f64(w)), pc_pair_of_f64(-n));
  pc_pair_f64 below = pc_plus_f64(pc_pair_mul_f64(pc_sum_f64(0.5, z), pc_log_pair_f64(z)), pc_log_of_pair_f64(rest));
  return pc_plus_f64(c, pc_plus_f64(above, pc_minus_f64(below)));
}

#endif
