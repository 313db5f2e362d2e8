/* precast/ops/math/normal.h: e^(x^2) erfc x, the normal distribution and its logarithm, and the inverses of both error functions.
 *
 * An argument x / sqrt 2 is a pair, since an error of its square is one of the result. The quantile is PPND16 of M. J. Wichura,
 * "Algorithm AS 241" (1988): three quotients of polynomials, all of which are walked for every element. */
#ifndef PRECAST_OPS_MATH_NORMAL_H
#define PRECAST_OPS_MATH_NORMAL_H

#include <precast/ops/math/erf.h>
#include <precast/ops/math/f32/normal.h>
#include <precast/ops/math/log1p.h>
#include <precast/ops/math/exp2.h>
#include <precast/ops/math/stirling.h>

/* 1 / sqrt 2. */
#define PC_ROOT_HALF_F64 0x1.6a09e667f3bcdp-1
#define PC_ROOT_HALF_LOW_F64 -0x1.bdd3413b26456p-55

/* e^(x^2) of |x| <= 27. */
PC_INLINE pc_f64 pc_exp_square_f64(pc_f64 x) {
  pc_pair_f64 square = pc_product_f64(x, x);
  pc_f64 e = pc_exp_f64(square.hi);
  return e + e * square.lo;
}

/* e^(x^2) erfc x for x >= 3/4, of its value up to 27. From there on the asymptotic series in 1 / x^2, whose next term is below 2^-56. */
PC_INLINE pc_f64 pc_erfcx_series_f64(pc_f64 x, pc_f64 value) {
  pc_f64 y = x > 27.0 ? x : 27.0, u = 0.5 / (y * y);
  pc_f64 series = 1.0 - u * (1.0 - 3.0 * u * (1.0 - 5.0 * u * (1.0 - 7.0 * u * (1.0 - 9.0 * u * (1.0 - 11.0 * u)))));
  pc_f64 far = 0x1.20dd750429b6dp-1 * series / y; /* 1 / sqrt(pi) */
  return x > 27.0 ? far : value;
}

/* The same of x alone. */
PC_INLINE pc_f64 pc_erfcx_right_f64(pc_f64 x) {
  pc_f64 c = x > 27.0 ? 27.0 : x;
  pc_pair_f64 g = pc_erfc_factor_f64(c);
  return pc_erfcx_series_f64(x, pc_quotient_f64(g.hi, g.lo, c, 0.0));
}

/* erfc x for |x| <= 3/4. */
PC_INLINE pc_f64 pc_erfc_near_f64(pc_f64 x) {
  pc_f64 tail = pc_signed_f64(pc_erf_tail_f64(pc_magnitude_f64(x)), pc_sign_f64(x));
  pc_pair_f64 w = pc_sum_ordered_f64(1.0, -x);
  return w.hi + (w.lo - tail);
}

/* e^(x^2) erfc x. */
PC_INLINE pc_f64 pc_erfcx_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x);
  pc_f64 power = pc_exp_square_f64(a < 27.0 ? a : 27.0);
  pc_f64 near = power * pc_erfc_near_f64(a < 0.75 ? x : 0.0);
  pc_f64 right = pc_erfcx_right_f64(a > 0.75 ? a : 0.75);
  pc_f64 y = x < 0.0 ? (power - right) + power : right;
  y = a < 0.75 ? near : y;
  y = x < -26.63 ? __builtin_inf() : y; /* here x^2 is below ln of the largest number, and twice its power is not */
  return x == x ? y : x;
}

/* erfc x / 2 of a pair of 3/4 <= x <= 27.5, of its factor. */
PC_INLINE pc_f64 pc_half_erfc_f64(pc_pair_f64 g, pc_pair_f64 x) {
  pc_scaled_erfc_f64 q = pc_erfc_scaled_f64(g, x.hi, x.lo);
  return 0.5 * q.y * pc_scale_low_f64(q.bits) * pc_scale_high_f64(q.bits);
}

/* A deviation a >= 0 for the error functions: a / sqrt 2 where that is below 3/4, and erf of it less itself; beyond it the quotient and its
 * factor. */
typedef struct pc_deviation_f64 {
  pc_f64 hi, tail;
  pc_pair_f64 above, factor;
  int is_near;
} pc_deviation_f64;

PC_INLINE pc_deviation_f64 pc_deviation_of_f64(pc_f64 a) {
  pc_pair_f64 t = pc_product_f64(a, PC_ROOT_HALF_F64);
  t = pc_sum_ordered_f64(t.hi, t.lo + a * PC_ROOT_HALF_LOW_F64);
  pc_f64 hi = t.hi < 0.75 ? t.hi : 0.75, z = hi * hi;
  pc_f64 tail = pc_erf_tail_f64(hi) + 0x1.20dd750429b6dp+0 * t.lo * (1.0 - z + 0.5 * z * z); /* 2 / sqrt(pi) */
  pc_pair_f64 above = {t.hi > 0.75 ? t.hi : 0.75, t.hi > 0.75 ? t.lo : 0.0};
  pc_deviation_f64 out = {hi, tail, above, pc_erfc_factor_f64(above.hi), t.hi < 0.75};
  return out;
}

/* The probability that a standard normal number is at most x. */
PC_INLINE pc_f64 pc_ndtr_f64(pc_f64 x) {
  pc_f64 c = x < -38.8 ? -38.8 : x;
  c = c > 38.8 ? 38.8 : c;
  pc_deviation_f64 d = pc_deviation_of_f64(pc_magnitude_f64(c));
  pc_pair_f64 w = pc_sum_ordered_f64(1.0, x < 0.0 ? -d.hi : d.hi);
  pc_f64 near = 0.5 * (w.hi + (w.lo + (x < 0.0 ? -d.tail : d.tail)));
  pc_f64 e = pc_half_erfc_f64(d.factor, d.above);
  pc_f64 far = x < 0.0 ? e : 1.0 - e;
  pc_f64 y = d.is_near ? near : far;
  return x == x ? y : x;
}

/* ln of the probability that a standard normal number is at most x: ln p, to the right ln(1 - p) of the other tail, and left of -1.5 ln of
 * e^(x^2 / 2) p less the exponent. All are one logarithm. */
PC_INLINE pc_f64 pc_log_ndtr_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x), t = a * PC_ROOT_HALF_F64;
  pc_deviation_f64 d = pc_deviation_of_f64(a > 38.8 ? 38.8 : a);
  pc_pair_f64 w = pc_sum_ordered_f64(1.0, -d.hi);
  pc_f64 near = 0.5 * (w.hi + (w.lo - d.tail)), e = pc_half_erfc_f64(d.factor, d.above), p = d.is_near ? near : e;
  pc_f64 scaled = pc_erfcx_series_f64(t, pc_quotient_f64(d.factor.hi, d.factor.lo, d.above.hi, d.above.lo));
  pc_f64 rest = 1.0 - p, lost = (1.0 - rest) - p, less = 0.5 * a * a;
  pc_f64 u = x < -1.5 ? 0.5 * scaled : p;
  u = x > 0.0 ? rest : u;
  pc_f64 y = pc_log_plus_f64(u, pc_masked_f64(lost, -(uint64_t)(x > 0.0)) / rest) - pc_masked_f64(less, -(uint64_t)(x < -1.5));
  return x == x ? pc_from_bits_f64(pc_bits_f64(y) | 0x8000000000000000u) : x; /* no zero is 0 */
}

/* The quantile of p = 1/2 + q for |q| <= 0.425. */
PC_INLINE pc_f64 pc_quantile_near_f64(pc_f64 q) {
  pc_f64 square = q * q, v = 0.180625 - square;
  pc_f64 v2 = v * v;
  pc_f64 above = ((0x1.37fc2a497dea8p+2 + v * 0x1.61cd06fff0ee9p+7) + v2 * (0x1.26c9ca4e1cbfcp+11 + v * 0x1.bc6bde11288dcp+13));
  above = above + (v2 * v2) * ((0x1.2d66192b3a7d4p+15 + v * 0x1.3c5f69ece2ce0p+15) + v2 * 0x1.4afe66398e791p+13);
  pc_f64 below = ((0x1.0000000000000p+0 + v * 0x1.5281b386e1ab5p+5) + v2 * (0x1.5797efdc8b3f7p+9 + v * 0x1.512322e75c89fp+12));
  below = below + (v2 * v2) * ((0x1.4b772d5d65266p+14 + v * 0x1.3317caa64f4bep+15) + v2 * (0x1.c0e457cb1ae76p+14 + v * 0x1.46a7eca984b69p+12));
  return q * (0x1.40d931ff62706p+1 + square * (above / below));
}

/* Less the quantile of 0 < p <= 0.075, of which the logarithm is given. */
PC_INLINE pc_f64 pc_quantile_tail_f64(pc_pair_f64 log) {
  pc_pair_f64 minus = {-log.hi, -log.lo}, r = pc_pair_sqrt_f64(minus);
  int is_near = r.hi <= 5.0;
  pc_f64 u = is_near ? (r.hi - 1.6) + r.lo : 0.0, w = is_near ? 0.0 : (r.hi - 5.0) + r.lo, u2 = u * u, w2 = w * w;
  pc_f64 above = ((0x1.6c665fde9526ap+0 + u * 0x1.2857748cab19bp+2) + u2 * (0x1.713f71462256ap+2 + u * 0x1.d2ecb1a3d02c4p+1));
  above = above + (u2 * u2) * ((0x1.453cc085375b2p+0 + u * 0x1.ef2abb9b85c37p-3) + u2 * (0x1.744eb6c45ec67p-6 + u * 0x1.9615ac0b7ace9p-11));
  pc_f64 below = ((0x1.0000000000000p+0 + u * 0x1.06cefbb46a449p+1) + u2 * (0x1.ad278e6526633p+0 + u * 0x1.61292f23385c9p-1));
  below = below + (u2 * u2) * ((0x1.2f5123394f040p-3 + u * 0x1.f207a7eab17bfp-7) + u2 * (0x1.1f18cbfdf2728p-11 + u * 0x1.20d3f686439e4p-30));
  pc_f64 over = ((0x1.aa1b1c13ee526p+2 + w * 0x1.5daea6e875003p+2) + w2 * (0x1.c8ea6461fa445p+0 + w * 0x1.2fad9315255cfp-2));
  over = over + (w2 * w2) * ((0x1.b2b41193b4ee7p-6 + w * 0x1.45c1908425345p-10) + w2 * (0x1.c6ec6cc59e02ap-16 + w * 0x1.afb74d693bf93p-23));
  pc_f64 under = ((0x1.0000000000000p+0 + w * 0x1.331d34fc7d77fp-1) + w2 * (0x1.186eb183443fbp-3 + w * 0x1.e76f93215462ap-7));
  under = under + (w2 * w2) * ((0x1.9c8bc979dc5d7p-11 + w * 0x1.35c2c496374bfp-16) + w2 * (0x1.31446f740b9e0p-23 + w * 0x1.269bff1f8c190p-49));
  return is_near ? above / below : over / under;
}

/* Returns the quantile of 1/2 + q, of which p `factor` is the smaller tail, or NaN if p is not a tail. The factor is 1 or 1/2. */
PC_INLINE pc_f64 pc_quantile_f64(pc_f64 q, pc_f64 p, pc_f64 factor) {
  const pc_pair_f64 half = {-PC_LN2_HI_F64, -PC_LN2_LO_F64}, none = {0.0, 0.0};
  pc_f64 near = pc_quantile_near_f64(pc_magnitude_f64(q) <= 0.425 ? q : 0.0);
  pc_pair_f64 log = pc_log_pair_f64(p > 0.0 && p < 0.15 ? p : 0.0625);
  log = pc_pair_add_f64(log, factor == 0.5 ? half : none);
  pc_f64 tail = pc_quantile_tail_f64(log);
  tail = p == 0.0 ? __builtin_inf() : tail;
  tail = p >= 0.0 ? tail : __builtin_nan("");
  return pc_magnitude_f64(q) <= 0.425 ? near : q < 0.0 ? -tail : tail;
}

/* Returns the inverse of ndtr; NaN outside of 0 to 1. */
PC_INLINE pc_f64 pc_ndtri_f64(pc_f64 p) {
  pc_f64 y = pc_quantile_f64(p - 0.5, p < 0.5 ? p : 1.0 - p, 1.0);
  return p == p ? y : p;
}

/* The inverse of erf; NaN outside of -1 to 1. */
PC_INLINE pc_f64 pc_erfinv_f64(pc_f64 x) {
  pc_f64 y = pc_quantile_f64(0.5 * x, 1.0 - pc_magnitude_f64(x), 0.5);
  y = pc_magnitude_f64(y) < __builtin_inf() ? PC_ROOT_HALF_F64 * y + PC_ROOT_HALF_LOW_F64 * y : y;
  y = pc_magnitude_f64(x) < 0x1p-1000 ? 0x1.c5bf891b4ef6bp-1 * x : y; /* sqrt(pi) / 2 */
  return x == x ? y : x;
}

/* The inverse of erfc; NaN outside of 0 to 2. */
PC_INLINE pc_f64 pc_erfcinv_f64(pc_f64 x) {
  pc_f64 y = pc_quantile_f64(0.5 * (1.0 - x), x < 1.0 ? x : 2.0 - x, 0.5);
  y = pc_magnitude_f64(y) < __builtin_inf() ? PC_ROOT_HALF_F64 * y + PC_ROOT_HALF_LOW_F64 * y : y;
  return x == x ? y : x;
}

/* The inverse of log_ndtr: the quantile of e^y; NaN for positive numbers. Far to the left, C. F. Gauss's tail is solved by I. Newton's
 * method: the derivative of ln of the tail beyond z is -sqrt(2 / pi) / erfcx(z / sqrt 2). */
PC_TAIL pc_f64 pc_ndtri_exp_f64(pc_f64 y) {
  if (!(y <= 0.0)) return y == y ? __builtin_nan("") : y;
  if (y == 0.0 || y == -__builtin_inf()) return y == 0.0 ? __builtin_inf() : y;
  pc_f64 p = pc_exp_f64(y), rest = -pc_expm1_f64(y);
  if (rest < 0.075) return pc_quantile_tail_f64(pc_log_pair_f64(rest));
  if (p >= 0.075) {
    pc_pair_f64 twice = pc_sum_f64(y, PC_LN2_HI_F64); /* ln 2p */
    return pc_quantile_near_f64(0.5 * pc_expm1_f64(twice.hi + (twice.lo + PC_LN2_LO_F64)));
  }
  if (y > -700.0) {
    pc_pair_f64 log = {y, 0.0};
    return -pc_quantile_tail_f64(log);
  }
  pc_f64 twice = -2.0 * y;
  if (twice == __builtin_inf()) return -0x1.6a09e667f3bcdp+0 * __builtin_sqrt(-y);
  pc_f64 z = __builtin_sqrt(twice - pc_log_f64(0x1.921fb54442d18p+2 * twice));
  for (int i = 0; i < 3; i++) {
    pc_f64 scaled = pc_erfcx_right_f64(z * PC_ROOT_HALF_F64);
    pc_pair_f64 half = pc_product_f64(-0.5 * z, z);
    pc_f64 above = ((half.hi - y) + half.lo) + pc_log_f64(0.5 * scaled);
    z = z + above * scaled * 0x1.40d931ff62706p+0; /* sqrt(pi / 2) */
  }
  return -z;
}

PC_INLINE pc_f32 pc_ndtri_exp_f32(pc_f32 x) { return (pc_f32)pc_ndtri_exp_f64((pc_f64)x); }

#endif
