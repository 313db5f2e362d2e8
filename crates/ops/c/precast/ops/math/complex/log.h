/* precast/ops/math/complex/log.h: ln z = ln |z| + i angle z, and what else depends on how far |z| is from 1.
 *
 * Near 1 it is x^2 + y^2 - 1 that counts: its parts are summed exactly (Dekker's squares, Knuth's sums). */
#ifndef PRECAST_OPS_MATH_COMPLEX_LOG_H
#define PRECAST_OPS_MATH_COMPLEX_LOG_H

#include <precast/ops/math/atan.h>
#include <precast/ops/math/complex/number.h>
#include <precast/ops/math/log1p.h>

/* Returns a^2, exact for 2^-400 < a < 2^400; for smaller a the error is below 2^-1000. */
PC_INLINE pc_pair_f64 pc_square_pair_f64(pc_f64 a) {
  pc_f64 c = 134217729.0 * a, h = c - (c - a), l = a - h, p = a * a;
  pc_pair_f64 out = {p, ((h * h - p) + 2.0 * (h * l)) + l * l};
  return out;
}

/* first + second + a^2 + b^2, as exact as a pair can be even where they cancel. */
PC_INLINE pc_pair_f64 pc_excess_f64(pc_f64 first, pc_f64 second, pc_f64 a, pc_f64 b) {
  pc_pair_f64 p = pc_square_pair_f64(a), q = pc_square_pair_f64(b);
  pc_pair_f64 s0 = pc_sum_f64(first, second);
  pc_pair_f64 s1 = pc_sum_f64(s0.hi, p.hi);
  pc_pair_f64 s2 = pc_sum_f64(s1.hi, q.hi);
  pc_pair_f64 s3 = pc_sum_f64(s2.hi, s0.lo);
  pc_pair_f64 s4 = pc_sum_f64(s3.hi, p.lo);
  pc_pair_f64 s5 = pc_sum_f64(s4.hi, q.lo);
  return pc_sum_f64(s5.hi, ((s1.lo + s2.lo) + (s3.lo + s4.lo)) + s5.lo);
}

/* ln(1 + d) / 2 for d > -1, not close to -1. */
PC_INLINE pc_f64 pc_half_log1p_f64(pc_pair_f64 d) {
  pc_pair_f64 u = pc_sum_f64(1.0, d.hi);
  return 0.5 * pc_log_plus_f64(u.hi, (u.lo + d.lo) / u.hi);
}

/* ln |x + iy|; inf if either is, even beside a NaN. */
PC_INLINE pc_f64 pc_log_abs_f64(pc_f64 x, pc_f64 y) {
  pc_f64 ax = pc_magnitude_f64(x), ay = pc_magnitude_f64(y);
  pc_f64 a = ax > ay ? ax : ay, b = ax > ay ? ay : ax;
  int near = (a > 0.5) & (a < 2.0), large = a > 0x1p500, small = a < 0x1p-400;
  pc_f64 close = pc_half_log1p_f64(pc_excess_f64(-1.0, 0.0, near ? a : 1.0, near ? b : 1.0));
  pc_f64 up = large ? 0x1p-600 : (small ? 0x1p600 : 1.0);
  pc_f64 twice = large ? 1200.0 : (small ? -1200.0 : 0.0);
  pc_pair_f64 r = pc_pair_add_f64(pc_product_f64(a * up, a * up), pc_product_f64(b * up, b * up));
  pc_f64 away = 0.5 * pc_log_sum_f64(twice * PC_LN2_HI_F64, r.hi, twice * PC_LN2_LO_F64 + r.lo / r.hi);
  pc_f64 out = near ? close : away;
  out = a == 0.0 ? -__builtin_inf() : out;
  out = (x != x) | (y != y) ? x + y : out;
  return (ax == __builtin_inf()) | (ay == __builtin_inf()) ? __builtin_inf() : out;
}

/* The natural logarithm; 0 gives -inf. */
PC_INLINE pc_c128 pc_log_c128(pc_c128 z) {
  pc_c128 out = {pc_log_abs_f64(z.re, z.im), pc_atan2_f64(z.im, z.re)};
  return out;
}

/* The logarithm to the base 2. */
PC_INLINE pc_c128 pc_log2_c128(pc_c128 z) {
  pc_c128 out = {pc_log_abs_f64(z.re, z.im) * PC_LOG2E_F64, pc_atan2_f64(z.im, z.re) * PC_LOG2E_F64};
  return out;
}

/* The logarithm to the base 10. */
PC_INLINE pc_c128 pc_log10_c128(pc_c128 z) {
  pc_f64 re = pc_log_abs_f64(z.re, z.im) * 0x1.bcb7b1526e50ep-2;
  pc_c128 out = {re, pc_atan2_f64(z.im, z.re) * 0x1.bcb7b1526e50ep-2};
  return out;
}

/* ln(1 + z); -1 gives -inf. |1 + z|^2 - 1 = 2x + x^2 + y^2 unless it is large, or 1 + x exact. */
PC_INLINE pc_c128 pc_log1p_c128(pc_c128 z) {
  int near = (z.re > -0.5) & (z.re < 4.0) & (pc_magnitude_f64(z.im) < 4.0);
  pc_f64 x = near ? z.re : 0.0, y = near ? z.im : 0.0;
  pc_f64 close = pc_half_log1p_f64(pc_excess_f64(x, x, x, y));
  pc_f64 away = pc_log_abs_f64(1.0 + z.re, z.im);
  pc_c128 out = {near ? close : away, pc_atan2_f64(z.im, 1.0 + z.re)};
  return out;
}

PC_INLINE pc_c64 pc_log_c64(pc_c64 z) { return pc_narrowed_c128(pc_log_c128(pc_widened_c64(z))); }
PC_INLINE pc_c64 pc_log2_c64(pc_c64 z) { return pc_narrowed_c128(pc_log2_c128(pc_widened_c64(z))); }
PC_INLINE pc_c64 pc_log10_c64(pc_c64 z) { return pc_narrowed_c128(pc_log10_c128(pc_widened_c64(z))); }
PC_INLINE pc_c64 pc_log1p_c64(pc_c64 z) { return pc_narrowed_c128(pc_log1p_c128(pc_widened_c64(z))); }

#endif
