/* precast/ops/scalar/i32.h: signed integers of 32 bits. */
#ifndef PRECAST_OPS_SCALAR_I32_H
#define PRECAST_OPS_SCALAR_I32_H

#include <precast/ops/scalar/int.h>

PC_SCALAR_SIGNED(i32, pc_u32, 32)

#endif
