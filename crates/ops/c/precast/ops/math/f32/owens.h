/* precast/ops/math/f32/owens.h: D. B. Owen's T function of f32, in f64, by C. F. Gauss's rule of 14 points. */
#ifndef PRECAST_OPS_MATH_F32_OWENS_H
#define PRECAST_OPS_MATH_F32_OWENS_H

#include <precast/ops/math/f32/normal.h>

/* e^(-h2 x^2) / (1 + x^2). */
PC_INLINE pc_f64 pc_owens_part_short_f64(pc_f64 h2, pc_f64 x) {
  pc_f64 square = x * x;
  return pc_exp_short_f64(-(h2 * square)) * pc_inverse_short_f64(1.0 + square);
}

/* The same of two points c (1 - t) and c (1 + t). */
PC_INLINE pc_f64 pc_owens_parts_short_f64(pc_f64 h2, pc_f64 c, pc_f64 t) {
  return pc_owens_part_short_f64(h2, c * (1.0 - t)) + pc_owens_part_short_f64(h2, c * (1.0 + t));
}

/* T for h >= 0 and 0 <= a <= 1: 0 where h is above 15. The error is 2^-32. */
PC_INLINE pc_f64 pc_owens_near_short_f64(pc_f64 h, pc_f64 a) {
  pc_f64 b = h < 15.0 ? h : 15.0, h2 = 0.5 * b * b, far = 6.5 * pc_inverse_short_f64(b > 6.5 ? b : 6.5);
  pc_f64 c = 0.5 * (b * a > 6.5 ? far : a), sum = 0.0;
  sum = sum + 0x1.1fb2d8b27f553p-5 * pc_owens_parts_short_f64(h2, c, 0x1.f8fa30fddab0bp-1);
  sum = sum + 0x1.4853d8adc703dp-4 * pc_owens_parts_short_f64(h2, c, 0x1.db5bd12b99e9fp-1);
  sum = sum + 0x1.f1bd74ef611c1p-4 * pc_owens_parts_short_f64(h2, c, 0x1.a786ee46dd9c4p-1);
  sum = sum + 0x1.41f3bbee2d2f2p-3 * pc_owens_parts_short_f64(h2, c, 0x1.5fe4db09e0c89p-1);
  sum = sum + 0x1.7bfb8e2a8f57ep-3 * pc_owens_parts_short_f64(h2, c, 0x1.07ceab54ef096p-1);
  sum = sum + 0x1.a43f1796fab09p-3 * pc_owens_parts_short_f64(h2, c, 0x1.46c564912d702p-2);
  sum = sum + 0x1.b8dc415514e34p-3 * pc_owens_parts_short_f64(h2, c, 0x1.ba97d36de76b0p-4);
  pc_f64 y = pc_exp_short_f64(-h2) * (c * sum * 0x1.45f306dc9c883p-3); /* 1 / (2 pi) */
  return h < 15.0 ? y : 0.0;
}

/* T(h, a) = 1/2 Q(h) + (1/2 - Q(h)) Q(a h) - T(a h, 1 / a) for a > 1, where Q(h) is the probability of more than h. */
PC_INLINE pc_f32 pc_owens_t_f32(pc_f32 h, pc_f32 a) {
  pc_f64 b = (pc_f64)pc_magnitude_f32(h), of = (pc_f64)pc_magnitude_f32(a);
  b = b < 40.0 ? b : 40.0;
  int small = of <= 1.0;
  pc_f64 inverse = 1.0 / (small ? 1.0 : of), steep = b * (of < 0x1p120 ? of : 0x1p120);
  pc_f64 near = pc_owens_near_short_f64(small ? b : steep, small ? of : inverse);
  pc_f64 own = pc_tail_short_f64(b * 0x1.6a09e667f3bcdp-1), other = pc_tail_short_f64(steep * 0x1.6a09e667f3bcdp-1);
  pc_f64 y = small ? near : 0.5 * own + ((0.5 - own) * other - near);
  pc_f32 out = pc_signed_f32((pc_f32)(y > 0.0 ? y : 0.0), pc_sign_f32(a)); /* where the terms end, the last one may be left */
  out = h == h ? out : h;
  return a == a ? out : a;
}

#endif
