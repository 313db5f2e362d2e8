/* precast/ops/scalar/modulo.h: floor division and modulo of floats, as Python and NumPy have them: the remainder has the
 * divisor's sign, the quotient is the integer that belongs to it. x // 0 is x / 0, x % 0 is NaN; -1 // inf is -1 and -1 % inf inf.
 *
 * The remainder is exact: a long division of the mantissas, some bits at a time. No vector code, so it is a call.
 */
#ifndef PRECAST_OPS_SCALAR_MODULO_H
#define PRECAST_OPS_SCALAR_MODULO_H

#include <precast/ops/scalar/f32.h>
#include <precast/ops/scalar/f64.h>

/* MANT: bits of the mantissa without the leading one; STEP: bits that fit above it in 64. */
#define PC_SCALAR_MODULO(D, S, U, MANT, STEP)                                                       \
  __attribute__((noinline, unused)) static pc_##D pc_fmod_##D(pc_##D a, pc_##D b) {                 \
    const uint64_t one = (uint64_t)1 << MANT;                                                       \
    uint64_t x = pc_bits_##D(__builtin_fabs##S(a)), y = pc_bits_##D(__builtin_fabs##S(b));          \
    if (a != a || b != b || y == 0 || a - a != 0) return (a * b) / (a * b);                         \
    if (x < y) return a;                                                                            \
    int64_t ex = (int64_t)(x >> MANT), ey = (int64_t)(y >> MANT);                                   \
    x = ex == 0 ? x : (x & (one - 1)) | one;                                                        \
    y = ey == 0 ? y : (y & (one - 1)) | one;                                                        \
    ex += ex == 0;                                                                                  \
    ey += ey == 0;                                                                                  \
    x %= y;                                                                                         \
    for (int64_t left = ex - ey, n; left > 0 && x != 0; left -= n) {                                \
      n = left < STEP ? left : STEP;                                                                \
      x = (x << n) % y;                                                                             \
    }                                                                                               \
    pc_##D r;                                                                                       \
    if (x == 0) {                                                                                   \
      r = 0;                                                                                        \
    } else {                                                                                        \
      int64_t shift = __builtin_clzll(x) - (63 - MANT);                                             \
      if (shift < ey) { /* normal */                                                                \
        x = ((x << shift) - one) | ((uint64_t)(ey - shift) << MANT);                                \
      } else {                                                                                      \
        x <<= ey - 1;                                                                               \
      }                                                                                             \
      r = pc_from_bits_##D((U)x);                                                                   \
    }                                                                                               \
    return a < 0 || (a == 0 && 1 / a < 0) ? -r : r;                                                 \
  }                                                                                                 \
  __attribute__((noinline, unused)) static pc_##D pc_mod_##D(pc_##D a, pc_##D b) {                  \
    pc_##D m = pc_fmod_##D(a, b);                                                                   \
    if (b == 0 || m != m) return m;                                                                 \
    if (m != 0) return (b < 0) != (m < 0) ? m + b : m;                                              \
    return b < 0 ? (pc_##D)-0.0 : (pc_##D)0.0;                                                      \
  }                                                                                                 \
  __attribute__((noinline, unused)) static pc_##D pc_floor_div_##D(pc_##D a, pc_##D b) {            \
    if (b == 0) return a / b;                                                                       \
    pc_##D m = pc_fmod_##D(a, b), q = (a - m) / b;                                                  \
    if (m != 0 && (b < 0) != (m < 0)) q -= 1;                                                       \
    if (q != q) return q;                                                                           \
    /* A zero of the quotient's sign; else the integer next to it. */                               \
    if (q == 0) return (a / b < 0 || 1 / (a / b) < 0) ? (pc_##D)-0.0 : (pc_##D)0.0;                 \
    pc_##D down = pc_floor_##D(q);                                                                  \
    return q - down > (pc_##D)0.5 ? down + 1 : down;                                                \
  }
PC_SCALAR_MODULO(f32, f, uint32_t, 23, 40)
PC_SCALAR_MODULO(f64, , uint64_t, 52, 11)

#endif
