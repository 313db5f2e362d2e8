/* precast/ops/math/bessel.h: the modified Bessel functions of orders 0 and 1, of the first kind.
 *
 * e^-x I(x) for x >= 0: up to 2 and up to 9 a polynomial, beyond P(9 / x) / sqrt x. The even and odd powers are summed apart. All three are
 * walked for every element. */
#ifndef PRECAST_OPS_MATH_BESSEL_H
#define PRECAST_OPS_MATH_BESSEL_H

#include <precast/ops/math/exp.h>
#include <precast/ops/math/f32/bessel.h>
#include <precast/ops/math/pair.h>

/* e^-x I0(x) for 0 <= x <= 2. Degree 19. */
PC_INLINE pc_f64 pc_i0_near_f64(pc_f64 x) {
  pc_f64 t = x - 1.0, t2 = t * t;
  pc_f64 y = 0x1.c9905695f5b1ep-41 + t * -0x1.7538bd4388a20p-44;
  y = (0x1.154c157da3907p-34 + t * -0x1.f8d8e90e2612bp-38) + t2 * y;
  y = (0x1.18704b21d4860p-28 + t * -0x1.1fcf90f81ef50p-31) + t2 * y;
  y = (0x1.b317e2b421997p-23 + t * -0x1.ffaf0300ddef1p-26) + t2 * y;
  y = (0x1.f28193d2a2efcp-18 + t * -0x1.570829a1c698cp-20) + t2 * y;
  y = (0x1.90253c033e481p-13 + t * -0x1.4b7eed12f476dp-15) + t2 * y;
  y = (0x1.a22bde1102fe6p-9 + t * -0x1.b21419f6724a1p-11) + t2 * y;
  y = (0x1.ff5f81de8466dp-6 + t * -0x1.60999a9aa7524p-7) + t2 * y;
  y = (0x1.3b2cc4f633d9cp-3 + t * -0x1.386425d0a372ep-4) + t2 * y;
  y = (0x1.dcf01629a660ep-2 + t * -0x1.08099e5ff368ep-2) + t2 * y;
  return y;
}

/* e^-x I0(x) for 2 <= x <= 9. Degree 27. */
PC_INLINE pc_f64 pc_i0_middle_f64(pc_f64 x) {
  pc_f64 t = (x - 5.5) * 0x1.2492492492492p-2, t2 = t * t;
  pc_f64 y = 0x1.740eda5aacc9ap-34 + t * -0x1.714cdf675503ap-36;
  y = (0x1.78da735e3ddfap-31 + t * -0x1.9c46d6e58134cp-33) + t2 * y;
  y = (0x1.4d3d47e9400edp-27 + t * -0x1.856f8dfa58dfcp-29) + t2 * y;
  y = (0x1.a355462036a12p-24 + t * -0x1.0b3f42e41d790p-25) + t2 * y;
  y = (0x1.c406cd8f8e89ap-21 + t * -0x1.3b7d658619836p-22) + t2 * y;
  y = (0x1.906a4b8d70a38p-18 + t * -0x1.3473b508249e2p-19) + t2 * y;
  y = (0x1.1ff1ee81e4816p-15 + t * -0x1.ed5e88ffc58c9p-17) + t2 * y;
  y = (0x1.4b6d6f1f0cecdp-13 + t * -0x1.3ddf178934d6dp-14) + t2 * y;
  y = (0x1.2f1c7db593ef6p-11 + t * -0x1.462963fe5d0dfp-12) + t2 * y;
  y = (0x1.be6a1dabcf3cap-10 + t * -0x1.0aa4ec87ac23bp-10) + t2 * y;
  y = (0x1.191c6a0252ee1p-8 + t * -0x1.66ea56ece8768p-9) + t2 * y;
  y = (0x1.58b7b6dc49c28p-7 + t * -0x1.b51ead19cd46ap-8) + t2 * y;
  y = (0x1.eae1573fdb102p-6 + t * -0x1.19eb4521d3eb6p-6) + t2 * y;
  y = (0x1.65577a3ee1391p-3 + t * -0x1.e12e3b91b8c7bp-5) + t2 * y;
  return y;
}

/* e^-x I0(x) sqrt x for x >= 9. Degree 23. */
PC_INLINE pc_f64 pc_i0_far_f64(pc_f64 x) {
  pc_f64 t = 18.0 / x - 1.0, t2 = t * t;
  pc_f64 y = -0x1.30f200954d032p-42 + t * 0x1.88007e85f9201p-37;
  y = (-0x1.1285cb9597923p-38 + t * -0x1.6ce4db989c028p-34) + t2 * y;
  y = (0x1.b1f9ba002fb63p-35 + t * 0x1.4048bd3b3981fp-32) + t2 * y;
  y = (-0x1.1865928f6476ep-32 + t * -0x1.64c2ffc262e34p-31) + t2 * y;
  y = (0x1.cc1b5009f5799p-31 + t * 0x1.14466b3a6a26ep-30) + t2 * y;
  y = (-0x1.ea13f0e49d503p-30 + t * -0x1.e478cbc46691fp-31) + t2 * y;
  y = (0x1.251dda004fcbep-30 + t * -0x1.b143cbd9a3b40p-31) + t2 * y;
  y = (0x1.55abfa389de33p-28 + t * 0x1.82c375970f399p-29) + t2 * y;
  y = (0x1.11ae6219cf035p-25 + t * 0x1.6a719d8a993c3p-27) + t2 * y;
  y = (0x1.bee923ba1b6cep-21 + t * 0x1.263fc5e4291cfp-23) + t2 * y;
  y = (0x1.b776e87b34069p-14 + t * 0x1.efbe0cdbec5f6p-18) + t2 * y;
  y = (0x1.9b72b66de3991p-2 + t * 0x1.840d985c5b7cbp-9) + t2 * y;
  return y;
}

/* e^-x I1(x) / x for 0 <= x <= 2. Degree 18. */
PC_INLINE pc_f64 pc_i1_near_f64(pc_f64 x) {
  pc_f64 t = x - 1.0, t2 = t * t;
  pc_f64 y = 0x1.85a2430b54d66p-44;
  y = (0x1.095adc6eccdddp-37 + t * -0x1.de9125980eb2ep-41) + t2 * y;
  y = (0x1.301c16e7b9468p-31 + t * -0x1.243d9ddf196c7p-34) + t2 * y;
  y = (0x1.1010cb9230691p-25 + t * -0x1.29389c366bc24p-28) + t2 * y;
  y = (0x1.6fa8d0f9c2024p-20 + t * -0x1.d068b3aab4b80p-23) + t2 * y;
  y = (0x1.66baede2afe02p-15 + t * -0x1.0c5f897708b5ap-17) + t2 * y;
  y = (0x1.db102348afb21p-11 + t * -0x1.b36714e0083d2p-13) + t2 * y;
  y = (0x1.85b7088af83e4p-7 + t * -0x1.cc3b58307108ep-9) + t2 * y;
  y = (0x1.543a5d4847776p-4 + t * -0x1.1a7e0274cd02ep-5) + t2 * y;
  y = (0x1.a9ccef9365f00p-3 + t * -0x1.4386a266e50e4p-3) + t2 * y;
  return y;
}

/* e^-x I1(x) / x for 2 <= x <= 9. Degree 26. */
PC_INLINE pc_f64 pc_i1_middle_f64(pc_f64 x) {
  pc_f64 t = (x - 5.5) * 0x1.2492492492492p-2, t2 = t * t;
  pc_f64 y = 0x1.37131fcfe5cd3p-37;
  y = (0x1.785ffb167126ap-34 + t * -0x1.3e2768e2dceaep-35) + t2 * y;
  y = (0x1.6abfbcd3bfb36p-30 + t * -0x1.60208c0d4166dp-32) + t2 * y;
  y = (0x1.071c45a3f1022p-26 + t * -0x1.3dd69823257a0p-28) + t2 * y;
  y = (0x1.4a3a4a6a97241p-23 + t * -0x1.a938f5b619a84p-25) + t2 * y;
  y = (0x1.5c6e4f29db96bp-20 + t * -0x1.ea7f57d2f79d2p-22) + t2 * y;
  y = (0x1.325df1a4f3034p-17 + t * -0x1.d9039c644a583p-19) + t2 * y;
  y = (0x1.bca07e5b44e78p-15 + t * -0x1.7a3d5d4374c1cp-16) + t2 * y;
  y = (0x1.088247e94c853p-12 + t * -0x1.f14baa7c59371p-14) + t2 * y;
  y = (0x1.01d7d8dcdb584p-10 + t * -0x1.0baa46b401913p-11) + t2 * y;
  y = (0x1.9f4917de73905p-9 + t * -0x1.d9897778cad19p-10) + t2 * y;
  y = (0x1.183d4675a3ae7p-7 + t * -0x1.5c868d4d3c0fcp-8) + t2 * y;
  y = (0x1.3a72ce949fe9bp-6 + t * -0x1.af17f016b2c6dp-7) + t2 * y;
  y = (0x1.d5c6e7778ad73p-6 + t * -0x1.a6ec56c03ef7dp-6) + t2 * y;
  return y;
}

/* e^-x I1(x) sqrt x for x >= 9. Degree 23. */
PC_INLINE pc_f64 pc_i1_far_f64(pc_f64 x) {
  pc_f64 t = 18.0 / x - 1.0, t2 = t * t;
  pc_f64 y = 0x1.910fd487a62a9p-41 + t * -0x1.92f065d5d4688p-37;
  y = (0x1.f6c2632a07066p-41 + t * 0x1.77b74705befa1p-34) + t2 * y;
  y = (-0x1.632e2381b753cp-35 + t * -0x1.4ac93d8ae1500p-32) + t2 * y;
  y = (0x1.0a03c2a48df1ap-32 + t * 0x1.728cc7eb4fda8p-31) + t2 * y;
  y = (-0x1.ce4cd3bbf1b68p-31 + t * -0x1.222bb42b2e455p-30) + t2 * y;
  y = (0x1.fdf61c48c95f5p-30 + t * 0x1.06147df274507p-30) + t2 * y;
  y = (-0x1.41cf936706d83p-30 + t * 0x1.adbc7d0cb428cp-31) + t2 * y;
  y = (-0x1.7208a84041635p-28 + t * -0x1.9f6ed6abba8e9p-29) + t2 * y;
  y = (-0x1.3740daa31e0a4p-25 + t * -0x1.90bfa9eb4f4bbp-27) + t2 * y;
  y = (-0x1.15dc100bace01p-20 + t * -0x1.5b1d20031e624p-23) + t2 * y;
  y = (-0x1.632fdc08c3fddp-13 + t * -0x1.5023895d2ad26p-17) + t2 * y;
  y = (0x1.8fd9be12cbe71p-2 + t * -0x1.1a92ebc891fecp-7) + t2 * y;
  return y;
}

/* e^-x I0(x) for x >= 0. */
PC_INLINE pc_f64 pc_i0e_right_f64(pc_f64 x) {
  pc_f64 near = pc_i0_near_f64(x < 2.0 ? x : 2.0);
  pc_f64 middle = pc_i0_middle_f64(x < 2.0 ? 2.0 : x > 9.0 ? 9.0 : x);
  pc_f64 far = pc_i0_far_f64(x > 9.0 ? x : 9.0) / __builtin_sqrt(x > 9.0 ? x : 9.0);
  return x < 2.0 ? near : x < 9.0 ? middle : far;
}

/* e^-x I1(x) for x >= 0. */
PC_INLINE pc_f64 pc_i1e_right_f64(pc_f64 x) {
  pc_f64 near = x * pc_i1_near_f64(x < 2.0 ? x : 2.0);
  pc_f64 middle = x * pc_i1_middle_f64(x < 2.0 ? 2.0 : x > 9.0 ? 9.0 : x);
  pc_f64 far = pc_i1_far_f64(x > 9.0 ? x : 9.0) / __builtin_sqrt(x > 9.0 ? x : 9.0);
  return x < 2.0 ? near : x < 9.0 ? middle : far;
}

/* e^x y for x >= 0 where the product is finite although e^x need not be. */
PC_INLINE pc_f64 pc_unscaled_f64(pc_f64 x, pc_f64 y) {
  const pc_f64 step = 16.0, factor = 0x1.0f2ebd0a80020p+23; /* e^16 */
  return pc_exp_f64(x > 700.0 ? x - step : x) * (x > 700.0 ? y * factor : y);
}

/* e^-|x| I0(x). */
PC_INLINE pc_f64 pc_i0e_f64(pc_f64 x) {
  pc_f64 y = pc_i0e_right_f64(pc_magnitude_f64(x));
  return x == x ? y : x;
}

/* e^-|x| I1(x). */
PC_INLINE pc_f64 pc_i1e_f64(pc_f64 x) {
  pc_f64 y = pc_signed_f64(pc_i1e_right_f64(pc_magnitude_f64(x)), pc_sign_f64(x));
  return x == x ? y : x;
}

PC_INLINE pc_f64 pc_i0_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x), y = pc_unscaled_f64(a, pc_i0e_right_f64(a));
  y = a < 714.0 ? y : __builtin_inf();
  return x == x ? y : x;
}

PC_INLINE pc_f64 pc_i1_f64(pc_f64 x) {
  pc_f64 a = pc_magnitude_f64(x), y = pc_unscaled_f64(a, pc_i1e_right_f64(a));
  y = a < 714.0 ? y : __builtin_inf();
  return x == x ? pc_signed_f64(y, pc_sign_f64(x)) : x;
}

#endif
