/* precast/ops/math/erf.h: the error function and its complement.
 *
 * Up to 3/4: erf x = x + x Q(x^2), and 1 less that. Beyond: erfc x = e^(-x^2) G(t) / x with t = (x - 2.25) / (x + 2.25), after
 * M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x" (1981); x^2, the power, G and the
 * quotient are pairs, since an error of x^2 is one of the result. Both ways are walked for every element. */
#ifndef PRECAST_OPS_MATH_ERF_H
#define PRECAST_OPS_MATH_ERF_H

#include <precast/ops/math/f32/erfc.h>
#include <precast/ops/math/pow.h>
#include <precast/ops/math/sigmoid.h>

/* erf x - x for 0 <= x <= 3/4. Q has degree 10, error 7.8e-19. */
PC_INLINE pc_f64 pc_erf_tail_f64(pc_f64 x) {
  pc_f64 z = x * x, z2 = z * z, z4 = z2 * z2;
  pc_f64 p01 = 0x1.06eba8214db69p-3 + z * -0x1.812746b0379e0p-2;
  pc_f64 p23 = 0x1.ce2f21a04246dp-4 + z * -0x1.b82ce3125558dp-6;
  pc_f64 p45 = 0x1.565bcd030dc13p-8 + z * -0x1.c02db10fec838p-11;
  pc_f64 p67 = 0x1.f9a2ad5b6e0fcp-14 + z * -0x1.f4c5b130cb759p-17;
  pc_f64 p89 = 0x1.b90ca76f03ed7p-20 + z * -0x1.564115926ade7p-23;
  pc_f64 high = p89 + z2 * 0x1.89df89433d9cbp-27;
  return x * (((p01 + z2 * p23) + z4 * (p45 + z2 * p67)) + (z4 * z4) * high);
}

/* x e^(x^2) erfc x for 3/4 <= x <= 27.5. G has degree 21, error 2.8e-18. */
PC_INLINE pc_pair_f64 pc_erfc_factor_f64(pc_f64 x) {
  pc_f64 t = (x - 2.25) / (x + 2.25), t2 = t * t, t4 = t2 * t2, t8 = t4 * t4;
  pc_f64 g12 = 0x1.26d813efea5cbp-3 + t * -0x1.859277da802dcp-3;
  pc_f64 g34 = 0x1.14cb607f0ff9bp-3 + t * -0x1.ad591ce775ac6p-5;
  pc_f64 g56 = 0x1.07b59a7d87dc5p-8 + t * 0x1.63e9a19c6f0e7p-8;
  pc_f64 g78 = -0x1.3edde0a5d3e14p-10 + t * -0x1.979e2e916b3dep-11;
  pc_f64 g9a = 0x1.803f3237a6ffep-13 + t * 0x1.445f52be07c96p-13;
  pc_f64 gbc = -0x1.cd5e8126c789fp-17 + t * -0x1.1a5104039bf84p-15;
  pc_f64 gde = -0x1.3e0136b3cee13p-18 + t * 0x1.9bf639b52c4d9p-18;
  pc_f64 gfg = 0x1.8d6f98693788ap-19 + t * -0x1.cba9aeebdb5efp-22;
  pc_f64 ghi = -0x1.00cf0fa185c0ap-20 + t * -0x1.349d36c7ba1d8p-22;
  pc_f64 gjk = 0x1.09b35f16f43d7p-22 + t * 0x1.17b69fa532e50p-23;
  pc_f64 first = (g12 + t2 * g34) + t4 * (g56 + t2 * g78);
  pc_f64 second = (g9a + t2 * gbc) + t4 * (gde + t2 * gfg);
  pc_f64 third = (ghi + t2 * gjk) + t4 * -0x1.29dbc588f894fp-24;
  pc_f64 tail = first + t8 * (second + t8 * third);
  return pc_sum_ordered_f64(0x1.0a3667d87642cp-1, t * tail);
}

/* erfc(x + lo) = e^(-x^2) G / x for 3/4 <= x <= 27.5 of the factor G, and the bits of the powers of two it lacks. Products of first parts, of 26
 * bits, are exact, so the square is one and a rest, and so is the product. */
typedef struct pc_scaled_erfc_f64 {
  pc_f64 y;
  uint64_t bits;
} pc_scaled_erfc_f64;

PC_INLINE pc_scaled_erfc_f64 pc_erfc_scaled_f64(pc_pair_f64 g, pc_f64 x, pc_f64 lo) {
  pc_f64 head = pc_head_f64(x), square = head * head, rest = (x - head) * (x + head) + 2.0 * x * lo;
  pc_reduced_f64 k = pc_reduce_ln2_f64(-square, 2046.0);
  pc_pair_f64 s = pc_sum_ordered_f64(1.0, k.hi);
  pc_f64 tail = s.lo + pc_exp_tail_f64(k.hi, k.lo + rest), e = pc_head_f64(s.hi + tail), gh = pc_head_f64(g.hi);
  pc_f64 low = e * ((g.hi - gh) + g.lo) + ((s.hi - e) + tail) * g.hi;
  pc_scaled_erfc_f64 out = {pc_quotient_f64(e * gh, low, x, lo), k.bits};
  return out;
}

/* erfc x for 3/4 <= x <= 27.5. */
PC_INLINE pc_f64 pc_erfc_far_f64(pc_f64 x) {
  pc_scaled_erfc_f64 q = pc_erfc_scaled_f64(pc_erfc_factor_f64(x), x, 0.0);
  return q.y * pc_scale_low_f64(q.bits) * pc_scale_high_f64(q.bits);
}

/* erfc x for 3/4 <= x <= 6, to an ulp of erf x: e^(-x^2) F(t), without pairs. F has degree 15, error 5.2e-19. */
PC_INLINE pc_f64 pc_erf_rest_f64(pc_f64 x) {
  pc_f64 t = (x - 2.25) / (x + 2.25), t2 = t * t, t4 = t2 * t2, t8 = t4 * t4;
  pc_f64 f01 = 0x1.d94446d627934p-3 + t * -0x1.97beed129e2a6p-2, f23 = 0x1.ff4e7f9261b5dp-3 + t * -0x1.ae49942a870aep-4;
  pc_f64 f45 = 0x1.635951a76c742p-6 + t * 0x1.bcc25847ec756p-9, f67 = -0x1.6accfb6ce34f4p-9 + t * -0x1.86ce8cab2fb39p-13;
  pc_f64 f89 = 0x1.8ff22e70809c4p-12 + t * 0x1.7e26118ce5320p-15, fab = -0x1.e843543655e93p-15 + t * -0x1.162f7ca762ac6p-16;
  pc_f64 fcd = 0x1.ff93104ce16d2p-18 + t * 0x1.432aa91a6bd1ap-18, fef = -0x1.1fc610901b177p-23 + t * -0x1.32e19b4db235ep-21;
  pc_f64 f = ((f01 + t2 * f23) + t4 * (f45 + t2 * f67)) + t8 * ((f89 + t2 * fab) + t4 * (fcd + t2 * fef));
  pc_reduced_f64 k = pc_reduce_ln2_f64(-(x * x), 1023.0);
  return (1.0 + (k.hi + pc_exp_tail_f64(k.hi, k.lo))) * f * pc_from_bits_f64(k.bits << 52);
}

/* The error function; keeps the sign of zero. */
PC_INLINE pc_f64 pc_erf_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x);
  pc_f64 near = a + pc_erf_tail_f64(a < 0.75 ? a : 0.75);
  pc_f64 c = a > 0.75 ? a : 0.75;
  pc_f64 far = 1.0 - pc_erf_rest_f64(c > 6.0 ? 6.0 : c);
  pc_f64 y = a < 0.75 ? near : far;
  return x == x ? pc_signed_f64(y, pc_sign_f64(x)) : x;
}

/* 1 - erf x, to the same relative error down to the subnormals; 2 far to the left. */
PC_INLINE pc_f64 pc_erfc_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x);
  pc_f64 b = a < 0.75 ? a : 0.75, tail = pc_erf_tail_f64(b);
  pc_f64 u = pc_signed_f64(b, pc_sign_f64(x)), v = pc_signed_f64(tail, pc_sign_f64(x));
  pc_pair_f64 w = pc_sum_ordered_f64(1.0, -u);
  pc_f64 near = w.hi + (w.lo - v);
  pc_f64 c = a > 0.75 ? a : 0.75;
  pc_f64 e = pc_erfc_far_f64(c > 27.5 ? 27.5 : c);
  pc_f64 far = x < 0.0 ? 2.0 - e : e;
  pc_f64 y = a < 0.75 ? near : far;
  return x == x ? y : x;
}

/* Up to 0.845 as of f64, Q of degree 5; beyond erfc x = 2^-(3 + p), p = w R(w), w the distance from where erfc is 1/8: near there
 * p is small and so is its error. R has degree 5, the power's polynomial 6; their last bits were chosen for the least error over all x. */
PC_INLINE pc_f32 pc_erf_f32(pc_f32 x) {
  const uint32_t sign = 0x80000000u, four = 0x40800000u;
  const pc_f32 magic = 12582912.0f - 3.0f;
  uint32_t u = pc_bits_f32(x) & ~sign;
  pc_f32 a = pc_from_bits_f32(u), w = pc_from_bits_f32(u < four ? u : four) - 0x1.15b49ap+0f, w2 = w * w;
  pc_f32 p01 = 0x1.00f194p+2f + w * 0x1.3b221cp+0f, p23 = 0x1.c4b2b8p-5f + w * -0x1.b3a4d6p-7f;
  pc_f32 p = w * (p01 + w2 * (p23 + w2 * (0x1.55b176p-9f + w * -0x1.3bfd30p-12f)));
  pc_f32 t = magic - p, r = (magic - t) - p, r2 = r * r;
  pc_f32 e01 = 1.0f + r * 0x1.62e432p-1f, e23 = 0x1.ebfbf0p-3f + r * 0x1.c6aebcp-5f, e45 = 0x1.3b2dfcp-7f + r * 0x1.5f459ap-10f;
  pc_f32 e = e01 + r2 * (e23 + r2 * (e45 + r2 * 0x1.41d38ap-13f));
  pc_f32 far = 1.0f - pc_from_bits_f32(pc_bits_f32(e) + (pc_bits_f32(t) << 23));
  pc_f32 z = a * a, z2 = z * z;
  pc_f32 q = (0x1.ce23cap-4f + z * -0x1.b7217ap-6f) + z2 * (0x1.4b0530p-8f + z * -0x1.4b0cecp-11f);
  pc_f32 near = a + a * (0x1.06eba8p-3f + z * (-0x1.81271ap-2f + z * q));
  pc_f32 y = a >= 0.845f ? far : near;
  return pc_from_bits_f32(pc_bits_f32(y) | (pc_bits_f32(x) & sign));
}

#endif
