/* precast/ops/scalar/i8.h: signed integers of 8 bits. */
#ifndef PRECAST_OPS_SCALAR_I8_H
#define PRECAST_OPS_SCALAR_I8_H

#include <precast/ops/scalar/int.h>

PC_SCALAR_SIGNED(i8, pc_u32, 8)

#endif
