/* precast/ops/math/lambert.h: J. H. Lambert's function, the real w of w e^w = x, by its two real branches.
 *
 * Next to -1/e, where both meet, a series in p = sqrt(2 (e x + 1)) (R. M. Corless et al., "On the Lambert W function", 1996), negative p for
 * the lower branch. Elsewhere two steps of fourth order for z = ln(x / w) - w = 0 by F. N. Fritsch, R. E. Shafer and W. P. Crowley (1973),
 * the last one of which is added to w, so the result is rounded once; its logarithm is a pair, but for f32. They begin by the series, by
 * quotients next to 0, by S. Winitzki's formula (2003), and on the lower branch at the bound of I. Chatzigeorgiou (2013). */
#ifndef PRECAST_OPS_MATH_LAMBERT_H
#define PRECAST_OPS_MATH_LAMBERT_H

#include <precast/ops/math/log1p.h>
#include <precast/ops/math/stirling.h>

/* Up to which |p| the series has all digits. */
#define PC_LAMBERT_NEAR 0.04

/* e x + 1 for |x| <= 1, or its sign. */
PC_INLINE pc_pair_f64 pc_lambert_above_f64(pc_f64 x) {
  const pc_pair_f64 e = {0x1.5bf0a8b145769p+1, 0x1.4d57ee2b1013ap-53};
  pc_f64 c = x < 1.0 ? x : 1.0;
  c = c < -1.0 ? -1.0 : c;
  return pc_plus_f64(pc_pair_of_f64(1.0), pc_pair_mul_f64(e, pc_pair_of_f64(c)));
}

/* -1 + p - p^2 / 3 + 11 / 72 p^3 - ... */
PC_INLINE pc_f64 pc_lambert_series_f64(pc_f64 p) {
  pc_f64 y = -1963.0 / 204120.0 + p * (226287557.0 / 37623398400.0);
  y = 769.0 / 17280.0 + p * (-221.0 / 8505.0 + p * (680863.0 / 43545600.0 + p * y));
  return -1.0 + p * (1.0 + p * (-1.0 / 3.0 + p * (11.0 / 72.0 + p * (-43.0 / 540.0 + p * y))));
}

/* w after a step. */
PC_INLINE pc_f64 pc_lambert_step_f64(pc_f64 w, pc_f64 z) {
  pc_f64 one = 1.0 + w, q = 2.0 * (one * (one + 0x1.5555555555555p-1 * z));
  return w + w * ((z * (q - z)) / (one * (q - (z + z))));
}

/* The solution next to w, of f32 if `is_short`. */
PC_INLINE pc_f64 pc_lambert_solve_f64(pc_f64 x, pc_f64 w, int is_short) {
  int is_tiny = pc_magnitude_f64(x) < 0x1p-900; /* whose quotient by w may be subnormal */
  pc_f64 c = is_tiny ? x * 0x1p200 : x, less = is_tiny ? 200.0 : 0.0;
  w = pc_lambert_step_f64(w, (pc_log_f64(c / w) - less * 0x1.62e42fefa39efp-1) - w);
  if (is_short) return pc_lambert_step_f64(w, pc_log_f64(c / w) - w);
  pc_pair_f64 r = pc_pair_div_f64(pc_pair_of_f64(c), pc_pair_of_f64(w)), log = pc_log_pair_f64(r.hi), d = pc_sum_f64(log.hi, -less * PC_LN2_HI_F64);
  return pc_lambert_step_f64(w, (d.hi - w) + ((d.lo - less * PC_LN2_LO_F64) + (log.lo + r.lo / r.hi)));
}

/* Returns -1 at the number nearest to -1/e, which is below -1/e; NaN for every other number below. */
PC_INLINE pc_f64 pc_lambert_end_f64(pc_f64 x) { return x == -0x1.78b56362cef38p-2 ? -1.0 : __builtin_nan(""); }

/* Returns the branch w >= -1. */
PC_INLINE pc_f64 pc_lambert_upper_f64(pc_f64 x, int is_short) {
  pc_pair_f64 above = pc_lambert_above_f64(x);
  pc_f64 p = __builtin_sqrt(above.hi > 0.0 ? 2.0 * above.hi : 0.0), series = pc_lambert_series_f64(p < 0.75 ? p : 0.75);
  pc_f64 c = x > 0.5 ? x : 0.5, log = pc_ln_short_f64(1.0 + c), far = log * (1.0 - pc_ln_short_f64(1.0 + log) / (2.0 + log));
  pc_f64 d = x < 0.5 ? x : 0.5, near = d * (1.0 + 0x1.5555555555555p+0 * d) / (1.0 + d * (0x1.2aaaaaaaaaaabp+1 + 0x1.aaaaaaaaaaaabp-1 * d));
  pc_f64 begin = x < 0.5 ? near : far;
  begin = x < -0.28125 ? series : begin;
  int is_near = p < PC_LAMBERT_NEAR;
  pc_f64 y = pc_lambert_solve_f64(is_near ? 1.0 : x, is_near ? 0.5 : begin, is_short);
  y = is_near ? series : y;
  y = pc_magnitude_f64(x) < 0x1p-60 ? x : y;
  y = above.hi < 0.0 ? pc_lambert_end_f64(x) : y;
  y = x == __builtin_inf() ? x : y;
  return x == x ? y : x;
}

/* The branch w <= -1, where p is negative. */
PC_INLINE pc_f64 pc_lambert_lower_f64(pc_f64 x, int is_short) {
  pc_pair_f64 above = pc_lambert_above_f64(x);
  pc_f64 p = __builtin_sqrt(above.hi > 0.0 ? 2.0 * above.hi : 0.0);
  int is_near = p < PC_LAMBERT_NEAR;
  pc_f64 c = is_near ? -0.25 : x, u = -pc_log_f64(-c) - 1.0, begin = -1.0 - __builtin_sqrt(2.0 * u) - u;
  pc_f64 y = pc_lambert_solve_f64(c, begin, is_short);
  y = is_near ? pc_lambert_series_f64(-p) : y;
  y = above.hi < 0.0 ? pc_lambert_end_f64(x) : y;
  pc_f64 edge = x == 0.0 ? -__builtin_inf() : __builtin_nan("");
  return x < 0.0 ? y : edge;
}

/* The branch w >= -1, for x >= -1/e; keeps the sign of zero. */
PC_INLINE pc_f64 pc_lambertw_f64(pc_f64 x) { return pc_lambert_upper_f64(x, 0); }
PC_INLINE pc_f32 pc_lambertw_f32(pc_f32 x) { return (pc_f32)pc_lambert_upper_f64((pc_f64)x, 1); }

/* The branch w <= -1, for -1/e <= x < 0; -inf at 0. */
PC_INLINE pc_f64 pc_lambertw_lower_f64(pc_f64 x) { return pc_lambert_lower_f64(x, 0); }
PC_INLINE pc_f32 pc_lambertw_lower_f32(pc_f32 x) { return (pc_f32)pc_lambert_lower_f64((pc_f64)x, 1); }

#endif
