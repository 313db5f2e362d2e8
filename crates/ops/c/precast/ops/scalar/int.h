/* precast/ops/scalar/int.h: the operations of integers; a header for each width stamps them.
 *
 * Sums, differences, products, powers and negation wrap: they are computed in an unsigned W that is at least as wide as int.
 * Division and modulo are Python's: the quotient is rounded down, the remainder has the divisor's sign. Nothing traps:
 * x // 0 and x % 0 are 0 (as NumPy gives, with a warning), MIN // -1 wraps to MIN, 1 / 0 (`reciprocal`) is 0.
 * A shift by the width or more, or by a negative count, gives 0; to the right of a negative number -1.
 * The exponent of a power must not be negative: callers check it.
 */
#ifndef PRECAST_OPS_SCALAR_INT_H
#define PRECAST_OPS_SCALAR_INT_H

#include <precast/ops/scalar/order.h>

#define PC_SCALAR_INT_CAST_INT(D, TO) \
  PC_INLINE pc_##TO pc_cast_##D##_##TO(pc_##D a) { return (pc_##TO)a; }

/* The integer 0 is +0. gcc 12 with -fno-trapping-math takes (double)(int64_t)x for trunc(x), which is -0 for -0.5: so the
 * sign of a zero is cleared as a bit, which no compiler can argue away. Narrow integers are not taken so. */
#define PC_SCALAR_INT_CAST(D, BITS)                                                                     \
  PC_SCALAR_INT_CAST_INT(D, i8)                                                                         \
  PC_SCALAR_INT_CAST_INT(D, i16)                                                                        \
  PC_SCALAR_INT_CAST_INT(D, i32)                                                                        \
  PC_SCALAR_INT_CAST_INT(D, i64)                                                                        \
  PC_SCALAR_INT_CAST_INT(D, u8)                                                                         \
  PC_SCALAR_INT_CAST_INT(D, u16)                                                                        \
  PC_SCALAR_INT_CAST_INT(D, u32)                                                                        \
  PC_SCALAR_INT_CAST_INT(D, u64)                                                                        \
  PC_INLINE pc_f32 pc_cast_##D##_f32(pc_##D a) {                                                        \
    return pc_from_bits_f32(pc_bits_f32((pc_f32)a) & ~((uint32_t)(BITS >= 32 && a == 0) << 31));        \
  }                                                                                                     \
  PC_INLINE pc_f64 pc_cast_##D##_f64(pc_##D a) {                                                        \
    return pc_from_bits_f64(pc_bits_f64((pc_f64)a) & ~((uint64_t)(BITS >= 32 && a == 0) << 63));        \
  }                                                                                                     \
  PC_INLINE pc_c64 pc_cast_##D##_c64(pc_##D a) {                                                        \
    pc_c64 r = {pc_cast_##D##_f32(a), 0};                                                               \
    return r;                                                                                           \
  }                                                                                                     \
  PC_INLINE pc_c128 pc_cast_##D##_c128(pc_##D a) {                                                      \
    pc_c128 r = {pc_cast_##D##_f64(a), 0};                                                              \
    return r;                                                                                           \
  }

#define PC_SCALAR_INT(D, W, BITS)                                                                       \
  PC_INLINE pc_##D pc_maximum_##D(pc_##D a, pc_##D b) { return b > a ? b : a; }                         \
  PC_INLINE pc_##D pc_minimum_##D(pc_##D a, pc_##D b) { return b < a ? b : a; }                         \
  PC_SCALAR_ORDER(D)                                                                                    \
  PC_SCALAR_INT_CAST(D, BITS)                                                                           \
  PC_INLINE pc_##D pc_add_##D(pc_##D a, pc_##D b) { return (pc_##D)((W)a + (W)b); }                     \
  PC_INLINE pc_##D pc_sub_##D(pc_##D a, pc_##D b) { return (pc_##D)((W)a - (W)b); }                     \
  PC_INLINE pc_##D pc_mul_##D(pc_##D a, pc_##D b) { return (pc_##D)((W)a * (W)b); }                     \
  PC_INLINE pc_##D pc_square_##D(pc_##D a) { return pc_mul_##D(a, a); }                                 \
  PC_INLINE pc_##D pc_neg_##D(pc_##D a) { return (pc_##D)((W)0 - (W)a); }                               \
  PC_INLINE pc_##D pc_bitwise_and_##D(pc_##D a, pc_##D b) { return (pc_##D)(a & b); }                   \
  PC_INLINE pc_##D pc_bitwise_or_##D(pc_##D a, pc_##D b) { return (pc_##D)(a | b); }                    \
  PC_INLINE pc_##D pc_bitwise_xor_##D(pc_##D a, pc_##D b) { return (pc_##D)(a ^ b); }                   \
  PC_INLINE pc_##D pc_invert_##D(pc_##D a) { return (pc_##D)~a; }                                       \
  PC_INLINE pc_##D pc_left_shift_##D(pc_##D a, pc_##D b) {                                              \
    return (pc_##D)((pc_u64)b < BITS ? (W)a << ((W)b & (BITS - 1)) : (W)0);                             \
  }                                                                                                     \
  PC_INLINE pc_##D pc_pow_##D(pc_##D a, pc_##D b) {                                                     \
    W r = 1, x = (W)a;                                                                                  \
    for (pc_u64 e = (pc_u64)b; e != 0; e >>= 1, x *= x) r *= e & 1 ? x : 1;                             \
    return (pc_##D)r;                                                                                   \
  }                                                                                                     \
  PC_INLINE pc_bool pc_isnan_##D(pc_##D a) { return (void)a, (pc_bool)0; }                              \
  PC_INLINE pc_bool pc_isinf_##D(pc_##D a) { return (void)a, (pc_bool)0; }                              \
  PC_INLINE pc_bool pc_isfinite_##D(pc_##D a) { return (void)a, (pc_bool)1; }

#define PC_SCALAR_SIGNED(D, W, BITS)                                                                    \
  PC_SCALAR_INT(D, W, BITS)                                                                             \
  PC_INLINE pc_##D pc_abs_##D(pc_##D a) { return a < 0 ? pc_neg_##D(a) : a; }                           \
  PC_INLINE pc_##D pc_signum_##D(pc_##D a) { return (pc_##D)((a > 0) - (a < 0)); }                        \
  PC_INLINE pc_##D pc_reciprocal_##D(pc_##D a) { return (pc_##D)((a == 1) - (a == -1)); }               \
  PC_INLINE pc_##D pc_floor_div_##D(pc_##D a, pc_##D b) {                                               \
    pc_##D d = (b == 0) | (b == -1) ? (pc_##D)1 : b, q = (pc_##D)(a / d);                               \
    q = (pc_##D)(q - ((q * d != a) & ((a ^ d) < 0)));                                                   \
    q = b == -1 ? pc_neg_##D(a) : q;                                                                    \
    return b == 0 ? (pc_##D)0 : q;                                                                      \
  }                                                                                                     \
  PC_INLINE pc_##D pc_mod_##D(pc_##D a, pc_##D b) {                                                     \
    pc_##D d = (b == 0) | (b == -1) ? (pc_##D)1 : b, r = (pc_##D)(a % d);                               \
    return (pc_##D)((r != 0) & ((r ^ d) < 0) ? r + d : r);                                              \
  }                                                                                                     \
  PC_INLINE pc_##D pc_fmod_##D(pc_##D a, pc_##D b) {                                                    \
    return (pc_##D)(a % ((b == 0) | (b == -1) ? (pc_##D)1 : b));                                        \
  }                                                                                                     \
  PC_INLINE pc_##D pc_right_shift_##D(pc_##D a, pc_##D b) {                                             \
    return (pc_##D)(a >> ((pc_u64)b < BITS ? b : BITS - 1));                                            \
  }

#define PC_SCALAR_UNSIGNED(D, W, BITS)                                                                  \
  PC_SCALAR_INT(D, W, BITS)                                                                             \
  PC_INLINE pc_##D pc_abs_##D(pc_##D a) { return a; }                                                   \
  PC_INLINE pc_##D pc_signum_##D(pc_##D a) { return (pc_##D)(a != 0); }                                   \
  PC_INLINE pc_##D pc_reciprocal_##D(pc_##D a) { return (pc_##D)(a == 1); }                             \
  PC_INLINE pc_##D pc_floor_div_##D(pc_##D a, pc_##D b) {                                               \
    pc_##D q = (pc_##D)(a / (b == 0 ? (pc_##D)1 : b));                                                  \
    return b == 0 ? (pc_##D)0 : q;                                                                      \
  }                                                                                                     \
  PC_INLINE pc_##D pc_mod_##D(pc_##D a, pc_##D b) { return (pc_##D)(a % (b == 0 ? (pc_##D)1 : b)); }    \
  PC_INLINE pc_##D pc_fmod_##D(pc_##D a, pc_##D b) { return pc_mod_##D(a, b); }                         \
  PC_INLINE pc_##D pc_right_shift_##D(pc_##D a, pc_##D b) {                                             \
    return (pc_##D)((pc_u64)b < BITS ? (W)a >> ((W)b & (BITS - 1)) : (W)0);                             \
  }

#endif
