/* precast/ops/scalar/f32.h: IEEE 754 binary32. */
#ifndef PRECAST_OPS_SCALAR_F32_H
#define PRECAST_OPS_SCALAR_F32_H

#include <precast/ops/scalar/float.h>

PC_SCALAR_FLOAT(f32, f, uint32_t, 0x80000000u, 0x1p23f)

#endif
