/* precast/ops/math/exp.h: e^x, and the reduction by ln 2 that its relatives share. What holds for all functions: math.h. */
#ifndef PRECAST_OPS_MATH_EXP_H
#define PRECAST_OPS_MATH_EXP_H

#include <precast/ops/math/ln2.h>

/* x = k ln 2 + (hi - lo): hi is exact, |hi - lo| <= ln 2 / 2, and the low bits of `bits` are k + bias. */
typedef struct pc_reduced_f64 {
  pc_f64 hi, lo;
  uint64_t bits;
} pc_reduced_f64;

/* Rounds x / ln 2 to an integer by adding 1.5 * 2^52 + bias, which leaves it in the low bits, for |x| < 2^20. */
PC_INLINE pc_reduced_f64 pc_reduce_ln2_f64(pc_f64 x, pc_f64 bias) {
  pc_f64 magic = 6755399441055744.0 + bias;
  pc_f64 t = x * PC_LOG2E_F64 + magic;
  pc_f64 k = t - magic;
  pc_reduced_f64 out = {x - k * PC_LN2_HI_F64, k * PC_LN2_LO_F64, pc_bits_f64(t)};
  return out;
}

/* exp(hi - lo) - 1 - hi, with |hi - lo| <= ln 2 / 2. Polynomial of degree 11, error 3.8e-18. */
PC_INLINE pc_f64 pc_exp_tail_f64(pc_f64 hi, pc_f64 lo) {
  pc_f64 r = hi - lo, r2 = r * r, r4 = r2 * r2;
  pc_f64 p01 = 0x1.0000000000009p-1 + r * 0x1.55555555554fbp-3;
  pc_f64 p23 = 0x1.5555555550b43p-5 + r * 0x1.11111111279f3p-7;
  pc_f64 p45 = 0x1.6c16c183adedfp-10 + r * 0x1.a01a012a19e85p-13;
  pc_f64 p67 = 0x1.a0199b250dfbfp-16 + r * 0x1.71df273a14ad5p-19;
  pc_f64 p89 = 0x1.28ac94b572edfp-22 + r * 0x1.ad7ae6e262d6cp-26;
  pc_f64 q = (p01 + r2 * p23) + r4 * ((p45 + r2 * p67) + r4 * p89);
  return r2 * q - lo;
}

/* 2^floor(k/2) and 2^ceil(k/2) from a reduction with bias 2046: one factor alone would overflow, or be subnormal. */
PC_INLINE pc_f64 pc_scale_low_f64(uint64_t bits) { return pc_from_bits_f64((bits << 51) & 0x7ff0000000000000u); }
PC_INLINE pc_f64 pc_scale_high_f64(uint64_t bits) {
  return pc_from_bits_f64((bits << 52) - ((bits << 51) & 0x7ff0000000000000u));
}

/* Returns e^x. Overflow gives inf; the result passes through the subnormals to 0. The reduction of an x out of range is meaningless, and the
 * right result is chosen last: gcc duplicates the code after a clamp for the constant that it gives. */
PC_INLINE pc_f64 pc_exp_f64(pc_f64 x) {
  pc_reduced_f64 k = pc_reduce_ln2_f64(x, 2046.0);
  pc_f64 p = 1.0 + (k.hi + pc_exp_tail_f64(k.hi, k.lo));
  pc_f64 y = p * pc_scale_low_f64(k.bits) * pc_scale_high_f64(k.bits);
  y = x > 710.0 ? __builtin_inf() : y;
  return x < -746.0 ? 0.0 : y;
}

/* x = k ln 2 + (hi - lo): hi is exact, |hi - lo| <= ln 2 / 2, and the low bits of `bits` are k + bias. */
typedef struct pc_reduced_f32 {
  pc_f32 hi, lo;
  uint32_t bits;
} pc_reduced_f32;

/* Rounds x / ln 2 to an integer by adding 1.5 * 2^23 + bias, which leaves it in the low bits. |x| < 2^10. */
PC_INLINE pc_reduced_f32 pc_reduce_ln2_f32(pc_f32 x, pc_f32 bias) {
  pc_f32 magic = 12582912.0f + bias;
  pc_f32 t = x * PC_LOG2E_F32 + magic;
  pc_f32 k = t - magic;
  pc_reduced_f32 out = {x - k * PC_LN2_HI_F32, k * PC_LN2_LO_F32, pc_bits_f32(t)};
  return out;
}

/* exp(hi - lo) - 1 - hi, with |hi - lo| <= ln 2 / 2. Polynomial of degree 6, error 3.2e-9. */
PC_INLINE pc_f32 pc_exp_tail_f32(pc_f32 hi, pc_f32 lo) {
  pc_f32 r = hi - lo, r2 = r * r;
  pc_f32 p01 = 0x1.fffffcp-2f + r * 0x1.555492p-3f;
  pc_f32 p23 = 0x1.5558eep-5f + r * 0x1.1239d4p-7f;
  pc_f32 q = p01 + r2 * (p23 + r2 * 0x1.6a25dap-10f);
  return r2 * q - lo;
}

/* 2^floor(k/2) and 2^ceil(k/2) from a reduction with bias 254: one factor alone would overflow, or be subnormal. */
PC_INLINE pc_f32 pc_scale_low_f32(uint32_t bits) { return pc_from_bits_f32((bits << 22) & 0x7f800000u); }
PC_INLINE pc_f32 pc_scale_high_f32(uint32_t bits) {
  return pc_from_bits_f32((bits << 23) - ((bits << 22) & 0x7f800000u));
}

/* e^x. Overflow gives inf; the result passes through the subnormals to 0. */
PC_INLINE pc_f32 pc_exp_f32(pc_f32 x) {
  pc_reduced_f32 k = pc_reduce_ln2_f32(x, 254.0f);
  pc_f32 p = 1.0f + (k.hi + pc_exp_tail_f32(k.hi, k.lo));
  pc_f32 y = p * pc_scale_low_f32(k.bits) * pc_scale_high_f32(k.bits);
  y = x > 89.0f ? __builtin_inff() : y;
  return x < -104.0f ? 0.0f : y;
}

#endif
