/* precast/ops/scalar/magnitude.h: the absolute value and the sign of a complex number.
 *
 * `abs` is sqrt(re^2 + im^2) without overflow on the way; infinite if either part is. `sign` is z / |z|: 0 of 0, NaN where both
 * parts are infinite.
 */
#ifndef PRECAST_OPS_SCALAR_MAGNITUDE_H
#define PRECAST_OPS_SCALAR_MAGNITUDE_H

#include <precast/ops/math/root.h>
#include <precast/ops/scalar/complex.h>

#define PC_SCALAR_MAGNITUDE(D, F)                                                             \
  PC_INLINE pc_##F pc_abs_##D(pc_##D a) { return pc_hypot_##F(a.re, a.im); }                  \
  PC_INLINE pc_##D pc_signum_##D(pc_##D a) {                                                  \
    pc_##F n = pc_abs_##D(a), x = a.re / n, y = a.im / n;                                     \
    int far_re = pc_isinf_##F(a.re), far_im = pc_isinf_##F(a.im), far = far_re ^ far_im;      \
    x = far ? (far_re ? pc_signum_##F(a.re) : 0) : x;                                         \
    y = far ? (far_im ? pc_signum_##F(a.im) : 0) : y;                                         \
    return pc_complex_##F(n == 0 ? 0 : x, n == 0 ? 0 : y);                                    \
  }
PC_SCALAR_MAGNITUDE(c64, f32)
PC_SCALAR_MAGNITUDE(c128, f64)

#endif
