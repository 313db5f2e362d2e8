/* precast/ops/math/owens.h: D. B. Owen's T function, the probability that x > h and 0 < y < a x of two standard normal numbers.
 *
 *   T(h, a) = e^(-h^2 / 2) / (2 pi) times the integral of e^(-h^2 x^2 / 2) / (1 + x^2) from 0 to a
 *
 * by C. F. Gauss's rule of 24 points where it is not negligible; an a above 1 becomes 1 / a. */
#ifndef PRECAST_OPS_MATH_OWENS_H
#define PRECAST_OPS_MATH_OWENS_H

#include <precast/ops/math/f32/owens.h>
#include <precast/ops/math/normal.h>

/* e^(-h2 x^2) / (1 + x^2). */
PC_INLINE pc_f64 pc_owens_part_f64(pc_f64 h2, pc_f64 x) {
  pc_f64 square = x * x;
  return pc_exp_f64(-(h2 * square)) / (1.0 + square);
}

/* The same of two points c (1 - t) and c (1 + t). */
PC_INLINE pc_f64 pc_owens_parts_f64(pc_f64 h2, pc_f64 c, pc_f64 t) {
  return pc_owens_part_f64(h2, c * (1.0 - t)) + pc_owens_part_f64(h2, c * (1.0 + t));
}

/* T for h >= 0 and 0 <= a <= 1: 0 where h is above 39. */
PC_INLINE pc_f64 pc_owens_near_f64(pc_f64 h, pc_f64 a) {
  pc_f64 b = h < 39.0 ? h : 39.0, h2 = 0.5 * b * b, c = 0.5 * (b * a > 9.0 ? 9.0 / (b > 9.0 ? b : 9.0) : a), sum = 0.0;
  sum = sum + 0x1.9465bd3112202p-7 * pc_owens_parts_f64(h2, c, 0x1.fd892de691982p-1);
  sum = sum + 0x1.d375514486f1dp-6 * pc_owens_parts_f64(h2, c, 0x1.f30f9f0cbf876p-1);
  sum = sum + 0x1.6ab884f57c979p-5 * pc_owens_parts_f64(h2, c, 0x1.e06585a70aa4dp-1);
  sum = sum + 0x1.e5c6255d25edap-5 * pc_owens_parts_f64(h2, c, 0x1.c5d841864d0f5p-1);
  sum = sum + 0x1.2c6d5c2eff064p-4 * pc_owens_parts_f64(h2, c, 0x1.a3d74ce0d3700p-1);
  sum = sum + 0x1.6108ef504463ap-4 * pc_owens_parts_f64(h2, c, 0x1.7af18edb9ddd6p-1);
  sum = sum + 0x1.8fd8936444b16p-4 * pc_owens_parts_f64(h2, c, 0x1.4bd2ee5fa1086p-1);
  sum = sum + 0x1.b8177ba4a68dcp-4 * pc_owens_parts_f64(h2, c, 0x1.17417bac4d72bp-1);
  sum = sum + 0x1.d91c78acb1b2dp-4 * pc_owens_parts_f64(h2, c, 0x1.bc345d81e24b5p-2);
  sum = sum + 0x1.f25cbce1d1ff6p-4 * pc_owens_parts_f64(h2, c, 0x1.429a8c588e910p-2);
  sum = sum + 0x1.01b7117cf8bd8p-3 * pc_owens_parts_f64(h2, c, 0x1.8769542b94f8dp-3);
  sum = sum + 0x1.060475e763736p-3 * pc_owens_parts_f64(h2, c, 0x1.0660853eda2e8p-4);
  pc_pair_f64 square = pc_product_f64(-0.5 * b, b);
  pc_f64 y = pc_exp_pair_f64(square) * (c * sum * 0x1.45f306dc9c883p-3); /* 1 / (2 pi) */
  return h <= 39.0 ? y : 0.0;
}

/* T(h, a) = 1/2 Q(h) + (1/2 - Q(h)) Q(a h) - T(a h, 1 / a) for a > 1, where Q(h) is the probability of more than h. */
PC_INLINE pc_f64 pc_owens_t_f64(pc_f64 h, pc_f64 a) {
  pc_f64 b = pc_magnitude_f64(h), of = pc_magnitude_f64(a);
  b = b < 50.0 ? b : 50.0;
  int small = of <= 1.0;
  pc_f64 inverse = 1.0 / (small ? 1.0 : of), steep = b * (of < 0x1p1000 ? of : 0x1p1000);
  pc_f64 near = pc_owens_near_f64(small ? b : steep, small ? of : inverse), own = pc_ndtr_f64(-b), other = pc_ndtr_f64(-steep);
  pc_f64 y = small ? near : 0.5 * own + ((0.5 - own) * other - near);
  y = pc_signed_f64(y > 0.0 ? y : 0.0, pc_sign_f64(a)); /* where the terms end, the last one may be left */
  y = h == h ? y : h;
  return a == a ? y : a;
}

#endif
