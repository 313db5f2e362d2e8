/* precast/ops/random/von_mises.h: draws of the von Mises distribution about 0, angles in [-pi, pi].
 *
 * D. J. Best and N. I. Fisher, "Efficient simulation of the von Mises distribution" (1979): an angle of a wrapped Cauchy distribution,
 * accepted with a probability of at least 0.65. The method is exact for every parameter s > 1 of that distribution. The distance
 * 1 - cos is computed, so narrow distributions keep their digits.
 *
 * NaN for concentrations that are NaN, negative or infinite. After PC_STREAM_TRIES candidates the result is 0. */
#ifndef PRECAST_OPS_RANDOM_VON_MISES_H
#define PRECAST_OPS_RANDOM_VON_MISES_H

#include <precast/ops/math/arc.h>
#include <precast/ops/math/log.h>
#include <precast/ops/math/stirling.h>
#include <precast/ops/math/trig.h>
#include <precast/ops/random/threefry.h>

/* s - 1. */
PC_TAIL pc_f64 pc_von_mises_width_f64(pc_f64 kappa) {
  if (kappa < 1e-5) return 1.0 / kappa + kappa - 1.0;
  if (kappa > 1e6) return 0.5 / kappa;
  pc_f64 r = 1.0 + __builtin_sqrt(1.0 + 4.0 * kappa * kappa), rho = (r - __builtin_sqrt(2.0 * r)) / (2.0 * kappa);
  return (1.0 - rho) * (1.0 - rho) / (2.0 * rho);
}

PC_TAIL pc_f64 pc_von_mises_draw_f64(pc_u64 word, pc_f64 kappa) {
  const pc_f64 pi = 0x1.921fb54442d18p+1, start = pc_stream_f64(word, 0);
  if (!(kappa >= 0.0 && kappa < __builtin_inf())) return __builtin_nan("");
  if (kappa < 1e-300) return pi * (2.0 * start - 1.0);
  const pc_f64 width = pc_von_mises_width_f64(kappa);
  for (pc_u64 i = 1; i < 2 * PC_STREAM_TRIES; i += 2) {
    pc_f64 turn = 0.5 * pi * pc_stream_f64(word, i), v = pc_stream_f64(word, i + 1);
    pc_f64 sine = pc_sin_f64(turn), cosine = pc_cos_f64(turn);
    pc_f64 half = sine * sine * (width / (width + 2.0 * cosine * cosine)); /* (1 - cos) / 2 of the candidate */
    pc_f64 y = kappa * (width + 2.0 * half);
    if (y * (2.0 - y) >= v || pc_log_f64(y / v) + 1.0 - y >= 0.0) {
      pc_f64 angle = 2.0 * pc_asin_f64(__builtin_sqrt(half < 1.0 ? half : 1.0));
      return start < 0.5 ? -angle : angle;
    }
  }
  return 0.0;
}

#endif
