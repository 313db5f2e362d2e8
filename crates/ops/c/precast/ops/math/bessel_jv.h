/* precast/ops/math/bessel_jv.h: the Bessel function of the first kind of any real order v.
 *
 *   x <= 25 or x^2 <= 50 (|v| + 1)   (x / 2)^v / Gamma(v + 1) (1 - x^2 / (4 (v + 1)) + ...) in pairs, which hold the digits that cancel
 *   else                             orders v0 and v0 + 1, 0 <= v0 < 1, by H. Hankel's expansion (1869), and the recurrence in pairs:
 *                                    upward to v <= x, where it is stable; beyond x downward from above v (J. C. P. Miller, 1952)
 *   v > 256, w^3 >= 500 v^2          P. Debye's expansion (1909) by 1 / w, w = sqrt |x^2 - v^2|
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

/* size (p cos - q sin) and size (p sin + q cos) of x + more, |more| up to 2^46. */
PC_TAIL pc_wave_f64 pc_wave_turned_f64(pc_f64 x, pc_pair_f64 more, pc_f64 p, pc_f64 q, pc_f64 size) {
  const pc_pair_f64 quarter = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  pc_turn_f64 turn = pc_turn_of_f64(x);
  pc_pair_f64 angle = {turn.hi, turn.lo};
  angle = pc_plus_f64(angle, more);
  pc_f64 quarters = pc_whole_f64(2.0 - angle.hi * 0x1.45f306dc9c883p-1) - 2.0; /* 2 / pi */
  angle = pc_plus_f64(angle, pc_pair_mul_f64(pc_pair_of_f64(quarters), quarter));
  pc_turn_f64 rest = {angle.hi, angle.lo, turn.quarters - (uint64_t)(int64_t)quarters};
  pc_f64 s = pc_sin_reduced_f64(1.0, rest), c = pc_cos_reduced_f64(rest);
  pc_wave_f64 out = {size * (p * c - q * s), size * (p * s + q * c)};
  return out;
}

/* J and Y of order v by Hankel's expansion, 0 <= v < 2 and x > 25. */
PC_TAIL pc_wave_f64 pc_hankel_f64(pc_f64 v, pc_f64 x) {
  const pc_pair_f64 pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
  pc_f64 p = 1.0, q = 0.0, term = 1.0, twice = 2.0 * v;
  for (int k = 1; k < 60 && pc_magnitude_f64(term) > 0x1p-60; k++) {
    pc_f64 odd = 2.0 * k - 1.0;
    term = term * ((twice - odd) * (twice + odd) / (8.0 * k) / x);
    pc_f64 signed_term = (k & 2) != 0 ? -term : term;
    p = p + ((k & 1) != 0 ? 0.0 : signed_term);
    q = q + ((k & 1) != 0 ? signed_term : 0.0);
  }
  return pc_wave_turned_f64(x, pc_minus_f64(pc_pair_mul_f64(pi, pc_sum_f64(0.5 * v, 0.25))), p, q, __builtin_sqrt(0x1.45f306dc9c883p-1 / x));
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

/* 2 atan t, or with `sign` 1 2 atanh t, for 0 <= t < 1, in pairs: t is halved five times. */
PC_TAIL pc_pair_f64 pc_bessel_arc_f64(pc_pair_f64 t, pc_f64 sign) {
  const pc_pair_f64 one = {1.0, 0.0}, by = {sign, 0.0};
  for (int i = 0; i < 5; i++) {
    pc_pair_f64 square = pc_pair_mul_f64(by, pc_pair_mul_f64(t, t)), root = pc_pair_sqrt_f64(pc_plus_f64(one, pc_minus_f64(square)));
    t = pc_pair_div_f64(t, pc_plus_f64(one, root));
  }
  pc_pair_f64 square = pc_pair_mul_f64(by, pc_pair_mul_f64(t, t)), y = {0.0, 0.0};
  for (pc_f64 n = 33.0; n > 0.0; n -= 2.0) y = pc_plus_f64(pc_pair_div_f64(one, pc_pair_of_f64(n)), pc_pair_mul_f64(square, y));
  y = pc_pair_mul_f64(y, t);
  pc_pair_f64 out = {64.0 * y.hi, 64.0 * y.lo};
  return out;
}

/* The sums of the even and the odd terms of Debye's expansion, for s = -(v / w)^2 left of x and (v / w)^2 right of it. The signs alternate in
 * pairs with `sign` -1. */
PC_TAIL pc_wave_f64 pc_debye_f64(pc_f64 s, pc_f64 w, pc_f64 sign) {
  static const pc_f64 terms[] = {
      0x1.0000000000000p-3, -0x1.aaaaaaaaaaaabp-3, 0x1.2000000000000p-4, -0x1.9aaaaaaaaaaabp-2, 0x1.5638e38e38e39p-2,
      0x1.2c00000000000p-4, -0x1.c84cccccccccdp-1, 0x1.d8b1c71c71c72p+0, -0x1.069ba781948b1p+0, 0x1.cb60000000000p-4,
      -0x1.2e9a666666666p+1, 0x1.1940800000000p+3, -0x1.669fc3f35ba78p+3, 0x1.2ada78a021b64p+2, 0x1.d11e000000000p-3,
      -0x1.d79a53a83a83bp+2, 0x1.5447ad6c16c17p+5, -0x1.6f45e11c71c72p+6, 0x1.528b7ca566307p+6, -0x1.c364a631dd95fp+4,
      0x1.251ee80000000p-1, -0x1.a7dce636db6dbp+4, 0x1.b4618ac15dc91p+7, -0x1.5dca313ad82d8p+9, 0x1.08ff639300000p+10,
      -0x1.7ea050e044d42p+9, 0x1.a923e815a1cf4p+7, 0x1.ba4c598000000p+0, -0x1.b05d1a13b6db7p+6, 0x1.2c39c95483d71p+10,
      -0x1.4b9a5a063f1c7p+12, 0x1.6c3b258dcc4bep+13, -0x1.a8946669c5f9bp+13, 0x1.f7db8e0e6ff83p+12,
      -0x1.dfdd4a56e48aep+10,
  };
  pc_wave_f64 out = {1.0, 0.0};
  pc_f64 scale = 1.0;
  const pc_f64 *at = terms;
  for (int k = 1; k <= 7; at += k + 1, k++) {
    pc_f64 y = 0.0;
    for (int j = k; j >= 0; j--) y = at[j] + s * y;
    scale = scale / w * ((k & 1) != 0 ? 1.0 : sign);
    out.j = out.j + ((k & 1) != 0 ? 0.0 : scale * y);
    out.y = out.y + ((k & 1) != 0 ? scale * y : 0.0);
  }
  return out;
}

/* Returns J and Y of order v > 256 where the expansion holds, else NaN. Left of the order, J is the power of -e that its wave beyond has. */
PC_TAIL pc_wave_f64 pc_cylinder_far_f64(pc_f64 v, pc_f64 x) {
  const pc_pair_f64 pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}, one = {1.0, 0.0};
  const pc_f64 nan = __builtin_nan(""), two_by_pi = 0x1.45f306dc9c883p-1;
  pc_wave_f64 none = {nan, nan};
  pc_f64 most = v < x ? x : v, least = v < x ? v : x, scale = most > 0x1p1000 ? 0x1p-100 : 1.0;
  pc_pair_f64 of = pc_pair_of_f64(most * scale), r = pc_pair_div_f64(pc_pair_of_f64(least * scale), of);
  pc_pair_f64 less = pc_pair_div_f64(pc_sum_f64(most * scale, -least * scale), of);
  pc_pair_f64 c = pc_pair_sqrt_f64(pc_pair_mul_f64(less, pc_plus_f64(one, r))), t = pc_pair_div_f64(c, pc_plus_f64(one, r));
  pc_f64 w = most * c.hi, s = v / w;
  if (!(w / s / s >= 500.0)) return none;
  if (v > x) { /* ln of J but for the root is w - v a for cosh a = v / x */
    pc_pair_f64 rise = pc_plus_f64(pc_bessel_arc_f64(t, 1.0), pc_minus_f64(c));
    pc_pair_f64 log = pc_pair_mul_f64(pc_pair_of_f64(v), rise);
    pc_wave_f64 sums = pc_debye_f64(s * s, w, 1.0);
    pc_f64 root = __builtin_sqrt(two_by_pi / w), up = log.hi > 720.0 ? __builtin_inf() : pc_exp_pair_f64(log);
    pc_wave_f64 out = {0.5 * root * (sums.j + sums.y) * pc_exp_pair_f64(pc_minus_f64(log)), -root * (sums.j - sums.y) * up};
    return out;
  }
  t = pc_pair_div_f64(r, pc_plus_f64(one, c)); /* the tangent of half the angle whose sine is v / x */
  pc_pair_f64 more = pc_pair_mul_f64(pc_pair_of_f64(v), pc_plus_f64(pc_bessel_arc_f64(t, -1.0), pc_minus_f64(t)));
  if (!(more.hi < 0x1p45)) return none;
  pc_f64 part = 0.25 * v, turns = v - 4.0 * pc_bessel_whole_f64(part);
  more = pc_plus_f64(more, pc_minus_f64(pc_pair_mul_f64(pi, pc_sum_f64(0.5 * turns, 0.25))));
  pc_wave_f64 sums = pc_debye_f64(-s * s, w, -1.0);
  return pc_wave_turned_f64(x, more, sums.j, -sums.y, __builtin_sqrt(two_by_pi / w));
}

/* J and Y of order v >= 0 and x > 25; NaN for v above PC_BESSEL_MOST where Debye's expansion does not hold. */
PC_TAIL pc_wave_f64 pc_cylinder_of_f64(pc_f64 v, pc_f64 x) {
  const pc_f64 nan = __builtin_nan("");
  if (v > x) {
    pc_f64 ratio = x / v, w = v * __builtin_sqrt((1.0 - ratio) * (1.0 + ratio));
    pc_wave_f64 beyond = {0.0, -__builtin_inf()};
    if (v * pc_log_f64((v + w) / x) - w > 1500.0) return beyond;
  }
  pc_wave_f64 out = {nan, nan};
  if (v > 256.0) out = pc_cylinder_far_f64(v, x);
  if (v > PC_BESSEL_MOST || out.j == out.j) return out;
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
 * limits, at infinity 0. NaN for orders above 2^20 next to x, unless the result is 0. */
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
