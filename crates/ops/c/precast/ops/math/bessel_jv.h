/* precast/ops/math/bessel_jv.h: the Bessel function of the first kind of any real order v.
 *
 *   x <= 25 or x^2 <= 50 (|v| + 1)   (x / 2)^v / Gamma(v + 1) (1 - x^2 / (4 (v + 1)) + ...) in pairs, which hold the digits that cancel
 *   else                             orders v0 and v0 + 1, 0 <= v0 < 1, by H. Hankel's expansion (1869), and the recurrence in pairs:
 *                                    upward to v <= x, where it is stable; beyond x downward from above v (J. C. P. Miller, 1952)
 *
 * Left of order 0, J(-v, x) = cos(pi v) J(v, x) - sin(pi v) Y(v, x), and the recurrence upward is stable for Y. Errors are relative to
 * sqrt(J^2 + Y^2), where both waves meet; those of the series are relative to J. */
#ifndef PRECAST_OPS_MATH_BESSEL_JV_H
#define PRECAST_OPS_MATH_BESSEL_JV_H

#include <precast/ops/math/beta.h>
#include <precast/ops/math/bessel_j.h>
#include <precast/ops/math/bessel_order.h>

/* The largest order of the recurrence. */
#define PC_BESSEL_MOST 0x1p20

/* J or Y of two orders that follow each other. */
typedef struct pc_orders_f64 {
  pc_pair_f64 here, next;
} pc_orders_f64;

/* Both functions of the orders v and v + 1. */
typedef struct pc_cylinder_f64 {
  pc_orders_f64 j, y;
} pc_cylinder_f64;

/* J by the series, v no negative integer and x > 0. */
PC_TAIL pc_f64 pc_jv_series_f64(pc_f64 v, pc_f64 x) {
  pc_f64 half = 0.5 * x;
  if (v >= 0x1p30 && x < 0.5 * v) return 0.0;
  pc_log_signed_f64 front = {{0.0, 0.0}, 0};
  if (v > 0.0) front.log = x < 0x1p-900 ? pc_bessel_power_f64(v, x) : pc_plus_f64(pc_poisson_pair_f64(v, half), pc_pair_of_f64(half));
  if (v < 0.0) {
    pc_pair_f64 above = pc_sum_f64(1.0, v);
    front = pc_gamma_log_f64(above.hi, above.lo);
    front.log = pc_plus_f64(pc_pair_mul_f64(pc_pair_of_f64(v), pc_bessel_log_half_f64(x)), pc_minus_f64(front.log));
  }
  pc_pair_f64 sum = pc_pair_of_f64(1.0), term = sum, square = pc_minus_f64(pc_product_f64(half, half));
  for (pc_f64 k = 1.0; k < PC_BESSEL_MOST; k += 1.0) {
    pc_pair_f64 by = pc_pair_mul_f64(pc_pair_of_f64(k), pc_sum_f64(k, v));
    term = pc_pair_mul_f64(term, pc_pair_div_f64(square, by));
    sum = pc_plus_f64(sum, term);
    pc_f64 least = pc_magnitude_f64(sum.hi) * (k + v > 0.0 ? 0x1p-64 : 0x1p-130);
    if (pc_magnitude_f64(term.hi) <= least) break;
  }
  if (sum.hi == 0.0) return 0.0;
  uint64_t sign = pc_sign_f64(sum.hi);
  front.log = pc_plus_f64(front.log, pc_log_of_pair_f64(sign == 0 ? sum : pc_minus_f64(sum)));
  if (front.log.hi < -800.0) return 0.0;
  return pc_signed_f64(pc_exp_pair_f64(front.log), front.sign ^ sign);
}

/* J and Y of order v by Hankel's expansion, 0 <= v < 2 and x > 25. */
PC_TAIL pc_wave_f64 pc_hankel_f64(pc_f64 v, pc_f64 x) {
  const pc_pair_f64 pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}, quarter = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  pc_f64 p = 1.0, q = 0.0, term = 1.0, twice = 2.0 * v;
  for (int k = 1; k < 60 && pc_magnitude_f64(term) > 0x1p-60; k++) {
    pc_f64 odd = 2.0 * k - 1.0;
    term = term * ((twice - odd) * (twice + odd) / (8.0 * k) / x);
    pc_f64 signed_term = (k & 2) != 0 ? -term : term;
    p = p + ((k & 1) != 0 ? 0.0 : signed_term);
    q = q + ((k & 1) != 0 ? signed_term : 0.0);
  }
  pc_turn_f64 turn = pc_turn_of_f64(x);
  pc_pair_f64 angle = {turn.hi, turn.lo};
  angle = pc_plus_f64(angle, pc_minus_f64(pc_pair_mul_f64(pi, pc_sum_f64(0.5 * v, 0.25))));
  pc_f64 quarters = pc_whole_f64(2.0 - angle.hi * 0x1.45f306dc9c883p-1) - 2.0; /* 2 / pi */
  angle = pc_plus_f64(angle, pc_pair_mul_f64(pc_pair_of_f64(quarters), quarter));
  pc_turn_f64 rest = {angle.hi, angle.lo, turn.quarters - (uint64_t)(int64_t)quarters};
  pc_f64 s = pc_sin_reduced_f64(1.0, rest), c = pc_cos_reduced_f64(rest), size = __builtin_sqrt(0x1.45f306dc9c883p-1 / x);
  pc_wave_f64 out = {size * (p * c - q * s), size * (p * s + q * c)};
  return out;
}

/* The order after the next, w - 1, w and w + 1: 2 w / x times that of w less that of w - 1. */
PC_TAIL pc_orders_f64 pc_bessel_up_f64(pc_orders_f64 s, pc_f64 w, pc_f64 x) {
  pc_pair_f64 by = pc_pair_div_f64(pc_pair_of_f64(2.0 * w), pc_pair_of_f64(x));
  pc_orders_f64 out = {s.next, pc_plus_f64(pc_pair_mul_f64(by, s.next), pc_minus_f64(s.here))};
  return out;
}

/* J(v, x) from J of the orders v0 and v0 + 1, v > x: downward from an order above v, where any two numbers serve. */
PC_TAIL pc_f64 pc_jv_down_f64(pc_f64 v, pc_f64 v0, pc_f64 x, pc_orders_f64 known) {
  pc_f64 scale = 1.0;
  pc_orders_f64 s = {pc_pair_of_f64(0x1p-500), pc_pair_of_f64(0.0)}; /* of w and w + 1 */
  pc_pair_f64 found = pc_pair_of_f64(0.0);
  for (pc_f64 n = pc_whole_f64(40.0 + 2.0 * __builtin_sqrt(x)); v + n > v0; n -= 1.0) {
    pc_f64 w = v + n;
    if (n == 0.0) {
      found = s.here;
      scale = 1.0;
    }
    pc_orders_f64 turned = {s.next, s.here};
    turned = pc_bessel_up_f64(turned, w, x);
    s.next = turned.here;
    s.here = turned.next;
    if (pc_magnitude_f64(s.here.hi) > 0x1p400) {
      s.here = pc_pair_mul_f64(s.here, pc_pair_of_f64(0x1p-600));
      s.next = pc_pair_mul_f64(s.next, pc_pair_of_f64(0x1p-600));
      scale = scale * 0x1p-600;
    }
  }
  int is_here = pc_magnitude_f64(s.here.hi) > pc_magnitude_f64(s.next.hi);
  pc_pair_f64 part = pc_pair_div_f64(found, is_here ? s.here : s.next);
  return pc_pair_mul_f64(part, is_here ? known.here : known.next).hi * scale;
}

/* J and Y of order v >= 0, x > 25 and v not above PC_BESSEL_MOST; NaN above. */
PC_TAIL pc_wave_f64 pc_cylinder_of_f64(pc_f64 v, pc_f64 x) {
  const pc_f64 nan = __builtin_nan("");
  if (v > x) {
    pc_f64 ratio = x / v, w = v * __builtin_sqrt((1.0 - ratio) * (1.0 + ratio));
    pc_wave_f64 beyond = {0.0, -__builtin_inf()};
    if (v * pc_log_f64((v + w) / x) - w > 1500.0) return beyond;
  }
  pc_wave_f64 out = {nan, nan};
  if (v > PC_BESSEL_MOST) return out;
  pc_f64 whole = pc_whole_f64(v), v0 = v - (whole > v ? whole - 1.0 : whole);
  pc_wave_f64 here = pc_hankel_f64(v0, x), next = pc_hankel_f64(v0 + 1.0, x);
  pc_orders_f64 j = {pc_pair_of_f64(here.j), pc_pair_of_f64(next.j)}, y = {pc_pair_of_f64(here.y), pc_pair_of_f64(next.y)}, known = j;
  for (pc_f64 w = v0 + 1.0; w <= v; w += 1.0) {
    j = pc_bessel_up_f64(j, w, x);
    y = pc_bessel_up_f64(y, w, x);
  }
  out.j = v > x ? pc_jv_down_f64(v, v0, x, known) : j.here.hi;
  out.y = y.here.hi;
  return out;
}

/* J for x > 0 and v no negative integer. */
PC_TAIL pc_f64 pc_jv_right_f64(pc_f64 v, pc_f64 x) {
  pc_f64 order = pc_magnitude_f64(v), whole = pc_bessel_whole_f64(order), half = 0.5 * whole;
  if (order == __builtin_inf()) return x == order ? __builtin_nan("") : 0.0;
  if (x == __builtin_inf()) return 0.0;
  if (x <= 25.0 || x * (x / (order + 1.0)) <= 50.0) return pc_jv_series_f64(v, x);
  pc_wave_f64 y = pc_cylinder_of_f64(order, x);
  if (v >= 0.0) return y.j;
  pc_pair_f64 cosine = pc_sine_of_turn_f64(0.5 - pc_magnitude_f64(order - whole));
  pc_f64 c = pc_whole_f64(half) != half ? -cosine.hi : cosine.hi;
  return c * y.j - pc_bessel_sine_f64(order) * y.y;
}

/* The Bessel function of the first kind of order v. Left of 0, functions of whole orders alone are defined, odd ones for odd orders; at 0 the
 * limits, at infinity 0. NaN for orders above 2^20 and x beyond the series, unless the result is 0. */
PC_TAIL pc_f64 pc_jv_f64(pc_f64 v, pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x), order = pc_magnitude_f64(v), half = 0.5 * order;
  int is_whole = order >= 0x1p51 || pc_whole_f64(order) == order, is_odd = order < 0x1p51 && pc_whole_f64(half) != half;
  if (x != x || v != v || (x < 0.0 && !is_whole)) return __builtin_nan("");
  if (x == 0.0) {
    if (v < 0.0 && !is_whole) return pc_signed_f64(__builtin_inf(), pc_gamma_log_f64(1.0 + v, 0.0).sign);
    return v == 0.0 ? 1.0 : 0.0;
  }
  pc_f64 y = pc_jv_right_f64(is_whole ? order : v, a);
  return is_whole && is_odd && (x < 0.0) != (v < 0.0) ? -y : y;
}

PC_INLINE pc_f32 pc_jv_f32(pc_f32 v, pc_f32 x) { return (pc_f32)pc_jv_f64((pc_f64)v, (pc_f64)x); }

#endif
