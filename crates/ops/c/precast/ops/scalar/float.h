/* precast/ops/scalar/float.h: the operations of f32 and f64; a header for each stamps them.
 *
 * IEEE throughout. NaN: maximum and minimum give NaN if either is, and of equal operands (zeros of two signs) the first;
 * `sign` of NaN is NaN, of -0 is 0. Where a level lacks an instruction that rounds to an integer, 2^52 (2^23) is added and taken away;
 * the sign of a zero is kept. A cast to an integer truncates, saturates, and makes NaN 0.
 *
 * A f32 that was a f64 is rounded: gcc 12 forgets it in vectors of neighbours, such as the parts of a complex number, so modules are
 * compiled with -fno-tree-slp-vectorize.
 */
#ifndef PRECAST_OPS_SCALAR_FLOAT_H
#define PRECAST_OPS_SCALAR_FLOAT_H

#include <precast/ops/scalar/order.h>

/* S: the suffix of the compiler's functions; U, SIGN: the bits as an integer, and the sign's; MAGIC: from here on all are integers. */
#define PC_SCALAR_FLOAT(D, S, U, SIGN, MAGIC)                                                                    \
  PC_INLINE pc_##D pc_maximum_##D(pc_##D a, pc_##D b) {                                                          \
    pc_##D m = b > a ? b : a; /* the instruction: a when one is NaN */                                           \
    return b != b ? b : m;                                                                                       \
  }                                                                                                              \
  PC_INLINE pc_##D pc_minimum_##D(pc_##D a, pc_##D b) {                                                          \
    pc_##D m = b < a ? b : a;                                                                                    \
    return b != b ? b : m;                                                                                       \
  }                                                                                                              \
  PC_SCALAR_ORDER(D)                                                                                             \
  PC_INLINE pc_##D pc_add_##D(pc_##D a, pc_##D b) { return a + b; }                                              \
  PC_INLINE pc_##D pc_sub_##D(pc_##D a, pc_##D b) { return a - b; }                                              \
  PC_INLINE pc_##D pc_mul_##D(pc_##D a, pc_##D b) { return a * b; }                                              \
  PC_INLINE pc_##D pc_div_##D(pc_##D a, pc_##D b) { return a / b; }                                              \
  PC_INLINE pc_##D pc_neg_##D(pc_##D a) { return -a; }                                                           \
  PC_INLINE pc_##D pc_abs_##D(pc_##D a) { return __builtin_fabs##S(a); }                                         \
  PC_INLINE pc_##D pc_sqrt_##D(pc_##D a) { return __builtin_sqrt##S(a); }                                        \
  PC_INLINE pc_##D pc_square_##D(pc_##D a) { return a * a; }                                                     \
  PC_INLINE pc_##D pc_reciprocal_##D(pc_##D a) { return 1 / a; }                                                 \
  PC_INLINE pc_##D pc_signum_##D(pc_##D a) {                                                                       \
    pc_##D r = a > 0 ? (pc_##D)1 : (pc_##D)0;                                                                    \
    r = a < 0 ? (pc_##D)-1 : r;                                                                                  \
    return a != a ? a : r;                                                                                       \
  }                                                                                                              \
  PC_INLINE pc_##D pc_copysign_##D(pc_##D a, pc_##D sign) {                                                      \
    return pc_from_bits_##D((pc_bits_##D(a) & ~SIGN) | (pc_bits_##D(sign) & SIGN));                              \
  }                                                                                                              \
  PC_INLINE pc_bool pc_signbit_##D(pc_##D a) { return (pc_bool)((pc_bits_##D(a) & SIGN) != 0); }                  \
  PC_INLINE pc_##D pc_round_##D(pc_##D a) {                                                                      \
    pc_##D x = __builtin_fabs##S(a), r = (x + MAGIC) - MAGIC;                                                    \
    return pc_copysign_##D(x < MAGIC ? r : x, a);                                                                \
  }                                                                                                              \
  PC_SCALAR_FLOAT_WHOLE(D, S, MAGIC)                                                                             \
  PC_INLINE pc_##D pc_round_half_away_##D(pc_##D a) {                                                            \
    pc_##D x = __builtin_fabs##S(a), t = pc_trunc_##D(x);                                                        \
    return pc_copysign_##D(x - t >= (pc_##D)0.5 ? t + 1 : t, a);                                                 \
  }                                                                                                              \
  PC_INLINE pc_##D pc_deg2rad_##D(pc_##D a) { return a * (pc_##D)0x1.1df46a2529d39p-6; }                         \
  PC_INLINE pc_##D pc_rad2deg_##D(pc_##D a) { return a * (pc_##D)0x1.ca5dc1a63c1f8p+5; }                         \
  PC_INLINE pc_bool pc_isnan_##D(pc_##D a) { return (pc_bool)(a != a); }                                         \
  PC_INLINE pc_bool pc_isinf_##D(pc_##D a) { return (pc_bool)(__builtin_fabs##S(a) == __builtin_inf##S()); }     \
  PC_INLINE pc_bool pc_isfinite_##D(pc_##D a) { return (pc_bool)(__builtin_fabs##S(a) < __builtin_inf##S()); }   \
  PC_SCALAR_FLOAT_CAST(D, i8, pc_i32, D, -0x1p7, 0x1.fcp6)                                                       \
  PC_SCALAR_FLOAT_CAST(D, u8, pc_i32, D, 0, 0x1.fep7)                                                            \
  PC_SCALAR_FLOAT_CAST(D, i16, pc_i32, D, -0x1p15, 0x1.fffcp14)                                                  \
  PC_SCALAR_FLOAT_CAST(D, u16, pc_i32, D, 0, 0x1.fffep15)                                                        \
  PC_SCALAR_FLOAT_CAST(D, u32, pc_i64, f64, 0, 0x1.fffffffep31)                                                  \
  /* The instruction gives INT64_MIN for numbers out of range and NaN, so their results are chosen first. */     \
  PC_INLINE pc_i64 pc_cast_##D##_i64(pc_##D a) {                                                                 \
    if (a >= (pc_##D)0x1p63) return INT64_MAX;                                                                   \
    if (a < (pc_##D)-0x1p63) return INT64_MIN;                                                                   \
    return a != a ? 0 : (pc_i64)a;                                                                               \
  }                                                                                                              \
  PC_INLINE pc_u64 pc_cast_##D##_u64(pc_##D a) {                                                                 \
    if (a >= (pc_##D)0x1p64) return UINT64_MAX;                                                                  \
    return a > 0 ? (pc_u64)a : 0;                                                                                \
  }                                                                                                              \
  PC_INLINE pc_f32 pc_cast_##D##_f32(pc_##D a) { return (pc_f32)a; }                                             \
  PC_INLINE pc_f64 pc_cast_##D##_f64(pc_##D a) { return (pc_f64)a; }                                             \
  PC_INLINE pc_c64 pc_cast_##D##_c64(pc_##D a) {                                                                 \
    pc_c64 r = {(pc_f32)a, 0};                                                                                   \
    return r;                                                                                                    \
  }                                                                                                              \
  PC_INLINE pc_c128 pc_cast_##D##_c128(pc_##D a) {                                                               \
    pc_c128 r = {(pc_f64)a, 0};                                                                                  \
    return r;                                                                                                    \
  }

/* Rounds to whole numbers; a NaN is returned unchanged. */
#if defined(__SSE4_1__) || defined(__aarch64__)
#define PC_SCALAR_FLOAT_WHOLE(D, S, MAGIC)                                                       \
  PC_INLINE pc_##D pc_trunc_##D(pc_##D a) { return a == a ? __builtin_trunc##S(a) : a; }         \
  PC_INLINE pc_##D pc_floor_##D(pc_##D a) { return a == a ? __builtin_floor##S(a) : a; }         \
  PC_INLINE pc_##D pc_ceil_##D(pc_##D a) { return a == a ? __builtin_ceil##S(a) : a; }
#else
#define PC_SCALAR_FLOAT_WHOLE(D, S, MAGIC)                        \
  PC_INLINE pc_##D pc_trunc_##D(pc_##D a) {                       \
    pc_##D x = __builtin_fabs##S(a), r = (x + MAGIC) - MAGIC;     \
    r = r > x ? r - 1 : r;                                        \
    return pc_copysign_##D(x < MAGIC ? r : x, a);                 \
  }                                                               \
  PC_INLINE pc_##D pc_floor_##D(pc_##D a) {                       \
    pc_##D r = pc_round_##D(a);                                   \
    return pc_copysign_##D(r > a ? r - 1 : r, a);                 \
  }                                                               \
  PC_INLINE pc_##D pc_ceil_##D(pc_##D a) { return -pc_floor_##D(-a); }
#endif

/* Truncates by way of VIA, then replaces the results for NaN and for numbers beyond the bounds, which are exact in WIDE. If a number is clamped
 * first, gcc duplicates the code after the clamp for each bound. */
#define PC_SCALAR_FLOAT_CAST(D, TO, VIA, WIDE, LOW, HIGH)                  \
  PC_INLINE pc_##TO pc_cast_##D##_##TO(pc_##D a) {                         \
    pc_##WIDE x = (pc_##WIDE)a;                                            \
    VIA y = (VIA)x;                                                        \
    y = x > (pc_##WIDE)(LOW) ? y : (VIA)(LOW);                             \
    y = x < (pc_##WIDE)(HIGH) ? y : (VIA)(HIGH);                           \
    return (pc_##TO)(a == a ? y : 0);                                      \
  }

#endif
