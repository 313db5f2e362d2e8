/* precast/ops/scalar/u32.h: unsigned integers of 32 bits. */
#ifndef PRECAST_OPS_SCALAR_U32_H
#define PRECAST_OPS_SCALAR_U32_H

#include <precast/ops/scalar/int.h>

PC_SCALAR_UNSIGNED(u32, pc_u32, 32)

#endif
