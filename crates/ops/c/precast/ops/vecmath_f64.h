/* precast/ops/vecmath_f64.h: the f64 half of vecmath.h, which says what holds for all of them. */
#ifndef PRECAST_OPS_VECMATH_F64_H
#define PRECAST_OPS_VECMATH_F64_H

#include <precast/ops/bits.h>

/* ln 2 in two parts: k * HI is exact for |k| < 2^11. */
#define PC_LOG2E_F64 0x1.71547652b82fep+0
#define PC_LN2_HI_F64 0x1.62e42fefa3800p-1
#define PC_LN2_LO_F64 0x1.ef35793c76730p-45

/* x = k ln 2 + (hi - lo): hi is exact, |hi - lo| <= ln 2 / 2, and the low bits of `bits` are k + bias. */
typedef struct pc_reduced_f64 {
  pc_f64 hi, lo;
  uint64_t bits;
} pc_reduced_f64;

/* Rounds x / ln 2 to an integer by adding 1.5 * 2^52 + bias, which leaves it in the low bits. |x| < 2^20. */
PC_INLINE pc_reduced_f64 pc_reduce_ln2_f64(pc_f64 x, pc_f64 bias) {
  pc_f64 magic = 6755399441055744.0 + bias;
  pc_f64 t = x * PC_LOG2E_F64 + magic;
  pc_f64 k = t - magic;
  pc_reduced_f64 out;
  out.hi = x - k * PC_LN2_HI_F64;
  out.lo = k * PC_LN2_LO_F64;
  out.bits = pc_bits_f64(t);
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
PC_INLINE pc_f64 pc_scale_low_f64(uint64_t bits) { return pc_from_bits_f64(((bits >> 1) & 0x7ff) << 52); }
PC_INLINE pc_f64 pc_scale_high_f64(uint64_t bits) {
  return pc_from_bits_f64(((bits & 0xfff) - ((bits >> 1) & 0x7ff)) << 52);
}

/* e^x. */
PC_INLINE pc_f64 pc_exp_f64(pc_f64 x) {
  pc_f64 c = x > 710.0 ? 710.0 : x;
  c = c < -746.0 ? -746.0 : c;
  pc_reduced_f64 k = pc_reduce_ln2_f64(c, 2046.0);
  pc_f64 p = 1.0 + (k.hi + pc_exp_tail_f64(k.hi, k.lo));
  return p * pc_scale_low_f64(k.bits) * pc_scale_high_f64(k.bits);
}

/* (nh + nl) / (dh + dl), rounded about once: the quotient's first 26 bits times the divisor is exact, the rest is
 * divided through by multiplication. |nl| and |dl| are below an ulp of nh and dh. */
PC_INLINE pc_f64 pc_quotient_f64(pc_f64 nh, pc_f64 nl, pc_f64 dh, pc_f64 dl) {
  const uint64_t head = 0xfffffffff8000000u;
  pc_f64 y = 1.0 / dh;
  pc_f64 q = pc_from_bits_f64(pc_bits_f64(nh * y) & head);
  pc_f64 a = pc_from_bits_f64(pc_bits_f64(dh) & head), b = dh - a;
  pc_f64 rest = ((nh - q * a) - q * b) + (nl - q * dl);
  return q + rest * y;
}

/* 1 / (1 + e^-x), without overflow and with full relative accuracy for x < 0: e^x / (1 + e^x). */
PC_INLINE pc_f64 pc_sigmoid_f64(pc_f64 x) {
  pc_f64 a = x < 0.0 ? x : -x;
  a = a < -746.0 ? -746.0 : a;
  pc_reduced_f64 k = pc_reduce_ln2_f64(a, 2046.0);
  pc_f64 low = pc_scale_low_f64(k.bits), high = pc_scale_high_f64(k.bits);
  pc_f64 s = 1.0 + k.hi;
  pc_f64 t = (k.hi - (s - 1.0)) + pc_exp_tail_f64(k.hi, k.lo);
  pc_f64 eh = s + t, el = t - (eh - s); /* e^a = (eh + el) * 2^k */
  pc_f64 sh = eh * low * high, sl = el * low * high;
  pc_f64 dh = 1.0 + sh, dl = (sh - (dh - 1.0)) + sl;
  pc_f64 q = pc_quotient_f64(x < 0.0 ? eh : 1.0, x < 0.0 ? el : 0.0, dh, dl);
  return q * (x < 0.0 ? low : 1.0) * (x < 0.0 ? high : 1.0);
}

/* tanh x = m / (m + 2) with m = e^(2|x|) - 1 in two parts. */
PC_INLINE pc_f64 pc_tanh_f64(pc_f64 x) {
  const uint64_t sign = 0x8000000000000000u;
  pc_f64 a = pc_from_bits_f64(pc_bits_f64(x) & ~sign);
  a = a > 22.0 ? 22.0 : a;
  pc_reduced_f64 k = pc_reduce_ln2_f64(a + a, 1023.0);
  pc_f64 scale = pc_from_bits_f64(k.bits << 52);
  pc_f64 whole = scale - 1.0, part = scale * k.hi;
  pc_f64 s = whole + part;
  pc_f64 t = (part - (s - whole)) + scale * pc_exp_tail_f64(k.hi, k.lo);
  pc_f64 mh = s + t, ml = t - (mh - s);
  pc_f64 dh = mh + 2.0, two = dh - mh; /* m may be below or above 2: Knuth's sum */
  pc_f64 dl = ((mh - (dh - two)) + (2.0 - two)) + ml;
  pc_f64 q = pc_quotient_f64(mh, ml, dh, dl);
  return pc_from_bits_f64((pc_bits_f64(q) & ~sign) | (pc_bits_f64(x) & sign));
}

/* ln x. 0 gives -inf, a negative number gives NaN. x = 2^k m, m in [sqrt 1/2, sqrt 2), f = m - 1, s = f / (2 + f). */
PC_INLINE pc_f64 pc_log_f64(pc_f64 x) {
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
  pc_f64 y = k * PC_LN2_HI_F64 - ((square - (s * (square + r) + k * PC_LN2_LO_F64)) - f);
  y = x == __builtin_inf() ? x : y;
  pc_f64 edge = x == 0.0 ? -__builtin_inf() : __builtin_nan("");
  return x > 0.0 ? y : edge;
}

#endif
