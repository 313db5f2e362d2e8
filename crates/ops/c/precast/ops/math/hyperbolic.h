/* precast/ops/math/hyperbolic.h: sinh and cosh. tanh stands beside the logistic function, in sigmoid.h. */
#ifndef PRECAST_OPS_MATH_HYPERBOLIC_H
#define PRECAST_OPS_MATH_HYPERBOLIC_H

#include <precast/ops/math/exp.h>
#include <precast/ops/math/f32/hyperbolic.h>
#include <precast/ops/math/pair.h>

/* The hyperbolic sine. |x| = k ln 2 + r: sinh |x| = S cosh r + C sinh r with S = (2^k - 2^-k) / 2 and C = (2^k + 2^-k) / 2, halved until the
 * end, so that nothing overflows before the result does. cosh r = 1 + z/2 + z^2 Q(z), sinh r = r + r z P(z), z = r^2: of degree 3 and 4, errors
 * 5.5e-18 and 2.7e-19. */
PC_INLINE pc_f64 pc_sinh_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x);
  pc_reduced_f64 k = pc_reduce_ln2_f64(a > 710.6 ? 710.6 : a + 0x1p-200, 1021.0); /* with a normal square */
  int64_t below = (int64_t)(0x4338000000000000u + 2042u - k.bits), least = below > 0 ? below : 0;
  pc_f64 up = pc_from_bits_f64(k.bits << 52), down = pc_from_bits_f64((uint64_t)least << 52); /* 2^k / 4 and 2^-k / 4, or 0 far out */
  pc_f64 r = k.hi - k.lo, z = r * r, z2 = z * z;
  pc_f64 q = (0x1.555555555314ap-5 + z * 0x1.6c16c17cff822p-10) + z2 * (0x1.a019aa6ea5f3ep-16 + z * 0x1.28a04898eca17p-22);
  pc_f64 p23 = 0x1.a01a01afef1adp-13 + z * 0x1.71ddf837f8c5bp-19;
  pc_f64 p = (0x1.5555555555559p-3 + z * 0x1.111111110f698p-7) + z2 * (p23 + z2 * 0x1.af5ef359f89abp-26);
  pc_pair_f64 s = pc_sum_ordered_f64(up, -down), y = pc_sum_ordered_f64(s.hi, up * k.hi);
  pc_f64 tail = s.hi * (0.5 * z + z2 * q) + (up + down) * (r * (z * p) - k.lo);
  pc_f64 half = y.hi + (((s.lo + y.lo) + down * k.hi) + tail);
  return pc_signed_f64(a < 0x1p-28 ? a : half + half, pc_sign_f64(x));
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
