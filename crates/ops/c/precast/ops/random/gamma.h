/* precast/ops/random/gamma.h: draws of the gamma distribution with scale 1, and their logarithms.
 *
 * G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables" (2000): a cube of a normal number, accepted with a
 * probability of at least 0.95. For a < 1 it is the draw of a + 1 times u^(1/a), in logarithms, so small shapes do not underflow.
 *
 * NaN for shapes that are NaN, negative or infinite. The draw of shape 0 is 0. After PC_STREAM_TRIES candidates the result is a - 1/3. */
#ifndef PRECAST_OPS_RANDOM_GAMMA_H
#define PRECAST_OPS_RANDOM_GAMMA_H

#include <precast/ops/math/normal.h>
#include <precast/ops/random/threefry.h>

/* The draw of a >= 1. Numbers from 1 on of the stream. */
PC_TAIL pc_f64 pc_gamma_above_f64(pc_u64 word, pc_f64 a) {
  const pc_f64 d = a - 1.0 / 3.0, c = 1.0 / (3.0 * __builtin_sqrt(d));
  for (pc_u64 i = 1; i < 2 * PC_STREAM_TRIES; i += 2) {
    pc_f64 x = pc_ndtri_f64(pc_stream_f64(word, i)), t = c * x, v = 1.0 + t, square = x * x;
    if (v <= 0.0) continue;
    v = v * v * v;
    pc_f64 u = pc_stream_f64(word, i + 1);
    if (u < 1.0 - 0.0331 * square * square) return d * v;
    if (pc_log_f64(u) < 0.5 * square + d * (3.0 * pc_log1p_f64(t) - t * (3.0 + t * (3.0 + t)))) return d * v;
  }
  return d;
}

/* The logarithm of the draw of 0 < a < 1. */
PC_TAIL pc_f64 pc_loggamma_below_f64(pc_u64 word, pc_f64 a) {
  return pc_log_f64(pc_gamma_above_f64(word, a + 1.0)) + pc_log_f64(pc_stream_f64(word, 0)) / a;
}

PC_TAIL pc_f64 pc_gamma_draw_f64(pc_u64 word, pc_f64 a) {
  if (!(a >= 0.0 && a < __builtin_inf())) return __builtin_nan("");
  if (a >= 1.0) return pc_gamma_above_f64(word, a);
  return a == 0.0 ? 0.0 : pc_exp_f64(pc_loggamma_below_f64(word, a));
}

PC_TAIL pc_f64 pc_loggamma_draw_f64(pc_u64 word, pc_f64 a) {
  if (!(a >= 0.0 && a < __builtin_inf())) return __builtin_nan("");
  if (a >= 1.0) return pc_log_f64(pc_gamma_above_f64(word, a));
  return a == 0.0 ? -__builtin_inf() : pc_loggamma_below_f64(word, a);
}

#endif
