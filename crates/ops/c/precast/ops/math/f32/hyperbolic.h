/* precast/ops/math/f32/hyperbolic.h: sinh and cosh of f32, in f64: from the even and the odd part of 2^r, so without a quotient. */
#ifndef PRECAST_OPS_MATH_F32_HYPERBOLIC_H
#define PRECAST_OPS_MATH_F32_HYPERBOLIC_H

#include <precast/ops/math/f32/short.h>

/* x / ln 2 = k + r: 2^k + 2^-k and 2^k - 2^-k, halved, and cosh and sinh of r ln 2, errors 2^-34 and 2^-38. */
typedef struct pc_hyperbolic_f32 {
  pc_f64 sum, less, even, odd;
} pc_hyperbolic_f32;

PC_INLINE pc_hyperbolic_f32 pc_hyperbolic_of_f32(pc_f32 x) {
  const pc_f64 magic = 6755399441055744.0 + 1022.0;
  pc_f32 a = pc_magnitude_f32(x);
  pc_f64 v = (pc_f64)(a > 100.0f ? 100.0f : a) * PC_LOG2E_F64, t = v + magic, r = v - (t - magic), s = r * r;
  pc_f64 up = pc_from_bits_f64(pc_bits_f64(t) << 52), down = pc_from_bits_f64((2044u - pc_bits_f64(t)) << 52);
  pc_f64 even = 1.0 + s * (0x1.ebfbe07ae4bf9p-3 + s * (0x1.3b29f0d1d1582p-7 + s * 0x1.445e90346eb64p-13));
  pc_f64 odd = r * (0x1.62e42fef9cc2cp-1 + s * (0x1.c6b08da721f60p-5 + s * (0x1.5d8775766412cp-10 + s * 0x1.00c0ff298229fp-16)));
  pc_hyperbolic_f32 out = {up + down, up - down, even, odd};
  return out;
}

/* The hyperbolic sine; keeps the sign of zero. */
PC_INLINE pc_f32 pc_sinh_f32(pc_f32 x) {
  pc_hyperbolic_f32 h = pc_hyperbolic_of_f32(x);
  return pc_signed_f32((pc_f32)(h.even * h.less + h.odd * h.sum), pc_sign_f32(x));
}

/* The hyperbolic cosine. */
PC_INLINE pc_f32 pc_cosh_f32(pc_f32 x) {
  pc_hyperbolic_f32 h = pc_hyperbolic_of_f32(x);
  return (pc_f32)(h.even * h.sum + h.odd * h.less);
}

#endif
