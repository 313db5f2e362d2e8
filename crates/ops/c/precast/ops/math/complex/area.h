/* precast/ops/math/complex/area.h: atanh, and atan, which is that of i z.
 *
 * W. Kahan (1987): ln(1 + 4x / ((1 - x)^2 + y^2)) / 4 + i angle(1 - |z|^2, 2y) / 2; 1 - |z|^2 is summed as in log.h. */
#ifndef PRECAST_OPS_MATH_COMPLEX_AREA_H
#define PRECAST_OPS_MATH_COMPLEX_AREA_H

#include <precast/ops/math/complex/log.h>
#include <precast/ops/math/log.h>
#include <precast/ops/math/root.h>

/* The inverse of tanh; branch cuts on the real axis outside of [-1, 1]. Beyond 2^60 it is x / |z|^2 +- i pi / 2. */
PC_INLINE pc_c128 pc_atanh_c128(pc_c128 z) {
  pc_f64 x = pc_magnitude_f64(z.re), y = pc_magnitude_f64(z.im);
  int far = (x > 0x1p60) | (y > 0x1p60), infinite = (x == __builtin_inf()) | (y == __builtin_inf());
  pc_f64 u = far ? 0.5 : x, v = far ? 0.5 : y;
  pc_f64 gap = 1.0 - u;
  pc_f64 near = 0.25 * pc_log1p_f64(4.0 * u / (gap * gap + v * v));
  near = (gap == 0.0) & (v < 0x1p-27) ? 0.5 * (0x1.62e42fefa39efp-1 - pc_log_f64(v)) : near;
  pc_pair_f64 d = pc_excess_f64(-1.0, 0.0, u > v ? u : v, u > v ? v : u);
  pc_f64 angle = 0.5 * pc_atan2_f64(v + v, 0.0 - d.hi);
  pc_f64 h = pc_hypot_f64(0.5 * x, 0.5 * y);
  pc_f64 away = 0.25 * (x / h / h);
  pc_f64 re = far ? (infinite ? 0.0 : away) : near, im = far ? 0x1.921fb54442d18p+0 : angle;
  int left = (x != x) & (y < __builtin_inf()), right = (y != y);
  im = left | right ? x + y : im;
  re = left | (right & (x > 0.0) & (x < __builtin_inf())) ? x + y : re;
  re = x == 0.0 ? 0.0 : re;
  pc_c128 out = {pc_signed_f64(re, pc_known_sign_f64(z.re)), pc_signed_f64(im, pc_known_sign_f64(z.im))};
  return out;
}

/* The arc tangent; branch cuts on the imaginary axis outside of [-i, i]. */
PC_INLINE pc_c128 pc_atan_c128(pc_c128 z) { return pc_quarter_c128(pc_atanh_c128(pc_quarter_back_c128(z))); }

PC_INLINE pc_c64 pc_atanh_c64(pc_c64 z) { return pc_narrowed_c128(pc_atanh_c128(pc_widened_c64(z))); }
PC_INLINE pc_c64 pc_atan_c64(pc_c64 z) { return pc_narrowed_c128(pc_atan_c128(pc_widened_c64(z))); }

#endif
