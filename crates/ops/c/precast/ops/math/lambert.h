/* precast/ops/math/lambert.h: J. H. Lambert's function, the real w of w e^w = x, by its two real branches.
 *
 * Next to -1/e, where both meet, a series in p = sqrt(2 (e x + 1)) (R. M. Corless et al., "On the Lambert W function", 1996), negative p for
 * the lower branch. Elsewhere I. Newton's method for ln(x / w) = w, whose last step is added to w, so the result is rounded once. It begins
 * by S. Winitzki's formula (2003), or on the lower branch at the bound of I. Chatzigeorgiou (2013). */
#ifndef PRECAST_OPS_MATH_LAMBERT_H
#define PRECAST_OPS_MATH_LAMBERT_H

#include <precast/ops/math/log1p.h>
#include <precast/ops/math/stirling.h>

/* Up to which |p| the series has all digits. */
#define PC_LAMBERT_NEAR 0.04

/* e x + 1. */
PC_TAIL pc_pair_f64 pc_lambert_above_f64(pc_f64 x) {
  const pc_pair_f64 e = {0x1.5bf0a8b145769p+1, 0x1.4d57ee2b1013ap-53};
  return pc_plus_f64(pc_pair_of_f64(1.0), pc_pair_mul_f64(e, pc_pair_of_f64(x)));
}

/* -1 + p - p^2 / 3 + 11 / 72 p^3 - ... */
PC_TAIL pc_f64 pc_lambert_series_f64(pc_f64 p) {
  pc_f64 y = -1963.0 / 204120.0 + p * (226287557.0 / 37623398400.0);
  y = 769.0 / 17280.0 + p * (-221.0 / 8505.0 + p * (680863.0 / 43545600.0 + p * y));
  return -1.0 + p * (1.0 + p * (-1.0 / 3.0 + p * (11.0 / 72.0 + p * (-43.0 / 540.0 + p * y))));
}

/* ln(x / w), two logarithms where the quotient may be subnormal. */
PC_TAIL pc_pair_f64 pc_lambert_log_f64(pc_f64 x, pc_f64 w) {
  if (pc_magnitude_f64(x) > 0x1p-900) return pc_log_of_pair_f64(pc_pair_div_f64(pc_pair_of_f64(x), pc_pair_of_f64(w)));
  return pc_plus_f64(pc_log_pair_f64(pc_magnitude_f64(x)), pc_minus_f64(pc_log_pair_f64(pc_magnitude_f64(w))));
}

/* The solution next to w. */
PC_TAIL pc_f64 pc_lambert_solve_f64(pc_f64 x, pc_f64 w) {
  for (int i = 0; i < 100; i++) {
    pc_pair_f64 off = pc_plus_f64(pc_lambert_log_f64(x, w), pc_pair_of_f64(-w));
    pc_f64 step = off.hi * (w / (1.0 + w));
    w = w + step;
    if (pc_magnitude_f64(step) <= 0x1p-30 * pc_magnitude_f64(w)) break;
  }
  return w;
}

/* -1 at the number nearest to -1/e, which is below it; NaN for all others below. */
PC_TAIL pc_f64 pc_lambert_end_f64(pc_f64 x) { return x == -0x1.78b56362cef38p-2 ? -1.0 : __builtin_nan(""); }

/* The branch w >= -1, for x >= -1/e; keeps the sign of zero. */
PC_TAIL pc_f64 pc_lambertw_f64(pc_f64 x) {
  if (x == 0.0 || x == __builtin_inf() || x != x) return x;
  pc_pair_f64 above = pc_lambert_above_f64(x);
  if (above.hi < 0.0) return pc_lambert_end_f64(x);
  pc_f64 p = __builtin_sqrt(2.0 * above.hi);
  if (p < PC_LAMBERT_NEAR) return pc_lambert_series_f64(p);
  pc_f64 log = pc_log1p_f64(x);
  return pc_lambert_solve_f64(x, log * (1.0 - pc_log1p_f64(log) / (2.0 + log)));
}

/* The branch w <= -1, for -1/e <= x < 0; -inf at 0. */
PC_TAIL pc_f64 pc_lambertw_lower_f64(pc_f64 x) {
  if (!(x < 0.0)) return x == 0.0 ? -__builtin_inf() : __builtin_nan("");
  pc_pair_f64 above = pc_lambert_above_f64(x);
  if (above.hi < 0.0) return pc_lambert_end_f64(x);
  pc_f64 p = __builtin_sqrt(2.0 * above.hi);
  if (p < PC_LAMBERT_NEAR) return pc_lambert_series_f64(-p);
  pc_f64 u = -pc_log_f64(-x) - 1.0;
  return pc_lambert_solve_f64(x, -1.0 - __builtin_sqrt(2.0 * u) - u);
}

PC_INLINE pc_f32 pc_lambertw_f32(pc_f32 x) { return (pc_f32)pc_lambertw_f64((pc_f64)x); }
PC_INLINE pc_f32 pc_lambertw_lower_f32(pc_f32 x) { return (pc_f32)pc_lambertw_lower_f64((pc_f64)x); }

#endif
