/* precast/ops/scalar/i64.h: signed integers of 64 bits. */
#ifndef PRECAST_OPS_SCALAR_I64_H
#define PRECAST_OPS_SCALAR_I64_H

#include <precast/ops/scalar/int.h>

PC_SCALAR_SIGNED(i64, pc_u64, 64)

#endif
