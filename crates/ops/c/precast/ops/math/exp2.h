/* precast/ops/math/exp2.h: 2^x and e^x - 1. */
#ifndef PRECAST_OPS_MATH_EXP2_H
#define PRECAST_OPS_MATH_EXP2_H

#include <precast/ops/math/exp.h>
#include <precast/ops/math/pair.h>
#include <precast/ops/math/short.h>

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

/* 2^r = 1 + r Q(r), |r| <= 1/2: degree 7, error 4.9e-11. */
PC_INLINE pc_f32 pc_exp2_f32(pc_f32 x) {
  pc_f64 c = x > 129.0f ? 129.0 : (pc_f64)x;
  c = c < -151.0 ? -151.0 : c;
  pc_f64 t = c + (6755399441055744.0 + 1023.0), r = c - (t - (6755399441055744.0 + 1023.0)), r2 = r * r;
  pc_f64 p01 = 0x1.62e42ff0d9050p-1 + r * 0x1.ebfbe0765eea3p-3, p23 = 0x1.c6b08ac6886a4p-5 + r * 0x1.3b29f4408ed5cp-7;
  pc_f64 p45 = 0x1.5d8a841a83493p-10 + r * 0x1.445c3a985ff55p-13;
  pc_f64 p = (p01 + r2 * p23) + (r2 * r2) * (p45 + r2 * 0x1.fde63a79cb4b7p-17);
  return (pc_f32)((1.0 + r * p) * pc_short_scale_f64(t));
}

PC_INLINE pc_f32 pc_expm1_f32(pc_f32 x) {
  pc_f64 c = x > 90.0f ? 90.0 : (pc_f64)x;
  c = c < -40.0 ? -40.0 : c;
  pc_f32 y = (pc_f32)pc_short_expm1_f64(c);
  return x == 0.0f ? x : y;
}

#endif
