/* precast/ops/math/entropy.h: products with a logarithm, and the logarithm of odds.
 *
 * A product is 0 where its factor is, whatever the logarithm. Where two terms cancel, the logarithm is that of a quotient known as a pair, or
 * the deviance of tail.h. */
#ifndef PRECAST_OPS_MATH_ENTROPY_H
#define PRECAST_OPS_MATH_ENTROPY_H

#include <precast/ops/math/log1p.h>
#include <precast/ops/math/tail.h>

/* x ln y; 0 where x is 0 and y a number. */
PC_INLINE pc_f64 pc_xlogy_f64(pc_f64 x, pc_f64 y) {
  pc_f64 product = x * pc_log_f64(y);
  return x == 0.0 && y == y ? 0.0 : product;
}

/* x ln(1 + y); 0 where x is 0 and y a number. */
PC_INLINE pc_f64 pc_xlog1py_f64(pc_f64 x, pc_f64 y) {
  pc_f64 product = x * pc_log1p_f64(y);
  return x == 0.0 && y == y ? 0.0 : product;
}

/* -x ln x; -inf for negative numbers. */
PC_INLINE pc_f64 pc_entr_f64(pc_f64 x) {
  pc_f64 y = 0.0 - x * pc_log_f64(x > 0.0 ? x : 1.0);
  y = x < 0.0 ? -__builtin_inf() : y;
  return x == 0.0 ? 0.0 : y;
}

/* ln(x / y) of positive finite numbers. */
PC_TAIL pc_f64 pc_log_ratio_f64(pc_f64 x, pc_f64 y) {
  pc_pair_f64 log;
  if (x < 4.0 * y && y < 4.0 * x && x > 0x1p-900 && x < 0x1p900) {
    log = pc_log_of_pair_f64(pc_pair_div_f64(pc_pair_of_f64(x), pc_pair_of_f64(y)));
  } else {
    log = pc_plus_f64(pc_log_pair_f64(x), pc_minus_f64(pc_log_pair_f64(y)));
  }
  return log.hi + log.lo;
}

/* x ln(x / y); inf where x is negative, or y is not positive and x is not 0. */
PC_TAIL pc_f64 pc_rel_entr_f64(pc_f64 x, pc_f64 y) {
  const pc_f64 inf = __builtin_inf();
  if (x != x || y != y) return __builtin_nan("");
  if (x > 0.0 && y > 0.0) {
    if (x == inf) return y == inf ? __builtin_nan("") : inf;
    return y == inf ? -inf : x * pc_log_ratio_f64(x, y);
  }
  return x == 0.0 && y >= 0.0 ? 0.0 : inf;
}

/* x ln(x / y) - x + y; inf where x or y is negative, or y is 0 and x is not. */
PC_TAIL pc_f64 pc_kl_div_f64(pc_f64 x, pc_f64 y) {
  const pc_f64 inf = __builtin_inf();
  if (x != x || y != y) return __builtin_nan("");
  if (x == 0.0 && y >= 0.0) return y;
  if (!(x > 0.0 && y > 0.0)) return inf;
  if (x == inf || y == inf) return x == y ? __builtin_nan("") : inf;
  pc_pair_f64 d = pc_deviance_f64(x, pc_sum_f64(y, -x));
  return d.hi + d.lo;
}

/* ln(x / (1 - x)); NaN outside of 0 to 1. */
PC_TAIL pc_f64 pc_logit_f64(pc_f64 x) {
  if (!(x >= 0.0 && x <= 1.0)) return x == x ? __builtin_nan("") : x;
  if (x == 0.0 || x == 1.0) return x == 0.0 ? -__builtin_inf() : __builtin_inf();
  pc_pair_f64 log = pc_log_of_pair_f64(pc_pair_div_f64(pc_pair_of_f64(x), pc_sum_ordered_f64(1.0, -x)));
  return log.hi + log.lo;
}

PC_INLINE pc_f32 pc_xlogy_f32(pc_f32 x, pc_f32 y) { return (pc_f32)pc_xlogy_f64((pc_f64)x, (pc_f64)y); }
PC_INLINE pc_f32 pc_xlog1py_f32(pc_f32 x, pc_f32 y) { return (pc_f32)pc_xlog1py_f64((pc_f64)x, (pc_f64)y); }
PC_INLINE pc_f32 pc_entr_f32(pc_f32 x) { return (pc_f32)pc_entr_f64((pc_f64)x); }
PC_INLINE pc_f32 pc_rel_entr_f32(pc_f32 x, pc_f32 y) { return (pc_f32)pc_rel_entr_f64((pc_f64)x, (pc_f64)y); }
PC_INLINE pc_f32 pc_kl_div_f32(pc_f32 x, pc_f32 y) { return (pc_f32)pc_kl_div_f64((pc_f64)x, (pc_f64)y); }
PC_INLINE pc_f32 pc_logit_f32(pc_f32 x) { return (pc_f32)pc_logit_f64((pc_f64)x); }

#endif
