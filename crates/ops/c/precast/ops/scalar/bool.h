/* precast/ops/scalar/bool.h: the operations of truth values: + is or, * is and. Operands may hold any non-zero byte for true;
 * results are 0 or 1. */
#ifndef PRECAST_OPS_SCALAR_BOOL_H
#define PRECAST_OPS_SCALAR_BOOL_H

#include <precast/ops/bits.h>

#define PC_SCALAR_BOOL(NAME, EXPR) \
  PC_INLINE pc_bool pc_##NAME##_bool(pc_bool x, pc_bool y) { int a = x != 0, b = y != 0; return (pc_bool)(EXPR); }
PC_SCALAR_BOOL(add, a | b)
PC_SCALAR_BOOL(mul, a & b)
PC_SCALAR_BOOL(maximum, a | b)
PC_SCALAR_BOOL(minimum, a & b)
PC_SCALAR_BOOL(or, a | b)
PC_SCALAR_BOOL(and, a & b)
PC_SCALAR_BOOL(xor, a ^ b)
PC_SCALAR_BOOL(bitwise_or, a | b)
PC_SCALAR_BOOL(bitwise_and, a & b)
PC_SCALAR_BOOL(bitwise_xor, a ^ b)
PC_SCALAR_BOOL(eq, a == b)
PC_SCALAR_BOOL(ne, a != b)
PC_SCALAR_BOOL(lt, a < b)
PC_SCALAR_BOOL(le, a <= b)
PC_SCALAR_BOOL(gt, a > b)
PC_SCALAR_BOOL(ge, a >= b)
PC_INLINE pc_bool pc_not_bool(pc_bool a) { return (pc_bool)(a == 0); }
PC_INLINE pc_bool pc_invert_bool(pc_bool a) { return (pc_bool)(a == 0); }
PC_INLINE pc_bool pc_abs_bool(pc_bool a) { return (pc_bool)(a != 0); }
PC_INLINE pc_bool pc_imag_bool(pc_bool a) { return (void)a, (pc_bool)0; }
PC_INLINE pc_bool pc_isnan_bool(pc_bool a) { return (void)a, (pc_bool)0; }
PC_INLINE pc_bool pc_isinf_bool(pc_bool a) { return (void)a, (pc_bool)0; }
PC_INLINE pc_bool pc_isfinite_bool(pc_bool a) { return (void)a, (pc_bool)1; }
PC_INLINE pc_bool pc_identity_bool(pc_bool a) { return (pc_bool)(a != 0); }
PC_INLINE pc_bool pc_switch_bool(pc_bool cond, pc_bool a, pc_bool b) { return (pc_bool)((cond ? a : b) != 0); }
PC_INLINE pc_bool pc_clip_bool(pc_bool a, pc_bool low, pc_bool high) {
  return pc_minimum_bool(pc_maximum_bool(a, low), high);
}

#define PC_SCALAR_BOOL_CAST(TO) \
  PC_INLINE pc_##TO pc_cast_bool_##TO(pc_bool a) { return (pc_##TO)(a != 0); }
PC_SCALAR_BOOL_CAST(bool)
PC_SCALAR_BOOL_CAST(i8)
PC_SCALAR_BOOL_CAST(i16)
PC_SCALAR_BOOL_CAST(i32)
PC_SCALAR_BOOL_CAST(i64)
PC_SCALAR_BOOL_CAST(u8)
PC_SCALAR_BOOL_CAST(u16)
PC_SCALAR_BOOL_CAST(u32)
PC_SCALAR_BOOL_CAST(u64)
PC_SCALAR_BOOL_CAST(f32)
/* The bits of 1.0 or none: in loops of short vectors (PC_LIGHT), gcc makes a branch of the conversion. */
PC_INLINE pc_f64 pc_cast_bool_f64(pc_bool a) { return pc_from_bits_f64(-(uint64_t)(a != 0) & 0x3ff0000000000000u); }
PC_INLINE pc_c64 pc_cast_bool_c64(pc_bool a) {
  pc_c64 r = {(pc_f32)(a != 0), 0};
  return r;
}
PC_INLINE pc_c128 pc_cast_bool_c128(pc_bool a) {
  pc_c128 r = {(pc_f64)(a != 0), 0};
  return r;
}

#endif
