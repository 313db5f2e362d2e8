/* precast/ops/scalar/f32.h: IEEE 754 binary32. */
#ifndef PRECAST_OPS_SCALAR_F32_H
#define PRECAST_OPS_SCALAR_F32_H

#include <precast/ops/scalar/float.h>

PC_SCALAR_FLOAT(f32, f, uint32_t, 0x80000000u, 0x1p23f)
/* As for 64 bits: f32 cannot hold INT32_MAX. */
PC_INLINE pc_i32 pc_cast_f32_i32(pc_f32 a) {
  if (a >= 0x1p31f) return INT32_MAX;
  if (a < -0x1p31f) return INT32_MIN;
  return a != a ? 0 : (pc_i32)a;
}

#endif
