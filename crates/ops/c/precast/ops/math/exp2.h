/* precast/ops/math/exp2.h: 2^x and e^x - 1. */
#ifndef PRECAST_OPS_MATH_EXP2_H
#define PRECAST_OPS_MATH_EXP2_H

#include <precast/ops/math/exp.h>
#include <precast/ops/math/f32/exp2.h>
#include <precast/ops/math/pair.h>

/* Returns 2^x; exact for whole x. x = k + r, 2^r = 1 + r/2 + r P(r), where r/2 is exact. P has degree 10, error 3.4e-18. The reduction of an
 * x out of range is meaningless, and the right result is chosen last. */
PC_INLINE pc_f64 pc_exp2_f64(pc_f64 x) {
  const pc_f64 magic = 6755399441055744.0 + 2046.0;
  pc_f64 t = x + magic, r = x - (t - magic), r2 = r * r, r4 = r2 * r2;
  pc_f64 p01 = 0x1.8b90bfbe8e7bdp-3 + r * 0x1.ebfbdff82c5a4p-3, p23 = 0x1.c6b08d7049fe8p-5 + r * 0x1.3b2ab6fba011dp-7;
  pc_f64 p45 = 0x1.5d87fe78cd69ap-10 + r * 0x1.4309130ed8334p-13, p67 = 0x1.ffcbfba98d07bp-17 + r * 0x1.62bfc79ea404cp-20;
  pc_f64 p89 = 0x1.b5267ccc2c5b9p-24 + r * 0x1.e61b4d7ded7dap-28;
  pc_f64 q = (p01 + r2 * p23) + r4 * ((p45 + r2 * p67) + r4 * (p89 + r2 * 0x1.e79bcee01928ap-32));
  pc_pair_f64 s = pc_sum_ordered_f64(1.0, 0.5 * r);
  pc_f64 y = (s.hi + (s.lo + r * q)) * pc_scale_low_f64(pc_bits_f64(t)) * pc_scale_high_f64(pc_bits_f64(t));
  y = x > 1025.0 ? __builtin_inf() : y;
  return x < -1076.0 ? 0.0 : y;
}

/* e^x - 1, both parts halved until the end, so that nothing overflows before the result does. */
PC_INLINE pc_f64 pc_expm1_f64(pc_f64 x) {
  pc_f64 c = x > 710.0 ? 710.0 : x;
  c = c < -40.0 ? -40.0 : c;
  pc_reduced_f64 k = pc_reduce_ln2_f64(c, 1022.0);
  pc_f64 scale = pc_from_bits_f64(k.bits << 52); /* 2^k / 2 */
  pc_f64 whole = scale - 0.5, part = scale * k.hi;
  pc_f64 s = whole + part;
  pc_f64 y = s + ((part - (s - whole)) + scale * pc_exp_tail_f64(k.hi, k.lo));
  return pc_magnitude_f64(x) < 0x1p-54 ? x : y + y;
}

#endif
