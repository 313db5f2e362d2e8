/* precast/ops/math/trigamma.h: the derivative of the digamma function.
 *
 * Below 10 whole steps lead to where J. Stirling's series stands, each of which adds 1 / x^2; below 0 the reflection of L. Euler,
 * pi^2 / sin^2 pi x - trigamma(1 - x), where nothing cancels: the first term is six times the second at least. */
#ifndef PRECAST_OPS_MATH_TRIGAMMA_H
#define PRECAST_OPS_MATH_TRIGAMMA_H

#include <precast/ops/math/gamma.h>

/* How many steps of 1 lead from c > 0 to 10 or beyond. */
PC_INLINE pc_f64 pc_trigamma_steps_f64(pc_f64 c) {
  pc_f64 n = (c < 10.0 ? 1.0 : 0.0) + (c + 1.0 < 10.0 ? 1.0 : 0.0) + (c + 2.0 < 10.0 ? 1.0 : 0.0) + (c + 3.0 < 10.0 ? 1.0 : 0.0);
  n = n + (c + 4.0 < 10.0 ? 1.0 : 0.0) + (c + 5.0 < 10.0 ? 1.0 : 0.0) + (c + 6.0 < 10.0 ? 1.0 : 0.0);
  return n + (c + 7.0 < 10.0 ? 1.0 : 0.0) + (c + 8.0 < 10.0 ? 1.0 : 0.0) + (c + 9.0 < 10.0 ? 1.0 : 0.0);
}

/* a + 1 / (c + k)^2 where c + k < 10. */
PC_INLINE pc_f64 pc_trigamma_step_f64(pc_f64 a, pc_f64 c, pc_f64 k) {
  pc_f64 y = 1.0 / (c + k);
  return a + (c + k < 10.0 ? y * y : 0.0);
}

/* The trigamma function for x >= 10. */
PC_INLINE pc_f64 pc_trigamma_far_f64(pc_f64 x) {
  pc_f64 y = 1.0 / x, v = pc_gamma_inverse_f64(x), z = v * v, z2 = z * z, z4 = z2 * z2;
  pc_f64 s01 = 0x1.5555555555555p-3 + z * -0x1.1111111111111p-5;
  pc_f64 s23 = 0x1.8618618618618p-6 + z * -0x1.1111111111111p-5;
  pc_f64 s45 = 0x1.364d9364d9365p-4 + z * -0x1.0330330330330p-2;
  pc_f64 s67 = 0x1.2aaaaaaaaaaabp+0 + z * -0x1.c5e5e5e5e5e5ep+2;
  pc_f64 series = ((s01 + z2 * s23) + z4 * (s45 + z2 * s67)) + (z4 * z4) * 0x1.b7c4f8f13e3c5p+5;
  return (v * z * series + 0.5 * z) + y;
}

/* The trigamma function for x > 0. */
PC_INLINE pc_f64 pc_trigamma_right_f64(pc_f64 x) {
  pc_f64 c = x < 10.0 ? x : 10.0;
  pc_f64 sum = pc_trigamma_far_f64(x < 10.0 ? c + pc_trigamma_steps_f64(c) : x);
  sum = pc_trigamma_step_f64(sum, c, 9.0);
  sum = pc_trigamma_step_f64(sum, c, 8.0);
  sum = pc_trigamma_step_f64(sum, c, 7.0);
  sum = pc_trigamma_step_f64(sum, c, 6.0);
  sum = pc_trigamma_step_f64(sum, c, 5.0);
  sum = pc_trigamma_step_f64(sum, c, 4.0);
  sum = pc_trigamma_step_f64(sum, c, 3.0);
  sum = pc_trigamma_step_f64(sum, c, 2.0);
  sum = pc_trigamma_step_f64(sum, c, 1.0);
  return pc_trigamma_step_f64(sum, c, 0.0);
}

/* The regions of trigamma, whose forms are above. */
PC_INLINE uint64_t pc_trigamma_is_right_f64(pc_f64 x) { return x > 0.0; }
PC_INLINE uint64_t pc_trigamma_is_far_f64(pc_f64 x) { return x >= 10.0; }

/* The trigamma function; inf at 0, at negative integers and at -inf. */
PC_INLINE pc_f64 pc_trigamma_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x), f = pc_fraction_f64(a);
  pc_f64 right = pc_trigamma_right_f64(x < 0.0 ? a + 1.0 : a);
  pc_half_turn_f64 t = pc_half_turn_of_f64(f);
  pc_f64 turn = 0x1.921fb54442d18p+1 / t.s;
  pc_f64 left = turn * turn - right;
  left = f == 0.0 ? __builtin_inf() : left;
  left = a == __builtin_inf() ? __builtin_inf() : left;
  left = a < 0x1p-60 ? right + (1.0 / a) * (1.0 / a) : left;
  pc_f64 y = x < 0.0 ? left : right;
  return x == x ? y : x;
}

PC_INLINE pc_f32 pc_trigamma_f32(pc_f32 x) { return (pc_f32)pc_trigamma_f64((pc_f64)x); }

#endif
