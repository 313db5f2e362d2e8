/* precast/ops/scalar/i16.h: signed integers of 16 bits. */
#ifndef PRECAST_OPS_SCALAR_I16_H
#define PRECAST_OPS_SCALAR_I16_H

#include <precast/ops/scalar/int.h>

PC_SCALAR_SIGNED(i16, pc_u32, 16)

#endif
