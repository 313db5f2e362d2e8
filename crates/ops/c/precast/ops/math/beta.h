/* precast/ops/math/beta.h: the beta function and its logarithm.
 *
 * Both come from ln |Gamma| as pairs (factorial.h). Where an argument is large, what cancels is taken out first:
 *
 *   ln Gamma(a + b) - ln Gamma a = (a - 1/2) ln(1 + b / a) + b (ln(a + b) - 1) + c(a + b) - c(a)                        a >= 10
 *   -ln B(a, b) = a ln(1 + b / a) + b ln(1 + a / b) - ln(2 pi (a + b) / (a b)) / 2 - c(a) - c(b) + c(a + b)          a, b >= 10 */
#ifndef PRECAST_OPS_MATH_BETA_H
#define PRECAST_OPS_MATH_BETA_H

#include <precast/ops/math/factorial.h>

/* ln |f| and the sign of a function f. */
typedef struct pc_log_signed_f64 {
  pc_pair_f64 log;
  uint64_t sign;
} pc_log_signed_f64;

/* x + lo is 0 or a negative integer. */
PC_TAIL int pc_is_pole_f64(pc_f64 x, pc_f64 lo) { return x <= 0.0 && pc_fraction_f64(-x) - lo == 0.0; }

/* Gamma(x + lo), no pole, x >= -2^51 and lo below an ulp of x. */
PC_TAIL pc_log_signed_f64 pc_gamma_log_f64(pc_f64 x, pc_f64 lo) {
  const pc_pair_f64 pi = {0x1.250d048e7a1bdp+0, 0x1.7abf2ad8d5088p-57}; /* ln pi */
  pc_f64 a = pc_magnitude_f64(x), f = pc_fraction_f64(a) - lo;
  pc_log_signed_f64 out = {pc_gammaln_pair_f64(a), 0};
  if (lo != 0.0) out.log = pc_plus_f64(out.log, pc_pair_of_f64((x > 0.0 ? lo : -lo) * pc_digamma_f64(a)));
  if (x > 0.0) return out;
  pc_f64 near = pc_whole_f64(a), half = 0.5 * (f < 0.0 ? near - 1.0 : near);
  out.sign = pc_whole_f64(half) == half ? 0x8000000000000000u : 0;
  pc_pair_f64 sine = pc_log_of_pair_f64(pc_pair_mul_f64(pc_pair_of_f64(a), pc_sine_of_turn_f64(f)));
  out.log = pc_plus_f64(pc_plus_f64(pi, pc_minus_f64(sine)), pc_minus_f64(out.log));
  return out;
}

/* B(a, b) where b > 0 is negligible beside 1, and a >= b. */
PC_TAIL pc_pair_f64 pc_betaln_edge_f64(pc_f64 a, pc_f64 b) {
  const pc_f64 euler = 0x1.2788cfc6fb619p-1;
  pc_pair_f64 log = pc_minus_f64(pc_log_pair_f64(b));
  return pc_plus_f64(log, pc_pair_of_f64(pc_log1p_f64(b / a) - b * (pc_digamma_f64(1.0 + a) + euler)));
}

/* ln Gamma(a + b) - ln Gamma a for a >= 20 and b from -a / 2 to 10, or negligible beside a. */
PC_TAIL pc_pair_f64 pc_gamma_step_f64(pc_f64 a, pc_f64 b) {
  pc_pair_f64 r = pc_sum_f64(a, b), by = pc_pair_of_f64(b);
  if (a > 0x1p64 && pc_magnitude_f64(b) < a * 0x1p-60) return pc_pair_mul_f64(by, pc_log_pair_f64(a));
  pc_pair_f64 near = pc_log_of_pair_f64(pc_pair_div_f64(r, pc_pair_of_f64(a)));
  pc_pair_f64 step = pc_pair_mul_f64(pc_sum_f64(a, -0.5), near);
  step = pc_plus_f64(step, pc_pair_mul_f64(by, pc_plus_f64(pc_log_of_pair_f64(r), pc_pair_of_f64(-1.0))));
  return pc_plus_f64(step, pc_plus_f64(pc_stirling_f64(r.hi), pc_minus_f64(pc_stirling_f64(a))));
}

/* a ln(1 + b / a) + b ln(1 + a / b). */
PC_TAIL pc_pair_f64 pc_betaln_main_f64(pc_f64 a, pc_f64 b) {
  pc_pair_f64 r = pc_sum_f64(a, b), one = pc_pair_of_f64(a), other = pc_pair_of_f64(b);
  pc_pair_f64 near = pc_log_of_pair_f64(pc_pair_div_f64(r, one)), far = pc_log_of_pair_f64(pc_pair_div_f64(r, other));
  return pc_plus_f64(pc_pair_mul_f64(one, near), pc_pair_mul_f64(other, far));
}

/* B(a, b) for a, b >= 10, whose quotient is at most 2^60. */
PC_TAIL pc_pair_f64 pc_betaln_both_f64(pc_f64 a, pc_f64 b) {
  const pc_pair_f64 turn = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55}; /* ln(2 pi) / 2 */
  if (a > 0x1p1000) {
    pc_pair_f64 main = pc_betaln_main_f64(a * 0x1p-100, b * 0x1p-100);
    pc_f64 y = -(main.hi + main.lo) * 0x1p100;
    return pc_pair_of_f64(y);
  }
  pc_pair_f64 r = pc_sum_f64(a, b), c = pc_plus_f64(pc_stirling_f64(a), pc_stirling_f64(b));
  c = pc_plus_f64(c, pc_minus_f64(pc_stirling_f64(r.hi)));
  pc_pair_f64 root = pc_plus_f64(pc_log_of_pair_f64(pc_pair_div_f64(r, pc_pair_of_f64(a))), pc_minus_f64(pc_log_pair_f64(b)));
  root.hi = 0.5 * root.hi;
  root.lo = 0.5 * root.lo;
  pc_pair_f64 rest = pc_plus_f64(pc_plus_f64(turn, root), c);
  return pc_plus_f64(rest, pc_minus_f64(pc_betaln_main_f64(a, b)));
}

/* B(a, b) for finite a >= b and no pole of a, b and a + b. */
PC_TAIL pc_log_signed_f64 pc_log_beta_f64(pc_f64 a, pc_f64 b) {
  pc_log_signed_f64 out = {{0.0, 0.0}, 0};
  if (b > 0.0 && (a == 1.0 || b == 1.0)) {
    out.log = b == 1.0 ? pc_minus_f64(pc_log_pair_f64(a)) : pc_minus_f64(pc_log_pair_f64(b));
    return out;
  }
  if (b > 0.0 && b < 0x1p-60) {
    out.log = pc_betaln_edge_f64(a, b);
    return out;
  }
  if (b >= 10.0 && (a <= 0x1p64 || b >= a * 0x1p-60)) {
    out.log = pc_betaln_both_f64(a, b);
    return out;
  }
  out = pc_gamma_log_f64(b, 0.0);
  if (a >= 20.0 && b > -0.5 * a) {
    out.log = pc_plus_f64(out.log, pc_minus_f64(pc_gamma_step_f64(a, b)));
    return out;
  }
  pc_pair_f64 r = pc_sum_f64(a, b);
  pc_log_signed_f64 one = pc_gamma_log_f64(a, 0.0), sum = pc_gamma_log_f64(r.hi, r.lo);
  out.log = pc_plus_f64(pc_plus_f64(one.log, out.log), pc_minus_f64(sum.log));
  out.sign = out.sign ^ one.sign ^ sum.sign;
  return out;
}

/* B(a, b) for a >= b that no logarithm leads to: 1 where there is none. NaN for what has no limit and for b below -2^51; inf at poles. */
PC_TAIL pc_f64 pc_beta_edges_f64(pc_f64 a, pc_f64 b) {
  const pc_f64 inf = __builtin_inf();
  if (a != a || b != b || b < -0x1p51) return __builtin_nan("");
  if (a == inf) {
    if (b == 0.0 || pc_is_pole_f64(b, 0.0)) return __builtin_nan("");
    return b > 0.0 ? 0.0 : pc_signed_f64(inf, pc_gamma_log_f64(b, 0.0).sign);
  }
  if (b > 0.0) return 1.0;
  if (pc_is_pole_f64(a, 0.0) || pc_is_pole_f64(b, 0.0)) return inf;
  pc_pair_f64 r = pc_sum_f64(a, b);
  return pc_is_pole_f64(r.hi, r.lo) ? 0.0 : 1.0;
}

/* Whether B(-n, b) is a quotient of two poles: (-1)^b B(1 + n - b, b). */
PC_TAIL int pc_beta_is_whole_f64(pc_f64 a, pc_f64 b) {
  return b < 0.0 && a >= 1.0 && pc_is_pole_f64(b, 0.0) && a <= -b && b >= -0x1p51 && pc_whole_f64(a) == a;
}

PC_TAIL pc_f64 pc_beta_ordered_f64(pc_f64 a, pc_f64 b) {
  pc_f64 edge = pc_beta_edges_f64(a, b);
  if (edge != 1.0) return edge;
  pc_log_signed_f64 y = pc_log_beta_f64(a, b);
  return pc_signed_f64(pc_exp_pair_f64(y.log), y.sign);
}

PC_TAIL pc_f64 pc_betaln_ordered_f64(pc_f64 a, pc_f64 b) {
  pc_f64 edge = pc_beta_edges_f64(a, b);
  if (edge != edge) return edge;
  if (edge != 1.0) return edge == 0.0 ? -__builtin_inf() : __builtin_inf();
  pc_pair_f64 y = pc_log_beta_f64(a, b).log;
  return pc_magnitude_f64(y.hi) == __builtin_inf() ? y.hi : (y.hi + y.lo) + 0.0; /* no zero is -0 */
}

/* The beta function. inf where a or b is 0 or a negative integer; 0 where a + b is. */
PC_TAIL pc_f64 pc_beta_f64(pc_f64 a, pc_f64 b) {
  pc_f64 most = a > b ? a : b, least = a > b ? b : a, half = 0.5 * most;
  if (a != a || b != b) return __builtin_nan("");
  if (!pc_beta_is_whole_f64(most, least)) return pc_beta_ordered_f64(most, least);
  pc_f64 other = 1.0 - least - most, y = other > most ? pc_beta_ordered_f64(other, most) : pc_beta_ordered_f64(most, other);
  return pc_whole_f64(half) == half ? y : -y;
}

/* ln |B(a, b)|. */
PC_TAIL pc_f64 pc_betaln_f64(pc_f64 a, pc_f64 b) {
  pc_f64 most = a > b ? a : b, least = a > b ? b : a;
  if (a != a || b != b) return __builtin_nan("");
  if (!pc_beta_is_whole_f64(most, least)) return pc_betaln_ordered_f64(most, least);
  pc_f64 other = 1.0 - least - most;
  return other > most ? pc_betaln_ordered_f64(other, most) : pc_betaln_ordered_f64(most, other);
}

/* ln B(a, b) of f32 to about 2^-45, if a and b are of usual size, without pairs; else NaN. */
PC_TAIL pc_f64 pc_betaln_short_f64(pc_f64 a, pc_f64 b) {
  const pc_f64 least = 0x1p-40, most = 48.0;
  if (!(a > least && a < most && b > least && b < most)) return __builtin_nan("");
  return pc_gammaln_f64(a) + pc_gammaln_f64(b) - pc_gammaln_f64(a + b);
}

PC_TAIL pc_f32 pc_beta_f32(pc_f32 a, pc_f32 b) {
  pc_f64 log = pc_betaln_short_f64((pc_f64)a, (pc_f64)b);
  return (pc_f32)(log == log ? pc_exp_f64(log) : pc_beta_f64((pc_f64)a, (pc_f64)b));
}

/* Next to its zeros the terms cancel. */
PC_TAIL pc_f32 pc_betaln_f32(pc_f32 a, pc_f32 b) {
  pc_f64 log = pc_betaln_short_f64((pc_f64)a, (pc_f64)b);
  return (pc_f32)(pc_magnitude_f64(log) > 0x1p-12 ? log : pc_betaln_f64((pc_f64)a, (pc_f64)b));
}

#endif
