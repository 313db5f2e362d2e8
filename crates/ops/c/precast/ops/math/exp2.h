/* precast/ops/math/exp2.h: 2^x and e^x - 1. */
#ifndef PRECAST_OPS_MATH_EXP2_H
#define PRECAST_OPS_MATH_EXP2_H

#include <precast/ops/math/exp.h>
#include <precast/ops/math/f32/exp2.h>
#include <precast/ops/math/pair.h>

/* ln 2: 26 bits and the rest. */
#define PC_LN2_HEAD_F64 0x1.62e42f8000000p-1
#define PC_LN2_REST_F64 0x1.be8e7bcd5e4f2p-27

/* 2^x; exact for whole x. x = k + r, 2^r = e^(r ln 2), and r ln 2 = hi - lo with hi exact. */
PC_INLINE pc_f64 pc_exp2_f64(pc_f64 x) {
  pc_f64 c = x > 1025.0 ? 1025.0 : x;
  c = c < -1076.0 ? -1076.0 : c;
  pc_f64 magic = 6755399441055744.0 + 2046.0;
  pc_f64 t = c + magic, r = c - (t - magic), head = pc_head_f64(r);
  pc_f64 hi = head * PC_LN2_HEAD_F64;
  pc_f64 lo = -(head * PC_LN2_REST_F64 + (r - head) * 0x1.62e42fefa39efp-1);
  pc_f64 s = 1.0 + hi;
  pc_f64 p = s + ((hi - (s - 1.0)) + pc_exp_tail_f64(hi, lo));
  return p * pc_scale_low_f64(pc_bits_f64(t)) * pc_scale_high_f64(pc_bits_f64(t));
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
