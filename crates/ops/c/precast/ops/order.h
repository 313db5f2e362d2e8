/* precast/ops/order.h: the order in which elements are sorted and searched: NumPy's.
 *
 * Numbers ascend, false is before true, -0.0 and 0.0 are equal, every NaN is behind all numbers and equal to every other.
 * Complex numbers go by real part, then imaginary part. Numbers with a NaN are behind all numbers without one: first
 * (r, NaN) by r, then (NaN, i) by i, then (NaN, NaN).
 *
 * pc_order_<dtype>(x, stage) is an unsigned integer of that order. A real number has one, stage 0; a complex one has three, of
 * which a later one outweighs those before it: its imaginary part, its real part, which of them are NaN.
 */
#ifndef PRECAST_OPS_ORDER_H
#define PRECAST_OPS_ORDER_H

#include <precast/ops/half.h>

/* D: a dtype, U: the unsigned integer of its width, FLIP: the bit that makes a signed one ascend. */
#define PC_ORDER_INT(D, U, FLIP)                                                                            \
  PC_INLINE uint64_t pc_order_##D(pc_##D x, int32_t stage) { return (void)stage, (U)((U)x ^ (U)(FLIP)); }   \
  PC_INLINE pc_##D pc_unorder_##D(uint64_t key) { return (pc_##D)(U)((U)key ^ (U)(FLIP)); }
PC_ORDER_INT(i8, uint8_t, 0x80u)
PC_ORDER_INT(i16, uint16_t, 0x8000u)
PC_ORDER_INT(i32, uint32_t, 0x80000000u)
PC_ORDER_INT(i64, uint64_t, 0x8000000000000000u)
PC_ORDER_INT(u8, uint8_t, 0)
PC_ORDER_INT(u16, uint16_t, 0)
PC_ORDER_INT(u32, uint32_t, 0)
PC_ORDER_INT(u64, uint64_t, 0)

PC_INLINE uint64_t pc_order_bool(pc_bool x, int32_t stage) { return (void)stage, x != 0; }
PC_INLINE pc_bool pc_unorder_bool(uint64_t key) { return (pc_bool)key; }

/* Defines the key of a float: a negative number has its bits inverted, any other number has the top bit set. */
#define PC_ORDER_FLOAT(F, U, TOP)                                                \
  PC_INLINE uint64_t pc_order_##F(pc_##F x, int32_t stage) {                     \
    const U top = TOP;                                                           \
    U bits = x == 0 ? 0 : pc_bits_##F(x);                                        \
    (void)stage;                                                                 \
    return x != x ? (U)-1 : bits & top ? (U)~bits : bits | top;                  \
  }                                                                              \
  PC_INLINE pc_##F pc_unorder_##F(uint64_t key) {                                \
    const U top = TOP;                                                           \
    return pc_from_bits_##F((U)key & top ? (U)key & ~top : ~(U)key);             \
  }
PC_ORDER_FLOAT(f32, uint32_t, 0x80000000u)
PC_ORDER_FLOAT(f64, uint64_t, 0x8000000000000000u)

PC_INLINE uint64_t pc_order_f16(pc_f16 x, int32_t stage) { return pc_order_f32(pc_cast_f16_f32(x), stage); }
PC_INLINE uint64_t pc_order_bf16(pc_bf16 x, int32_t stage) { return pc_order_f32(pc_cast_bf16_f32(x), stage); }

#define PC_ORDER_COMPLEX(D, F)                                                   \
  PC_INLINE uint64_t pc_order_##D(pc_##D x, int32_t stage) {                     \
    if (stage < 2) return pc_order_##F(stage == 0 ? x.im : x.re, 0);             \
    return (uint64_t)((x.re != x.re) * 2 + (x.im != x.im));                      \
  }
PC_ORDER_COMPLEX(c64, f32)
PC_ORDER_COMPLEX(c128, f64)

#endif
