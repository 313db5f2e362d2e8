/* precast/ops/scalar.h: the scalar operations, one function each: pc_<op>_<dtype of the operands>.
 *
 *   arithmetic   add sub mul (wrapping for i64; add = or, mul = and for bool; no sub of bool), div (floats), neg, abs, sqrt
 *   functions    of floats are in headers of their own (math.h)
 *   order        maximum minimum (NaN if either is; equal operands: the first)   eq ne lt le gt ge -> pc_bool
 *   logic        and or xor not (bool)
 *   choice       switch(cond, a, b): cond is pc_bool
 *   conversion   cast_<from>_<to>: to bool is != 0, float to integer saturates and NaN becomes 0
 *
 * NumPy's meaning throughout. Every function is total: no trap, no undefined behaviour, whatever the operands.
 * All are branch-free where their loop is to become vector code.
 */
#ifndef PRECAST_OPS_SCALAR_H
#define PRECAST_OPS_SCALAR_H

#include <precast/ops/bits.h>

/* What every dtype has. */
#define PC_SCALAR_ORDER(D, T)                                                     \
  PC_INLINE pc_bool pc_eq_##D(T a, T b) { return (pc_bool)(a == b); }             \
  PC_INLINE pc_bool pc_ne_##D(T a, T b) { return (pc_bool)(a != b); }             \
  PC_INLINE pc_bool pc_lt_##D(T a, T b) { return (pc_bool)(a < b); }              \
  PC_INLINE pc_bool pc_le_##D(T a, T b) { return (pc_bool)(a <= b); }             \
  PC_INLINE pc_bool pc_gt_##D(T a, T b) { return (pc_bool)(a > b); }              \
  PC_INLINE pc_bool pc_ge_##D(T a, T b) { return (pc_bool)(a >= b); }             \
  PC_INLINE T pc_maximum_##D(T a, T b) {                                          \
    T m = b > a ? b : a; /* the instruction: a when one is NaN */                 \
    return b != b ? b : m;                                                        \
  }                                                                               \
  PC_INLINE T pc_minimum_##D(T a, T b) {                                          \
    T m = b < a ? b : a;                                                          \
    return b != b ? b : m;                                                        \
  }                                                                               \
  PC_INLINE T pc_switch_##D(pc_bool cond, T a, T b) { return cond ? a : b; }      \
  PC_INLINE pc_bool pc_cast_##D##_bool(T a) { return (pc_bool)(a != 0); }         \
  PC_INLINE T pc_cast_bool_##D(pc_bool a) { return (T)(a != 0); }

/* A copy; that of a bool, below, holds 0 or 1. */
#define PC_SCALAR_IDENTITY(D) \
  PC_INLINE pc_##D pc_identity_##D(pc_##D a) { return a; }
PC_SCALAR_IDENTITY(i8)
PC_SCALAR_IDENTITY(i16)
PC_SCALAR_IDENTITY(i32)
PC_SCALAR_IDENTITY(i64)
PC_SCALAR_IDENTITY(u8)
PC_SCALAR_IDENTITY(u16)
PC_SCALAR_IDENTITY(u32)
PC_SCALAR_IDENTITY(u64)
PC_SCALAR_IDENTITY(f16)
PC_SCALAR_IDENTITY(bf16)
PC_SCALAR_IDENTITY(f32)
PC_SCALAR_IDENTITY(f64)
PC_SCALAR_IDENTITY(c64)
PC_SCALAR_IDENTITY(c128)

#define PC_SCALAR_FLOAT(D, T)                                        \
  PC_INLINE T pc_add_##D(T a, T b) { return a + b; }                 \
  PC_INLINE T pc_sub_##D(T a, T b) { return a - b; }                 \
  PC_INLINE T pc_mul_##D(T a, T b) { return a * b; }                 \
  PC_INLINE T pc_div_##D(T a, T b) { return a / b; }                 \
  PC_INLINE T pc_neg_##D(T a) { return -a; }

PC_SCALAR_FLOAT(f32, pc_f32)
PC_SCALAR_FLOAT(f64, pc_f64)
PC_SCALAR_ORDER(f32, pc_f32)
PC_SCALAR_ORDER(f64, pc_f64)
PC_SCALAR_ORDER(i64, pc_i64)

PC_INLINE pc_f32 pc_abs_f32(pc_f32 a) { return __builtin_fabsf(a); }
PC_INLINE pc_f64 pc_abs_f64(pc_f64 a) { return __builtin_fabs(a); }
PC_INLINE pc_f32 pc_sqrt_f32(pc_f32 a) { return __builtin_sqrtf(a); }
PC_INLINE pc_f64 pc_sqrt_f64(pc_f64 a) { return __builtin_sqrt(a); }

/* i64 wraps: the sums are those of unsigned numbers. */
PC_INLINE pc_i64 pc_add_i64(pc_i64 a, pc_i64 b) { return (pc_i64)((pc_u64)a + (pc_u64)b); }
PC_INLINE pc_i64 pc_sub_i64(pc_i64 a, pc_i64 b) { return (pc_i64)((pc_u64)a - (pc_u64)b); }
PC_INLINE pc_i64 pc_mul_i64(pc_i64 a, pc_i64 b) { return (pc_i64)((pc_u64)a * (pc_u64)b); }
PC_INLINE pc_i64 pc_neg_i64(pc_i64 a) { return (pc_i64)(0u - (pc_u64)a); }
PC_INLINE pc_i64 pc_abs_i64(pc_i64 a) { return a < 0 ? pc_neg_i64(a) : a; }

/* Operands may hold any non-zero byte for true; results are 0 or 1. */
#define PC_SCALAR_BOOL(NAME, EXPR) \
  PC_INLINE pc_bool pc_##NAME##_bool(pc_bool x, pc_bool y) { int a = x != 0, b = y != 0; return (pc_bool)(EXPR); }
PC_SCALAR_BOOL(add, a | b)
PC_SCALAR_BOOL(mul, a & b)
PC_SCALAR_BOOL(maximum, a | b)
PC_SCALAR_BOOL(minimum, a & b)
PC_SCALAR_BOOL(or, a | b)
PC_SCALAR_BOOL(and, a & b)
PC_SCALAR_BOOL(xor, a ^ b)
PC_SCALAR_BOOL(eq, a == b)
PC_SCALAR_BOOL(ne, a != b)
PC_SCALAR_BOOL(lt, a < b)
PC_SCALAR_BOOL(le, a <= b)
PC_SCALAR_BOOL(gt, a > b)
PC_SCALAR_BOOL(ge, a >= b)
PC_INLINE pc_bool pc_not_bool(pc_bool a) { return (pc_bool)(a == 0); }
PC_INLINE pc_bool pc_abs_bool(pc_bool a) { return (pc_bool)(a != 0); }
PC_INLINE pc_bool pc_identity_bool(pc_bool a) { return (pc_bool)(a != 0); }
PC_INLINE pc_bool pc_cast_bool_bool(pc_bool a) { return (pc_bool)(a != 0); }
PC_INLINE pc_bool pc_switch_bool(pc_bool cond, pc_bool a, pc_bool b) { return (pc_bool)((cond ? a : b) != 0); }

PC_INLINE pc_f32 pc_cast_f32_f32(pc_f32 a) { return a; }
PC_INLINE pc_f64 pc_cast_f64_f64(pc_f64 a) { return a; }
PC_INLINE pc_i64 pc_cast_i64_i64(pc_i64 a) { return a; }
PC_INLINE pc_f64 pc_cast_f32_f64(pc_f32 a) { return (pc_f64)a; }
PC_INLINE pc_f32 pc_cast_f64_f32(pc_f64 a) { return (pc_f32)a; }
/* The integer 0 is +0. gcc 12 with -fno-trapping-math takes (double)(int64_t)x for trunc(x), which is -0 for -0.5: so the
 * sign of a zero is cleared as a bit, which no compiler can argue away. */
PC_INLINE pc_f64 pc_cast_i64_f64(pc_i64 a) {
  return pc_from_bits_f64(pc_bits_f64((pc_f64)a) & ~((uint64_t)(a == 0) << 63));
}
PC_INLINE pc_f32 pc_cast_i64_f32(pc_i64 a) {
  return pc_from_bits_f32(pc_bits_f32((pc_f32)a) & ~((uint32_t)(a == 0) << 31));
}
/* The instruction gives INT64_MIN for all it cannot represent; what is wanted there is chosen first. */
PC_INLINE pc_i64 pc_cast_f64_i64(pc_f64 a) {
  if (a >= 0x1p63) return INT64_MAX;
  if (a < -0x1p63) return INT64_MIN;
  return a != a ? 0 : (pc_i64)a;
}
PC_INLINE pc_i64 pc_cast_f32_i64(pc_f32 a) { return pc_cast_f64_i64((pc_f64)a); }

#endif
