/* precast/ops/math/sigmoid.h: the logistic function and the hyperbolic tangent. */
#ifndef PRECAST_OPS_MATH_SIGMOID_H
#define PRECAST_OPS_MATH_SIGMOID_H

#include <precast/ops/math/exp.h>

/* (nh + nl) / (dh + dl), rounded about once: the quotient's first 26 bits times the divisor is exact, the rest is
 * divided through by multiplication. |nl| and |dl| are below an ulp of nh and dh. */
PC_INLINE pc_f64 pc_quotient_f64(pc_f64 nh, pc_f64 nl, pc_f64 dh, pc_f64 dl) {
  const uint64_t head = 0xfffffffff8000000u;
  pc_f64 y = 1.0 / dh;
  pc_f64 q = pc_from_bits_f64(pc_bits_f64(nh * y) & head);
  pc_f64 a = pc_from_bits_f64(pc_bits_f64(dh) & head), b = dh - a;
  pc_f64 rest = ((nh - q * a) - q * b) + (nl - q * dl);
  return q + rest * y;
}

/* 1 / (1 + e^-x), without overflow and with full relative accuracy for x < 0: e^x / (1 + e^x). CPUs take a hundred times as long where an
 * operand or a result of arithmetic is subnormal. So the power beside 1 is never that small, and a subnormal result is made of bits: its
 * units of 2^-1074 are added to 2^52, which rounds them to an integer. The least and greatest of integers are compiled as such; of
 * floats, gcc copies what follows for the constant. */
PC_INLINE pc_f64 pc_sigmoid_f64(pc_f64 x) {
  const uint64_t most = 0x4087500000000000u, magic = 0x4338000000000000u; /* 746, 1.5 * 2^52 */
  uint64_t u = pc_bits_f64(pc_from_bits_f64(pc_bits_f64(x) & 0x7fffffffffffffffu) + 0x1p-80); /* and no square is that small */
  pc_reduced_f64 r = pc_reduce_ln2_f64(-pc_from_bits_f64(u < most ? u : most), 0.0);
  int64_t k = (int64_t)(r.bits - magic), beside = k > -120 ? k : -120, normal = k >= -1022 ? k : 0;
  pc_f64 s = 1.0 + r.hi;
  pc_f64 t = (r.hi - (s - 1.0)) + pc_exp_tail_f64(r.hi, r.lo);
  pc_f64 eh = s + t, el = t - (eh - s); /* e^-|x| = (eh + el) * 2^k */
  pc_f64 scale = pc_from_bits_f64((uint64_t)(beside + 1023) << 52), sh = eh * scale, sl = el * scale;
  pc_f64 dh = 1.0 + sh, dl = (sh - (dh - 1.0)) + sl;
  pc_f64 q = pc_quotient_f64(x < 0.0 ? eh : 1.0, x < 0.0 ? el : 0.0, dh, dl);
  pc_f64 units = q * pc_from_bits_f64((uint64_t)(k + (1074 + 1023)) << 52) + 4503599627370496.0;
  pc_f64 subnormal = pc_from_bits_f64(pc_bits_f64(units) - 0x4330000000000000u);
  pc_f64 left = k < -1022 ? subnormal : q * pc_from_bits_f64((uint64_t)(normal + 1023) << 52);
  pc_f64 y = x < 0.0 ? left : q;
  return x == x ? y : x;
}

/* The hyperbolic tangent; keeps the sign of zero. One quotient serves two ways, both of which are walked:
 *   near 0       x + x z / M, z = x^2. M is regular up to |z| = 20.2, where tan x = x: a polynomial of degree 7, error 6.8e-18
 *   far from 0   1 - 2 / (e^(2x) + 1) = 1 - 2 (c - r) / (2^k (c + r) + (c - r)), x = k ln 2 / 2 + r, c = r coth r, even in r
 * Rounding errors are those of the second term, which is at most a third of the first. */
PC_INLINE pc_f64 pc_tanh_f64(pc_f64 x) {
  const uint64_t sign = 0x8000000000000000u;
  const pc_f64 magic = 6755399441055744.0 + 1023.0;
  pc_f64 a = pc_from_bits_f64(pc_bits_f64(x) & ~sign), z = a * a, z2 = z * z, z4 = z2 * z2;
  pc_f64 m23 = 0x1.767dce3e103a5p-8 + z * -0x1.0a4e134db7750p-12, m45 = 0x1.997baed3a9cb3p-17 + z * -0x1.41517d0ae234dp-21;
  pc_f64 m67 = 0x1.f6235f190dc17p-26 + z * -0x1.51a703930bea1p-30;
  pc_f64 m = -0x1.8000000000012p+1 + z * (-0x1.3333333332d41p+0 + z * (m23 + (z2 * m45 + z4 * m67)));
  pc_f64 t = a * (2.0 * PC_LOG2E_F64) + magic, k = t - magic;
  pc_f64 r = (a - k * (PC_LN2_HI_F64 / 2)) - k * (PC_LN2_LO_F64 / 2), s = r * r, s2 = s * s;
  pc_f64 c01 = 0x1.555555555553ep-2 + s * -0x1.6c16c16beb862p-6, c23 = 0x1.1566aaf13e0bfp-9 + s * -0x1.bbd4194595eaep-13;
  pc_f64 c = 1.0 + s * (c01 + s2 * (c23 + s2 * 0x1.6375216d2d80ap-16)), less = r - c;
  pc_f64 far = pc_from_bits_f64(pc_bits_f64(t) << 52) * (c + r) - less;
  int away = a >= 0.9;
  pc_f64 over = away ? less + less : z, under = away ? far : m, base = away ? 1.0 : a;
  pc_f64 y = base + base * (over / under);
  y = a > 22.0 ? 1.0 : y;
  return pc_from_bits_f64(pc_bits_f64(y) | (pc_bits_f64(x) & sign));
}

/* (nh + nl) / (dh + dl), rounded about once: the quotient's first 12 bits times the divisor is exact, the rest is
 * divided through by multiplication. |nl| and |dl| are below an ulp of nh and dh. */
PC_INLINE pc_f32 pc_quotient_f32(pc_f32 nh, pc_f32 nl, pc_f32 dh, pc_f32 dl) {
  const uint32_t head = 0xfffff000u;
  pc_f32 y = 1.0f / dh;
  pc_f32 q = pc_from_bits_f32(pc_bits_f32(nh * y) & head);
  pc_f32 a = pc_from_bits_f32(pc_bits_f32(dh) & head), b = dh - a;
  pc_f32 rest = ((nh - q * a) - q * b) + (nl - q * dl);
  return q + rest * y;
}

/* As of f64. */
PC_INLINE pc_f32 pc_sigmoid_f32(pc_f32 x) {
  const uint32_t most = 0x42d00000u, magic = 0x4b400000u; /* 104, 1.5 * 2^23 */
  uint32_t u = pc_bits_f32(x) & 0x7fffffffu;
  pc_reduced_f32 r = pc_reduce_ln2_f32(-pc_from_bits_f32(u < most ? u : most), 0.0f);
  int32_t k = (int32_t)(r.bits - magic), beside = k > -60 ? k : -60, normal = k >= -126 ? k : 0;
  pc_f32 s = 1.0f + r.hi;
  pc_f32 t = (r.hi - (s - 1.0f)) + pc_exp_tail_f32(r.hi, r.lo);
  pc_f32 eh = s + t, el = t - (eh - s); /* e^-|x| = (eh + el) * 2^k */
  pc_f32 scale = pc_from_bits_f32((uint32_t)(beside + 127) << 23), sh = eh * scale, sl = el * scale;
  pc_f32 dh = 1.0f + sh, dl = (sh - (dh - 1.0f)) + sl;
  pc_f32 q = pc_quotient_f32(x < 0.0f ? eh : 1.0f, x < 0.0f ? el : 0.0f, dh, dl);
  pc_f32 units = q * pc_from_bits_f32((uint32_t)(k + (149 + 127)) << 23) + 8388608.0f;
  pc_f32 subnormal = pc_from_bits_f32(pc_bits_f32(units) - 0x4b000000u);
  pc_f32 left = k < -126 ? subnormal : q * pc_from_bits_f32((uint32_t)(normal + 127) << 23);
  pc_f32 y = x < 0.0f ? left : q;
  return x == x ? y : x;
}

/* As for f64; M has degree 3, error 2.1e-9. Beyond 10 the power is that of 10. */
PC_INLINE pc_f32 pc_tanh_f32(pc_f32 x) {
  const uint32_t sign = 0x80000000u, ten = 0x41200000u;
  const pc_f32 magic = 12582912.0f + 127.0f;
  uint32_t u = pc_bits_f32(x) & ~sign;
  pc_f32 a = pc_from_bits_f32(u), b = pc_from_bits_f32(u < ten ? u : ten), z = a * a;
  pc_f32 m = -0x1.800006p+1f + z * (-0x1.3332c2p+0f + z * (0x1.75146cp-8f + z * -0x1.dbf6b2p-13f));
  pc_f32 t = b * (2.0f * PC_LOG2E_F32) + magic, k = t - magic, r = b - k * (PC_LN2_F32 / 2), s = r * r;
  pc_f32 c = 1.0f + s * (0x1.55551ep-2f + s * -0x1.6aa42ep-6f), less = r - c;
  pc_f32 far = pc_from_bits_f32(pc_bits_f32(t) << 23) * (c + r) - less;
  int away = a >= 1.0f;
  pc_f32 over = away ? less + less : z, under = away ? far : m, base = away ? 1.0f : a;
  pc_f32 y = base + base * (over / under);
  return pc_from_bits_f32(pc_bits_f32(y) | (pc_bits_f32(x) & sign));
}

#endif
