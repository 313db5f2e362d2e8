/* precast/ops/math/complex/pow.h: z^w = e^(w ln z), and products for whole w of at most 99, as NumPy has it. */
#ifndef PRECAST_OPS_MATH_COMPLEX_POW_H
#define PRECAST_OPS_MATH_COMPLEX_POW_H

#include <precast/ops/math/complex/exp.h>
#include <precast/ops/math/complex/log.h>

/* a b. The difference of two products is the sum with a number whose sign is turned: gcc 12 fuses the difference where a sum of
 * products stands beside it, whatever -ffp-contract says. */
PC_INLINE pc_c128 pc_times_c128(pc_c128 a, pc_c128 b) {
  pc_f64 turned = pc_signed_f64(a.im, 0x8000000000000000u);
  pc_c128 out = {a.re * b.re + turned * b.im, a.re * b.im + a.im * b.re};
  return out;
}

/* A power while its exponent is read from the lowest bit on. `any`: whether there was a bit. */
typedef struct pc_steps_c128 {
  pc_c128 power, base;
  uint64_t left;
  int any;
} pc_steps_c128;

/* Takes the lowest bit. */
PC_INLINE pc_steps_c128 pc_step_c128(pc_steps_c128 s) {
  int set = (s.left & 1) != 0;
  pc_c128 product = pc_times_c128(s.power, s.base), square = pc_times_c128(s.base, s.base);
  pc_f64 re = set ? (s.any ? product.re : s.base.re) : s.power.re;
  pc_f64 im = set ? (s.any ? product.im : s.base.im) : s.power.im;
  pc_c128 power = {re, im};
  pc_steps_c128 out = {power, square, s.left >> 1, s.any | set};
  return out;
}

/* z^n for 1 <= n < 128. */
PC_INLINE pc_c128 pc_whole_power_c128(pc_c128 z, uint64_t n) {
  pc_steps_c128 start = {z, z, n, 0};
  pc_steps_c128 two = pc_step_c128(pc_step_c128(start));
  pc_steps_c128 four = pc_step_c128(pc_step_c128(two));
  pc_steps_c128 six = pc_step_c128(pc_step_c128(four));
  pc_steps_c128 all = pc_step_c128(six);
  return all.power;
}

/* 1 / z by R. L. Smith's formula (1962); of 0 as NumPy divides. */
PC_INLINE pc_c128 pc_inverse_c128(pc_c128 z) {
  int wide = pc_magnitude_f64(z.re) >= pc_magnitude_f64(z.im);
  pc_f64 most = wide ? z.re : z.im, least = wide ? z.im : z.re;
  pc_f64 ratio = least / most, scale = 1.0 / (most + least * ratio);
  int zero = (z.re == 0.0) & (z.im == 0.0);
  pc_f64 re = wide ? scale : ratio * scale, im = wide ? -(ratio * scale) : -scale;
  pc_c128 out = {zero ? __builtin_inf() : re, zero ? __builtin_nan("") : im};
  return out;
}

/* The angle of the point (d, n), or with `left` of (-d, n), in [0, pi]; n, d >= 0, neither inf, not both 0: one of five multiples of pi / 4 and
 * the arc tangent of a quotient of at most tan(pi / 8). Quotient and multiple are pairs; the polynomial has degree 11. */
PC_INLINE pc_pair_f64 pc_angle_pair_f64(pc_f64 n, pc_f64 d, int left) {
  int steep = n > d * 0x1.3504f333f9de6p+1, middle = n > d * 0x1.a827999fcef32p-2;
  pc_f64 less = middle ? d : 0.0, more = middle ? n : 0.0;
  pc_pair_f64 num = pc_sum_f64(steep ? -d : n, steep ? 0.0 : -less);
  pc_pair_f64 den = pc_sum_f64(steep ? n : d, steep ? 0.0 : more);
  pc_f64 q = num.hi / den.hi;
  pc_pair_f64 product = pc_product_f64(q, den.hi);
  pc_f64 rest = ((num.hi - product.hi) - product.lo) + (num.lo - q * den.lo);
  pc_pair_f64 t = {q, pc_magnitude_f64(q) < 0x1p-60 ? 0.0 : rest / den.hi}; /* a tiny quotient needs no rest */
  pc_f64 z = t.hi * t.hi, z2 = z * z, z4 = z2 * z2;
  pc_f64 p01 = -0x1.5555555555554p-2 + z * 0x1.9999999999664p-3;
  pc_f64 p23 = -0x1.249249247603bp-3 + z * 0x1.c71c71b785ea4p-4;
  pc_f64 p45 = -0x1.745d14c0bd81ep-4 + z * 0x1.3b136eb49d6d7p-4;
  pc_f64 p67 = -0x1.110c7980d1f01p-4 + z * 0x1.e17271f7a6b40p-5;
  pc_f64 p89 = -0x1.ab8001a2c4b52p-5 + z * 0x1.70f63acc4c98cp-5;
  pc_f64 pab = -0x1.124a1cdc71725p-5 + z * 0x1.f22aa4de43542p-7;
  pc_f64 p = ((p01 + z2 * p23) + z4 * (p45 + z2 * p67)) + (z4 * z4) * (p89 + z2 * pab);
  pc_f64 tail = t.lo + t.hi * (z * p), head = t.hi;
  tail = left ? -tail : tail;
  head = left ? -head : head;
  pc_f64 flat_hi = left ? 0x1.921fb54442d18p+1 : 0.0, flat_lo = left ? 0x1.1a62633145c07p-53 : 0.0;
  pc_f64 middle_hi = left ? 0x1.2d97c7f3321d2p+1 : 0x1.921fb54442d18p-1;
  pc_f64 middle_lo = left ? 0x1.a79394c9e8a0ap-54 : 0x1.1a62633145c07p-55;
  pc_f64 hi = steep ? 0x1.921fb54442d18p+0 : (middle ? middle_hi : flat_hi);
  pc_f64 lo = steep ? 0x1.1a62633145c07p-54 : (middle ? middle_lo : flat_lo);
  pc_pair_f64 s = pc_sum_ordered_f64(hi, head);
  return pc_sum_ordered_f64(s.hi, s.lo + (lo + tail));
}

/* The angle of the point (x, y) in [-pi, pi], with the signs of zeros and the infinities of C99; to about 2^-58. */
PC_INLINE pc_pair_f64 pc_atan2_pair_f64(pc_f64 y, pc_f64 x) {
  pc_f64 n = pc_magnitude_f64(y), d = pc_magnitude_f64(x), most = n > d ? n : d;
  pc_f64 scale = most > 0x1p600 ? 0x1p-100 : (most < 0x1p-600 ? 0x1p600 : 1.0);
  int infinite = most == __builtin_inf(), origin = most == 0.0;
  pc_f64 n1 = infinite ? (n == most ? 1.0 : 0.0) : n * scale;
  pc_f64 d1 = infinite ? (d == most ? 1.0 : 0.0) : d * scale;
  pc_pair_f64 a = pc_angle_pair_f64(n1, origin ? 1.0 : d1, pc_sign_f64(x) != 0);
  a.hi = (x != x) | (y != y) ? x + y : a.hi;
  pc_pair_f64 out = {pc_signed_f64(a.hi, pc_sign_f64(y)), pc_signed_f64(a.lo, pc_sign_f64(y))};
  return out;
}

/* Returns e^(w ln z): ln |z| and the angle are pairs, and so are the rests of their products with w. */
PC_INLINE pc_c128 pc_general_power_c128(pc_c128 z, pc_c128 w) {
  pc_f64 ax = pc_magnitude_f64(z.re), ay = pc_magnitude_f64(z.im), a = ax > ay ? ax : ay, b = ax > ay ? ay : ax;
  int large = a > 0x1p500, small = a < 0x1p-400;
  pc_f64 up = large ? 0x1p-600 : (small ? 0x1p600 : 1.0), many = large ? 600.0 : (small ? -600.0 : 0.0);
  pc_pair_f64 h = pc_pair_sqrt_f64(pc_pair_add_f64(pc_product_f64(a * up, a * up), pc_product_f64(b * up, b * up)));
  pc_pair_f64 near = pc_log_pair_f64(h.hi), whole = {many * PC_LN2_HI_F64, many * PC_LN2_LO_F64};
  pc_pair_f64 rest = {h.lo / h.hi, 0.0};
  pc_pair_f64 log = pc_pair_sum_f64(pc_pair_sum_f64(near, whole), rest);
  pc_pair_f64 angle = pc_atan2_pair_f64(z.im, z.re), wr = {w.re, 0.0}, wi = {w.im, 0.0}, back = {-w.im, 0.0};
  log.hi = a == __builtin_inf() ? a : log.hi;
  int real = w.im == 0.0;
  pc_pair_f64 other = {real ? 0.0 : log.hi, real ? 0.0 : log.lo};
  pc_pair_f64 re = pc_pair_sum_f64(pc_pair_mul_f64(wr, log), pc_pair_mul_f64(back, angle));
  pc_pair_f64 im = pc_pair_sum_f64(pc_pair_mul_f64(wr, angle), pc_pair_mul_f64(wi, other));
  pc_f64 plain = w.re * log.hi + (real ? 0.0 : back.hi * angle.hi); /* pairs know no inf */
  re.hi = pc_magnitude_f64(plain) < __builtin_inf() ? re.hi : plain;
  pc_cis_f64 t = pc_cis_of_f64(im);
  pc_power_f64 p = pc_power_of_f64(re);
  pc_f64 x = pc_pair_times_f64(p.e, t.c, p.far) * p.low * p.high;
  pc_f64 y = pc_pair_times_f64(p.e, t.s, p.far) * p.low * p.high;
  /* Without an angle an infinite exponent still decides the magnitude, as C99's cexp has it. */
  int lost = t.c.hi != t.c.hi, least = lost & (plain == -__builtin_inf()), most = lost & (plain == __builtin_inf());
  x = least ? 0.0 : most ? plain : x;
  y = least ? 0.0 : y;
  pc_c128 out = {x, y};
  return out;
}

/* z^w. z^0 is 1; 0^w is 0 for re w > 0, NaN else. */
PC_INLINE pc_c128 pc_pow_c128(pc_c128 z, pc_c128 w) {
  pc_f64 n = pc_magnitude_f64(w.re);
  pc_f64 t = (n < 100.0 ? n : 0.0) + 0x1p52;
  int whole = (t - 0x1p52 == n) & (w.im == 0.0) & (n > 0.0), zero = (z.re == 0.0) & (z.im == 0.0);
  pc_c128 product = pc_whole_power_c128(z, pc_bits_f64(t) & 0x7f);
  pc_c128 inverse = pc_inverse_c128(product);
  pc_c128 general = pc_general_power_c128(z, w);
  pc_f64 re = whole ? (w.re < 0.0 ? inverse.re : product.re) : general.re;
  pc_f64 im = whole ? (w.re < 0.0 ? inverse.im : product.im) : general.im;
  pc_f64 limit = w.re > 0.0 ? 0.0 : __builtin_nan("");
  re = zero ? limit : re;
  im = zero ? limit : im;
  int unit = (n == 0.0) & (w.im == 0.0);
  pc_c128 out = {unit ? 1.0 : re, unit ? 0.0 : im};
  return out;
}

PC_INLINE pc_c64 pc_pow_c64(pc_c64 z, pc_c64 w) {
  return pc_narrowed_c128(pc_pow_c128(pc_widened_c64(z), pc_widened_c64(w)));
}

#endif
