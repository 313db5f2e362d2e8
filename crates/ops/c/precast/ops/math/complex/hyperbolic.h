/* precast/ops/math/complex/hyperbolic.h: sinh, cosh, tanh, and sin, cos, tan, which are those of i z.
 *
 * sinh z = sinh x cos y + i cosh x sin y and cosh z = cosh x cos y + i sinh x sin y, all four factors as pairs;
 * tanh z = (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y). Special values are those of C99's Annex G. */
#ifndef PRECAST_OPS_MATH_COMPLEX_HYPERBOLIC_H
#define PRECAST_OPS_MATH_COMPLEX_HYPERBOLIC_H

#include <precast/ops/math/complex/exp.h>

/* sinh a / far^2 and cosh a / far^2. */
typedef struct pc_catenary_f64 {
  pc_pair_f64 s, c;
  pc_f64 far;
} pc_catenary_f64;

/* Of a >= 0. With e = e^a / 4 and g = e - 1/4: sinh a = 2 (g + g / (4g + 1)), cosh a = 2 (e + 1 / (16 e)). */
PC_INLINE pc_catenary_f64 pc_catenary_of_f64(pc_f64 a) {
  int far = a > PC_POWER_FAR_F64, near = a < 40.0;
  pc_f64 c = a > 1460.0 ? 1460.0 : a;
  c = far ? c - 1400.0 * PC_LN2_HI_F64 : c;
  pc_reduced_f64 k = pc_reduce_ln2_f64(c, 1021.0);
  pc_f64 scale = pc_from_bits_f64(k.bits << 52); /* 2^k / 4 */
  pc_f64 tail = scale * pc_exp_tail_f64(k.hi, far ? k.lo + 1400.0 * PC_LN2_LO_F64 : k.lo);
  pc_pair_f64 es = pc_sum_ordered_f64(scale, scale * k.hi);
  pc_pair_f64 e = pc_sum_ordered_f64(es.hi, es.lo + tail);
  pc_pair_f64 whole = pc_sum_ordered_f64(scale, -0.25);
  pc_pair_f64 gs = pc_sum_ordered_f64(whole.hi, scale * k.hi);
  pc_pair_f64 g = pc_sum_ordered_f64(gs.hi, (whole.lo + gs.lo) + tail);
  pc_pair_f64 n = {near ? g.hi : 0.0, near ? g.lo : 0.0};
  pc_pair_f64 d = pc_sum_f64(4.0 * n.hi, 1.0);
  d.lo = d.lo + 4.0 * n.lo;
  pc_pair_f64 s = pc_pair_add_f64(n, pc_pair_div_f64(n, d));
  pc_pair_f64 unit = {near ? 0.0625 : 0.0, 0.0};
  pc_pair_f64 w = pc_pair_add_f64(e, pc_pair_div_f64(unit, e));
  int tiny = a < 0x1p-28;
  pc_pair_f64 sinh = {tiny ? a : 2.0 * (near ? s.hi : e.hi), tiny ? 0.0 : 2.0 * (near ? s.lo : e.lo)};
  pc_pair_f64 cosh = {2.0 * w.hi, 2.0 * w.lo};
  pc_catenary_f64 out = {sinh, cosh, far ? 0x1p+700 : 1.0};
  return out;
}

/* The hyperbolic sine. */
PC_INLINE pc_c128 pc_sinh_c128(pc_c128 z) {
  pc_f64 a = pc_magnitude_f64(z.re);
  pc_pair_f64 angle = {z.im, 0.0};
  pc_cis_f64 t = pc_cis_of_f64(angle);
  pc_catenary_f64 h = pc_catenary_of_f64(a);
  pc_f64 re = pc_signed_f64(pc_pair_times_f64(h.s, t.c, h.far), pc_known_sign_f64(z.re));
  pc_f64 im = pc_pair_times_f64(h.c, t.s, h.far);
  int lost = pc_lost_f64(z.im);
  re = lost & (a == 0.0) ? z.re : re;
  pc_c128 out = {lost & (a == __builtin_inf()) ? a : re, z.im == 0.0 ? z.im : im};
  return out;
}

/* The hyperbolic cosine. */
PC_INLINE pc_c128 pc_cosh_c128(pc_c128 z) {
  pc_f64 a = pc_magnitude_f64(z.re);
  pc_pair_f64 angle = {z.im, 0.0};
  pc_cis_f64 t = pc_cis_of_f64(angle);
  pc_catenary_f64 h = pc_catenary_of_f64(a);
  pc_f64 re = pc_pair_times_f64(h.c, t.c, h.far);
  pc_f64 im = z.im == 0.0 ? z.im : pc_pair_times_f64(h.s, t.s, h.far);
  int lost = pc_lost_f64(z.im);
  im = pc_signed_f64(im, pc_known_sign_f64(z.re));
  pc_c128 out = {lost & (a == __builtin_inf()) ? a : re, lost & (a == 0.0) ? 0.0 : im};
  return out;
}

/* The hyperbolic tangent. From 22 on its real part is 1, and the imaginary 4 sin y cos y e^(-2x). */
PC_INLINE pc_c128 pc_tanh_c128(pc_c128 z) {
  pc_f64 a = pc_magnitude_f64(z.re);
  int far = a > 22.0;
  pc_pair_f64 angle = {z.im, 0.0};
  pc_cis_f64 t = pc_cis_of_f64(angle);
  pc_catenary_f64 h = pc_catenary_of_f64(far ? 22.0 : a);
  pc_pair_f64 turn = pc_pair_mul_f64(t.s, t.c);
  pc_pair_f64 d = pc_pair_sum_f64(pc_pair_mul_f64(h.s, h.s), pc_pair_mul_f64(t.c, t.c));
  int tiny = a < 0x1p-500; /* a quotient of subnormals knows too little */
  pc_f64 up = tiny ? 0x1p+200 : 1.0, down = tiny ? 0x1p-200 : 1.0;
  pc_pair_f64 s = {h.s.hi * up, h.s.lo * up};
  pc_pair_f64 x = pc_pair_div_f64(pc_pair_mul_f64(s, h.c), d), y = pc_pair_div_f64(turn, d);
  pc_pair_f64 twice = {-2.0 * (a > 1000.0 ? 1000.0 : a), 0.0};
  pc_power_f64 p = pc_power_of_f64(twice);
  pc_f64 small = 4.0 * pc_pair_times_f64(p.e, turn, 1.0) * p.low * p.high;
  pc_f64 re = far ? 1.0 : x.hi * down, im = far ? small : y.hi;
  int lost = pc_lost_f64(z.im);
  re = lost & !far ? (a == 0.0 ? a : __builtin_nan("")) : re;
  re = lost & far & (a < __builtin_inf()) ? __builtin_nan("") : re;
  im = lost & (a == __builtin_inf()) ? pc_signed_f64(0.0, pc_known_sign_f64(z.im)) : im;
  pc_c128 out = {pc_signed_f64(re, pc_known_sign_f64(z.re)), z.im == 0.0 ? z.im : im};
  return out;
}

/* The sine. */
PC_INLINE pc_c128 pc_sin_c128(pc_c128 z) { return pc_quarter_c128(pc_sinh_c128(pc_quarter_back_c128(z))); }

/* The cosine. */
PC_INLINE pc_c128 pc_cos_c128(pc_c128 z) { return pc_cosh_c128(pc_quarter_c128(z)); }

/* The tangent. */
PC_INLINE pc_c128 pc_tan_c128(pc_c128 z) { return pc_quarter_back_c128(pc_tanh_c128(pc_quarter_c128(z))); }

PC_INLINE pc_c64 pc_sinh_c64(pc_c64 z) { return pc_narrowed_c128(pc_sinh_c128(pc_widened_c64(z))); }
PC_INLINE pc_c64 pc_cosh_c64(pc_c64 z) { return pc_narrowed_c128(pc_cosh_c128(pc_widened_c64(z))); }
PC_INLINE pc_c64 pc_tanh_c64(pc_c64 z) { return pc_narrowed_c128(pc_tanh_c128(pc_widened_c64(z))); }
PC_INLINE pc_c64 pc_sin_c64(pc_c64 z) { return pc_narrowed_c128(pc_sin_c128(pc_widened_c64(z))); }
PC_INLINE pc_c64 pc_cos_c64(pc_c64 z) { return pc_narrowed_c128(pc_cos_c128(pc_widened_c64(z))); }
PC_INLINE pc_c64 pc_tan_c64(pc_c64 z) { return pc_narrowed_c128(pc_tan_c128(pc_widened_c64(z))); }

#endif
