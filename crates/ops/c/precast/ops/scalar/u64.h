/* precast/ops/scalar/u64.h: unsigned integers of 64 bits. */
#ifndef PRECAST_OPS_SCALAR_U64_H
#define PRECAST_OPS_SCALAR_U64_H

#include <precast/ops/scalar/int.h>

PC_SCALAR_UNSIGNED(u64, pc_u64, 64)

#endif
