/* precast/ops/math/inverse.h: E. Halley's and I. Newton's methods for the argument of a tail, which gammaincinv.h and betaincinv.h share.
 *
 * The unknown is ln x, of which the logarithm of a tail is almost a straight line at both ends. The last step is added to x as a product,
 * so the result is rounded once. */
#ifndef PRECAST_OPS_MATH_INVERSE_H
#define PRECAST_OPS_MATH_INVERSE_H

#include <precast/ops/math/normal.h>
#include <precast/ops/math/tail.h>

/* A bound of steps, of which most results need fewer than 8. */
#define PC_INVERSE_STEPS 200

/* A probability and 1 less it. */
typedef struct pc_tails_f64 {
  pc_pair_f64 p, q;
} pc_tails_f64;

/* By how much to move ln x, and whether x is to grow. */
typedef struct pc_step_f64 {
  pc_f64 step;
  int is_up;
} pc_step_f64;

/* The result lies between. */
typedef struct pc_bounds_f64 {
  pc_f64 low, high;
} pc_bounds_f64;

PC_TAIL pc_tails_f64 pc_tails_of_f64(pc_f64 p) {
  pc_tails_f64 out = {pc_pair_of_f64(p), pc_sum_f64(1.0, -p)};
  return out;
}

/* The step for a difference of logarithms and its derivative by ln x. */
PC_TAIL pc_step_f64 pc_step_of_f64(pc_f64 off, pc_f64 slope) {
  pc_step_f64 out = {-off / slope, pc_sign_f64(slope) == 0 ? off < 0.0 : off > 0.0};
  return out;
}

/* The step for a tail y that should be t, and its derivative by ln x. */
PC_TAIL pc_step_f64 pc_off_f64(pc_f64 y, pc_pair_f64 t, pc_f64 slope) {
  pc_f64 part = ((y - t.hi) - t.lo) / t.hi;
  pc_f64 off = pc_magnitude_f64(part) < 0.5 ? pc_log1p_f64(part) : pc_log_f64(y) - pc_log_f64(t.hi);
  pc_step_f64 out = pc_step_of_f64(off, pc_signed_f64(1.0, pc_sign_f64(slope)));
  out.step = -off * (y / slope);
  return out;
}

/* A step of E. Halley's method instead of I. Newton's, where `bend` is the second derivative by the first one. */
PC_TAIL pc_step_f64 pc_bent_f64(pc_step_f64 s, pc_f64 bend) {
  pc_f64 by = 1.0 + 0.5 * (s.step * bend);
  s.step = by > 0.5 && by < 2.0 ? s.step / by : s.step;
  return s;
}

/* About the z of which the normal distribution has the upper tail t <= 1/2: to 2^-28 down to 2^-150. */
PC_TAIL pc_f64 pc_inverse_normal_f64(pc_f64 t) {
  if (t > 0x1p-150) return 0x1.6a09e667f3bcdp+0 * pc_erfinv_short_f64(1.0 - (t + t), 4.0 * (t - t * t));
  pc_f64 y = -2.0 * pc_log_f64(t) - 0x1.d67f1c864beb5p+0;
  return __builtin_sqrt(y - pc_log_f64(y));
}

/* x after a step, or between the bounds, where the step leads out of them. */
PC_TAIL pc_f64 pc_next_f64(pc_bounds_f64 *s, pc_f64 x, pc_step_f64 by) {
  if (by.is_up) {
    s->low = x;
  } else {
    s->high = x;
  }
  if (pc_magnitude_f64(by.step) < 0x1p-17) return x + x * (by.step + 0.5 * (by.step * by.step));
  pc_f64 y = by.step <= 700.0 ? x * pc_exp_f64(by.step) : __builtin_inf();
  if (y > s->low && y < s->high) return y;
  if (s->high == __builtin_inf()) return 2.0 * s->low;
  if (s->low == 0.0) return 0x1p-4 * s->high;
  return s->high > 4.0 * s->low ? __builtin_sqrt(s->low) * __builtin_sqrt(s->high) : 0.5 * (s->low + s->high);
}

#endif
