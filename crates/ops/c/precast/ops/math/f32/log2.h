/* precast/ops/math/f32/log2.h: logarithms of f32 to the bases 2 and 10, in f64: k + s Q(z), s = (m - 1) / (m + 1), z = s^2. */
#ifndef PRECAST_OPS_MATH_F32_LOG2_H
#define PRECAST_OPS_MATH_F32_LOG2_H

#include <precast/ops/math/f32/short.h>

/* What a logarithm gives outside of the finite positive numbers. */
PC_INLINE pc_f32 pc_log_edges_f32(pc_f32 x, pc_f64 y) {
  y = x == __builtin_inff() ? __builtin_inf() : y;
  pc_f32 edge = x == 0.0f ? -__builtin_inff() : __builtin_nanf("");
  return x > 0.0f ? (pc_f32)y : edge;
}

/* The logarithm to the base 2; exact for powers of two. Degree 3, error 2^-30.4. */
PC_INLINE pc_f32 pc_log2_f32(pc_f32 x) {
  pc_log_short_f64 l = pc_log_short_of_f64((pc_f64)x);
  pc_f64 q = (0x1.7154764e70847p+1 + l.z * 0x1.ec70e624178d5p-1) + (l.z * l.z) * (0x1.27470f19a0497p-1 + l.z * 0x1.ba1b9ed943b48p-2);
  return pc_log_edges_f32(x, l.k + l.s * q);
}

/* The logarithm to the base 10. Degree 3, error 2^-30.4. */
PC_INLINE pc_f32 pc_log10_f32(pc_f32 x) {
  pc_log_short_f64 l = pc_log_short_of_f64((pc_f64)x);
  pc_f64 q = (0x1.bcb7b14d46ff8p-1 + l.z * 0x1.287aa1ca33b91p-2) + (l.z * l.z) * (0x1.638cb462df97fp-3 + l.z * 0x1.0a2cebdcd48fep-3);
  return pc_log_edges_f32(x, l.k * 0x1.34413509f79ffp-2 + l.s * q);
}

#endif
