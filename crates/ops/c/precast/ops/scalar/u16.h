/* precast/ops/scalar/u16.h: unsigned integers of 16 bits. */
#ifndef PRECAST_OPS_SCALAR_U16_H
#define PRECAST_OPS_SCALAR_U16_H

#include <precast/ops/scalar/int.h>

PC_SCALAR_UNSIGNED(u16, pc_u32, 16)

#endif
