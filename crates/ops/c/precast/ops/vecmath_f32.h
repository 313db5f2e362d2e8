/* precast/ops/vecmath_f32.h: the f32 half of vecmath.h, which says what holds for all of them.
 * The same algorithms as vecmath_f64.h with shorter polynomials. */
#ifndef PRECAST_OPS_VECMATH_F32_H
#define PRECAST_OPS_VECMATH_F32_H

#include <precast/ops/bits.h>

/* ln 2 in two parts: k * HI is exact for |k| < 2^9. */
#define PC_LOG2E_F32 0x1.715476p+0f
#define PC_LN2_HI_F32 0x1.62e400p-1f
#define PC_LN2_LO_F32 0x1.7f7d1cp-20f

/* x = k ln 2 + (hi - lo): hi is exact, |hi - lo| <= ln 2 / 2, and the low bits of `bits` are k + bias. */
typedef struct pc_reduced_f32 {
  pc_f32 hi, lo;
  uint32_t bits;
} pc_reduced_f32;

/* Rounds x / ln 2 to an integer by adding 1.5 * 2^23 + bias, which leaves it in the low bits. |x| < 2^10. */
PC_INLINE pc_reduced_f32 pc_reduce_ln2_f32(pc_f32 x, pc_f32 bias) {
  pc_f32 magic = 12582912.0f + bias;
  pc_f32 t = x * PC_LOG2E_F32 + magic;
  pc_f32 k = t - magic;
  pc_reduced_f32 out;
  out.hi = x - k * PC_LN2_HI_F32;
  out.lo = k * PC_LN2_LO_F32;
  out.bits = pc_bits_f32(t);
  return out;
}

/* exp(hi - lo) - 1 - hi, with |hi - lo| <= ln 2 / 2. Polynomial of degree 6, error 3.2e-9. */
PC_INLINE pc_f32 pc_exp_tail_f32(pc_f32 hi, pc_f32 lo) {
  pc_f32 r = hi - lo, r2 = r * r;
  pc_f32 p01 = 0x1.fffffcp-2f + r * 0x1.555492p-3f;
  pc_f32 p23 = 0x1.5558eep-5f + r * 0x1.1239d4p-7f;
  pc_f32 q = p01 + r2 * (p23 + r2 * 0x1.6a25dap-10f);
  return r2 * q - lo;
}

/* 2^floor(k/2) and 2^ceil(k/2) from a reduction with bias 254: one factor alone would overflow, or be subnormal. */
PC_INLINE pc_f32 pc_scale_low_f32(uint32_t bits) { return pc_from_bits_f32(((bits >> 1) & 0xff) << 23); }
PC_INLINE pc_f32 pc_scale_high_f32(uint32_t bits) {
  return pc_from_bits_f32(((bits & 0x1ff) - ((bits >> 1) & 0xff)) << 23);
}

/* e^x. */
PC_INLINE pc_f32 pc_exp_f32(pc_f32 x) {
  pc_f32 c = x > 89.0f ? 89.0f : x;
  c = c < -104.0f ? -104.0f : c;
  pc_reduced_f32 k = pc_reduce_ln2_f32(c, 254.0f);
  pc_f32 p = 1.0f + (k.hi + pc_exp_tail_f32(k.hi, k.lo));
  return p * pc_scale_low_f32(k.bits) * pc_scale_high_f32(k.bits);
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

/* 1 / (1 + e^-x), without overflow and with full relative accuracy for x < 0: e^x / (1 + e^x). */
PC_INLINE pc_f32 pc_sigmoid_f32(pc_f32 x) {
  pc_f32 a = x < 0.0f ? x : -x;
  a = a < -104.0f ? -104.0f : a;
  pc_reduced_f32 k = pc_reduce_ln2_f32(a, 254.0f);
  pc_f32 low = pc_scale_low_f32(k.bits), high = pc_scale_high_f32(k.bits);
  pc_f32 s = 1.0f + k.hi;
  pc_f32 t = (k.hi - (s - 1.0f)) + pc_exp_tail_f32(k.hi, k.lo);
  pc_f32 eh = s + t, el = t - (eh - s); /* e^a = (eh + el) * 2^k */
  pc_f32 sh = eh * low * high, sl = el * low * high;
  pc_f32 dh = 1.0f + sh, dl = (sh - (dh - 1.0f)) + sl;
  pc_f32 q = pc_quotient_f32(x < 0.0f ? eh : 1.0f, x < 0.0f ? el : 0.0f, dh, dl);
  return q * (x < 0.0f ? low : 1.0f) * (x < 0.0f ? high : 1.0f);
}

/* tanh x = m / (m + 2) with m = e^(2|x|) - 1 in two parts. */
PC_INLINE pc_f32 pc_tanh_f32(pc_f32 x) {
  const uint32_t sign = 0x80000000u;
  pc_f32 a = pc_from_bits_f32(pc_bits_f32(x) & ~sign);
  a = a > 10.0f ? 10.0f : a;
  pc_reduced_f32 k = pc_reduce_ln2_f32(a + a, 127.0f);
  pc_f32 scale = pc_from_bits_f32(k.bits << 23);
  pc_f32 whole = scale - 1.0f, part = scale * k.hi;
  pc_f32 s = whole + part;
  pc_f32 t = (part - (s - whole)) + scale * pc_exp_tail_f32(k.hi, k.lo);
  pc_f32 mh = s + t, ml = t - (mh - s);
  pc_f32 dh = mh + 2.0f, two = dh - mh; /* m may be below or above 2: Knuth's sum */
  pc_f32 dl = ((mh - (dh - two)) + (2.0f - two)) + ml;
  pc_f32 q = pc_quotient_f32(mh, ml, dh, dl);
  return pc_from_bits_f32((pc_bits_f32(q) & ~sign) | (pc_bits_f32(x) & sign));
}

/* ln x. 0 gives -inf, a negative number gives NaN. x = 2^k m, m in [sqrt 1/2, sqrt 2), f = m - 1, s = f / (2 + f). */
PC_INLINE pc_f32 pc_log_f32(pc_f32 x) {
  const uint32_t half = 0x3f3504f3u, one = 0x3f800000u;
  int small = x < 0x1p-126f;
  uint32_t u = pc_bits_f32(small ? x * 0x1p25f : x) + (one - half);
  pc_f32 m = pc_from_bits_f32((u & 0x007fffffu) + half);
  pc_f32 k = pc_from_bits_f32((u >> 23) | 0x4b000000u) - (small ? 8388608.0f + 152.0f : 8388608.0f + 127.0f);
  pc_f32 f = m - 1.0f, s = f / (2.0f + f), z = s * s;
  pc_f32 r = z * (0x1.55557ap-1f + z * (0x1.995ebap-2f + z * 0x1.31e364p-2f));
  pc_f32 square = 0.5f * f * f;
  pc_f32 y = k * PC_LN2_HI_F32 - ((square - (s * (square + r) + k * PC_LN2_LO_F32)) - f);
  y = x == __builtin_inff() ? x : y;
  pc_f32 edge = x == 0.0f ? -__builtin_inff() : __builtin_nanf("");
  return x > 0.0f ? y : edge;
}

#endif
