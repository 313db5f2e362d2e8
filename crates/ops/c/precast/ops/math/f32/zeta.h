/* precast/ops/math/f32/zeta.h: zeta and polygamma of f32 for positive operands, in f64: the regions `right`.
 *
 * As of zeta.h, without pairs, by the first power: the formula of L. Euler and C. Maclaurin from w = q + 5 on with 7 terms, error 2^-34. */
#ifndef PRECAST_OPS_MATH_F32_ZETA_H
#define PRECAST_OPS_MATH_F32_ZETA_H

#include <precast/ops/math/exp.h>
#include <precast/ops/math/log.h>
#include <precast/ops/math/stirling.h>

/* The powers up to which no exponent needs a pair. */
#define PC_ZETA_SHORT 1024.0f

/* (q / (q + k))^s. Next to 1 a logarithm of the quotient would not do: the exact -k leads to it. */
PC_INLINE pc_f64 pc_zeta_power_short_f64(pc_f64 s, pc_f64 q, pc_f64 k) {
  pc_f64 d = q + k;
  pc_log_short_f64 l = pc_log_short_of_f64(q / d);
  pc_f64 t = l.k == 0.0 ? -k / (q + d) : l.s, z = t * t;
  pc_f64 p = (0x1.71547652b8251p+1 + z * 0x1.ec709dc53d3abp-1) + (z * z) * (0x1.2776c29235db8p-1 + z * 0x1.a61a2fab22580p-2);
  pc_f64 v = s * (l.k + t * (p + ((z * z) * (z * z)) * (0x1.47952fbf0d0ecp-2 + z * 0x1.21b32f06abeabp-2)));
  pc_power_short_f64 e = pc_power_short_of_f64(v < -100.0 ? -100.0 : v);
  return pc_exp2_short_f64(e.r) * e.up;
}

/* The terms of Euler's and Maclaurin's formula by w^-s after 1/2: s B2 / (2! w) + s (s + 1) (s + 2) B4 / (4! w^3) + ..., v = 1 / w;
 * 7 or 12 terms. */
PC_INLINE pc_f64 pc_zeta_rest_of_f64(pc_f64 s, pc_f64 v, int terms) {
  pc_f64 a = s * v, sum = 0x1.5555555555555p-4 * a;
  a = (a * ((s + 1.0) * v)) * ((s + 2.0) * v);
  sum = sum + -0x1.6c16c16c16c17p-10 * a;
  a = (a * ((s + 3.0) * v)) * ((s + 4.0) * v);
  sum = sum + 0x1.1566abc011567p-15 * a;
  a = (a * ((s + 5.0) * v)) * ((s + 6.0) * v);
  sum = sum + -0x1.bbd779334ef0bp-21 * a;
  a = (a * ((s + 7.0) * v)) * ((s + 8.0) * v);
  sum = sum + 0x1.66a8f2bf70ebep-26 * a;
  a = (a * ((s + 9.0) * v)) * ((s + 10.0) * v);
  sum = sum + -0x1.22805d644267fp-31 * a;
  a = (a * ((s + 11.0) * v)) * ((s + 12.0) * v);
  sum = sum + 0x1.d6db2c4e09162p-37 * a;
  if (terms == 7) return sum;
  a = (a * ((s + 13.0) * v)) * ((s + 14.0) * v);
  sum = sum + -0x1.7da4e1f79955cp-42 * a;
  a = (a * ((s + 15.0) * v)) * ((s + 16.0) * v);
  sum = sum + 0x1.355871d652e9ep-47 * a;
  a = (a * ((s + 17.0) * v)) * ((s + 18.0) * v);
  sum = sum + -0x1.f57d968caacf1p-53 * a;
  a = (a * ((s + 19.0) * v)) * ((s + 20.0) * v);
  sum = sum + 0x1.967e1f09c376fp-58 * a;
  a = (a * ((s + 21.0) * v)) * ((s + 22.0) * v);
  return sum + -0x1.497d9033a2b5cp-63 * a;
}

/* e^c zeta(s, q) for s > 1, q > 0, both of f32. */
PC_INLINE pc_f32 pc_zeta_of_short_f64(pc_f64 s, pc_f64 q, pc_f64 c) {
  pc_f64 w = q + 5.0, sum = pc_zeta_rest_of_f64(s < 8.0 * w ? s : 8.0 * w, 1.0 / w, 7);
  sum = pc_zeta_power_short_f64(s, q, 5.0) * (w / (s - 1.0) + (0.5 + sum));
  sum = (sum + pc_zeta_power_short_f64(s, q, 4.0)) + pc_zeta_power_short_f64(s, q, 3.0);
  sum = ((sum + pc_zeta_power_short_f64(s, q, 2.0)) + pc_zeta_power_short_f64(s, q, 1.0)) + 1.0;
  return (pc_f32)(sum * pc_exp_f64(c - s * pc_log_f64(q)));
}

PC_INLINE uint32_t pc_zeta_is_right_f32(pc_f32 s, pc_f32 q) {
  const pc_f32 inf = __builtin_inff();
  return (uint32_t)(s > 1.0f) & (uint32_t)(s <= PC_ZETA_SHORT) & (uint32_t)(q > 0.0f) & (uint32_t)(q < inf);
}

PC_INLINE uint32_t pc_polygamma_is_right_f32(pc_f32 n, pc_f32 x) {
  const pc_f32 inf = __builtin_inff();
  pc_f32 c = n < PC_ZETA_SHORT ? n : 0.5f;
  return (uint32_t)(n >= 1.0f) & (uint32_t)((c + 0x1p23f) - 0x1p23f == c) & (uint32_t)(x > 0.0f) & (uint32_t)(x < inf);
}

PC_INLINE pc_f32 pc_zeta_right_f32(pc_f32 s, pc_f32 q) { return pc_zeta_of_short_f64((pc_f64)s, (pc_f64)q, 0.0); }

/* (-1)^(n + 1) n! zeta(n + 1, x). */
PC_INLINE pc_f32 pc_polygamma_right_f32(pc_f32 n, pc_f32 x) {
  pc_f64 s = (pc_f64)n + 1.0, z = n < 1.5f ? 3.0 : s; /* ln 1! is 0 */
  pc_f64 log = (z - 0.5) * pc_log_f64(z) - z + (0x1.d67f1c864beb5p-1 + pc_stirling_of_f64(1.0 / z));
  pc_f32 y = pc_zeta_of_short_f64(s, (pc_f64)x, n < 1.5f ? 0.0 : log), half = 0.5f * n;
  return (half + 0x1p23f) - 0x1p23f == half ? -y : y;
}

#endif
