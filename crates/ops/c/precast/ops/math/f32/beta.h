/* precast/ops/math/f32/beta.h: the beta function of f32 and its logarithm, in f64.
 *
 * For p >= q > 0 and r = p + q it is e^log factor: for r < 6 of the reciprocals of Gamma p, Gamma q and Gamma r, each a polynomial about 2
 * and whole steps; else, where p >= 3, by J. Stirling's formula for Gamma p / Gamma r, and for Gamma q too if q >= 3:
 *
 *   log = q - p ln(1 + q / p) + q ln(1 / r) + c(p) - c(r)                 times sqrt(r / p) Gamma q
 *   log = -p ln(1 + q / p) + q ln(q / r) + c(p) + c(q) - c(r)             times sqrt(2 pi r / (p q))
 *
 * Left of 0 the reflection of L. Euler leads to such p and q. With S(x) = x sin(pi x):
 *
 *   B(a, b) = -pi / (S(b) B(-b, a + b))                                   b < 0 < a + b
 *   B(a, b) = S(a + b) / S(b) B(a, -a - b)                                b < 0 < a, a + b < 0
 *   B(a, b) = -pi S(a + b) / (S(a) S(b) B(-a, -b))                        a, b < 0 */
#ifndef PRECAST_OPS_MATH_F32_BETA_H
#define PRECAST_OPS_MATH_F32_BETA_H

#include <precast/ops/math/f32/gamma.h>
#include <precast/ops/math/log.h>
#include <precast/ops/math/stirling.h>

/* Gamma x = over / under. */
typedef struct pc_ratio_f64 {
  pc_f64 over, under;
} pc_ratio_f64;

/* Gamma x for 0 < x < 6. 1 / Gamma(2 + t) = 1 + t P(t), |t| <= 1/2, P of degree 12, error 2^-55.6. */
PC_INLINE pc_ratio_f64 pc_gamma_ratio_f64(pc_f64 x) {
  pc_f64 n = pc_whole_f64(x), t = x - n, q = n > 2.5 ? x - 1.0 : 1.0, up = n < 0.5 ? 1.0 + x : 1.0;
  pc_f64 t2 = t * t, t4 = t2 * t2;
  pc_f64 p01 = -0x1.b0ee6072093c8p-2 + t * -0x1.dd603fb6ac0c4p-3, p23 = 0x1.875ac57821cd3p-3 + t * -0x1.92449b66ffa6fp-6;
  pc_f64 p45 = -0x1.21198510c36c9p-6 + t * 0x1.06e817a0f97bdp-7, p67 = -0x1.a5b35248cbc3ap-11 + t * -0x1.7a5dad98ac5fbp-12;
  pc_f64 p89 = 0x1.315694016f59bp-13 + t * -0x1.265d9f7c8dec8p-16, pab = -0x1.5bcd4a59895dfp-19 + t * 0x1.671cee6c9be44p-20;
  pc_f64 high = (p89 + t2 * pab) + t4 * -0x1.ac3af4e27ebf4p-23;
  q = q * (n > 3.5 ? x - 2.0 : 1.0);
  q = q * (n > 4.5 ? x - 3.0 : 1.0);
  q = q * (n > 5.5 ? x - 4.0 : 1.0);
  pc_f64 under = 1.0 + t * (((p01 + t2 * p23) + t4 * (p45 + t2 * p67)) + (t4 * t4) * high);
  pc_ratio_f64 out = {q, (under * up) * (n < 1.5 ? x : 1.0)};
  return out;
}

/* The sign of B(a, b) is that of over; |B(a, b)| = e^log |over / under|. */
typedef struct pc_beta_short_f64 {
  pc_f64 log, over, under;
} pc_beta_short_f64;

/* B(p, q) for p >= q > 0, r = p + q. */
PC_INLINE pc_beta_short_f64 pc_beta_right_short_f64(pc_f64 p, pc_f64 q, pc_f64 r) {
  int is_far = r >= 6.0, is_far_q = q >= 3.0;
  pc_ratio_f64 of_p = pc_gamma_ratio_f64(is_far ? 2.0 : p), of_q = pc_gamma_ratio_f64(is_far_q ? 2.0 : q);
  pc_ratio_f64 of_r = pc_gamma_ratio_f64(is_far ? 2.0 : r);
  pc_f64 least = is_far_q ? q : 1.0, v = q / (p + r), z = v * v, z2 = z * z;
  pc_f64 p01 = 0x1.0000000000008p+1 + z * 0x1.555555554a624p-1, p23 = 0x1.999999adf31d1p-2 + z * 0x1.249241e06215bp-2;
  pc_f64 p45 = 0x1.c71f0940aae73p-3 + z * 0x1.741af33975868p-3, p67 = 0x1.3eeab385a5bf4p-3 + z * 0x1.e0c130bbcaddbp-4;
  pc_f64 near = v * (((p01 + z2 * p23) + (z2 * z2) * (p45 + z2 * p67)) + (z2 * z2) * (z2 * z2) * 0x1.8086867d441a0p-3); /* ln(1 + q / p) */
  pc_f64 by_p = 1.0 / p, by_q = 1.0 / least, by_r = 1.0 / r;
  pc_f64 c = pc_stirling_of_f64(by_p) - pc_stirling_of_f64(by_r), own = is_far_q ? pc_stirling_of_f64(by_q) : q;
  pc_f64 log = (q * pc_log_f64(least * by_r) - p * near) + (c + own), root = __builtin_sqrt((r * by_p) * by_q);
  pc_f64 far = root * (is_far_q ? 0x1.40d931ff62706p+1 : of_q.over); /* sqrt(2 pi) */
  pc_f64 q_under = is_far_q ? 1.0 : of_q.under;
  pc_f64 over = of_p.over * of_q.over * of_r.under, under = of_p.under * of_q.under * of_r.over;
  pc_beta_short_f64 out = {is_far ? log : 0.0, is_far ? far : over, is_far ? q_under : under};
  return out;
}

/* sin(pi f) / f for |f| <= 1/2. Degree 8 in f^2, error 2^-61.8. */
PC_INLINE pc_f64 pc_sine_of_turn_by_f64(pc_f64 f) {
  pc_f64 z = f * f, z2 = z * z, z4 = z2 * z2;
  pc_f64 s12 = -0x1.4abbce625be52p+2 + z * 0x1.466bc6775aa6ep+1, s34 = -0x1.32d2cce627543p-1 + z * 0x1.50783485190efp-4;
  pc_f64 s56 = -0x1.e3074ddd1e8c9p-8 + z * 0x1.e8f35e9daaa94p-12, s78 = -0x1.6f7977188bfe9p-16 + z * 0x1.9d1b88179ce9fp-21;
  return 0x1.921fb54442d18p+1 + z * ((s12 + z2 * s34) + z4 * (s56 + z2 * s78));
}

/* x sin(pi x), |x| < 2^51. */
PC_INLINE pc_f64 pc_beta_sine_f64(pc_f64 x) {
  pc_f64 f = x - pc_whole_f64(x);
  return pc_signed_f64(x * (f * pc_sine_of_turn_by_f64(f)), pc_odd_sign_f64(x));
}

/* a >= b, and the sign that B(a, b) gets: a quotient of two poles is (-1)^a B(1 - a - b, a). */
typedef struct pc_beta_operands_f64 {
  pc_f64 a, b;
  uint64_t sign;
} pc_beta_operands_f64;

PC_INLINE pc_beta_operands_f64 pc_beta_operands_of_f64(pc_f64 x, pc_f64 y) {
  pc_f64 a = x > y ? x : y, b = x > y ? y : x, other = (1.0 - b) - a;
  pc_f64 c = b < 0.0 ? b : 0.5, d = a <= 0x1p51 ? a : 0.5;
  c = b < -0x1p51 ? 0.5 : c;
  d = a < 1.0 ? 0.5 : d;
  d = other < 1.0 ? 0.5 : d;
  pc_f64 part = pc_magnitude_f64(c - pc_whole_f64(c)) + pc_magnitude_f64(d - pc_whole_f64(d));
  pc_f64 most = other > a ? other : a, least = other > a ? a : other;
  uint64_t odd = pc_odd_sign_f64(d);
  pc_beta_operands_f64 out = {part == 0.0 ? most : a, part == 0.0 ? least : b, part == 0.0 ? odd : 0};
  return out;
}

/* Returns y = f(B(a, b)) for a >= b, with the limits that f has at 0, inf and the sign of Gamma b. inf at poles of a and b, 0 at those of
 * a + b, where `pole` is 0; NaN for b below -2^51 and where no limit exists. */
PC_INLINE pc_f64 pc_beta_edges_f64(pc_f64 a, pc_f64 b, pc_f64 pole, pc_f64 y, pc_f64 zero, uint64_t sign) {
  const pc_f64 inf = __builtin_inf();
  pc_f64 of_a = a <= 0.0 ? a : 0.5, of_b = b <= 0.0 ? b : 0.5;
  of_a = a < -0x1p51 ? 0.5 : of_a;
  of_b = b < -0x1p51 ? 0.5 : of_b;
  y = pole == 0.0 ? zero : y;
  y = of_a - pc_whole_f64(of_a) == 0.0 ? inf : y;
  pc_f64 part = of_b - pc_whole_f64(of_b);
  y = part == 0.0 ? inf : y;
  pc_f64 far = part == 0.0 ? __builtin_nan("") : pc_signed_f64(inf, sign);
  far = b > 0.0 ? zero : far;
  y = a == inf ? far : y;
  y = b < -0x1p51 ? __builtin_nan("") : y;
  y = a != a ? a : y;
  return b != b ? b : y;
}

/* 0 where s is a pole. */
PC_INLINE pc_f64 pc_beta_pole_short_f64(pc_f64 s) {
  pc_f64 c = s <= 0.0 ? s : 0.5;
  c = s < -0x1p51 ? 0.5 : c;
  return c - pc_whole_f64(c);
}

/* B(a, b) for a >= b where neither a limit nor a pole is. */
PC_INLINE pc_beta_short_f64 pc_beta_parts_short_f64(pc_f64 a, pc_f64 b) {
  pc_f64 s = a + b, u = s < 0.0 ? a : -b, w = s < 0.0 ? -s : s, r = s < 0.0 ? -b : a;
  u = a < 0.0 ? -a : u;
  w = a < 0.0 ? -b : w;
  r = a < 0.0 ? -s : r;
  u = b < 0.0 ? u : a;
  w = b < 0.0 ? w : b;
  r = b < 0.0 ? r : s;
  pc_beta_short_f64 y = pc_beta_right_short_f64(u > w ? u : w, u > w ? w : u, r);
  pc_f64 of_b = b < 0.0 ? pc_beta_sine_f64(b) : 1.0, of_a = a < 0.0 ? pc_beta_sine_f64(a) : 1.0;
  pc_f64 of_s = s < 0.0 ? pc_beta_sine_f64(s) : 1.0, turn = s < 0.0 ? 0.0 : -0x1.921fb54442d18p+1;
  turn = a < 0.0 ? -0x1.921fb54442d18p+1 : turn;
  turn = b < 0.0 ? turn : 0.0;
  int is_turned = turn != 0.0;
  pc_f64 over = of_s * (is_turned ? turn * y.under : y.over), under = (of_a * of_b) * (is_turned ? y.over : y.under);
  pc_beta_short_f64 out = {is_turned ? -y.log : y.log, over, under};
  return out;
}

/* e^log factor. */
PC_INLINE pc_f64 pc_beta_of_short_f64(pc_f64 log, pc_f64 factor) {
  log = log < -350.0 ? -350.0 : log;
  return factor * pc_exp_short_f64(log > 350.0 ? 350.0 : log);
}

/* The regions `right` of beta and betaln: positive finite operands. */
PC_INLINE uint32_t pc_beta_is_right_f32(pc_f32 a, pc_f32 b) {
  const pc_f32 inf = __builtin_inff();
  return (uint32_t)(a > 0.0f) & (uint32_t)(a < inf) & (uint32_t)(b > 0.0f) & (uint32_t)(b < inf);
}
PC_INLINE uint32_t pc_betaln_is_right_f32(pc_f32 a, pc_f32 b) { return pc_beta_is_right_f32(a, b); }

PC_INLINE pc_beta_short_f64 pc_beta_right_parts_short_f64(pc_f32 a, pc_f32 b) {
  pc_f64 p = (pc_f64)(a > b ? a : b), q = (pc_f64)(a > b ? b : a);
  return pc_beta_right_short_f64(p, q, p + q);
}

PC_INLINE pc_f32 pc_beta_right_f32(pc_f32 a, pc_f32 b) {
  pc_beta_short_f64 s = pc_beta_right_parts_short_f64(a, b);
  return (pc_f32)pc_beta_of_short_f64(s.log, s.over / s.under);
}

/* The beta function. inf where a or b is 0 or a negative integer; 0 where a + b is. */
PC_INLINE pc_f32 pc_beta_f32(pc_f32 a, pc_f32 b) {
  pc_beta_operands_f64 of = pc_beta_operands_of_f64((pc_f64)a, (pc_f64)b);
  pc_beta_short_f64 p = pc_beta_parts_short_f64(of.a, of.b);
  pc_f64 y = pc_beta_of_short_f64(p.log, pc_signed_f64(p.over / p.under, of.sign)), near = pc_whole_f64(of.b);
  return (pc_f32)pc_beta_edges_f64(of.a, of.b, pc_beta_pole_short_f64(of.a + of.b), y, 0.0, pc_odd_sign_f64(near > of.b ? near - 1.0 : near));
}

/* ln B(1 + x, 1 + y) for |x|, |y| < 2^-7, where the factors cancel: -ln(1 + s) - x y (zeta(2) - zeta(3) s + ...), s = x + y. */
PC_INLINE pc_f64 pc_betaln_one_short_f64(pc_f64 x, pc_f64 y) {
  pc_f64 s = x + y, s2 = s * s, xy = x * y;
  pc_f64 log = s * ((1.0 - 0.5 * s) + s2 * ((0x1.5555555555555p-2 - 0.25 * s) + s2 * 0x1.999999999999ap-3));
  pc_f64 by = (0x1.a51a6625307d3p+0 - 0x1.33ba004f00621p+0 * s) + (s2 - 0.5 * xy) * 0x1.151322ac7d848p+0;
  return -(log + xy * (by - 0x1.097418eca7ccep+0 * (s * (s2 - xy))));
}

/* ln |B| of its parts, a >= b. */
PC_INLINE pc_f64 pc_betaln_of_short_f64(pc_f64 a, pc_f64 b, pc_beta_short_f64 s) {
  pc_f64 y = s.log + pc_log_f64(pc_magnitude_f64(s.over / s.under)), u = a - 1.0, v = b - 1.0, one = pc_betaln_one_short_f64(u, v);
  one = v > -0x1p-7 ? one : y;
  return (u < 0x1p-7 ? one : y) + 0.0; /* no zero is -0 */
}

PC_INLINE pc_f32 pc_betaln_right_f32(pc_f32 a, pc_f32 b) {
  return (pc_f32)pc_betaln_of_short_f64((pc_f64)(a > b ? a : b), (pc_f64)(a > b ? b : a), pc_beta_right_parts_short_f64(a, b));
}

/* ln |B(a, b)|. */
PC_INLINE pc_f32 pc_betaln_f32(pc_f32 a, pc_f32 b) {
  pc_beta_operands_f64 of = pc_beta_operands_of_f64((pc_f64)a, (pc_f64)b);
  pc_f64 y = pc_betaln_of_short_f64(of.a, of.b, pc_beta_parts_short_f64(of.a, of.b));
  return (pc_f32)pc_beta_edges_f64(of.a, of.b, pc_beta_pole_short_f64(of.a + of.b), y, -__builtin_inf(), 0);
}

#endif
