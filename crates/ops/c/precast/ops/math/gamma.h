/* precast/ops/math/gamma.h: the logarithm of |Gamma x| and its derivative, the digamma function.
 *
 * Below 8 whole steps lead to an interval of length 1 where a polynomial stands (with the zero of the function as a factor, so that what
 * is close to it is as exact as the rest); from 8 on J. Stirling's series; below 0 the reflection of L. Euler. */
#ifndef PRECAST_OPS_MATH_GAMMA_H
#define PRECAST_OPS_MATH_GAMMA_H

#include <precast/ops/math/f32/gamma.h>
#include <precast/ops/math/log.h>
#include <precast/ops/math/log1p.h>
#include <precast/ops/math/pow.h>
#include <precast/ops/math/stirling.h>
#include <precast/ops/math/trig.h>

/* ln Gamma(2 + t) for |t| <= 1/2. Degree 19, error 1.3e-18. */
PC_INLINE pc_f64 pc_gammaln_two_f64(pc_f64 t) {
  pc_f64 t2 = t * t, t4 = t2 * t2, t8 = t4 * t4;
  pc_f64 p12 = 0x1.4a34cc4a60fa7p-2 + t * -0x1.13e001a557616p-4;
  pc_f64 p34 = 0x1.51322ac7d800ap-6 + t * -0x1.e404fc21888b3p-8;
  pc_f64 p56 = 0x1.7add6eae55797p-9 + t * -0x1.38ac5c309c11fp-10;
  pc_f64 p78 = 0x1.0b36af3689374p-11 + t * -0x1.d3fd4943ee084p-13;
  pc_f64 p9a = 0x1.a127dc23ccceap-14 + t * -0x1.78defd9ac6270p-15;
  pc_f64 pbc = 0x1.5806f5a9f38bcp-16 + t * -0x1.3ca9412965811p-17;
  pc_f64 pde = 0x1.263e9d4c13c28p-18 + t * -0x1.131ce62eb3930p-19;
  pc_f64 pfg = 0x1.ee184e3900d4cp-21 + t * -0x1.c30682287e26dp-22;
  pc_f64 phi = 0x1.2b05973441b49p-22 + t * -0x1.33b61c146bfabp-23;
  pc_f64 first = (p12 + t2 * p34) + t4 * (p56 + t2 * p78);
  pc_f64 second = (p9a + t2 * pbc) + t4 * (pde + t2 * pfg);
  pc_pair_f64 s = pc_sum_ordered_f64(0x1.b0ee6072093cep-2, t * (first + t8 * (second + t8 * phi)));
  pc_pair_f64 y = pc_product_f64(t, s.hi);
  return y.hi + (y.lo + t * s.lo);
}

/* ln Gamma(1 + t) for |t| <= 1/4. Degree 19, error 1.6e-18. */
PC_INLINE pc_f64 pc_gammaln_one_f64(pc_f64 t) {
  pc_f64 t2 = t * t, t4 = t2 * t2, t8 = t4 * t4;
  pc_f64 p12 = 0x1.a51a6625307d4p-1 + t * -0x1.9a4d55beab2d3p-2;
  pc_f64 p34 = 0x1.151322ac7d38cp-2 + t * -0x1.a8b9c17aa695dp-3;
  pc_f64 p56 = 0x1.5b40cb10b236ep-3 + t * -0x1.2703a1dcd9694p-3;
  pc_f64 p78 = 0x1.010b365cee537p-3 + t * -0x1.c806704025aecp-4;
  pc_f64 p9a = 0x1.9a020ff14af9cp-4 + t * -0x1.748c492fbc67dp-4;
  pc_f64 pbc = 0x1.5563d799bd90fp-4 + t * -0x1.3b1910369b8e5p-4;
  pc_f64 pde = 0x1.254061ac933dbp-4 + t * -0x1.1192faa955f17p-4;
  pc_f64 pfg = 0x1.ed2245abffc75p-5 + t * -0x1.d22542a867badp-5;
  pc_f64 phi = 0x1.2b340cae1fe70p-4 + t * -0x1.17de0f95ec17dp-4;
  pc_f64 first = (p12 + t2 * p34) + t4 * (p56 + t2 * p78);
  pc_f64 second = (p9a + t2 * pbc) + t4 * (pde + t2 * pfg);
  pc_pair_f64 s = pc_sum_ordered_f64(-0x1.2788cfc6fb619p-1, t * (first + t8 * (second + t8 * phi)) + 0x1.648f6ec3ec7d6p-58);
  pc_pair_f64 y = pc_product_f64(t, s.hi);
  return y.hi + (y.lo + t * s.lo);
}

/* Returns ln Gamma x for x of 1.25 to 1.75, where t is the distance from its least value. Degree 14, error 8.2e-19. Otherwise results close
 * to the least value would be differences. */
PC_INLINE pc_f64 pc_gammaln_low_f64(pc_f64 t) {
  pc_f64 t2 = t * t, t4 = t2 * t2, t8 = t4 * t4;
  pc_f64 p01 = 0x1.ef72bc8ee38acp-2 + t * -0x1.2e4278dc6bbfbp-3;
  pc_f64 p23 = 0x1.08b4294d4fc60p-4 + t * -0x1.0c9a8df51f838p-5;
  pc_f64 p45 = 0x1.266e797b5c3c5p-6 + t * -0x1.51f9f93b7013dp-7;
  pc_f64 p67 = 0x1.8fce00d5f1ee0p-8 + t * -0x1.e2f1b319fdfa5p-9;
  pc_f64 p89 = 0x1.2831d43e078d5p-9 + t * -0x1.6f9541c87777ap-10;
  pc_f64 pab = 0x1.cc27a6ef55da0p-11 + t * -0x1.22864e0855977p-11;
  pc_f64 pcd = 0x1.78de0350cbf36p-12 + t * -0x1.ec861ec3b483fp-13;
  pc_f64 low = (p01 + t2 * p23) + t4 * (p45 + t2 * p67);
  pc_f64 high = (p89 + t2 * pab) + t4 * (pcd + t2 * 0x1.c2fdde7a980dap-14);
  pc_pair_f64 square = pc_product_f64(t, t), y = pc_product_f64(t2, low + t8 * high);
  y.lo = y.lo + square.lo * low;
  pc_pair_f64 s = pc_sum_ordered_f64(-0x1.f19b9bcc38a42p-4, y.hi);
  return s.hi + (s.lo + (y.lo + 0x1.f095c88d5a6c1p-59));
}

/* 1 / x, or 0 where terms of the series vanish, which are no subnormals so. */
PC_INLINE pc_f64 pc_gamma_inverse_f64(pc_f64 x) { return x < 0x1p100 ? 1.0 / x : 0.0; }

/* ln Gamma x for x >= 8, to about an ulp. */
PC_INLINE pc_f64 pc_gammaln_far_f64(pc_f64 x) {
  pc_f64 y = pc_gamma_inverse_f64(x), z = y * y, z2 = z * z;
  pc_f64 s01 = 0x1.5555555555555p-4 + z * -0x1.6c16c16c14af5p-9;
  pc_f64 s23 = 0x1.a01a017e89b99p-11 + z * -0x1.38134e15907ffp-11;
  pc_f64 s45 = 0x1.b92c934645251p-11 + z * -0x1.ef98074f35122p-10;
  pc_f64 series = y * ((s01 + z2 * s23) + (z2 * z2) * (s45 + z2 * 0x1.4c381c9f36053p-8));
  pc_pair_f64 one = {-1.0, 0.0}, a = {x - 0.5, 0.0};
  pc_pair_f64 w = pc_pair_mul_f64(a, pc_pair_add_f64(pc_log_pair_f64(x), one));
  pc_pair_f64 s = pc_sum_ordered_f64(w.hi, 0x1.acfe390c97d69p-2);
  return x > 0x1.754d9278b51a7p+1014 ? __builtin_inf() : s.hi + (s.lo + (w.lo + series));
}

/* ln Gamma x for 0 < x < 8. */
PC_INLINE pc_f64 pc_gammaln_near_f64(pc_f64 x) {
  pc_f64 n = pc_whole_f64(x);
  pc_f64 q = n > 2.5 ? x - 1.0 : 1.0;
  q = q * (n > 3.5 ? x - 2.0 : 1.0);
  q = q * (n > 4.5 ? x - 3.0 : 1.0);
  q = q * (n > 5.5 ? x - 4.0 : 1.0);
  q = q * (n > 6.5 ? x - 5.0 : 1.0);
  q = q * (n > 7.5 ? x - 6.0 : 1.0);
  /* Around 1 and the least value a logarithm would cancel; below 0.75 one step leads to the latter. One select after the other, because
   * compilers make no vectors of conditions that are combined. */
  q = x < 0.75 ? x : q;
  q = x < 0.25 ? x * (x + 1.0) : q;
  pc_f64 t = (x - (x < 0.75 ? 0x1.d8b618d5af8fcp-2 : 0x1.762d86356be3fp+0)) - 0x1.b86a722197829p-54;
  pc_f64 two = pc_gammaln_two_f64(x < 0x1p-100 ? 0.0 : x - n), low = pc_gammaln_low_f64(t);
  pc_f64 part = x < 1.75 ? low : two;
  part = x < 1.25 ? pc_gammaln_one_f64(x - 1.0) : part;
  part = x < 0.75 ? low : part;
  part = x < 0.25 ? two : part;
  /* Steps up are taken away. Both sums are rounded about once. */
  pc_f64 whole = q < 0x1p-1000 ? -64.0 * PC_LN2_HI_F64 : 0.0, rest = q < 0x1p-1000 ? 64.0 * PC_LN2_LO_F64 : 0.0;
  pc_f64 sum = pc_log_sum_f64(whole, q < 0x1p-1000 ? q * 0x1p64 : q, (n < 1.5 ? -part : part) - rest);
  return (n < 1.5 ? -sum : sum) + 0.0; /* no zero is -0 */
}

/* ln Gamma x for x > 0. */
PC_INLINE pc_f64 pc_gammaln_right_f64(pc_f64 x) {
  pc_f64 near = pc_gammaln_near_f64(x < 8.0 ? x : 2.0), far = pc_gammaln_far_f64(x < 8.0 ? 8.0 : x);
  return x < 8.0 ? near : far;
}

/* The regions of gammaln, whose forms are above. */
PC_INLINE uint64_t pc_gammaln_is_near_f64(pc_f64 x) { return (uint64_t)(x > 0.0) & (uint64_t)(x < 8.0); }
PC_INLINE uint64_t pc_gammaln_is_far_f64(pc_f64 x) { return x >= 8.0; }
PC_INLINE uint64_t pc_gammaln_is_right_f64(pc_f64 x) { return x > 0.0; }

/* Returns |sin pi f| for |f| <= 1/2, as a pair: the sine of pi |f|, or the cosine of pi (1/2 - |f|) for |f| > 1/4. */
PC_TAIL pc_pair_f64 pc_sine_of_turn_f64(pc_f64 f) {
  pc_f64 a = pc_magnitude_f64(f), u = a <= 0.25 ? a : 0.5 - a;
  pc_pair_f64 v = pc_product_f64(u, 0x1.921fb54442d18p+1);
  v.lo = v.lo + u * 0x1.1a62633145c07p-53;
  if (a > 0.25) return pc_cos_pair_f64(v.hi, v.lo);
  return pc_sum_ordered_f64(v.hi, pc_sin_tail_f64(v.hi, v.lo));
}

/* ln |Gamma -a| = ln pi - ln(a sin pi a) - ln Gamma a by pairs, a >= 2^-60 no integer: between the poles both terms cancel. */
PC_TAIL pc_f64 pc_gammaln_left_f64(pc_f64 a, pc_f64 f) {
  const pc_pair_f64 turn = {0x1.250d048e7a1bdp+0, 0x1.7abf2ad8d5088p-57}, half = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
  pc_pair_f64 sine = pc_log_of_pair_f64(pc_pair_mul_f64(pc_pair_of_f64(a), pc_sine_of_turn_f64(f)));
  pc_pair_f64 main = pc_pair_mul_f64(pc_sum_f64(a, -0.5), pc_log_pair_f64(a));
  pc_pair_f64 right = pc_plus_f64(pc_plus_f64(main, pc_pair_of_f64(-a)), pc_plus_f64(half, pc_stirling_f64(a)));
  pc_pair_f64 left = pc_plus_f64(pc_plus_f64(turn, pc_minus_f64(sine)), pc_minus_f64(right));
  return left.hi + left.lo;
}

/* |sin pi f| and cos pi f for |f| <= 1/2. */
typedef struct pc_half_turn_f64 {
  pc_f64 s, c;
} pc_half_turn_f64;

PC_INLINE pc_half_turn_f64 pc_half_turn_of_f64(pc_f64 f) {
  pc_f64 a = pc_magnitude_f64(f);
  int small = a <= 0.25;
  pc_f64 u = small ? a : 0.5 - a;
  pc_pair_f64 v = pc_product_f64(u, 0x1.921fb54442d18p+1);
  pc_f64 lo = v.lo + u * 0x1.1a62633145c07p-53;
  pc_f64 sine = v.hi + pc_sin_tail_f64(v.hi, lo);
  pc_pair_f64 cosine = pc_cos_pair_f64(v.hi, lo);
  pc_half_turn_f64 out = {small ? sine : cosine.hi, small ? cosine.hi : sine};
  return out;
}

/* a less its nearest integer, a >= 0. */
PC_INLINE pc_f64 pc_fraction_f64(pc_f64 a) {
  pc_f64 c = a < 0x1p51 ? a : 0.0;
  pc_f64 near = c - pc_whole_f64(c);
  pc_f64 half = a < 0x1p52 ? a : 0.0; /* 2^51 to 2^52 has halves */
  pc_f64 far = half - ((half + 4503599627370496.0) - 4503599627370496.0);
  return a < 0x1p51 ? near : far;
}

/* ln |Gamma x|; inf at 0, at negative integers and at both infinities. */
PC_INLINE pc_f64 pc_gammaln_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x), f = pc_fraction_f64(a), y;
  if (x < 0.0 && a >= 0x1p-60 && f != 0.0) {
    y = pc_gammaln_left_f64(a, f);
  } else if (a < 8.0) {
    y = pc_gammaln_near_f64(a);
  } else {
    y = pc_gammaln_far_f64(a);
  }
  y = (x < 0.0 && a >= 0x1p-60 && f == 0.0) || a == 0.0 || a == __builtin_inf() ? __builtin_inf() : y;
  return x == x ? y : x;
}

/* The derivative of ln Gamma at 1.5 + t, for |t| <= 1/2, where d is the distance from its zero 1.4616... Degree 22, error 2.5e-18; to a
 * quarter of an ulp, since terms may cancel it in part. */
PC_INLINE pc_pair_f64 pc_digamma_middle_f64(pc_f64 t, pc_pair_f64 d) {
  pc_f64 t2 = t * t, t4 = t2 * t2, t8 = t4 * t4;
  pc_f64 p12 = -0x1.b1cb63005ee98p-2 + t * 0x1.eca189b8e6f76p-3;
  pc_f64 p34 = -0x1.2feeeb98a78d4p-3 + t * 0x1.8512e590384dep-4;
  pc_f64 p56 = -0x1.fb44202a24d84p-5 + t * 0x1.4de9aa17d2e44p-5;
  pc_f64 p78 = -0x1.b9f8b11b6d140p-6 + t * 0x1.256471623f99ep-6;
  pc_f64 p9a = -0x1.8635640cd62d4p-7 + t * 0x1.03c0b0f413ad8p-7;
  pc_f64 pbc = -0x1.5a06a35461f16p-8 + t * 0x1.cd1f78d120e2cp-9;
  pc_f64 pde = -0x1.336de78975336p-9 + t * 0x1.99dce1219df38p-10;
  pc_f64 pfg = -0x1.0fb1e31a9b4d5p-10 + t * 0x1.69e8ab6072a47p-11;
  pc_f64 phi = -0x1.fda3726235362p-12 + t * 0x1.55b278060fdbap-12;
  pc_f64 pjk = -0x1.2f63472685802p-13 + t * 0x1.8766da44b648dp-14;
  pc_f64 plm = -0x1.75f9af6a073b4p-13 + t * 0x1.fc2b034567e4ap-14;
  pc_f64 first = (p12 + t2 * p34) + t4 * (p56 + t2 * p78);
  pc_f64 second = (p9a + t2 * pbc) + t4 * (pde + t2 * pfg);
  pc_f64 third = (phi + t2 * pjk) + t4 * plm;
  pc_pair_f64 p = pc_sum_ordered_f64(0x1.e6f0cbb873616p-1, t * (first + t8 * (second + t8 * third)));
  pc_pair_f64 y = pc_product_f64(d.hi, p.hi);
  y.lo = y.lo + (d.hi * p.lo + d.lo * p.hi);
  return y;
}

/* a + 1 / x where `more`, else a. */
PC_INLINE pc_pair_f64 pc_digamma_step_f64(pc_pair_f64 a, int more, pc_f64 x) {
  pc_pair_f64 s = pc_sum_f64(a.hi, more ? 1.0 / x : 0.0);
  s.lo = s.lo + a.lo;
  return s;
}

/* The digamma function for 0 < x < 8. */
PC_INLINE pc_f64 pc_digamma_near_f64(pc_f64 c) {
  pc_f64 n = c < 0.5 ? 0.0 : pc_whole_f64(c - 0.5);
  pc_f64 part = c - n;
  pc_pair_f64 d = pc_sum_f64(part, -0x1.d8b618d5af8fcp-2), one = {1.0, 0.0}, by = {n < 0.5 ? c : c - 1.0, 0.0};
  d.lo = d.lo - 0x1.b86a722197829p-54;
  pc_pair_f64 y = pc_digamma_middle_f64(part - 0.5, d), back = pc_pair_div_f64(one, by);
  pc_pair_f64 sum = {n > 6.5 ? 1.0 / (c - 6.0) : 0.0, 0.0};
  sum = pc_digamma_step_f64(sum, n > 5.5, c - 5.0);
  sum = pc_digamma_step_f64(sum, n > 4.5, c - 4.0);
  sum = pc_digamma_step_f64(sum, n > 3.5, c - 3.0);
  sum = pc_digamma_step_f64(sum, n > 2.5, c - 2.0);
  /* The largest term, exactly enough: 1 / (c - 1), or less 1 / c where the way leads up. */
  pc_f64 back_hi = n < 0.5 ? -back.hi : n > 1.5 ? back.hi : 0.0, back_lo = n < 0.5 ? -back.lo : n > 1.5 ? back.lo : 0.0;
  pc_pair_f64 with = pc_sum_f64(back_hi, y.hi), all = pc_sum_f64(with.hi, sum.hi);
  pc_f64 near = all.hi + (all.lo + (with.lo + (y.lo + (back_lo + sum.lo))));
  return c < 0x1p-60 ? -1.0 / c : near;
}

/* The digamma function for x >= 8. */
PC_INLINE pc_f64 pc_digamma_far_f64(pc_f64 x) {
  pc_f64 v = pc_gamma_inverse_f64(x), z = v * v, z2 = z * z;
  pc_f64 s01 = 0x1.5555555555555p-4 + z * -0x1.11111111099f0p-7;
  pc_f64 s23 = 0x1.041040c7a088bp-8 + z * -0x1.1110b4cf1a167p-8;
  pc_f64 s45 = 0x1.f0389f71a53f1p-8 + z * -0x1.53284f21ea886p-6;
  pc_f64 series = (s01 + z2 * s23) + (z2 * z2) * (s45 + z2 * 0x1.04d0c0d2f101ep-4);
  return pc_log_f64(x) - (0.5 * v + z * series);
}

/* The digamma function for x > 0. */
PC_INLINE pc_f64 pc_digamma_right_f64(pc_f64 x) {
  pc_f64 near = pc_digamma_near_f64(x < 8.0 ? x : 1.5), far = pc_digamma_far_f64(x < 8.0 ? 8.0 : x);
  return x < 8.0 ? near : far;
}

/* The regions of digamma, whose forms are above. */
PC_INLINE uint64_t pc_digamma_is_near_f64(pc_f64 x) { return (uint64_t)(x > 0.0) & (uint64_t)(x < 8.0); }
PC_INLINE uint64_t pc_digamma_is_far_f64(pc_f64 x) { return x >= 8.0; }

/* The digamma function; -inf at 0, inf at -0, NaN at negative integers and -inf. */
PC_INLINE pc_f64 pc_digamma_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x), f = pc_fraction_f64(a);
  pc_f64 right = pc_digamma_right_f64(a);
  pc_half_turn_f64 t = pc_half_turn_of_f64(f);
  pc_f64 turn = pc_signed_f64(0x1.921fb54442d18p+1 * t.c / t.s, pc_sign_f64(f));
  pc_f64 left = a < 0x1p-60 ? 1.0 / a : (right + 1.0 / a) + turn;
  left = (f == 0.0) & (a > 0.0) ? __builtin_nan("") : left;
  pc_f64 y = x < 0.0 ? left : right;
  y = a == 0.0 ? pc_signed_f64(-__builtin_inf(), pc_sign_f64(x)) : y;
  return x == x ? y : x;
}

/* ln |Gamma x|; inf at 0, at negative integers and at both infinities. Left of 0 as of f64. */
PC_INLINE pc_f32 pc_gammaln_f32(pc_f32 x) { return x > 0.0f ? pc_gammaln_right_f32(x) : (pc_f32)pc_gammaln_f64((pc_f64)x); }

/* The digamma function; -inf at 0, inf at -0, NaN at negative integers and -inf. Left of 0 as of f64. */
PC_INLINE pc_f32 pc_digamma_f32(pc_f32 x) {
  pc_f32 right = pc_digamma_right_f32(x > 0.0f ? x : 1.0f), left = (pc_f32)pc_digamma_f64((pc_f64)x);
  return x > 0.0f ? right : left;
}

#endif
