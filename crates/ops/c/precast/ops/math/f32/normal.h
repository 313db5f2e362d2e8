/* precast/ops/math/f32/normal.h: e^(x^2) erfc x, the normal distribution and its logarithm, and the inverses of both error functions of
 * f32, in f64. */
#ifndef PRECAST_OPS_MATH_F32_NORMAL_H
#define PRECAST_OPS_MATH_F32_NORMAL_H

#include <precast/ops/math/f32/erfc.h>

/* e^(x^2) erfc x for x >= 0. Beyond 10 six terms of the asymptotic series in u = 1 / (2 x^2). */
PC_INLINE pc_f64 pc_erfcx_short_f64(pc_f64 x) {
  pc_f64 y = 1.0 / (x > 10.0 ? x : 10.0), u = 0.5 * y * y;
  pc_f64 series = 1.0 - u * (1.0 - 3.0 * u * (1.0 - 5.0 * u * (1.0 - 7.0 * u * (1.0 - 9.0 * u * (1.0 - 11.0 * u)))));
  pc_f64 near = pc_erfc_factor_short_f64(x < 10.0 ? x : 10.0);
  return x < 10.0 ? near : 0x1.20dd750429b6dp-1 * series * y; /* 1 / sqrt(pi) */
}

/* e^(x^2) erfc x. */
PC_INLINE pc_f32 pc_erfcx_f32(pc_f32 x) {
  pc_f64 a = (pc_f64)pc_magnitude_f32(x), c = a < 10.0 ? a : 10.0, right = pc_erfcx_short_f64(a);
  pc_f64 power = pc_exp_short_f64(c * c);
  return x == x ? (pc_f32)(x < 0.0f ? (power - right) + power : right) : x;
}

/* The probability that a standard normal number exceeds x sqrt 2 >= 0, as of f64 down to the subnormals of f32. */
PC_INLINE pc_f64 pc_tail_short_f64(pc_f64 x) { return 0.5 * pc_erfc_short_f64(x < 10.1875 ? x : 10.1875); }

/* The probability that a standard normal number is at most x. */
PC_INLINE pc_f32 pc_ndtr_f32(pc_f32 x) {
  pc_f64 y = pc_tail_short_f64((pc_f64)pc_magnitude_f32(x) * 0x1.6a09e667f3bcdp-1);
  return x == x ? (pc_f32)(x < 0.0f ? y : 1.0 - y) : x;
}

/* ln of the probability that a standard normal number is at most x. */
PC_INLINE pc_f32 pc_log_ndtr_f32(pc_f32 x) {
  pc_f64 a = (pc_f64)pc_magnitude_f32(x) * 0x1.6a09e667f3bcdp-1, p = pc_tail_short_f64(a);
  pc_f64 left = pc_ln_short_f64(0.5 * pc_erfcx_short_f64(a)) - a * a;
  pc_f64 right = p < 0x1p-20 ? -(p + 0.5 * (p * p)) : pc_ln_short_f64(1.0 - p);
  return x == x ? (pc_f32)(x < 0.0f ? left : right) : x;
}

/* a up to 6.5, b up to 25, else c. */
PC_INLINE pc_f64 pc_by_size_f64(pc_f64 w, pc_f64 a, pc_f64 b, pc_f64 c) {
  pc_f64 y = w < 25.0 ? b : c;
  return w < 6.5 ? a : y;
}

/* erfinv x / x where w = -ln(1 - x^2) is at most 105, after M. Giles, "Approximating the erfinv function" (2010). A polynomial of degree 12
 * in w up to 6.5, and in its root beyond; error 2^-30. */
PC_INLINE pc_f64 pc_quantile_short_f64(pc_f64 w) {
  pc_f64 r = pc_root_short_f64(w), u = w < 6.5 ? w - 3.25 : r - (w < 25.0 ? 3.78125 : 7.625), u2 = u * u, u4 = u2 * u2;
  pc_f64 p0 = pc_by_size_f64(w, 0x1.aeff02c95823fp+0, 0x1.cf3c499f6a3bep+1, 0x1.dff2cb51cc4c0p+2);
  pc_f64 p1 = pc_by_size_f64(w, 0x1.e8afc1d60be41p-3, 0x1.0240dea1e994ap+0, 0x1.020a2000c0eeep+0);
  pc_f64 p2 = pc_by_size_f64(w, -0x1.9c7f27b78f408p-8, 0x1.fbc082293b951p-10, -0x1.00eae80d187f7p-11);
  pc_f64 p3 = pc_by_size_f64(w, -0x1.548b94ef4a67ap-11, -0x1.40134843a3327p-10, 0x1.1330c961ab1d4p-16);
  pc_f64 p4 = pc_by_size_f64(w, 0x1.74cb3aa3f3903p-13, 0x1.09064c70c969ep-11, 0x1.4cb3326c89904p-19);
  pc_f64 p5 = pc_by_size_f64(w, -0x1.f00d18934efc1p-17, -0x1.f39e11a021916p-13, -0x1.acdec094fdd7cp-21);
  pc_f64 p6 = pc_by_size_f64(w, -0x1.0e36ce90399acp-20, 0x1.2455735e8e0d0p-13, 0x1.2e7afd452d128p-23);
  pc_f64 p7 = pc_by_size_f64(w, 0x1.a9dabb6946417p-22, -0x1.5aba0701848f4p-14, -0x1.7368f94ce0f80p-26);
  pc_f64 p8 = pc_by_size_f64(w, -0x1.1df27ef4f0fe4p-25, 0x1.6e694a45f840ap-15, 0x1.6ef70fa679dd4p-28);
  pc_f64 p9 = pc_by_size_f64(w, -0x1.eb531db416ff5p-29, -0x1.2aeb039e4f18bp-16, -0x1.ddb926857b3a1p-31);
  pc_f64 pa = pc_by_size_f64(w, 0x1.1211cf1bc9cb7p-30, 0x1.9b54384c8171fp-20, 0.0);
  pc_f64 pb = pc_by_size_f64(w, -0x1.240139898b49bp-37, 0x1.afd22f06459c3p-19, 0.0);
  pc_f64 pc = pc_by_size_f64(w, -0x1.87896522d11f8p-37, -0x1.47d7901985045p-20, 0.0);
  pc_f64 low = (p0 + u * p1) + u2 * (p2 + u * p3), middle = (p4 + u * p5) + u2 * (p6 + u * p7);
  pc_f64 high = (p8 + u * p9) + u2 * (pa + u * pb);
  return low + u4 * (middle + u4 * (high + u4 * pc));
}

/* erfinv x of 1 - x^2 = c; inf for c = 0, and NaN for c < 0. */
PC_INLINE pc_f64 pc_erfinv_short_f64(pc_f64 x, pc_f64 c) {
  pc_f64 y = x * pc_quantile_short_f64(-pc_ln_short_f64(c > 0.0 ? c : 0.5)), edge = c == 0.0 ? x * __builtin_inf() : __builtin_nan("");
  return c > 0.0 ? y : edge;
}

/* The inverse of erf; NaN outside of -1 to 1. */
PC_INLINE pc_f32 pc_erfinv_f32(pc_f32 x) {
  pc_f64 a = (pc_f64)pc_magnitude_f32(x);
  return (pc_f32)pc_erfinv_short_f64((pc_f64)x, (1.0 - a) * (1.0 + a));
}

/* The inverse of erfc; NaN outside of 0 to 2. */
PC_INLINE pc_f32 pc_erfcinv_f32(pc_f32 x) {
  pc_f64 c = (pc_f64)x;
  return (pc_f32)pc_erfinv_short_f64(1.0 - c, c * (2.0 - c));
}

/* The inverse of ndtr; NaN outside of 0 to 1. */
PC_INLINE pc_f32 pc_ndtri_f32(pc_f32 p) {
  pc_f64 c = (pc_f64)p + (pc_f64)p;
  return (pc_f32)(0x1.6a09e667f3bcdp+0 * pc_erfinv_short_f64(c - 1.0, c * (2.0 - c)));
}

#endif
