/* precast/ops/math/f32/entropy.h: products with a logarithm, and the logarithm of odds of f32, in f64. A quotient of two f32 numbers differs
 * from 1 by at least 2^-24, so its logarithm needs no pairs. */
#ifndef PRECAST_OPS_MATH_F32_ENTROPY_H
#define PRECAST_OPS_MATH_F32_ENTROPY_H

#include <precast/ops/math/f32/short.h>

/* ln x for any x. */
PC_INLINE pc_f64 pc_ln_any_short_f64(pc_f64 x) {
  pc_f64 y = x == __builtin_inf() ? x : pc_ln_short_f64(x), edge = x == 0.0 ? -__builtin_inf() : __builtin_nan("");
  return x > 0.0 ? y : edge;
}

/* x ln y; 0 where x is 0 and y a number. */
PC_INLINE pc_f32 pc_xlogy_f32(pc_f32 x, pc_f32 y) {
  pc_f32 product = (pc_f32)((pc_f64)x * pc_ln_any_short_f64((pc_f64)y)), zero = y == y ? 0.0f : y;
  return x == 0.0f ? zero : product;
}

/* x ln(1 + y); 0 where x is 0 and y a number. */
PC_INLINE pc_f32 pc_xlog1py_f32(pc_f32 x, pc_f32 y) {
  pc_f64 f = (pc_f64)y, log = pc_ln_any_short_f64(1.0 + f);
  pc_f64 near = pc_magnitude_f32(y) < 0x1p-20f ? f - 0.5 * (f * f) : log;
  pc_f32 product = (pc_f32)((pc_f64)x * near), zero = y == y ? 0.0f : y;
  return x == 0.0f ? zero : product;
}

/* -x ln x; -inf for negative numbers. */
PC_INLINE pc_f32 pc_entr_f32(pc_f32 x) {
  pc_f64 c = x > 0.0f ? (pc_f64)x : 1.0;
  pc_f32 y = (pc_f32)(0.0 - c * pc_ln_short_f64(c));
  y = x == x ? y : x;
  y = x < 0.0f ? -__builtin_inff() : y;
  return x == 0.0f ? 0.0f : y;
}

/* x ln(x / y); inf where x is negative, or y is not positive and x is not 0. */
PC_INLINE pc_f32 pc_rel_entr_f32(pc_f32 x, pc_f32 y) {
  const pc_f32 inf = __builtin_inff();
  pc_f64 a = (pc_f64)x, q = a / (pc_f64)y;
  pc_f32 inside = (pc_f32)(a * pc_ln_any_short_f64(q)), zero = y >= 0.0f ? 0.0f : inf, outside = x == 0.0f ? zero : inf;
  inside = y > 0.0f ? inside : inf;
  inside = x > 0.0f ? inside : outside;
  inside = x == x ? inside : x;
  return y == y ? inside : y;
}

/* x ln(x / y) - x + y = s (d - x s^2 P(s^2)) near x, for d = y - x and s = d / (x + y); inf where x or y is negative, or y is 0 and x is
 * not. P of degree 3, error 2^-29.7. */
PC_INLINE pc_f32 pc_kl_div_f32(pc_f32 x, pc_f32 y) {
  const pc_f32 inf = __builtin_inff();
  pc_f64 a = (pc_f64)x, b = (pc_f64)y, d = b - a, s = d / (a + b), z = s * s;
  pc_f64 p = (0x1.5555554b7d8f2p-1 + z * 0x1.9999ec7dc112ap-2) + (z * z) * (0x1.245bd177b519ap-2 + z * 0x1.dde5245f46e1dp-3);
  pc_f64 near = s * (d - a * z * p), far = a * pc_ln_any_short_f64(a / b) + d;
  pc_f32 inside = (pc_f32)(z < 0.0294 ? near : far), zero = y >= 0.0f ? y : inf, outside = x == 0.0f ? zero : inf;
  inside = y == inf ? inf : inside;
  inside = y > 0.0f ? inside : inf;
  inside = x > 0.0f ? inside : outside;
  pc_f32 both = y == inf ? __builtin_nanf("") : inf;
  inside = x == inf ? both : inside;
  inside = x == x ? inside : x;
  return y == y ? inside : y;
}

/* ln(x / (1 - x)); NaN outside of 0 to 1. */
PC_INLINE pc_f32 pc_logit_f32(pc_f32 x) {
  pc_f64 a = (pc_f64)x, y = pc_ln_any_short_f64(a / (1.0 - a));
  y = x > 1.0f ? __builtin_nan("") : y;
  return (pc_f32)y;
}

#endif
