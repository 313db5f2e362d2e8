/* precast/ops/math/pair.h: numbers as the unevaluated sum of two, for what must be known to more than 53 bits.
 *
 * T. J. Dekker, "A floating-point technique for extending the available precision" (1971); D. E. Knuth, TAOCP 2, 4.2.2.
 * Operands are cut by a mask, not by Veltkamp's product, so nothing overflows on the way. */
#ifndef PRECAST_OPS_MATH_PAIR_H
#define PRECAST_OPS_MATH_PAIR_H

#include <precast/ops/bits.h>

/* hi + lo, with |lo| at most about an ulp of hi. */
typedef struct pc_pair_f64 {
  pc_f64 hi, lo;
} pc_pair_f64;

/* a + b exactly. */
PC_INLINE pc_pair_f64 pc_sum_f64(pc_f64 a, pc_f64 b) {
  pc_f64 s = a + b, t = s - a;
  pc_pair_f64 out = {s, (a - (s - t)) + (b - t)};
  return out;
}

/* a + b exactly, if |a| >= |b| or a is 0. */
PC_INLINE pc_pair_f64 pc_sum_ordered_f64(pc_f64 a, pc_f64 b) {
  pc_f64 s = a + b;
  pc_pair_f64 out = {s, b - (s - a)};
  return out;
}

/* The first 26 bits of a. */
PC_INLINE pc_f64 pc_head_f64(pc_f64 a) { return pc_from_bits_f64(pc_bits_f64(a) & 0xfffffffff8000000u); }

/* a * b to 2^-105. */
PC_INLINE pc_pair_f64 pc_product_f64(pc_f64 a, pc_f64 b) {
  pc_f64 p = a * b;
  pc_f64 ah = pc_head_f64(a), al = a - ah, bh = pc_head_f64(b), bl = b - bh;
  pc_pair_f64 out = {p, (((ah * bh - p) + ah * bl) + al * bh) + al * bl};
  return out;
}

/* a + b, if |a| >= |b| or a is 0. */
PC_INLINE pc_pair_f64 pc_pair_add_f64(pc_pair_f64 a, pc_pair_f64 b) {
  pc_pair_f64 s = pc_sum_ordered_f64(a.hi, b.hi);
  return pc_sum_ordered_f64(s.hi, s.lo + (a.lo + b.lo));
}

/* a / b to about 2^-102. */
PC_INLINE pc_pair_f64 pc_pair_div_f64(pc_pair_f64 a, pc_pair_f64 b) {
  pc_f64 q = a.hi / b.hi;
  pc_pair_f64 p = pc_product_f64(q, b.hi);
  pc_f64 rest = ((a.hi - p.hi) - p.lo) + (a.lo - q * b.lo);
  return pc_sum_ordered_f64(q, rest / b.hi);
}

/* The square root of a >= 0 to about 2^-102. */
PC_INLINE pc_pair_f64 pc_pair_sqrt_f64(pc_pair_f64 a) {
  pc_f64 r = __builtin_sqrt(a.hi), h = pc_head_f64(r), l = r - h;
  pc_f64 rest = (((a.hi - h * h) - (h + h) * l) - l * l) + a.lo;
  pc_pair_f64 out = {r, r > 0.0 ? rest / (r + r) : 0.0};
  return out;
}

/* |x| and the sign of x alone. */
PC_INLINE pc_f64 pc_magnitude_f64(pc_f64 x) { return pc_from_bits_f64(pc_bits_f64(x) & 0x7fffffffffffffffu); }
PC_INLINE uint64_t pc_sign_f64(pc_f64 x) { return pc_bits_f64(x) & 0x8000000000000000u; }

/* x, or 0 without the bits of a mask. */
PC_INLINE pc_f64 pc_masked_f64(pc_f64 x, uint64_t mask) { return pc_from_bits_f64(pc_bits_f64(x) & mask); }

/* Returns 1 / x of a normal x > 0 to an eighteenth of itself, for terms that are needed to a few bits only. */
PC_INLINE pc_f64 pc_near_inverse_f64(pc_f64 x) { return pc_from_bits_f64(0x7fde500000000000u - pc_bits_f64(x)); }

/* A power of two that scales x >= 0 to [2, 4), if x is a subnormal to below that; 0 if it is infinite. */
PC_INLINE pc_f64 pc_unscale_f64(pc_f64 x) {
  const uint64_t exponents = 0x7ff0000000000000u, least = 0x0010000000000000u;
  uint64_t u = pc_bits_f64(x) & exponents;
  return pc_from_bits_f64(exponents - (u > least ? u : least));
}

/* x >= 0 with a sign put on it, or the sign of a number turned. */
PC_INLINE pc_f64 pc_signed_f64(pc_f64 x, uint64_t sign) { return pc_from_bits_f64(pc_bits_f64(x) ^ sign); }

#endif
