/* precast/ops/scalar/c64.h: two f32, real part first. */
#ifndef PRECAST_OPS_SCALAR_C64_H
#define PRECAST_OPS_SCALAR_C64_H

#include <precast/ops/scalar/complex.h>

PC_SCALAR_COMPLEX(c64, f32, f)
PC_SCALAR_COMPLEX_CASTS(c64, f32)

#endif
