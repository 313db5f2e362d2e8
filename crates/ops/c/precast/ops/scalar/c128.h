/* precast/ops/scalar/c128.h: two f64, real part first. */
#ifndef PRECAST_OPS_SCALAR_C128_H
#define PRECAST_OPS_SCALAR_C128_H

#include <precast/ops/scalar/complex.h>

PC_SCALAR_COMPLEX(c128, f64, )
PC_SCALAR_COMPLEX_CASTS(c128, f64)

#endif
