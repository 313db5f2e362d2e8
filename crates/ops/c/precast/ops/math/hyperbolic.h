/* precast/ops/math/hyperbolic.h: sinh and cosh. tanh stands beside the logistic function, in sigmoid.h. */
#ifndef PRECAST_OPS_MATH_HYPERBOLIC_H
#define PRECAST_OPS_MATH_HYPERBOLIC_H

#include <precast/ops/math/exp.h>
#include <precast/ops/math/f32/hyperbolic.h>
#include <precast/ops/math/pair.h>

/* The hyperbolic sine. With g = (e^a - 1) / 4: sinh a = 2 (g + g / (4g + 1)). Above 40 the quotient no longer counts. */
PC_INLINE pc_f64 pc_sinh_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x);
  pc_f64 c = a > 710.6 ? 710.6 : a;
  pc_reduced_f64 k = pc_reduce_ln2_f64(c, 1021.0);
  pc_f64 scale = pc_from_bits_f64(k.bits << 52); /* 2^k / 4 */
  pc_pair_f64 whole = pc_sum_ordered_f64(scale, -0.25);
  pc_pair_f64 s = pc_sum_ordered_f64(whole.hi, scale * k.hi);
  pc_pair_f64 g = pc_sum_ordered_f64(s.hi, (whole.lo + s.lo) + scale * pc_exp_tail_f64(k.hi, k.lo));
  int near = c < 40.0;
  pc_pair_f64 n = {near ? g.hi : 0.0, near ? g.lo : 0.0};
  pc_pair_f64 d = pc_sum_f64(4.0 * n.hi, 1.0);
  d.lo = d.lo + 4.0 * n.lo;
  pc_pair_f64 y = pc_pair_add_f64(g, pc_pair_div_f64(n, d));
  y.hi = a < 0x1p-28 ? a : y.hi + y.hi;
  return pc_signed_f64(y.hi, pc_sign_f64(x));
}

/* The hyperbolic cosine. With e = e^a / 4: cosh a = 2 (e + 1 / (16 e)). */
PC_INLINE pc_f64 pc_cosh_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x);
  a = a > 710.6 ? 710.6 : a;
  pc_reduced_f64 k = pc_reduce_ln2_f64(a, 1021.0);
  pc_f64 scale = pc_from_bits_f64(k.bits << 52); /* 2^k / 4 */
  pc_pair_f64 s = pc_sum_ordered_f64(scale, scale * k.hi);
  pc_pair_f64 e = pc_sum_ordered_f64(s.hi, s.lo + scale * pc_exp_tail_f64(k.hi, k.lo));
  pc_f64 y = e.hi + (0.0625 / e.hi + e.lo);
  return y + y;
}

#endif
