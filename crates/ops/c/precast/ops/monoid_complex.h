/* precast/ops/monoid_complex.h: reductions of complex numbers; order and blocks are those of monoid.h. */
#ifndef PRECAST_OPS_MONOID_COMPLEX_H
#define PRECAST_OPS_MONOID_COMPLEX_H

#include <precast/ops/monoid.h>
#include <precast/ops/scalar/c128.h>
#include <precast/ops/scalar/c64.h>

PC_INLINE pc_c128 pc_monoid_mean(pc_c128 total, int64_t count) {
  return pc_complex_f64(total.re / (pc_f64)count, total.im / (pc_f64)count);
}

/* Multiplication by 1 + 0i changes inf + 0i, so all lanes are taken in. */
#define PC_MONOID_C128(NAME, WAYS, ONE, ADD, RESULT) \
  PC_MONOID_WHERE(NAME, WAYS, 0, pc_c128, pc_c128, 8, pc_complex_f64(ONE, 0.0), ADD##_c128, pc_c128, , ADD##_c128, RESULT, NULL)
#define PC_MONOID_C64(NAME, WAYS, ONE, ADD, RESULT)                                                                         \
  PC_MONOID_WHERE(NAME, WAYS, 0, pc_c64, pc_c64, 16, pc_complex_f32(ONE, 0.0f), ADD##_c64, pc_c128, pc_cast_c64_c128, ADD##_c128, \
            pc_cast_c128_c64(RESULT), NULL)

#define PC_MONOID_sum_c128(NAME, WAYS) PC_MONOID_C128(NAME, WAYS, 0.0, pc_add, total)
#define PC_MONOID_sum_c64(NAME, WAYS) PC_MONOID_C64(NAME, WAYS, 0.0f, pc_add, total)
#define PC_MONOID_mean_c128(NAME, WAYS) PC_MONOID_C128(NAME, WAYS, 0.0, pc_add, pc_monoid_mean(total, count))
#define PC_MONOID_mean_c64(NAME, WAYS) PC_MONOID_C64(NAME, WAYS, 0.0f, pc_add, pc_monoid_mean(total, count))
#define PC_MONOID_prod_c128(NAME, WAYS) PC_MONOID_C128(NAME, WAYS, 1.0, pc_mul, total)
#define PC_MONOID_prod_c64(NAME, WAYS) PC_MONOID_C64(NAME, WAYS, 1.0f, pc_mul, total)

#endif
