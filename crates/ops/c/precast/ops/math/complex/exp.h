/* precast/ops/math/complex/exp.h: e^z = e^x (cos y + i sin y), both factors as pairs. */
#ifndef PRECAST_OPS_MATH_COMPLEX_EXP_H
#define PRECAST_OPS_MATH_COMPLEX_EXP_H

#include <precast/ops/math/complex/number.h>
#include <precast/ops/math/trig.h>

/* The cosine and the sine of one angle. */
typedef struct pc_cis_f64 {
  pc_pair_f64 c, s;
} pc_cis_f64;

/* cos y and sin y, y = hi + lo; NaN of inf. */
PC_INLINE pc_cis_f64 pc_cis_of_f64(pc_pair_f64 y) {
  pc_turn_f64 turn = pc_turn_of_f64(pc_magnitude_f64(y.hi));
  pc_pair_f64 r = pc_sum_f64(turn.hi, turn.lo + pc_signed_f64(y.lo, pc_sign_f64(y.hi)));
  pc_pair_f64 c = pc_cos_pair_f64(r.hi, r.lo);
  pc_pair_f64 s = pc_sum_ordered_f64(r.hi, pc_sin_tail_f64(r.hi, r.lo));
  int odd = (turn.quarters & 1) != 0;
  pc_pair_f64 u = {odd ? s.hi : c.hi, odd ? s.lo : c.lo}, v = {odd ? c.hi : s.hi, odd ? c.lo : s.lo};
  pc_pair_f64 cosine = pc_pair_signed_f64(u, ((turn.quarters + 1) & 2) << 62);
  pc_pair_f64 sine = pc_pair_signed_f64(v, ((turn.quarters & 2) << 62) ^ pc_sign_f64(y.hi));
  pc_cis_f64 out = {cosine, sine};
  return out;
}

/* From here on e^x is e^(x - 1400 ln 2) far^2: it may be out of range where its product with a sine is not. */
#define PC_POWER_FAR_F64 709.0

/* e^x = e low high far^2. `low` and `high` are 1 but for x < 0, whose power may be subnormal. */
typedef struct pc_power_f64 {
  pc_pair_f64 e;
  pc_f64 low, high, far;
} pc_power_f64;

/* e^(hi + lo). */
PC_INLINE pc_power_f64 pc_power_of_f64(pc_pair_f64 x) {
  int far = x.hi > PC_POWER_FAR_F64, falls = x.hi < 0.0;
  pc_f64 c = x.hi > 1460.0 ? 1460.0 : x.hi;
  c = c < -746.0 ? -746.0 : c;
  pc_f64 add = c == x.hi ? x.lo : 0.0;
  c = far ? c - 1400.0 * PC_LN2_HI_F64 : c;
  pc_reduced_f64 k = pc_reduce_ln2_f64(c, 2046.0);
  pc_f64 lo = far ? k.lo + 1400.0 * PC_LN2_LO_F64 : k.lo;
  pc_pair_f64 s = pc_sum_ordered_f64(1.0, k.hi);
  pc_pair_f64 e = pc_sum_ordered_f64(s.hi, s.lo + pc_exp_tail_f64(k.hi, lo - add));
  pc_f64 low = pc_scale_low_f64(k.bits), high = pc_scale_high_f64(k.bits);
  pc_f64 now = falls ? 1.0 : low * high;
  pc_pair_f64 scaled = {e.hi * now, e.lo * now};
  pc_power_f64 out = {scaled, falls ? low : 1.0, falls ? high : 1.0, far ? 0x1p+700 : 1.0};
  return out;
}

/* e^z. A real z gives a real number; of an infinite or NaN y nothing is known but at x = -inf (0) and x = inf (re = inf). */
PC_INLINE pc_c128 pc_exp_c128(pc_c128 z) {
  pc_pair_f64 x = {z.re, 0.0}, y = {z.im, 0.0};
  pc_cis_f64 t = pc_cis_of_f64(y);
  pc_power_f64 p = pc_power_of_f64(x);
  pc_f64 re = pc_pair_times_f64(p.e, t.c, p.far) * p.low * p.high;
  pc_f64 im = pc_pair_times_f64(p.e, t.s, p.far) * p.low * p.high;
  int lost = pc_lost_f64(z.im);
  int zero = lost & (z.re == -__builtin_inf());
  re = lost & (z.re == __builtin_inf()) ? z.re : re;
  pc_f64 none = pc_signed_f64(0.0, pc_known_sign_f64(z.im));
  pc_c128 out = {zero ? 0.0 : re, zero ? none : (z.im == 0.0 ? z.im : im)};
  return out;
}

PC_INLINE pc_c64 pc_exp_c64(pc_c64 z) { return pc_narrowed_c128(pc_exp_c128(pc_widened_c64(z))); }

#endif
