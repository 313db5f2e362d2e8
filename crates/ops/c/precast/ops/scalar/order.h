/* precast/ops/scalar/order.h: what integers and floats have in common. */
#ifndef PRECAST_OPS_SCALAR_ORDER_H
#define PRECAST_OPS_SCALAR_ORDER_H

#include <precast/ops/bits.h>

#define PC_SCALAR_ORDER(D)                                                                  \
  PC_INLINE pc_bool pc_eq_##D(pc_##D a, pc_##D b) { return (pc_bool)(a == b); }             \
  PC_INLINE pc_bool pc_ne_##D(pc_##D a, pc_##D b) { return (pc_bool)(a != b); }             \
  PC_INLINE pc_bool pc_lt_##D(pc_##D a, pc_##D b) { return (pc_bool)(a < b); }              \
  PC_INLINE pc_bool pc_le_##D(pc_##D a, pc_##D b) { return (pc_bool)(a <= b); }             \
  PC_INLINE pc_bool pc_gt_##D(pc_##D a, pc_##D b) { return (pc_bool)(a > b); }              \
  PC_INLINE pc_bool pc_ge_##D(pc_##D a, pc_##D b) { return (pc_bool)(a >= b); }             \
  PC_INLINE pc_##D pc_switch_##D(pc_bool cond, pc_##D a, pc_##D b) { return cond ? a : b; } \
  PC_INLINE pc_##D pc_clip_##D(pc_##D a, pc_##D low, pc_##D high) {                         \
    return pc_minimum_##D(pc_maximum_##D(a, low), high);                                    \
  }                                                                                         \
  PC_INLINE pc_##D pc_identity_##D(pc_##D a) { return a; }                                  \
  PC_INLINE pc_##D pc_imag_##D(pc_##D a) { return (void)a, (pc_##D)0; }                     \
  PC_INLINE pc_bool pc_cast_##D##_bool(pc_##D a) { return (pc_bool)(a != 0); }

#endif
