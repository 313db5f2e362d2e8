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

/* e^(w ln z): ln |z| and the angle are pairs, and so is what is left of their products with w. */
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
