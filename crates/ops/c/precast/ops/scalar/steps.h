/* precast/ops/scalar/steps.h: the numbers next to a float, and floats times powers of two.
 *
 * `nextafter` is C99's: NaN if either is, the second where both are equal. `scalb` rounds once: a power that no float has is taken in
 * steps, of which those before the last are exact, or leave so little that the result is 0 (musl, `scalbn.c`).
 */
#ifndef PRECAST_OPS_SCALAR_STEPS_H
#define PRECAST_OPS_SCALAR_STEPS_H

#include <precast/ops/scalar/f32.h>
#include <precast/ops/scalar/f64.h>

/* I: an integer as wide; MANT: bits of the mantissa with the leading one; TOP: the largest exponent. */
#define PC_SCALAR_STEPS(D, S, U, I, MANT, TOP)                                                  \
  PC_INLINE pc_##D pc_nextafter_##D(pc_##D a, pc_##D b) {                                       \
    U u = pc_bits_##D(a);                                                                       \
    pc_##D next = pc_from_bits_##D((a < b) == (a > 0) ? u + 1 : u - 1);                         \
    pc_##D least = pc_copysign_##D(pc_from_bits_##D((U)1), b);                                  \
    pc_##D r = a == 0 ? least : next;                                                           \
    r = a == b ? b : r;                                                                         \
    return a != a || b != b ? a + b : r;                                                        \
  }                                                                                             \
  /* The next step towards an exponent. */                                                      \
  PC_INLINE I pc_scalb_step_##D(I n) {                                                          \
    I low = n < 1 - TOP ? (I)(1 - TOP + MANT) : n;                                              \
    return low > TOP ? (I)TOP : low;                                                            \
  }                                                                                             \
  PC_INLINE pc_##D pc_power_of_two_##D(I n) {                                                   \
    return pc_from_bits_##D((U)(n + TOP) << (MANT - 1));                                        \
  }                                                                                             \
  PC_INLINE pc_##D pc_scalb_##D(pc_##D a, pc_##D exponent) {                                    \
    pc_##D e = exponent > 4 * TOP ? (pc_##D)(4 * TOP) : exponent;                               \
    e = e < -4 * TOP ? (pc_##D)(-4 * TOP) : e;                                                  \
    e = e != e ? (pc_##D)0 : e;                                                                 \
    I n = (I)e, first = pc_scalb_step_##D(n), second = pc_scalb_step_##D((I)(n - first));       \
    I third = (I)(n - first - second);                                                          \
    third = third < 1 - TOP ? (I)(1 - TOP) : third;                                             \
    third = third > TOP ? (I)TOP : third;                                                       \
    pc_##D r = a * pc_power_of_two_##D(first) * pc_power_of_two_##D(second);                    \
    r = r * pc_power_of_two_##D(third);                                                         \
    return exponent != exponent ? exponent + a : r;                                             \
  }
PC_SCALAR_STEPS(f32, f, uint32_t, int32_t, 24, 127)
PC_SCALAR_STEPS(f64, , uint64_t, int64_t, 53, 1023)

#endif
