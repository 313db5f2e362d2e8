/* precast/ops/math/sigmoid.h: the logistic function and the hyperbolic tangent. */
#ifndef PRECAST_OPS_MATH_SIGMOID_H
#define PRECAST_OPS_MATH_SIGMOID_H

#include <precast/ops/math/exp.h>

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

/* The hyperbolic tangent; keeps the sign of zero. tanh x = m / (m + 2) with m = e^(2|x|) - 1 in two parts. */
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

/* (nh + nl) / (dh + dl), rounded about once: the quotient's first 12 bits times the divisor is exact, the rest is
 * divided through by multiplication. |nl| and |dl| are below an ulp of nh and dh. */
PC_INLINE pc_f32 pc_quotient_f32(pc_f32 nh, pc_f32 nl, pc_f32 dh, pc_f32 dl) {
  const uint32_t head = 0xfffff000u;
  pc_f32 y = 1.0f / dh;
  pc_f32 q = pc_from_bits_f32(pc_bits_f32(nh * y) & head);
  pc_f32 a = pc_from_bits_f32(pc_bits_f32(dh) & head), b = dh - a;
  pc_f32 rest = ((nh - q * a) - q * b) + (nl - q * dl);
  return q + rest * y;
}

/* 1 / (1 + e^-x), without overflow and with full relative accuracy for x < 0: e^x / (1 + e^x). */
PC_INLINE pc_f32 pc_sigmoid_f32(pc_f32 x) {
  pc_f32 a = x < 0.0f ? x : -x;
  a = a < -104.0f ? -104.0f : a;
  pc_reduced_f32 k = pc_reduce_ln2_f32(a, 254.0f);
  pc_f32 low = pc_scale_low_f32(k.bits), high = pc_scale_high_f32(k.bits);
  pc_f32 s = 1.0f + k.hi;
  pc_f32 t = (k.hi - (s - 1.0f)) + pc_exp_tail_f32(k.hi, k.lo);
  pc_f32 eh = s + t, el = t - (eh - s); /* e^a = (eh + el) * 2^k */
  pc_f32 sh = eh * low * high, sl = el * low * high;
  pc_f32 dh = 1.0f + sh, dl = (sh - (dh - 1.0f)) + sl;
  pc_f32 q = pc_quotient_f32(x < 0.0f ? eh : 1.0f, x < 0.0f ? el : 0.0f, dh, dl);
  return q * (x < 0.0f ? low : 1.0f) * (x < 0.0f ? high : 1.0f);
}

/* The hyperbolic tangent; keeps the sign of zero. Below 0.8 x + x^3 p(x^2), of degree 5, error 1.6e-8; above 1 - 2 / (e^(2x) + 1), where
 * the errors of the quotient count by a third and less. */
PC_INLINE pc_f32 pc_tanh_f32(pc_f32 x) {
  const uint32_t sign = 0x80000000u;
  pc_f32 a = pc_from_bits_f32(pc_bits_f32(x) & ~sign), z = a * a;
  pc_f32 p = 0x1.567f84p-6f + z * (-0x1.c199dep-8f + z * 0x1.55db84p-10f);
  p = -0x1.555504p-2f + z * (0x1.11017ep-3f + z * (-0x1.b81668p-5f + z * p));
  pc_f32 near = a + (a * z) * p, c = a > 10.0f ? 10.0f : a;
  pc_reduced_f32 k = pc_reduce_ln2_f32(c + c, 127.0f);
  pc_f32 e = 1.0f + (k.hi + pc_exp_tail_f32(k.hi, k.lo));
  pc_f32 far = 1.0f - 2.0f / (e * pc_from_bits_f32(k.bits << 23) + 1.0f);
  pc_f32 y = a < 0.8f ? near : far;
  return pc_from_bits_f32(pc_bits_f32(y) | (pc_bits_f32(x) & sign));
}

#endif
