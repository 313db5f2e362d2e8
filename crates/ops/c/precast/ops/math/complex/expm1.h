/* precast/ops/math/complex/expm1.h: e^z - 1 = (e^x - 1) cos y + (cos y - 1) + i e^x sin y, all factors as pairs.
 *
 * Both terms of the real part keep their digits near 0, and their sum as a pair loses few where they cancel. */
#ifndef PRECAST_OPS_MATH_COMPLEX_EXPM1_H
#define PRECAST_OPS_MATH_COMPLEX_EXPM1_H

#include <precast/ops/math/complex/exp.h>
#include <precast/ops/math/exp2.h>

/* e^x - 1 for x < 700. */
PC_INLINE pc_pair_f64 pc_expm1_pair_f64(pc_f64 x) {
  pc_f64 c = x > 700.0 ? 700.0 : x;
  c = c < -80.0 ? -80.0 : c;
  pc_reduced_f64 k = pc_reduce_ln2_f64(c, 1022.0);
  pc_f64 scale = pc_from_bits_f64(k.bits << 52); /* 2^k / 2 */
  pc_pair_f64 whole = pc_sum_f64(scale, -0.5);
  pc_pair_f64 s = pc_sum_f64(whole.hi, scale * k.hi);
  pc_pair_f64 g = pc_sum_ordered_f64(s.hi, (whole.lo + s.lo) + scale * pc_exp_tail_f64(k.hi, k.lo));
  int tiny = pc_magnitude_f64(x) < 0x1p-500;
  pc_pair_f64 out = {tiny ? x : 2.0 * g.hi, tiny ? 0.0 : 2.0 * g.lo};
  return out;
}

/* cos y - 1, where c = cos y: -2 sin^2 (y/2) near 0. */
PC_INLINE pc_pair_f64 pc_cosm1_pair_f64(pc_f64 y, pc_pair_f64 c) {
  int near = pc_magnitude_f64(y) < 0.5;
  pc_f64 half = near ? 0.5 * y : 0.0;
  pc_pair_f64 s = pc_sum_ordered_f64(half, pc_sin_tail_f64(half, 0.0));
  pc_pair_f64 square = pc_pair_mul_f64(s, s);
  pc_pair_f64 one = {-1.0, 0.0};
  pc_pair_f64 far = pc_pair_sum_f64(one, c);
  pc_pair_f64 out = {near ? -2.0 * square.hi : far.hi, near ? -2.0 * square.lo : far.lo};
  return out;
}

/* e^z - 1. A real z gives a real number, that of the real function. Of infinite or NaN parts it is e^z, and 1 less. */
PC_INLINE pc_c128 pc_expm1_c128(pc_c128 z) {
  pc_c128 e = pc_exp_c128(z);
  pc_pair_f64 y = {z.im, 0.0};
  pc_cis_f64 t = pc_cis_of_f64(y);
  pc_pair_f64 first = pc_pair_mul_f64(pc_expm1_pair_f64(z.re), t.c);
  pc_f64 re = pc_pair_sum_f64(first, pc_cosm1_pair_f64(z.im, t.c)).hi;
  re = (z.re > 700.0) | pc_lost_f64(z.re) | pc_lost_f64(z.im) ? e.re - 1.0 : re;
  pc_c128 out = {z.im == 0.0 ? pc_expm1_f64(z.re) : re, e.im};
  return out;
}

PC_INLINE pc_c64 pc_expm1_c64(pc_c64 z) { return pc_narrowed_c128(pc_expm1_c128(pc_widened_c64(z))); }

#endif
