/* precast/ops/math/bessel_order.h: the modified Bessel functions of any real order.
 *
 * Both are sums of positive terms, so nothing cancels:
 *
 *   e^-x I(v, x) = sum over k = 0, 1, ... of p(k) p(k + v)       p(n) = (x / 2)^n e^(-x / 2) / Gamma(n + 1)
 *
 * from the largest term on to both sides (after J. G. Skellam, 1946). Where many terms are alike, every h-th one stands for h of them: the
 * error of S. D. Poisson's summation is e^-(2 pi^2 s^2 / h^2) for a width s of the terms, which is at least 3 / 2 h. From w = 2^30 on, three terms of the expansion by 1 / w are exact.
 *
 *   e^x K(v, x) = e^(v t - x (cosh t - 1)) / 2 integral of e^(-(w + v) / 2 (e^s - 1 - s) - (w - v) / 2 (e^-s - 1 + s)) over s
 *
 * where sinh t = v / x and w = sqrt(v^2 + x^2), by the trapezoidal rule. Left of order 0, I(-v, x) = I(v, x) + 2 / pi sin(pi v) K(v, x). */
#ifndef PRECAST_OPS_MATH_BESSEL_ORDER_H
#define PRECAST_OPS_MATH_BESSEL_ORDER_H

#include <precast/ops/math/factorial.h>
#include <precast/ops/math/gammainc.h>

/* The nearest whole number, or x where all numbers are whole. */
PC_TAIL pc_f64 pc_bessel_whole_f64(pc_f64 x) { return x < 0x1p50 ? pc_whole_f64(x) : x; }

/* ln of p(n) for n > 0 and half = x / 2. */
PC_TAIL pc_pair_f64 pc_poisson_pair_f64(pc_f64 n, pc_f64 half) {
  const pc_pair_f64 turn = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55}; /* ln(2 pi) / 2 */
  if (n < 1.0) { /* n ln half - half - ln Gamma(n + 1) */
    pc_pair_f64 log = pc_pair_mul_f64(pc_pair_of_f64(n), pc_log_pair_f64(half));
    return pc_plus_f64(pc_plus_f64(log, pc_pair_of_f64(-half)), pc_pair_of_f64(-pc_gammaln_above_f64(n)));
  }
  pc_pair_f64 root = pc_log_pair_f64(n), log = pc_plus_f64(pc_deviance_f64(n, pc_sum_f64(half, -n)), pc_stirling_f64(n));
  root.hi = 0.5 * root.hi;
  root.lo = 0.5 * root.lo;
  return pc_minus_f64(pc_plus_f64(pc_plus_f64(log, root), turn));
}

/* ln(p(k) p(k + v)). */
PC_TAIL pc_pair_f64 pc_skellam_log_f64(pc_f64 k, pc_f64 v, pc_f64 half) {
  pc_pair_f64 n = pc_sum_f64(k, v), zero = pc_pair_of_f64(-half);
  pc_pair_f64 other = n.hi > 0.0 ? pc_poisson_pair_f64(n.hi, half) : zero;
  if (n.lo != 0.0) other = pc_plus_f64(other, pc_pair_of_f64(n.lo * (pc_log_f64(half) - pc_digamma_f64(n.hi + 1.0))));
  return pc_plus_f64(k > 0.0 ? pc_poisson_pair_f64(k, half) : zero, other);
}

/* The terms by the largest one, k, one after the other. */
PC_TAIL pc_f64 pc_skellam_near_f64(pc_f64 k, pc_f64 v, pc_f64 half) {
  pc_pair_f64 sum = pc_pair_of_f64(1.0);
  pc_f64 term = 1.0;
  for (pc_f64 n = k + 1.0; term > 0x1p-58 * sum.hi; n += 1.0) {
    term = term * (half / n) * (half / (n + v));
    sum = pc_plus_f64(sum, pc_pair_of_f64(term));
  }
  term = 1.0;
  for (pc_f64 n = k; n > 0.0 && term > 0x1p-58 * sum.hi; n -= 1.0) {
    term = term * (n / half) * ((n + v) / half);
    sum = pc_plus_f64(sum, pc_pair_of_f64(term));
  }
  return sum.hi;
}

/* The terms by the largest one, every h-th of them. */
PC_TAIL pc_f64 pc_skellam_far_f64(pc_f64 k, pc_f64 v, pc_f64 half, pc_f64 h, pc_pair_f64 log) {
  pc_f64 sum = 1.0;
  for (int side = 0; side < 2; side++) {
    for (pc_f64 n = h; n <= 64.0 * h; n += h) {
      pc_f64 at = side ? k - n : k + n;
      if (at < 0.0) break;
      pc_f64 term = pc_exp_pair_f64(pc_plus_f64(pc_skellam_log_f64(at, v, half), pc_minus_f64(log)));
      sum = sum + term;
      if (term < 0x1p-58) break;
    }
  }
  return h * sum;
}

/* v t - (w - x) = x (r asinh r - sqrt(1 + r^2) + 1) for r = v / x: ln of e^x K(v, x) but for the integral. At most the
 * largest number. */
PC_TAIL pc_pair_f64 pc_bessel_rise_f64(pc_f64 v, pc_f64 x) {
  if (v > 0x1p900 || x > 0x1p900) {
    const pc_f64 most = 0x1.fffffffffffffp+1023;
    if (v / x > 0x1p200) return pc_pair_of_f64(most);
    pc_pair_f64 part = pc_bessel_rise_f64(v * 0x1p-200, x * 0x1p-200);
    pc_pair_f64 whole = {part.hi * 0x1p200, part.lo * 0x1p200};
    return whole.hi < most ? whole : pc_pair_of_f64(most);
  }
  if (v / x > 0x1p200) { /* w is v */
    pc_pair_f64 t = pc_plus_f64(pc_plus_f64(pc_log_pair_f64(v), pc_minus_f64(pc_log_pair_f64(x))), pc_log_pair_f64(2.0));
    return pc_plus_f64(pc_pair_mul_f64(pc_pair_of_f64(v), t), pc_sum_f64(x, -v));
  }
  pc_pair_f64 r = pc_pair_div_f64(pc_pair_of_f64(v), pc_pair_of_f64(x));
  if (r.hi < 0.0625) {
    pc_f64 u = r.hi * r.hi;
    pc_f64 y = -1.0 / 12.0 + u * (1.0 / 40.0 + u * (-5.0 / 448.0 + u * (7.0 / 1152.0 + u * (-21.0 / 5632.0 + u * (33.0 / 13312.0)))));
    pc_pair_f64 half = pc_pair_mul_f64(pc_pair_of_f64(0.5 * v), r);
    return pc_plus_f64(half, pc_pair_of_f64(half.hi * (u * y)));
  }
  pc_pair_f64 one = pc_pair_of_f64(1.0), w = pc_pair_sqrt_f64(pc_plus_f64(one, pc_pair_mul_f64(r, r)));
  pc_pair_f64 t = pc_log_of_pair_f64(pc_plus_f64(r, w));
  pc_pair_f64 less = pc_pair_mul_f64(pc_pair_of_f64(v), pc_pair_div_f64(r, pc_plus_f64(one, w)));
  return pc_plus_f64(pc_pair_mul_f64(pc_pair_of_f64(v), t), pc_minus_f64(less));
}

/* Returns ln of e^-x I(v, x) for w >= 2^30: the integral's expansion by 1 / w (P. Debye, 1909) is cut after the square. */
PC_TAIL pc_pair_f64 pc_ive_far_f64(pc_f64 v, pc_f64 x, pc_f64 w) {
  const pc_pair_f64 turn = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55}; /* ln(2 pi) / 2 */
  pc_f64 y = 1.0 / w, p = v * y, square = p * p;
  pc_f64 rest = y * ((3.0 - 5.0 * square) / 24.0 + y * ((1.0 + square * (5.0 * square - 6.0)) / 16.0));
  pc_pair_f64 root = pc_log_pair_f64(w);
  root.hi = 0.5 * root.hi;
  root.lo = 0.5 * root.lo;
  pc_pair_f64 less = pc_plus_f64(pc_plus_f64(pc_bessel_rise_f64(v, x), root), turn);
  return pc_plus_f64(pc_pair_of_f64(rest), pc_minus_f64(less));
}

/* ln(x / 2), where x / 2 may be subnormal. */
PC_TAIL pc_pair_f64 pc_bessel_log_half_f64(pc_f64 x) { return pc_plus_f64(pc_log_pair_f64(x), pc_minus_f64(pc_log_pair_f64(2.0))); }

/* ln of (x / 2)^v / Gamma(v + 1) for 0 <= v < 2^30. */
PC_TAIL pc_pair_f64 pc_bessel_power_f64(pc_f64 v, pc_f64 x) {
  pc_pair_f64 power = pc_pair_mul_f64(pc_pair_of_f64(v), pc_bessel_log_half_f64(x));
  pc_pair_f64 own = v < 1.0 ? pc_pair_of_f64(pc_gammaln_above_f64(v)) : pc_plus_f64(pc_gammaln_pair_f64(v), pc_log_pair_f64(v));
  return pc_plus_f64(power, pc_minus_f64(own));
}

/* ln of I(v, x) e^-x for v >= 0 and x > 0. */
PC_TAIL pc_pair_f64 pc_ive_log_f64(pc_f64 v, pc_f64 x) {
  if (x < 0x1p-900 && v < 0x1p30) return pc_bessel_power_f64(v, x);
  pc_f64 half = 0.5 * x, ratio = v < x ? v / x : x / v, w = (v < x ? x : v) * __builtin_sqrt(1.0 + ratio * ratio);
  if (w >= 0x1p30) return pc_ive_far_f64(v, x, w);
  pc_f64 k = pc_bessel_whole_f64(half * (x / (w + v))), width = __builtin_sqrt(half * (half / w)), h = pc_bessel_whole_f64(0.5 * width);
  pc_pair_f64 log = pc_skellam_log_f64(k, v, half);
  pc_f64 sum = width < 8.0 ? pc_skellam_near_f64(k, v, half) : pc_skellam_far_f64(k, v, half, h, log);
  return pc_plus_f64(log, pc_log_pair_f64(sum));
}

/* e^s - 1 - s. */
PC_TAIL pc_f64 pc_bessel_bend_f64(pc_f64 s) {
  if (pc_magnitude_f64(s) > 0.5) return pc_expm1_f64(s) - s;
  pc_f64 y = 1.0;
  for (pc_f64 n = 17.0; n > 2.0; n -= 1.0) y = 1.0 + s / n * y;
  return 0.5 * s * s * y;
}

/* The sum of e^(-(a (e^s - 1 - s) + b (e^-s - 1 + s)) / 2) at h, 2 h, ... */
PC_TAIL pc_pair_f64 pc_bessel_side_f64(pc_f64 h, pc_f64 a, pc_f64 log_a, pc_f64 b) {
  pc_pair_f64 sum = {0.0, 0.0};
  for (pc_f64 n = 1.0; n < 100000.0; n += 1.0) {
    pc_f64 s = n * h, near = s > 45.0 ? pc_exp_f64(log_a + s) : a * pc_bessel_bend_f64(s);
    pc_f64 term = pc_exp_f64(-0.5 * (near + b * pc_bessel_bend_f64(-s)));
    sum = pc_plus_f64(sum, pc_pair_of_f64(term));
    if (term <= 0x1p-60 * sum.hi) break;
  }
  return sum;
}

/* The integral for v >= 0 and x > 0. */
PC_TAIL pc_f64 pc_bessel_integral_f64(pc_f64 v, pc_f64 x) {
  pc_f64 ratio = v < x ? v / x : x / v, w = (v < x ? x : v) * __builtin_sqrt(1.0 + ratio * ratio);
  pc_f64 root = 2.0 * __builtin_sqrt(w), h = 1.0 / (root > 8.0 ? root : 8.0);
  pc_f64 more = w + v, less = x * (x / more), log = pc_log_f64(more), log_less = 2.0 * pc_log_f64(x) - log; /* w + v, w - v */
  pc_pair_f64 sides = pc_plus_f64(pc_bessel_side_f64(h, more, log, less), pc_bessel_side_f64(h, less, log_less, more));
  return h * pc_plus_f64(sides, pc_pair_of_f64(1.0)).hi;
}

/* The largest x of the series below. */
#define PC_BESSEL_SMALL 0.0625

/* (ln Gamma(1 + m) - ln Gamma(1 - m)) / (2 m) for |m| <= 1/2. */
PC_TAIL pc_f64 pc_bessel_slope_f64(pc_f64 m) {
  if (pc_magnitude_f64(m) < 0x1p-30) return -0x1.2788cfc6fb619p-1;
  pc_f64 step = pc_log1p_f64(m) - pc_log1p_f64(-m);
  return (pc_gammaln_two_f64(m) - pc_gammaln_two_f64(-m) - step) / (m + m);
}

/* sinh(y) / m for y = m l and power = e^y. */
PC_TAIL pc_pair_f64 pc_bessel_sinh_f64(pc_f64 m, pc_pair_f64 l, pc_f64 y, pc_f64 power) {
  if (pc_magnitude_f64(y) > 1.0) return pc_pair_div_f64(pc_sum_f64(power, -1.0 / power), pc_pair_of_f64(m + m));
  pc_f64 z = y * y, sum = 0.0;
  for (pc_f64 n = 18.0; n > 0.0; n -= 2.0) sum = z / (n * (n + 1.0)) * (1.0 + sum);
  return pc_plus_f64(l, pc_pair_of_f64(l.hi * sum));
}

/* sqrt(pi m / sin(pi m)) for |m| <= 1/2. */
PC_TAIL pc_pair_f64 pc_bessel_root_f64(pc_f64 m) {
  const pc_pair_f64 pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
  if (pc_magnitude_f64(m) < 0x1p-30) return pc_pair_of_f64(1.0);
  pc_pair_f64 turn = pc_pair_mul_f64(pi, pc_pair_of_f64(pc_magnitude_f64(m)));
  return pc_pair_sqrt_f64(pc_pair_div_f64(turn, pc_sine_of_turn_f64(m)));
}

/* e^by K(v, x) for v >= 0 and 0 < x <= 1/16, after N. M. Temme, "On the numerical evaluation of the modified Bessel function of the third
 * kind" (1975): with v = n + m, |m| <= 1/2, and l = ln(2 / x) + slope
 *
 *   K(m, x) = sum of c(k) f(k)    K(m + 1, x) = 2 / x sum of c(k) (p(k) - k f(k))    c(k) = (x / 2)^(2 k) / k!
 *   f(0) = root sinh(m l) / m, p(0) = root e^(m l) / 2, q(0) = root e^(-m l) / 2     root^2 = pi m / sin(pi m)
 *
 * and then n - 1 steps of the recurrence, all of whose terms are positive, in pairs. */
PC_TAIL pc_f64 pc_bessel_k_small_f64(pc_f64 v, pc_f64 x, pc_f64 by) {
  if (v > 300.0) return __builtin_inf();
  const pc_f64 n = pc_whole_f64(v), m = v - n, z = 0.25 * x * x;
  pc_pair_f64 l = pc_plus_f64(pc_minus_f64(pc_bessel_log_half_f64(x)), pc_pair_of_f64(pc_bessel_slope_f64(m)));
  pc_pair_f64 y = pc_pair_mul_f64(pc_pair_of_f64(m), l), of = pc_pair_of_f64(x), root = pc_bessel_root_f64(m);
  const pc_f64 power = pc_exp_pair_f64(y);
  pc_pair_f64 first = pc_pair_mul_f64(root, pc_bessel_sinh_f64(m, l, y.hi, power)), next = pc_pair_mul_f64(root, pc_pair_of_f64(power));
  pc_f64 f = first.hi, p = 0.5 * next.hi, q = 0.5 * root.hi / power, c = 1.0, rest = 0.0, more = 0.0;
  for (pc_f64 k = 1.0; k < 12.0; k += 1.0) {
    f = (k * f + (p + q)) / ((k - m) * (k + m));
    p = p / (k - m);
    q = q / (k + m);
    c = c * (z / k);
    rest = rest + c * f;
    more = more + 2.0 * c * (p - k * f);
    if (c * (k * f + p) < 0x1p-60 * next.hi) break;
  }
  pc_pair_f64 scale = pc_sum_ordered_f64(1.0, pc_expm1_f64(by)), low = pc_pair_mul_f64(scale, pc_plus_f64(first, pc_pair_of_f64(rest)));
  if (n == 0.0) return low.hi;
  pc_pair_f64 high = pc_pair_div_f64(pc_pair_mul_f64(scale, pc_plus_f64(next, pc_pair_of_f64(more))), of);
  pc_f64 back = 1.0;
  for (pc_f64 i = 1.0; i < n; i += 1.0) {
    if (high.hi > 0x1p900) { /* twice is inf */
      low.hi *= 0x1p-900, low.lo *= 0x1p-900, high.hi *= 0x1p-900, high.lo *= 0x1p-900;
      back = back * 0x1p900;
    }
    pc_pair_f64 factor = pc_pair_div_f64(pc_sum_f64(i + i, m + m), of), up = pc_plus_f64(low, pc_pair_mul_f64(factor, high));
    low = high;
    high = up;
  }
  return high.hi < __builtin_inf() ? high.hi * back : __builtin_inf(); /* what overflows is inf or NaN */
}

/* e^by K(v, x): by is x for kve, and 0 for kv. */
PC_TAIL pc_f64 pc_bessel_k_f64(pc_f64 v, pc_f64 x, pc_f64 by) {
  if (x != x || v != v || x < 0.0) return __builtin_nan("");
  if (x == 0.0) return __builtin_inf();
  if (x == __builtin_inf()) return v < x && v > -x ? 0.0 : __builtin_nan("");
  pc_f64 order = pc_magnitude_f64(v) < 0x1p-60 ? 0.0 : pc_magnitude_f64(v);
  if (order == __builtin_inf()) return order;
  if (x <= PC_BESSEL_SMALL) return pc_bessel_k_small_f64(order, x, by);
  pc_pair_f64 log = pc_plus_f64(pc_bessel_rise_f64(order, x), pc_sum_f64(by, -x));
  if (log.hi > 720.0 || log.hi < -1200.0) return log.hi > 0.0 ? __builtin_inf() : 0.0;
  log = pc_plus_f64(log, pc_log_pair_f64(0.5 * pc_bessel_integral_f64(order, x)));
  return pc_exp_pair_f64(log);
}

/* sin(pi v). */
PC_TAIL pc_f64 pc_bessel_sine_f64(pc_f64 v) {
  pc_f64 n = v < 0x1p50 ? pc_whole_f64(v) : v, half = 0.5 * n, f = v - n;
  pc_pair_f64 y = pc_sine_of_turn_f64(f);
  int is_odd = n < 0x1p50 && pc_whole_f64(half) != half;
  return (f < 0.0) != is_odd ? -(y.hi + y.lo) : y.hi + y.lo;
}

/* e^(by - x) I(v, x) for x >= 0: by is 0 for ive, and x for iv. */
PC_TAIL pc_f64 pc_bessel_i_f64(pc_f64 v, pc_f64 x, pc_f64 by) {
  const pc_f64 inf = __builtin_inf(), two_by_pi = 0x1.45f306dc9c883p-1;
  pc_f64 order = pc_magnitude_f64(v), sine = v < 0.0 ? pc_bessel_sine_f64(order) : 0.0;
  if (order == inf) return x == inf ? __builtin_nan("") : 0.0;
  if (x == inf) return by == 0.0 ? 0.0 : inf;
  if (x == 0.0) return order == 0.0 ? 1.0 : sine == 0.0 ? 0.0 : pc_signed_f64(inf, pc_sign_f64(sine));
  pc_pair_f64 log = pc_plus_f64(pc_ive_log_f64(order, x), pc_pair_of_f64(by));
  pc_f64 y = log.hi < -800.0 ? 0.0 : log.hi > 720.0 ? inf : pc_exp_pair_f64(log);
  if (sine == 0.0) return y;
  pc_f64 other = by == 0.0 ? pc_bessel_k_f64(order, x, -x) : pc_bessel_k_f64(order, x, 0.0);
  return y + two_by_pi * sine * other;
}

/* Left of 0, functions of whole orders alone are defined, odd ones for odd orders. */
PC_TAIL pc_f64 pc_bessel_any_f64(pc_f64 v, pc_f64 x, int is_scaled) {
  pc_f64 a = pc_magnitude_f64(x), order = pc_magnitude_f64(v), half = 0.5 * order;
  if (x != x || v != v || (x < 0.0 && order < 0x1p51 && pc_whole_f64(order) != order)) return __builtin_nan("");
  pc_f64 y = pc_bessel_i_f64(v, a, is_scaled ? 0.0 : a);
  return x < 0.0 && order < 0x1p51 && pc_whole_f64(half) != half ? -y : y;
}

/* The modified Bessel functions of order v: of the first kind, I, and of the second kind, K; ive is e^-|x| I and kve is e^x K. */
PC_TAIL pc_f64 pc_iv_f64(pc_f64 v, pc_f64 x) { return pc_bessel_any_f64(v, x, 0); }
PC_TAIL pc_f64 pc_ive_f64(pc_f64 v, pc_f64 x) { return pc_bessel_any_f64(v, x, 1); }
PC_TAIL pc_f64 pc_kv_f64(pc_f64 v, pc_f64 x) { return pc_bessel_k_f64(v, x, 0.0); }
PC_TAIL pc_f64 pc_kve_f64(pc_f64 v, pc_f64 x) { return pc_bessel_k_f64(v, x, x); }

PC_INLINE pc_f32 pc_iv_f32(pc_f32 v, pc_f32 x) { return (pc_f32)pc_iv_f64((pc_f64)v, (pc_f64)x); }
PC_INLINE pc_f32 pc_ive_f32(pc_f32 v, pc_f32 x) { return (pc_f32)pc_ive_f64((pc_f64)v, (pc_f64)x); }
PC_INLINE pc_f32 pc_kv_f32(pc_f32 v, pc_f32 x) { return (pc_f32)pc_kv_f64((pc_f64)v, (pc_f64)x); }
PC_INLINE pc_f32 pc_kve_f32(pc_f32 v, pc_f32 x) { return (pc_f32)pc_kve_f64((pc_f64)v, (pc_f64)x); }

#endif
