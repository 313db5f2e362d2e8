/* precast/ops/math/f32/bessel.h: the modified Bessel functions of orders 0 and 1 of f32, in f64: up to 8 a polynomial in x^2, beyond
 * e^x sqrt(8 / x) P(8 / x). */
#ifndef PRECAST_OPS_MATH_F32_BESSEL_H
#define PRECAST_OPS_MATH_F32_BESSEL_H

#include <precast/ops/math/f32/short.h>

/* I0(x) of z = x^2 / 4 for 0 <= x <= 8. Degree 10, error 2^-31.7. */
PC_INLINE pc_f64 pc_i0_near_short_f64(pc_f64 z) {
  pc_f64 t = z - 8.0, t2 = t * t, t4 = t2 * t2;
  pc_f64 p01 = 0x1.89ab1e7ac49fdp+5 + t * 0x1.f8c6232032479p+3, p23 = 0x1.0b79959b7dcf8p+1 + t * 0x1.3c661246dcdb7p-3;
  pc_f64 p45 = 0x1.dd564505829a0p-8 + t * 0x1.f179425926f6ep-13;
  pc_f64 p67 = 0x1.7a62b31da7414p-18 + t * 0x1.b5844402f7f00p-24, p89 = 0x1.8d535d1392e21p-30 + t * 0x1.2409fa60c982ep-36;
  return (p01 + t2 * p23) + t4 * ((p45 + t2 * p67) + t4 * (p89 + t2 * 0x1.4054b1b232791p-43));
}

/* e^-x I0(x) for x >= 8, of u = 8 / x. Degree 7, error 2^-33.4. */
PC_INLINE pc_f64 pc_i0_far_short_f64(pc_f64 u) {
  pc_f64 t = u + u - 1.0, t2 = t * t, t4 = t2 * t2;
  pc_f64 p01 = 0x1.9bd428acb20a6p-2 + t * 0x1.b8796bbcdbb69p-9, p23 = 0x1.1dab09446c57ap-13 + t * 0x1.75cbee1b145c6p-17;
  pc_f64 p45 = 0x1.8c3ca6f8eac42p-20 + t * 0x1.4998737d96687p-22, p67 = 0x1.d2d6162ba1660p-24 + t * 0x1.1165cff5cf4e8p-25;
  return pc_root_short_f64(u) * 0x1.6a09e667f3bcdp-2 * ((p01 + t2 * p23) + t4 * (p45 + t2 * p67)); /* sqrt(1 / 8) */
}

/* I1(x) / (x / 2) of z = x^2 / 4 for 0 <= x <= 8. Degree 10, error 2^-34.0. */
PC_INLINE pc_f64 pc_i1_near_short_f64(pc_f64 z) {
  pc_f64 t = z - 8.0, t2 = t * t, t4 = t2 * t2;
  pc_f64 p01 = 0x1.f8c6232846b43p+3 + t * 0x1.0b7995af81bd3p+2, p23 = 0x1.da991ae12596ap-2 + t * 0x1.dd563dcf6d8c9p-6;
  pc_f64 p45 = 0x1.36ebce680be9bp-10 + t * 0x1.1bcb333e0520bp-15, p67 = 0x1.7ed72e1535a2dp-21 + t * 0x1.8ccedea11dfb6p-27;
  pc_f64 p89 = 0x1.45e8b0673c20ep-33 + t * 0x1.b52b7223ae361p-40;
  return (p01 + t2 * p23) + t4 * ((p45 + t2 * p67) + t4 * (p89 + t2 * 0x1.c2e0cf6421c17p-47));
}

/* e^-x I1(x) for x >= 8, of u = 8 / x. Degree 7, error 2^-33.1. */
PC_INLINE pc_f64 pc_i1_far_short_f64(pc_f64 u) {
  pc_f64 t = u + u - 1.0, t2 = t * t, t4 = t2 * t2;
  pc_f64 p01 = 0x1.8ebe783b10565p-2 + t * -0x1.3f79621f8a5b9p-7, p23 = -0x1.cbc602ff29dc2p-13 + t * -0x1.f8810bf89d24cp-17;
  pc_f64 p45 = -0x1.ea1e724cd94cfp-20 + t * -0x1.80a7289f46343p-22, p67 = -0x1.07523a1f224c6p-23 + t * -0x1.33fb5f4e39adfp-25;
  return pc_root_short_f64(u) * 0x1.6a09e667f3bcdp-2 * ((p01 + t2 * p23) + t4 * (p45 + t2 * p67)); /* sqrt(1 / 8) */
}

PC_INLINE pc_f32 pc_i0_f32(pc_f32 x) {
  pc_f32 f = pc_magnitude_f32(x);
  pc_f64 a = (pc_f64)f, c = f < 8.0f ? a : 8.0, d = f < 8.0f ? 8.0 : a;
  pc_f64 far = pc_i0_far_short_f64(8.0 / d) * pc_exp_short_f64(d < 96.0 ? d : 96.0);
  pc_f64 y = f < 8.0f ? pc_i0_near_short_f64(0.25 * c * c) : far;
  pc_f32 out = (pc_f32)(f > 96.0f ? __builtin_inf() : y);
  return x == x ? out : x;
}

/* e^-|x| I0(x). */
PC_INLINE pc_f32 pc_i0e_f32(pc_f32 x) {
  pc_f32 f = pc_magnitude_f32(x);
  pc_f64 a = (pc_f64)f, c = f < 8.0f ? a : 8.0, d = f < 8.0f ? 8.0 : a;
  pc_f64 near = pc_i0_near_short_f64(0.25 * c * c) * pc_exp_short_f64(-c);
  pc_f32 out = (pc_f32)(f < 8.0f ? near : pc_i0_far_short_f64(8.0 / d));
  return x == x ? out : x;
}

PC_INLINE pc_f32 pc_i1_f32(pc_f32 x) {
  pc_f32 f = pc_magnitude_f32(x);
  pc_f64 a = (pc_f64)f, c = f < 8.0f ? a : 8.0, d = f < 8.0f ? 8.0 : a;
  pc_f64 far = pc_i1_far_short_f64(8.0 / d) * pc_exp_short_f64(d < 96.0 ? d : 96.0);
  pc_f64 y = f < 8.0f ? 0.5 * c * pc_i1_near_short_f64(0.25 * c * c) : far;
  pc_f32 out = pc_signed_f32((pc_f32)(f > 96.0f ? __builtin_inf() : y), pc_sign_f32(x));
  return x == x ? out : x;
}

/* e^-|x| I1(x). */
PC_INLINE pc_f32 pc_i1e_f32(pc_f32 x) {
  pc_f32 f = pc_magnitude_f32(x);
  pc_f64 a = (pc_f64)f, c = f < 8.0f ? a : 8.0, d = f < 8.0f ? 8.0 : a;
  pc_f64 near = 0.5 * c * pc_i1_near_short_f64(0.25 * c * c) * pc_exp_short_f64(-c);
  pc_f32 out = pc_signed_f32((pc_f32)(f < 8.0f ? near : pc_i1_far_short_f64(8.0 / d)), pc_sign_f32(x));
  return x == x ? out : x;
}

#endif
