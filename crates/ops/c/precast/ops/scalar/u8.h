/* precast/ops/scalar/u8.h: unsigned integers of 8 bits. */
#ifndef PRECAST_OPS_SCALAR_U8_H
#define PRECAST_OPS_SCALAR_U8_H

#include <precast/ops/scalar/int.h>

PC_SCALAR_UNSIGNED(u8, pc_u32, 8)

#endif
