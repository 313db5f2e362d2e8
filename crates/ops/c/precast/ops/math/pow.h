/* precast/ops/math/pow.h: x^y = e^(y ln |x|), with ln |x| known to 2^-63 and the sign and edges of C99's Annex F. */
#ifndef PRECAST_OPS_MATH_POW_H
#define PRECAST_OPS_MATH_POW_H

#include <precast/ops/math/exp.h>
#include <precast/ops/math/f32/pow.h>
#include <precast/ops/math/log.h>
#include <precast/ops/math/pair.h>

/* a * b to about 2^-102. */
PC_INLINE pc_pair_f64 pc_pair_mul_f64(pc_pair_f64 a, pc_pair_f64 b) {
  pc_pair_f64 p = pc_product_f64(a.hi, b.hi);
  return pc_sum_ordered_f64(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* Returns k ln 2 + 2 atanh(num / (den + lost)), a quotient of at most 0.172, to about 2^-63: its first 26 bits and the rest. `lost` is below
 * an ulp.
 *
 * With u twice the quotient it is u + u^3 (1/12 + u^2 T(u^2)), T of degree 6, error 1.1e-20 of the whole. The first 15 bits of u times the first
 * 38 of the divisor are exact, and so is their cube times the first 7 bits of 1/12. Of u a 2^15th is left then, and of the terms after the cube
 * less than a thousandth. Terms that are not needed to all bits use the rounded quotient, so they do not wait for the split. */
PC_INLINE pc_pair_f64 pc_log_split_f64(pc_f64 k, pc_f64 num, pc_f64 den, pc_f64 lost) {
  pc_f64 twice = num + num, y = 1.0 / den, q = twice * y, w = q * q, w2 = w * w;
  pc_f64 h = pc_from_bits_f64(pc_bits_f64(q) & 0xffffffc000000000u), divisor = pc_from_bits_f64(pc_bits_f64(den) & 0xffffffffffff8000u);
  pc_f64 t01 = 0x1.9999999999b2fp-7 + w * 0x1.2492492457ed0p-9, t23 = 0x1.c71c722d52ec4p-12 + w * 0x1.745ce9e69b7a5p-14;
  pc_f64 t45 = 0x1.3b1eebf380b5dp-16 + w * 0x1.0f7fe22e68136p-18;
  pc_f64 t = (t01 + w2 * t23) + (w2 * w2) * (t45 + w2 * 0x1.0e433ceb70291p-20);
  pc_f64 l = ((twice - h * divisor) - h * ((den - divisor) + lost)) * y, h2 = h * h, h3 = h2 * h, cube = h3 * 0x1.54p-4;
  pc_f64 whole = k * PC_LN2_HI_F64, head = pc_head_f64(whole + (q + (q * w) * (0x1.5555555555555p-4 + w * t)));
  pc_f64 both = q + h, v = h2 + l * both, more = l * (h2 + (h * q + w));
  pc_f64 rest = more * 0x1.54p-4 + (h3 + more) * (0x1.5555555555555p-12 + v * t);
  pc_pair_f64 out = {head, (((whole - head) + h) + cube) + (l + (rest + k * PC_LN2_LO_F64))};
  return out;
}

/* ln x of a positive finite x, split as above. */
PC_INLINE pc_pair_f64 pc_log_split_of_f64(pc_f64 x) {
  const uint64_t half = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u;
  int small = x < 0x1p-1022;
  pc_f64 c = small ? x * 0x1p54 : x, bias = 4503599627370496.0 + (small ? 1077.0 : 1023.0);
  uint64_t u = pc_bits_f64(c) + (one - half);
  pc_f64 m = pc_from_bits_f64((u & 0x000fffffffffffffu) + half);
  pc_f64 k = pc_from_bits_f64((u >> 52) | 0x4330000000000000u) - bias, den = 1.0 + m;
  return pc_log_split_f64(k, m - 1.0, den, m - (den - 1.0));
}

/* ln x of a positive finite x, to about 2^-63. */
PC_INLINE pc_pair_f64 pc_log_pair_f64(pc_f64 x) {
  pc_pair_f64 l = pc_log_split_of_f64(x);
  return pc_sum_ordered_f64(l.hi, l.lo);
}

/* e^(hi + lo). */
PC_INLINE pc_f64 pc_exp_pair_f64(pc_pair_f64 x) {
  pc_f64 c = x.hi > 710.0 ? 710.0 : x.hi;
  c = c < -746.0 ? -746.0 : c;
  pc_f64 lo = c == x.hi ? x.lo : 0.0;
  pc_reduced_f64 k = pc_reduce_ln2_f64(c, 2046.0);
  pc_pair_f64 s = pc_sum_ordered_f64(1.0, k.hi);
  pc_f64 p = s.hi + (s.lo + pc_exp_tail_f64(k.hi, k.lo - lo));
  return p * pc_scale_low_f64(k.bits) * pc_scale_high_f64(k.bits);
}

/* Returns x^y with C99's special cases: x^0 and 1^y are 1 even of NaN, (-1)^inf is 1, a negative x with a fractional y gives NaN. The
 * reduction of an exponent out of range is meaningless, and the right result is chosen after it. */
PC_INLINE pc_f64 pc_pow_f64(pc_f64 x, pc_f64 y) {
  const pc_f64 inf = __builtin_inf();
  pc_f64 ax = pc_magnitude_f64(x), ay = pc_magnitude_f64(y);
  pc_pair_f64 l = pc_log_split_of_f64(ax);
  l.hi = ax < inf ? l.hi : ax;
  l.hi = ax == 0.0 ? -inf : l.hi;
  pc_f64 c = pc_signed_f64(ay < 0x1p-70 ? 0x1p-70 : ay, pc_sign_f64(y)); /* below it the power is 1, or one of 0 or inf */
  pc_f64 head = pc_head_f64(c), e = l.hi * head, low = l.hi * (c - head) + l.lo * c;
  pc_reduced_f64 k = pc_reduce_ln2_f64(e, 2046.0);
  pc_pair_f64 s = pc_sum_ordered_f64(1.0, k.hi);
  pc_f64 r = (s.hi + (s.lo + pc_exp_tail_f64(k.hi, k.lo - low))) * pc_scale_low_f64(k.bits) * pc_scale_high_f64(k.bits);
  r = e > 710.0 ? inf : r;
  r = e < -746.0 ? 0.0 : r;
  r = (y == 0.0) | (x == 1.0) ? 1.0 : r;
  r = (x == -1.0) & (ay == inf) ? 1.0 : r;
  pc_f64 units = ay < 0x1p52 ? 0x1p52 : 0.0, t = ay + units; /* y may have a fraction below 2^52 */
  int fractional = t - units != ay;
  uint64_t odd = pc_bits_f64(t) << 63;
  odd = ay < 0x1p53 ? odd : 0;
  r = (x < 0.0) & (ax < inf) & fractional ? __builtin_nan("") : r;
  return pc_signed_f64(r, pc_sign_f64(x) & (fractional ? 0 : odd));
}

#endif
