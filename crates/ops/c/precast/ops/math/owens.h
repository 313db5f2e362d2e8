/* precast/ops/math/owens.h: D. B. Owen's T function, the probability that x > h and 0 < y < a x of two standard normal numbers.
 *
 *   T(h, a) = e^(-h^2 / 2) / (2 pi) times the integral of e^(-h^2 x^2 / 2) / (1 + x^2) from 0 to a
 *
 * by C. F. Gauss's rule of 24 points where it is not negligible; an a above 1 becomes 1 / a. */
#ifndef PRECAST_OPS_MATH_OWENS_H
#define PRECAST_OPS_MATH_OWENS_H

#include <precast/ops/math/atan.h>
#include <precast/ops/math/normal.h>

/* e^(-h2 x^2) / (1 + x^2). */
PC_TAIL pc_f64 pc_owens_part_f64(pc_f64 h2, pc_f64 x) {
  pc_f64 square = x * x;
  return pc_exp_f64(-(h2 * square)) / (1.0 + square);
}

/* T for h >= 0 and 0 <= a <= 1. */
PC_TAIL pc_f64 pc_owens_near_f64(pc_f64 h, pc_f64 a) {
  if (h > 39.0) return 0.0;
  static const pc_f64 points[12][2] = {
      {0x1.fd892de691982p-1, 0x1.9465bd3112202p-7}, {0x1.f30f9f0cbf876p-1, 0x1.d375514486f1dp-6},
      {0x1.e06585a70aa4dp-1, 0x1.6ab884f57c979p-5}, {0x1.c5d841864d0f5p-1, 0x1.e5c6255d25edap-5},
      {0x1.a3d74ce0d3700p-1, 0x1.2c6d5c2eff064p-4}, {0x1.7af18edb9ddd6p-1, 0x1.6108ef504463ap-4},
      {0x1.4bd2ee5fa1086p-1, 0x1.8fd8936444b16p-4}, {0x1.17417bac4d72bp-1, 0x1.b8177ba4a68dcp-4},
      {0x1.bc345d81e24b5p-2, 0x1.d91c78acb1b2dp-4}, {0x1.429a8c588e910p-2, 0x1.f25cbce1d1ff6p-4},
      {0x1.8769542b94f8dp-3, 0x1.01b7117cf8bd8p-3}, {0x1.0660853eda2e8p-4, 0x1.060475e763736p-3},
  };
  pc_f64 h2 = 0.5 * h * h, end = h * a > 9.0 ? 9.0 / h : a, c = 0.5 * end, sum = 0.0;
  for (int i = 0; i < 12; i++) {
    pc_f64 part = pc_owens_part_f64(h2, c * (1.0 - points[i][0])) + pc_owens_part_f64(h2, c * (1.0 + points[i][0]));
    sum = sum + points[i][1] * part;
  }
  pc_pair_f64 square = pc_product_f64(-0.5 * h, h);
  return pc_exp_pair_f64(square) * (c * sum * 0x1.45f306dc9c883p-3); /* 1 / (2 pi) */
}

/* T for h >= 0 and a >= 0. */
PC_TAIL pc_f64 pc_owens_right_f64(pc_f64 h, pc_f64 a) {
  if (a == 0.0 || h == __builtin_inf()) return 0.0;
  if (h == 0.0) return pc_atan_f64(a) * 0x1.45f306dc9c883p-3;
  pc_f64 own = pc_ndtr_f64(-h);
  if (a == __builtin_inf()) return 0.5 * own;
  if (a <= 1.0) return pc_owens_near_f64(h, a);
  pc_f64 other = pc_ndtr_f64(-(a * h));
  return 0.5 * own + ((0.5 - own) * other - pc_owens_near_f64(a * h, 1.0 / a));
}

PC_TAIL pc_f64 pc_owens_t_f64(pc_f64 h, pc_f64 a) {
  if (h != h || a != a) return __builtin_nan("");
  return pc_signed_f64(pc_owens_right_f64(pc_magnitude_f64(h), pc_magnitude_f64(a)), pc_sign_f64(a));
}

PC_INLINE pc_f32 pc_owens_t_f32(pc_f32 h, pc_f32 a) { return (pc_f32)pc_owens_t_f64((pc_f64)h, (pc_f64)a); }

#endif
