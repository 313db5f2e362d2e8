/* precast/ops/scalar/wide.h: truth values in loops over elements of 64 bits: pc_<op>_<dtype>_wide.
 *
 * Compilers take the narrowest type in a loop for the length of its vectors, so a byte beside f64 makes eight copies of the body. In
 * such loops a truth value is an int64_t, 0 or 1; it is widened before the loop and narrowed after it. Operands must be 0 or 1.
 */
#ifndef PRECAST_OPS_SCALAR_WIDE_H
#define PRECAST_OPS_SCALAR_WIDE_H

#include <precast/ops/scalar/f64.h>
#include <precast/ops/scalar/i64.h>
#include <precast/ops/scalar/u64.h>

#define PC_WIDE_ORDER(D, NAME, OP) \
  PC_INLINE int64_t pc_##NAME##_##D##_wide(pc_##D a, pc_##D b) { return (int64_t)(a OP b); }
#define PC_WIDE(D)                                                                                         \
  PC_WIDE_ORDER(D, eq, ==)                                                                                 \
  PC_WIDE_ORDER(D, ne, !=)                                                                                 \
  PC_WIDE_ORDER(D, lt, <)                                                                                  \
  PC_WIDE_ORDER(D, le, <=)                                                                                 \
  PC_WIDE_ORDER(D, gt, >)                                                                                  \
  PC_WIDE_ORDER(D, ge, >=)                                                                                 \
  PC_INLINE pc_##D pc_switch_##D##_wide(int64_t cond, pc_##D a, pc_##D b) { return cond != 0 ? a : b; }    \
  PC_INLINE int64_t pc_cast_##D##_bool_wide(pc_##D a) { return (int64_t)(a != 0); }
PC_WIDE(f64)
PC_WIDE(i64)
PC_WIDE(u64)

PC_INLINE pc_i64 pc_cast_bool_i64_wide(int64_t a) { return a; }
PC_INLINE pc_u64 pc_cast_bool_u64_wide(int64_t a) { return (pc_u64)a; }
PC_INLINE pc_f64 pc_cast_bool_f64_wide(int64_t a) { return pc_from_bits_f64(-(uint64_t)a & 0x3ff0000000000000u); }

PC_INLINE int64_t pc_isnan_f64_wide(pc_f64 a) { return (int64_t)(a != a); }
PC_INLINE int64_t pc_isinf_f64_wide(pc_f64 a) { return (int64_t)(__builtin_fabs(a) == __builtin_inf()); }
PC_INLINE int64_t pc_isfinite_f64_wide(pc_f64 a) { return (int64_t)(__builtin_fabs(a) < __builtin_inf()); }
PC_INLINE int64_t pc_signbit_f64_wide(pc_f64 a) { return (int64_t)(pc_bits_f64(a) >> 63); }

#define PC_WIDE_ALWAYS(D)                                                             \
  PC_INLINE int64_t pc_isnan_##D##_wide(pc_##D a) { return (void)a, (int64_t)0; }     \
  PC_INLINE int64_t pc_isinf_##D##_wide(pc_##D a) { return (void)a, (int64_t)0; }     \
  PC_INLINE int64_t pc_isfinite_##D##_wide(pc_##D a) { return (void)a, (int64_t)1; }
PC_WIDE_ALWAYS(i64)
PC_WIDE_ALWAYS(u64)

#define PC_WIDE_BOOL(NAME, EXPR) \
  PC_INLINE int64_t pc_##NAME##_bool_wide(int64_t a, int64_t b) { return EXPR; }
PC_WIDE_BOOL(add, a | b)
PC_WIDE_BOOL(mul, a & b)
PC_WIDE_BOOL(maximum, a | b)
PC_WIDE_BOOL(minimum, a & b)
PC_WIDE_BOOL(or, a | b)
PC_WIDE_BOOL(and, a & b)
PC_WIDE_BOOL(xor, a ^ b)
PC_WIDE_BOOL(bitwise_or, a | b)
PC_WIDE_BOOL(bitwise_and, a & b)
PC_WIDE_BOOL(bitwise_xor, a ^ b)
PC_WIDE_BOOL(eq, (a ^ b) ^ 1)
PC_WIDE_BOOL(ne, a ^ b)
PC_WIDE_BOOL(lt, (a ^ 1) & b)
PC_WIDE_BOOL(le, (a ^ 1) | b)
PC_WIDE_BOOL(gt, a & (b ^ 1))
PC_WIDE_BOOL(ge, a | (b ^ 1))
PC_INLINE int64_t pc_not_bool_wide(int64_t a) { return a ^ 1; }
PC_INLINE int64_t pc_invert_bool_wide(int64_t a) { return a ^ 1; }
PC_INLINE int64_t pc_abs_bool_wide(int64_t a) { return a; }
PC_INLINE int64_t pc_identity_bool_wide(int64_t a) { return a; }
PC_INLINE int64_t pc_cast_bool_bool_wide(int64_t a) { return a; }
PC_INLINE int64_t pc_imag_bool_wide(int64_t a) { return (void)a, (int64_t)0; }
PC_INLINE int64_t pc_isnan_bool_wide(int64_t a) { return (void)a, (int64_t)0; }
PC_INLINE int64_t pc_isinf_bool_wide(int64_t a) { return (void)a, (int64_t)0; }
PC_INLINE int64_t pc_isfinite_bool_wide(int64_t a) { return (void)a, (int64_t)1; }
PC_INLINE int64_t pc_switch_bool_wide(int64_t cond, int64_t a, int64_t b) { return cond != 0 ? a : b; }
PC_INLINE int64_t pc_clip_bool_wide(int64_t a, int64_t low, int64_t high) { return (a | low) & high; }

#endif
