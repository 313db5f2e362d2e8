/* precast/ops/math/log1p.h: ln(1 + x) and its relatives: softplus = ln(1 + e^x), log1mexp = ln(1 - e^x), softplus_inverse. */
#ifndef PRECAST_OPS_MATH_LOG1P_H
#define PRECAST_OPS_MATH_LOG1P_H

#include <precast/ops/math/exp.h>
#include <precast/ops/math/log.h>
#include <precast/ops/math/f32/exp2.h>
#include <precast/ops/math/f32/softplus.h>
#include <precast/ops/math/pair.h>

/* u = hi + lo, hi of 26 bits, and 2 atanh(u / 2) - u. */
typedef struct pc_atanh_parts_f64 {
  pc_f64 hi, lo, tail;
} pc_atanh_parts_f64;

/* Of u = 2 (num + rest) / (den + lost), at most 2/5, to about 2^-58; `rest` and `lost` are below an ulp. 2 atanh(u / 2) = u + u^3 P(u^2), P of
 * degree 7, error 2.0e-19 of the whole. */
PC_INLINE pc_atanh_parts_f64 pc_atanh_twice_f64(pc_f64 num, pc_f64 rest, pc_f64 den, pc_f64 lost) {
  pc_f64 twice = num + num, y = 1.0 / den, u = twice * y, v = u * u, v2 = v * v, h = pc_head_f64(u), divisor = pc_head_f64(den);
  pc_f64 p01 = 0x1.5555555555555p-4 + v * 0x1.999999999a868p-7, p23 = 0x1.2492492303aebp-9 + v * 0x1.c71c73c4e0035p-12;
  pc_f64 p45 = 0x1.745c721623fa8p-14 + v * 0x1.3b31842d747adp-16, p67 = 0x1.0e08fedcad1a6p-18 + v * 0x1.1a15ff08b2a9fp-20;
  pc_f64 l = (((twice - h * divisor) - h * ((den - divisor) + lost)) + (rest + rest)) * y;
  pc_atanh_parts_f64 out = {h, l, (u * v) * ((p01 + v2 * p23) + (v2 * v2) * (p45 + v2 * p67))};
  return out;
}

/* x = 2^k s y for positive normal numbers, as bits: the exponent k, and s between 2/3 and 3/2, since the bits of a number are nearly the
 * multiples of a logarithm. */
PC_INLINE uint64_t pc_ratio_exponent_f64(pc_f64 x, pc_f64 y) { return (pc_bits_f64(x) - pc_bits_f64(y) + 0x0008000000000000u) & 0xfff0000000000000u; }

/* The exponent as a number. */
PC_INLINE pc_f64 pc_exponent_number_f64(uint64_t k) {
  return pc_from_bits_f64(((k ^ 0x8000000000000000u) >> 52) | 0x4330000000000000u) - (4503599627370496.0 + 2048.0);
}

/* ln u = (whole + f) + (tail + low) for a normal finite u > 0: k ln 2 in two parts, the first without a bit below 2^-42, f = m - 1 of
 * u = 2^k m, m in [sqrt 1/2, sqrt 2), and ln m - f. */
typedef struct pc_log_terms_f64 {
  pc_f64 whole, f, tail, low;
} pc_log_terms_f64;

PC_INLINE pc_log_terms_f64 pc_log_terms_of_f64(pc_f64 u) {
  const uint64_t half = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u;
  uint64_t b = pc_bits_f64(u) + (one - half);
  pc_f64 m = pc_from_bits_f64((b & 0x000fffffffffffffu) + half);
  pc_f64 k = pc_from_bits_f64((b >> 52) | 0x4330000000000000u) - (4503599627370496.0 + 1023.0);
  pc_f64 f = m - 1.0, s = f / (2.0 + f), z = s * s, z2 = z * z;
  pc_f64 p01 = 0x1.5555555555592p-1 + z * 0x1.999999997ffa0p-2;
  pc_f64 p23 = 0x1.24924941dee31p-2 + z * 0x1.c71c521341c60p-3;
  pc_f64 p45 = 0x1.74663da64d2d6p-3 + z * 0x1.39a1cb220c990p-3;
  pc_f64 r = z * ((p01 + z2 * p23) + (z2 * z2) * (p45 + z2 * 0x1.2f0545f63b365p-3));
  pc_f64 square = 0.5 * f * f;
  pc_log_terms_f64 out = {k * PC_LN2_HI_F64, f, s * (square + r) - square, k * PC_LN2_LO_F64};
  return out;
}

/* ln u + add, with `add` small beside 1. The parts that are exact are kept apart, so the result is rounded about once whether it is near 0 or
 * not. */
PC_INLINE pc_f64 pc_log_plus_f64(pc_f64 u, pc_f64 add) {
  pc_log_terms_f64 t = pc_log_terms_of_f64(u);
  pc_pair_f64 a = pc_sum_ordered_f64(t.whole, t.f);
  return a.hi + (t.tail + ((add + t.low) + a.lo));
}

/* whole + ln u + add, with `whole` 0, a multiple of 2^-42 or, where k is 0, more than 1/2. */
PC_INLINE pc_f64 pc_log_sum_f64(pc_f64 whole, pc_f64 u, pc_f64 add) {
  pc_log_terms_f64 t = pc_log_terms_of_f64(u);
  pc_pair_f64 a = pc_sum_ordered_f64(t.whole, whole), b = pc_sum_ordered_f64(a.hi, t.f);
  return b.hi + (t.tail + ((add + t.low) + (a.lo + b.lo)));
}

/* ln(1 + x). -1 gives -inf, less gives NaN; keeps the sign of zero. */
PC_INLINE pc_f64 pc_log1p_f64(pc_f64 x) {
  pc_pair_f64 u = pc_sum_f64(1.0, x);
  pc_f64 y = pc_log_plus_f64(u.hi, u.lo / u.hi);
  y = x < __builtin_inf() ? y : x;
  y = pc_magnitude_f64(x) < 0x1p-54 ? x : y;
  pc_f64 edge = x == -1.0 ? -__builtin_inf() : __builtin_nan("");
  return x > -1.0 ? y : edge;
}

/* ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|). */
PC_INLINE pc_f64 pc_softplus_f64(pc_f64 x) {
  pc_f64 a = x < 0.0 ? x : -x;
  a = a < -746.0 ? -746.0 : a;
  pc_reduced_f64 k = pc_reduce_ln2_f64(a, 2046.0);
  pc_f64 low = pc_scale_low_f64(k.bits), high = pc_scale_high_f64(k.bits);
  pc_pair_f64 s = pc_sum_ordered_f64(1.0, k.hi);
  pc_pair_f64 e = pc_sum_ordered_f64(s.hi, s.lo + pc_exp_tail_f64(k.hi, k.lo));
  pc_f64 eh = e.hi * low * high, el = e.lo * low * high; /* e^-|x| */
  pc_pair_f64 u = pc_sum_ordered_f64(1.0, eh);
  pc_f64 base = x > 0.0 ? x : 0.0;
  pc_f64 near = pc_log_sum_f64(base, u.hi, (u.lo + el) / u.hi);
  pc_f64 small = eh + (el - eh * eh * (0.5 - eh * 0x1.5555555555555p-2));
  pc_f64 y = a < -18.0 ? base + small : near;
  return x == x ? y : x;
}

/* ln(1 - e^x) for x <= 0; 0 gives -inf, a positive number NaN. 1 - e^x = (1 - 2^k) - 2^k (hi + tail), kept as a pair. */
PC_INLINE pc_f64 pc_log1mexp_f64(pc_f64 x) {
  pc_f64 c = x < -746.0 ? -746.0 : x;
  pc_reduced_f64 k = pc_reduce_ln2_f64(c, 2046.0);
  pc_f64 low = pc_scale_low_f64(k.bits), high = pc_scale_high_f64(k.bits), scale = low * high;
  pc_f64 tail = pc_exp_tail_f64(k.hi, k.lo);
  pc_pair_f64 a = pc_sum_ordered_f64(1.0, -scale);
  pc_pair_f64 b = pc_sum_f64(a.hi, -(scale * k.hi));
  pc_pair_f64 u = pc_sum_ordered_f64(b.hi, (a.lo + b.lo) - scale * tail);
  int tiny = x > -0x1p-54; /* 1 - e^x is -x, and may be subnormal */
  pc_f64 whole = tiny ? -54.0 * PC_LN2_HI_F64 : 0.0;
  pc_f64 add = tiny ? -54.0 * PC_LN2_LO_F64 : u.lo / u.hi;
  pc_f64 y = pc_log_sum_f64(whole, tiny ? -x * 0x1p54 : u.hi, add);
  pc_pair_f64 s = pc_sum_ordered_f64(1.0, k.hi);
  pc_pair_f64 e = pc_sum_ordered_f64(s.hi, s.lo + tail);
  pc_f64 eh = e.hi * low * high, el = e.lo * low * high; /* e^x */
  y = x < -18.0 ? -(eh + (el + eh * eh * (0.5 + eh * 0x1.5555555555555p-2))) : y;
  pc_f64 edge = x == 0.0 ? -__builtin_inf() : __builtin_nan("");
  return x < 0.0 ? y : edge;
}

/* ln(e^x - 1), the inverse of softplus; 0 gives -inf, a negative number NaN. e^x - 1 = (2^k - 1) + 2^k (hi + tail), kept as a pair. */
PC_INLINE pc_f64 pc_softplus_inverse_f64(pc_f64 x) {
  pc_f64 c = x < 40.0 ? x : 40.0;
  pc_reduced_f64 k = pc_reduce_ln2_f64(c, 2046.0);
  pc_f64 scale = pc_scale_low_f64(k.bits) * pc_scale_high_f64(k.bits);
  pc_pair_f64 a = pc_sum_ordered_f64(scale, -1.0);
  pc_pair_f64 b = pc_sum_f64(a.hi, scale * k.hi);
  pc_pair_f64 u = pc_sum_ordered_f64(b.hi, (a.lo + b.lo) + scale * pc_exp_tail_f64(k.hi, k.lo));
  int tiny = x < 0x1p-54; /* e^x - 1 is x, and may be subnormal */
  pc_f64 whole = tiny ? -54.0 * PC_LN2_HI_F64 : 0.0;
  pc_f64 add = tiny ? -54.0 * PC_LN2_LO_F64 : u.lo / u.hi;
  pc_f64 y = pc_log_sum_f64(whole, tiny ? x * 0x1p54 : u.hi, add);
  y = x < 40.0 ? y : x; /* e^-x is far below an ulp */
  pc_f64 edge = x == 0.0 ? -__builtin_inf() : __builtin_nan("");
  return x > 0.0 ? y : edge;
}

/* Returns ln(1 + x), 1 + x = 2^k (1 + f + rest). `rest` is the rounding error of the sum, which is as large as x where x is small. */
PC_INLINE pc_f32 pc_log1p_f32(pc_f32 x) {
  const uint32_t one = 0x3f800000u, sign = 0x80000000u;
  pc_f32 u = 1.0f + x, t = u - 1.0f, lost = (1.0f - (u - t)) + (x - t);
  pc_parts_f32 parts = pc_parts_of_f32(u);
  int32_t scale = (int32_t)parts.scale < (int32_t)one ? (int32_t)parts.scale : (int32_t)one; /* no rest of 2^128 counts */
  pc_f32 f = parts.m - 1.0f, rest = lost * pc_from_bits_f32(one - (uint32_t)scale);
  pc_f32 y = (pc_f32)parts.k * PC_LN2_F32 + (f - (pc_log_tail_f32(f + rest) - rest));
  y = pc_from_bits_f32(pc_bits_f32(y) | (pc_bits_f32(x) & sign)); /* of -0 */
  y = x == __builtin_inff() ? x : y;
  pc_f32 edge = x == -1.0f ? -__builtin_inff() : __builtin_nanf("");
  return x > -1.0f ? y : edge;
}

PC_INLINE pc_f32 pc_softplus_inverse_f32(pc_f32 x) { return (pc_f32)pc_softplus_inverse_f64((pc_f64)x); }

#endif
