/* precast/ops/math/complex/arc.h: asin, acos and their hyperbolic forms.
 *
 * T. E. Hull, T. F. Fairgrieve, P. T. P. Tang, "Implementing the complex arcsine and arccosine functions using exception handling"
 * (1997): with r = |z + 1|, s = |z - 1|, a = (r + s) / 2 the parts are atan(x / sqrt((a - x) (a + x))) and ln(a + sqrt(a^2 - 1)),
 * and a - x, a - 1 are sums of numbers >= 0. Factors y^2 are kept apart, so nothing underflows on the way. */
#ifndef PRECAST_OPS_MATH_COMPLEX_ARC_H
#define PRECAST_OPS_MATH_COMPLEX_ARC_H

#include <precast/ops/math/complex/log.h>
#include <precast/ops/math/root.h>

/* sqrt((a - x) (a + x)), and ln(a + sqrt(a^2 - 1)). */
typedef struct pc_arc_f64 {
  pc_f64 side, log;
} pc_arc_f64;

/* Of x, y >= 0. Beyond 2^60 it is y, and ln(2 |z|). */
PC_INLINE pc_arc_f64 pc_arc_of_f64(pc_f64 re, pc_f64 im) {
  int far = (re > 0x1p60) | (im > 0x1p60);
  pc_f64 x = far ? 1.0 : re, y = far ? 1.0 : im;
  pc_f64 r = pc_hypot_f64(x + 1.0, y), s = pc_hypot_f64(x - 1.0, y), a = 0.5 * (r + s);
  int right = x > 1.0;
  pc_f64 beyond = right ? x - 1.0 : 1.0 - x, d = s + beyond;
  pc_f64 first = y / (r + (x + 1.0)), second = d > 0.0 ? y / d : 0.0;
  pc_f64 tall = first + second, wide = y * first + d;
  pc_f64 less_x = right ? tall : wide, less_1 = right ? wide : tall; /* a - x and a - 1, twice, but for a factor y */
  pc_f64 root = __builtin_sqrt(y);
  pc_f64 side = (right ? root : 1.0) * __builtin_sqrt(less_x * (0.5 * (a + x)));
  pc_f64 other = (right ? 1.0 : root) * __builtin_sqrt(less_1 * (0.5 * (a + 1.0)));
  pc_f64 log = pc_log1p_f64(0.5 * (right ? less_1 : y * less_1) + other);
  pc_f64 large = pc_log_abs_f64(re, im) + 0x1.62e42fefa39efp-1;
  int lost = (re != re) | (im != im);
  pc_arc_f64 out = {far | lost ? im : side, far | lost ? large : log};
  return out;
}

/* The arc sine; branch cuts on the real axis outside of [-1, 1]. */
PC_INLINE pc_c128 pc_asin_c128(pc_c128 z) {
  pc_f64 x = pc_magnitude_f64(z.re);
  pc_arc_f64 a = pc_arc_of_f64(x, pc_magnitude_f64(z.im));
  pc_f64 re = pc_signed_f64(pc_atan2_f64(x, a.side), pc_known_sign_f64(z.re));
  pc_c128 out = {x == 0.0 ? z.re : re, pc_signed_f64(a.log, pc_known_sign_f64(z.im))};
  return out;
}

/* The arc cosine; branch cuts on the real axis outside of [-1, 1]. */
PC_INLINE pc_c128 pc_acos_c128(pc_c128 z) {
  pc_arc_f64 a = pc_arc_of_f64(pc_magnitude_f64(z.re), pc_magnitude_f64(z.im));
  pc_f64 re = pc_atan2_f64(a.side, z.re);
  pc_c128 out = {z.re == 0.0 ? 0x1.921fb54442d18p+0 : re, -pc_signed_f64(a.log, pc_known_sign_f64(z.im))};
  return out;
}

/* The inverse of sinh; branch cuts on the imaginary axis outside of [-i, i]. */
PC_INLINE pc_c128 pc_asinh_c128(pc_c128 z) { return pc_quarter_back_c128(pc_asin_c128(pc_quarter_c128(z))); }

/* The inverse of cosh with a real part that is not negative; a branch cut on the real axis below 1. */
PC_INLINE pc_c128 pc_acosh_c128(pc_c128 z) {
  pc_c128 a = pc_acos_c128(z);
  pc_c128 out = {pc_magnitude_f64(a.im), pc_signed_f64(a.re, pc_known_sign_f64(z.im))};
  return out;
}

PC_INLINE pc_c64 pc_asin_c64(pc_c64 z) { return pc_narrowed_c128(pc_asin_c128(pc_widened_c64(z))); }
PC_INLINE pc_c64 pc_acos_c64(pc_c64 z) { return pc_narrowed_c128(pc_acos_c128(pc_widened_c64(z))); }
PC_INLINE pc_c64 pc_asinh_c64(pc_c64 z) { return pc_narrowed_c128(pc_asinh_c128(pc_widened_c64(z))); }
PC_INLINE pc_c64 pc_acosh_c64(pc_c64 z) { return pc_narrowed_c128(pc_acosh_c128(pc_widened_c64(z))); }

#endif
