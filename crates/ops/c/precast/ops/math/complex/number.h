/* precast/ops/math/complex/number.h: complex numbers between their two sizes, a quarter turn, and pairs in products.
 *
 * The functions of c64 are those of c128, each part rounded once. */
#ifndef PRECAST_OPS_MATH_COMPLEX_NUMBER_H
#define PRECAST_OPS_MATH_COMPLEX_NUMBER_H

#include <precast/ops/math/pow.h>

/* z, with more digits. */
PC_INLINE pc_c128 pc_widened_c64(pc_c64 z) {
  pc_c128 out = {(pc_f64)z.re, (pc_f64)z.im};
  return out;
}

/* z with each part rounded. */
PC_INLINE pc_c64 pc_narrowed_c128(pc_c128 z) {
  pc_c64 out = {(pc_f32)z.re, (pc_f32)z.im};
  return out;
}

/* i z. */
PC_INLINE pc_c128 pc_quarter_c128(pc_c128 z) {
  pc_c128 out = {-z.im, z.re};
  return out;
}

/* -i z. */
PC_INLINE pc_c128 pc_quarter_back_c128(pc_c128 z) {
  pc_c128 out = {z.im, -z.re};
  return out;
}

/* The sign of x, + of NaN: which NaN a number is must not be seen in a result. */
PC_INLINE uint64_t pc_known_sign_f64(pc_f64 x) { return x == x ? pc_sign_f64(x) : 0x0000000000000000u; }

/* Whether x is infinite or NaN, and so no angle. */
PC_INLINE int pc_lost_f64(pc_f64 x) { return (x != x) | (pc_magnitude_f64(x) == __builtin_inf()); }

/* a + b of any sizes. */
PC_INLINE pc_pair_f64 pc_pair_sum_f64(pc_pair_f64 a, pc_pair_f64 b) {
  pc_pair_f64 s = pc_sum_f64(a.hi, b.hi);
  return pc_sum_ordered_f64(s.hi, s.lo + (a.lo + b.lo));
}

/* a with a sign put on it. */
PC_INLINE pc_pair_f64 pc_pair_signed_f64(pc_pair_f64 a, uint64_t sign) {
  pc_pair_f64 out = {pc_signed_f64(a.hi, sign), pc_signed_f64(a.lo, sign)};
  return out;
}

/* e t far^2, rounded about once: t may be as small as it likes where far is large. */
PC_INLINE pc_f64 pc_pair_times_f64(pc_pair_f64 e, pc_pair_f64 t, pc_f64 far) {
  pc_f64 h = t.hi * far, l = t.lo * far;
  pc_pair_f64 p = pc_product_f64(e.hi, h);
  pc_f64 rest = pc_magnitude_f64(p.hi) < __builtin_inf() ? p.lo + (e.hi * l + e.lo * h) : 0.0;
  return (p.hi == 0.0 ? p.hi : p.hi + rest) * far; /* -0 + 0 is 0 */
}

#endif
