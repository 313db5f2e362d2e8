/* precast/ops/scalar/f64.h: IEEE 754 binary64. */
#ifndef PRECAST_OPS_SCALAR_F64_H
#define PRECAST_OPS_SCALAR_F64_H

#include <precast/ops/scalar/float.h>

PC_SCALAR_FLOAT(f64, , uint64_t, 0x8000000000000000u, 0x1p52)
PC_SCALAR_FLOAT_CAST(f64, i32, pc_i32, f64, -0x1p31, 0x1.fffffffcp30)

#endif
