/* precast/ops/math/stirling.h: the correction c(z) to J. Stirling's formula, as a pair.
 *
 *   ln Gamma z = (z - 1/2) ln z - z + ln(2 pi) / 2 + c(z)
 *
 * From 16 on by the series in 1 / z, from 3 on by polynomials, below by three whole steps. */
#ifndef PRECAST_OPS_MATH_STIRLING_H
#define PRECAST_OPS_MATH_STIRLING_H

#include <precast/ops/math/pow.h>

/* x rounded to an integer, ties to even, |x| < 2^51, and the sign of an odd one. */
PC_INLINE pc_f64 pc_whole_f64(pc_f64 x) { return (x + 6755399441055744.0) - 6755399441055744.0; }
PC_INLINE uint64_t pc_odd_sign_f64(pc_f64 x) { return pc_bits_f64(x + 6755399441055744.0) << 63; }

/* A function that is called, not vector code: it has branches and loops. */
#define PC_TAIL __attribute__((unused, noinline)) static

/* a + b of any order. */
PC_INLINE pc_pair_f64 pc_plus_f64(pc_pair_f64 a, pc_pair_f64 b) {
  pc_pair_f64 s = pc_sum_f64(a.hi, b.hi);
  return pc_sum_ordered_f64(s.hi, s.lo + (a.lo + b.lo));
}

PC_INLINE pc_pair_f64 pc_minus_f64(pc_pair_f64 a) {
  pc_pair_f64 out = {-a.hi, -a.lo};
  return out;
}

PC_INLINE pc_pair_f64 pc_pair_of_f64(pc_f64 a) {
  pc_pair_f64 out = {a, 0.0};
  return out;
}

/* ln of a pair. */
PC_TAIL pc_pair_f64 pc_log_of_pair_f64(pc_pair_f64 a) {
  return pc_plus_f64(pc_log_pair_f64(a.hi), pc_pair_of_f64(a.lo / a.hi));
}

/* c(z) for z >= 3, y = 1 / z. Degree 11 in y^2, error 2^-61 of c(3). */
PC_INLINE pc_f64 pc_stirling_of_f64(pc_f64 y) {
  pc_f64 z = y * y, z2 = z * z, z4 = z2 * z2;
  pc_f64 s01 = 0x1.5555555555553p-4 + z * -0x1.6c16c16c04cc1p-9, s23 = 0x1.a01a014d0fba1p-11 + z * -0x1.3813545cf1dadp-11;
  pc_f64 s45 = 0x1.b94424b643f49p-11 + z * -0x1.f55704cc7082ep-10, s67 = 0x1.9901284b41583p-8 + z * -0x1.a248a1682bb22p-6;
  pc_f64 s89 = 0x1.bc2c665c0439fp-4 + z * -0x1.8e403e99ee8c1p-2, sab = 0x1.e69b3c0051e42p-1 + z * -0x1.2026b9b7f4765p+0;
  return y * (((s01 + z2 * s23) + z4 * (s45 + z2 * s67)) + (z4 * z4) * (s89 + z2 * sab));
}

/* c(z) for 3 <= z < 16: 1 / (12 z) and a polynomial in 1 / z^2 of degree 12, error 2^-66 of c(3). */
PC_TAIL pc_pair_f64 pc_stirling_near_f64(pc_f64 z) {
  pc_pair_f64 y = pc_pair_div_f64(pc_pair_of_f64(1.0), pc_pair_of_f64(z));
  const pc_pair_f64 first = {0x1.5555555555555p-4, 0x1.5555555555555p-58};
  pc_f64 q = y.hi * y.hi, q2 = q * q, q4 = q2 * q2;
  pc_f64 s01 = -0x1.6c16c16c1671bp-9 + q * 0x1.a01a019d36597p-11, s23 = -0x1.38137eafdf717p-11 + q * 0x1.b950b5714a48ap-11;
  pc_f64 s45 = -0x1.f67ffb27cc151p-10 + q * 0x1.a20a125546c2ap-8, s67 = -0x1.d233f6fb9cea8p-6 + q * 0x1.35dd59a85507ep-3;
  pc_f64 s89 = -0x1.a4bf798742b0cp-1 + q * 0x1.f323f6131db09p+1, sab = -0x1.c0a41142aaf43p+3 + q * 0x1.03f4228dd6936p+5;
  pc_f64 high = (s89 + q2 * sab) + q4 * -0x1.1cebd498b65ecp+5;
  pc_f64 rest = (y.hi * q) * (((s01 + q2 * s23) + q4 * (s45 + q2 * s67)) + (q4 * q4) * high);
  pc_pair_f64 c = pc_pair_mul_f64(first, y);
  return pc_sum_ordered_f64(c.hi, c.lo + rest);
}

/* c(z) for z > 0. Below 3 three whole steps lead there. */
PC_TAIL pc_pair_f64 pc_stirling_f64(pc_f64 z) {
  if (z < 3.0) {
    pc_pair_f64 w = pc_sum_f64(3.0, z), c = pc_stirling_near_f64(w.hi), rest = pc_pair_mul_f64(pc_sum_f64(1.0, z), pc_sum_f64(2.0, z));
    c.lo = c.lo - 0x1.5555555555555p-4 * w.lo / (w.hi * w.hi);
    pc_pair_f64 above = pc_pair_mul_f64(pc_plus_f64(w, pc_pair_of_f64(-0.5)), pc_log_of_pair_f64(w));
    pc_pair_f64 below = pc_plus_f64(pc_pair_mul_f64(pc_sum_f64(0.5, z), pc_log_pair_f64(z)), pc_log_of_pair_f64(rest));
    return pc_plus_f64(c, pc_plus_f64(pc_plus_f64(above, pc_pair_of_f64(-3.0)), pc_minus_f64(below)));
  }
  if (z < 16.0) return pc_stirling_near_f64(z);
  pc_f64 y = 1.0 / z, q = y * y;
  pc_f64 series = 0x1.a41a41a41a41ap-8;
  series = -0x1.f6ab0d9993c7dp-10 + q * series;
  series = 0x1.b951e2b18ff23p-11 + q * series;
  series = -0x1.3813813813814p-11 + q * series;
  series = 0x1.a01a01a01a01ap-11 + q * series;
  series = -0x1.6c16c16c16c17p-9 + q * series;
  return pc_sum_f64(0x1.5555555555555p-4 * y, y * (q * series));
}

#endif
