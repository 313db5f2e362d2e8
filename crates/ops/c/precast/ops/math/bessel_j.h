/* precast/ops/math/bessel_j.h: the Bessel functions of orders 0 and 1, of the first kind, J, and of the second kind, Y.
 *
 * Up to 4 polynomials in x^2; J has its zero as a factor, and the singular terms of Y, 2 / pi ln x J and 1 / x, are added. Beyond 4, after
 * H. Hankel (1869), with c = x - pi / 4 - n pi / 2:
 *
 *   J = sqrt(2 / (pi x)) (P cos c - Q sin c)        Y = sqrt(2 / (pi x)) (P sin c + Q cos c)
 *
 * where P and x Q are polynomials in 1 / x^2. Both forms are walked for every element. Errors are relative to sqrt(J^2 + Y^2); those of J up
 * to 4 are relative to J. */
#ifndef PRECAST_OPS_MATH_BESSEL_J_H
#define PRECAST_OPS_MATH_BESSEL_J_H

#include <precast/ops/math/log.h>
#include <precast/ops/math/trig.h>

/* J0(x) / (x^2 - z^2) by s = x^2 <= 16, z the first zero. Degree 11. */
PC_INLINE pc_f64 pc_j0_near_f64(pc_f64 s) {
  pc_f64 t = s * 0.125 - 1.0, t2 = t * t;
  pc_f64 y = -0x1.3344f41d42566p-43 + t * 0x1.148676940a444p-49;
  y = (-0x1.b72e5fe143051p-32 + t * 0x1.1e14036597f5bp-37) + t2 * y;
  y = (-0x1.08c621262a185p-21 + t * 0x1.0fff1f805757cp-26) + t2 * y;
  y = (-0x1.a4b2380ccc120p-13 + t * 0x1.87a4ac4403e49p-17) + t2 * y;
  y = (-0x1.17057235d9c2bp-6 + t * 0x1.33fa04134f0abp-9) + t2 * y;
  y = (-0x1.6b2948e843e2bp-4 + t * 0x1.08d902d0bf620p-4) + t2 * y;
  return y;
}

/* J1(x) / (x (x^2 - z^2)) by s = x^2 <= 16, z the first zero. Degree 10. */
PC_INLINE pc_f64 pc_j1_near_f64(pc_f64 s) {
  pc_f64 t = s * 0.125 - 1.0, t2 = t * t;
  pc_f64 y = -0x1.98fda524d7d7fp-48;
  y = (-0x1.5e83fd62e6d08p-36 + t * 0x1.9f8788f87c7e2p-42) + t2 * y;
  y = (-0x1.07cd7fb37ee9bp-25 + t * 0x1.e22493c43775ep-31) + t2 * y;
  y = (-0x1.16aa83736c7b3p-16 + t * 0x1.bd76179bf60b8p-21) + t2 * y;
  y = (-0x1.13333a854ed90p-9 + t * 0x1.e84c1e7be010cp-13) + t2 * y;
  y = (-0x1.5aeded077f525p-6 + t * 0x1.5910c675e079ap-7) + t2 * y;
  return y;
}

/* Y0(x) - 2 / pi ln x J0(x) by s = x^2 <= 16. Degree 12. */
PC_INLINE pc_f64 pc_y0_near_f64(pc_f64 s) {
  pc_f64 t = s * 0.125 - 1.0, t2 = t * t;
  pc_f64 y = -0x1.195f082be4c53p-45;
  y = (-0x1.1273bb3bad8b7p-33 + t * 0x1.3026a7e86c819p-39) + t2 * y;
  y = (-0x1.e2e0081ac1c8bp-23 + t * 0x1.9681749c063b5p-28) + t2 * y;
  y = (-0x1.36d3e4868d88dp-13 + t * 0x1.bf172601b35aap-18) + t2 * y;
  y = (-0x1.9408055c44088p-6 + t * 0x1.343e1fcd27e77p-9) + t2 * y;
  y = (-0x1.9d62c655f0441p-2 + t * 0x1.3403132dcde11p-3) + t2 * y;
  y = (0x1.1de47f3d61dbbp-1 + t * 0x1.a1331a69b9ad2p-5) + t2 * y;
  return y;
}

/* (Y1(x) - 2 / pi (ln x J1(x) - 1 / x)) / x by s = x^2 <= 16. Degree 11. */
PC_INLINE pc_f64 pc_y1_near_f64(pc_f64 s) {
  pc_f64 t = s * 0.125 - 1.0, t2 = t * t;
  pc_f64 y = -0x1.9c0dbf8388261p-38 + t * 0x1.a085fb49f46a9p-44;
  y = (-0x1.c0736d0dc2db1p-27 + t * 0x1.514dc247b8b97p-32) + t2 * y;
  y = (-0x1.7c6b170a09e28p-17 + t * 0x1.d7d9ec15026a1p-22) + t2 * y;
  y = (-0x1.6fd45fc637c6ep-9 + t * 0x1.c22abaa98d7b6p-13) + t2 * y;
  y = (-0x1.9cc7b4993edeap-4 + t * 0x1.79eb3dc1c8d59p-6) + t2 * y;
  y = (0x1.51dd34f6a80c0p-4 + t * 0x1.369daf19b82a4p-3) + t2 * y;
  return y;
}

/* P of order 0 by t = 32 / x^2 - 1, x >= 4. Degree 23. */
PC_INLINE pc_f64 pc_bessel_p0_f64(pc_f64 t) {
  pc_f64 t2 = t * t;
  pc_f64 y = 0x1.710c818a3b67cp-36 + t * -0x1.2f4f594fea52fp-36;
  y = (-0x1.695edbca67b72p-34 + t * 0x1.4145d72291cc2p-34) + t2 * y;
  y = (0x1.6d6a9e03ec1f1p-33 + t * -0x1.53337737e7a0ap-33) + t2 * y;
  y = (-0x1.63c2e0e4ee454p-33 + t * 0x1.76f5a5cd51bcdp-33) + t2 * y;
  y = (0x1.971db228e8589p-33 + t * -0x1.7205e0dd5eff4p-33) + t2 * y;
  y = (0x1.8dfcc95bf2ed7p-33 + t * -0x1.a6828b43f1608p-35) + t2 * y;
  y = (0x1.413855a6c56b3p-30 + t * -0x1.24ebdb3666bf8p-31) + t2 * y;
  y = (0x1.ee36e4d568848p-28 + t * -0x1.7c17f1f160008p-29) + t2 * y;
  y = (0x1.1b8c6a036a8cbp-24 + t * -0x1.60c4a69d4ae0ap-26) + t2 * y;
  y = (0x1.35cafa7925254p-20 + t * -0x1.0a62ba048a0adp-22) + t2 * y;
  y = (0x1.400b74fdde49bp-14 + t * -0x1.eb7f37b0da5c8p-18) + t2 * y;
  y = (0x1.feec93af98dbdp-1 + t * -0x1.0843d927e8aeep-9) + t2 * y;
  return y;
}

/* x Q of order 0 by t = 32 / x^2 - 1, x >= 4. Degree 25. */
PC_INLINE pc_f64 pc_bessel_q0_f64(pc_f64 t) {
  pc_f64 t2 = t * t;
  pc_f64 y = -0x1.26cf90e573f0bp-33 + t * 0x1.01bba65271387p-33;
  y = (0x1.544f3996ae257p-31 + t * -0x1.3cdf140356562p-31) + t2 * y;
  y = (-0x1.78abf007a1d98p-30 + t * 0x1.70b18f543107cp-30) + t2 * y;
  y = (0x1.d1c964080f6a7p-30 + t * -0x1.eb168b034976ep-30) + t2 * y;
  y = (-0x1.a56ac4c79aebep-30 + t * 0x1.c70c70c0fde0bp-30) + t2 * y;
  y = (0x1.c9afe06937689p-32 + t * -0x1.9a370436db3a2p-31) + t2 * y;
  y = (-0x1.c0cee76610be8p-30 + t * 0x1.255c8a20f8a1ep-30) + t2 * y;
  y = (-0x1.91db1427b4bd5p-28 + t * 0x1.6c70fe4fc0f47p-29) + t2 * y;
  y = (-0x1.191551ab1c383p-25 + t * 0x1.ceb92cfea5c54p-27) + t2 * y;
  y = (-0x1.0ff940877e7aap-22 + t * 0x1.733adc24f0c90p-24) + t2 * y;
  y = (-0x1.c7d0d898f6c7fp-19 + t * 0x1.c75ae917e832bp-21) + t2 * y;
  y = (-0x1.165adb75f653bp-13 + t * 0x1.25c1e492c110cp-16) + t2 * y;
  y = (-0x1.f7607be6b4f3cp-4 + t * 0x1.ff4723bb823c9p-10) + t2 * y;
  return y;
}

/* P of order 1 by t = 32 / x^2 - 1, x >= 4. Degree 23. */
PC_INLINE pc_f64 pc_bessel_p1_f64(pc_f64 t) {
  pc_f64 t2 = t * t;
  pc_f64 y = -0x1.85fecce4fca69p-36 + t * 0x1.401ab0028eae4p-36;
  y = (0x1.7d6d01b72d04ap-34 + t * -0x1.52bb10f4147b9p-34) + t2 * y;
  y = (-0x1.81e3ba7136480p-33 + t * 0x1.65b62a5023661p-33) + t2 * y;
  y = (0x1.769af7054b19fp-33 + t * -0x1.8ac7c3d37f7abp-33) + t2 * y;
  y = (-0x1.b109a588d4c84p-33 + t * 0x1.87b091e436cb8p-33) + t2 * y;
  y = (-0x1.b57dc7f894791p-33 + t * 0x1.dd5379bdd713ep-35) + t2 * y;
  y = (-0x1.6060bdbd9f3a1p-30 + t * 0x1.3f97fe6a5f4cep-31) + t2 * y;
  y = (-0x1.127e7a79eb53cp-27 + t * 0x1.a37957e2b8d6fp-29) + t2 * y;
  y = (-0x1.41190fa00a149p-24 + t * 0x1.8b21b42c174f0p-26) + t2 * y;
  y = (-0x1.6c65e5459ab5dp-20 + t * 0x1.3248af92b4650p-22) + t2 * y;
  y = (-0x1.a7302df3333bep-14 + t * 0x1.2c5bb4543a58cp-17) + t2 * y;
  y = (0x1.00e7d5182a879p+0 + t * 0x1.c1097956f585cp-9) + t2 * y;
  return y;
}

/* x Q of order 1 by t = 32 / x^2 - 1, x >= 4. Degree 25. */
PC_INLINE pc_f64 pc_bessel_q1_f64(pc_f64 t) {
  pc_f64 t2 = t * t;
  pc_f64 y = 0x1.365011f8354b1p-33 + t * -0x1.0efe093aef1e1p-33;
  y = (-0x1.65f27620980cdp-31 + t * 0x1.4cf8a22993894p-31) + t2 * y;
  y = (0x1.8c3028d306a49p-30 + t * -0x1.8364afe117d7ap-30) + t2 * y;
  y = (-0x1.e98f8ee7b7d14p-30 + t * 0x1.01df2ad6b3632p-29) + t2 * y;
  y = (0x1.bbbcafb5e5693p-30 + t * -0x1.de516748dbaeap-30) + t2 * y;
  y = (-0x1.d60aec8d72e21p-32 + t * 0x1.abf15a7daa286p-31) + t2 * y;
  y = (0x1.e44e61da662e1p-30 + t * -0x1.3a096a9d59842p-30) + t2 * y;
  y = (0x1.b77d200cbeb58p-28 + t * -0x1.8d594bd05baeep-29) + t2 * y;
  y = (0x1.36837a040e43fp-25 + t * -0x1.fc34e450b2407p-27) + t2 * y;
  y = (0x1.317230fe24c5dp-22 + t * -0x1.9d11252121f86p-24) + t2 * y;
  y = (0x1.07e932ca85d42p-18 + t * -0x1.02ecb90ef5e5cp-20) + t2 * y;
  y = (0x1.5d97115448249p-13 + t * -0x1.5e075880a3f18p-16) + t2 * y;
  y = (0x1.7cf365514bfc2p-2 + t * -0x1.6d049e6649c7ap-9) + t2 * y;
  return y;
}

/* J and Y. */
typedef struct pc_wave_f64 {
  pc_f64 j, y;
} pc_wave_f64;

/* J0(x) for 0 <= x <= 4. */
PC_INLINE pc_f64 pc_j0_first_f64(pc_f64 x) {
  const pc_f64 zero = 0x1.33d152e971b40p+1, rest = -0x1.0f539d7da258ep-53;
  return ((x - zero) - rest) * (x + zero) * pc_j0_near_f64(x * x);
}

/* J1(x) for 0 <= x <= 4. */
PC_INLINE pc_f64 pc_j1_first_f64(pc_f64 x) {
  const pc_f64 zero = 0x1.ea75575af6f09p+1, rest = -0x1.60155a9d1b256p-53;
  return x * (((x - zero) - rest) * (x + zero) * pc_j1_near_f64(x * x));
}

/* Orders 0 and 1 for x >= 4, from P and x Q. inf gives 0. */
PC_INLINE pc_wave_f64 pc_bessel_wave_f64(pc_f64 x, pc_f64 p, pc_f64 xq) {
  pc_turn_f64 r = pc_turn_of_f64(x);
  pc_f64 s = pc_sin_reduced_f64(x, r), c = pc_cos_reduced_f64(r), q = xq / x;
  pc_f64 size = __builtin_sqrt(0x1.45f306dc9c883p-2 / x); /* 1 / pi */
  pc_wave_f64 y = {size * (p * (s + c) - q * (s - c)), size * (p * (s - c) + q * (s + c))};
  pc_wave_f64 out = {x < __builtin_inf() ? y.j : 0.0, x < __builtin_inf() ? y.y : 0.0};
  return out;
}

/* Order 0 for x >= 4. */
PC_INLINE pc_wave_f64 pc_bessel_wave0_f64(pc_f64 x) {
  pc_f64 t = 32.0 / x / x - 1.0;
  return pc_bessel_wave_f64(x, pc_bessel_p0_f64(t), pc_bessel_q0_f64(t));
}

/* Order 1 for x >= 4: a quarter turn later. */
PC_INLINE pc_wave_f64 pc_bessel_wave1_f64(pc_f64 x) {
  pc_f64 t = 32.0 / x / x - 1.0;
  pc_wave_f64 y = pc_bessel_wave_f64(x, pc_bessel_p1_f64(t), pc_bessel_q1_f64(t));
  pc_wave_f64 out = {y.y, -y.j};
  return out;
}

/* The Bessel function of the first kind of order 0. */
PC_INLINE pc_f64 pc_j0_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x);
  pc_f64 near = pc_j0_first_f64(a < 4.0 ? a : 4.0), far = pc_bessel_wave0_f64(a > 4.0 ? a : 4.0).j;
  pc_f64 y = a < 4.0 ? near : far;
  return x == x ? y : x;
}

/* The Bessel function of the first kind of order 1; odd. */
PC_INLINE pc_f64 pc_j1_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x);
  pc_f64 near = pc_j1_first_f64(a < 4.0 ? a : 4.0), far = pc_bessel_wave1_f64(a > 4.0 ? a : 4.0).j;
  pc_f64 y = a < 4.0 ? near : far;
  return x == x ? pc_signed_f64(y, pc_sign_f64(x)) : x;
}

/* The edges of Y: -inf at 0, NaN left of it. */
PC_INLINE pc_f64 pc_bessel_y_edges_f64(pc_f64 x, pc_f64 y) {
  pc_f64 edge = x == 0.0 ? -__builtin_inf() : __builtin_nan("");
  return x > 0.0 ? y : edge;
}

/* The Bessel function of the second kind of order 0. */
PC_INLINE pc_f64 pc_y0_f64(pc_f64 x) {
  const pc_f64 two_by_pi = 0x1.45f306dc9c883p-1;
  pc_f64 a = x < 4.0 ? x : 4.0;
  pc_f64 near = two_by_pi * pc_log_f64(a) * pc_j0_first_f64(a) + pc_y0_near_f64(a * a);
  pc_f64 far = pc_bessel_wave0_f64(x > 4.0 ? x : 4.0).y;
  return pc_bessel_y_edges_f64(x, x < 4.0 ? near : far);
}

/* The Bessel function of the second kind of order 1. */
PC_INLINE pc_f64 pc_y1_f64(pc_f64 x) {
  const pc_f64 two_by_pi = 0x1.45f306dc9c883p-1;
  pc_f64 a = x < 4.0 ? x : 4.0;
  pc_f64 near = (two_by_pi * pc_log_f64(a) * pc_j1_first_f64(a) + a * pc_y1_near_f64(a * a)) - two_by_pi / a;
  pc_f64 far = pc_bessel_wave1_f64(x > 4.0 ? x : 4.0).y;
  return pc_bessel_y_edges_f64(x, x < 4.0 ? near : far);
}

PC_INLINE pc_f32 pc_j0_f32(pc_f32 x) { return (pc_f32)pc_j0_f64((pc_f64)x); }
PC_INLINE pc_f32 pc_j1_f32(pc_f32 x) { return (pc_f32)pc_j1_f64((pc_f64)x); }
PC_INLINE pc_f32 pc_y0_f32(pc_f32 x) { return (pc_f32)pc_y0_f64((pc_f64)x); }
PC_INLINE pc_f32 pc_y1_f32(pc_f32 x) { return (pc_f32)pc_y1_f64((pc_f64)x); }

#endif
