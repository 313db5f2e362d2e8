/* precast/ops/math/factorial.h: the gamma function, a power of e whose exponent is a sum of pairs.
 *
 * ln Gamma z = (z - 1/2) ln z - z + ln(2 pi) / 2 + c(z), c from stirling.h; left of 0 the reflection of L. Euler. Factorials are exact. */
#ifndef PRECAST_OPS_MATH_FACTORIAL_H
#define PRECAST_OPS_MATH_FACTORIAL_H

#include <precast/ops/math/gamma.h>

/* ln Gamma z for z > 0. */
PC_TAIL pc_pair_f64 pc_gammaln_pair_f64(pc_f64 z) {
  const pc_pair_f64 half = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55}; /* ln(2 pi) / 2 */
  pc_pair_f64 main = pc_pair_mul_f64(pc_sum_f64(z, -0.5), pc_log_pair_f64(z));
  return pc_plus_f64(pc_plus_f64(main, pc_pair_of_f64(-z)), pc_plus_f64(half, pc_stirling_f64(z)));
}

/* The gamma function for x > 0; factorials are exact. */
PC_TAIL pc_f64 pc_gamma_right_f64(pc_f64 x) {
  if (x > 172.0) return __builtin_inf();
  if (x < 0x1p-60) return 1.0 / x;
  if (x <= 23.0 && pc_whole_f64(x) == x) {
    pc_f64 y = 1.0;
    for (pc_f64 k = 2.0; k < x; k += 1.0) y = y * k;
    return y;
  }
  return pc_exp_pair_f64(pc_gammaln_pair_f64(x));
}

/* The gamma function at -a, no integer: -pi / (a sin(pi a) Gamma a). */
PC_TAIL pc_f64 pc_gamma_left_f64(pc_f64 a, pc_f64 f) {
  const pc_pair_f64 pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
  pc_f64 floor = pc_whole_f64(a), odd = 0.5 * (floor > a ? floor - 1.0 : floor);
  uint64_t sign = pc_whole_f64(odd) == odd ? 0x8000000000000000u : 0;
  if (a < 0x1p-60) return -1.0 / a;
  pc_pair_f64 turn = pc_pair_div_f64(pi, pc_pair_mul_f64(pc_pair_of_f64(a), pc_sine_of_turn_f64(f)));
  pc_pair_f64 log = pc_plus_f64(pc_log_of_pair_f64(turn), pc_minus_f64(pc_gammaln_pair_f64(a)));
  return pc_signed_f64(pc_exp_pair_f64(log), sign);
}

/* inf at 0, with its sign; NaN at negative integers and at -inf. */
PC_TAIL pc_f64 pc_gamma_f64(pc_f64 x) {
  if (x > 0.0 || x != x) return x > 0.0 ? pc_gamma_right_f64(x) : x;
  if (x == 0.0) return 1.0 / x;
  pc_f64 a = -x;
  if (a >= 0x1p52 || pc_whole_f64(a) == a) return __builtin_nan("");
  if (a > 200.0) return pc_whole_f64(0.5 * a) * 0.0;
  return pc_gamma_left_f64(a, pc_fraction_f64(a));
}

#endif
