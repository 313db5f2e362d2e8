/* precast/ops/half.h: the 16-bit floats and what converts them: pc_cast_<from>_<to> among f16, bf16, f32, f64.
 *
 * A 16-bit float is stored only. An operation widens its operands to f32, which is exact, computes there, and rounds once
 * to nearest even: for + - * / and sqrt that is the correctly rounded result (f32 has more than twice the bits).
 * f64 is rounded in one step, never by way of f32. Overflow gives infinity, subnormal results are not flushed to 0,
 * every NaN becomes the quiet one of its sign. All is integer arithmetic and selections, so loops become vector code, and
 * no CPU's conversion instruction decides. crates/graph/src/float16.rs repeats it in Rust.
 *
 * Source. F. Giesen, "Half to float done quick" and "Float to half conversion" (2012): adding a power of two rounds a
 * subnormal in the right place.
 */
#ifndef PRECAST_OPS_HALF_H
#define PRECAST_OPS_HALF_H

#include <precast/ops/bits.h>

PC_INLINE pc_f32 pc_cast_f16_f32(pc_f16 a) {
  uint32_t sign = (uint32_t)(a.bits & 0x8000u) << 16, u = (uint32_t)(a.bits & 0x7fffu) << 13;
  uint32_t normal = u + (112u << 23); /* from bias 15 to bias 127 */
  uint32_t small = pc_bits_f32(pc_from_bits_f32(u + (113u << 23)) - 0x1p-14f);
  uint32_t r = u < (1u << 23) ? small : normal;
  r = u >= (31u << 23) ? u | (255u << 23) : r;
  return pc_from_bits_f32(r | sign);
}

PC_INLINE pc_f32 pc_cast_bf16_f32(pc_bf16 a) { return pc_from_bits_f32((uint32_t)a.bits << 16); }

/* Rounds a magnitude, given as the bits U of a float whose mantissa is SHIFT bits longer, to a 16-bit float. REBIAS moves the
 * exponent; below LEAST the result is subnormal and MAGIC + u is rounded where its last bit is; from LIMIT on it is infinite. */
#define PC_HALF_ROUND(NAME, F, U, SHIFT, REBIAS, LEAST, MAGIC, LIMIT, ENDLESS, INFINITE)                           \
  PC_INLINE uint16_t pc_round_##NAME(pc_##F a) {                                                                    \
    const U top = (U)1 << (sizeof(U) * 8 - 1);                                                                      \
    U u = pc_bits_##F(a) & (top - 1), sign = pc_bits_##F(a) >> (sizeof(U) * 8 - 16) & 0x8000u;                      \
    U normal = (u - (U)(REBIAS) + (((U)1 << (SHIFT - 1)) - 1) + (u >> SHIFT & 1)) >> SHIFT;                         \
    U small = pc_bits_##F(pc_from_bits_##F(u) + MAGIC) - pc_bits_##F(MAGIC);                                        \
    U r = u < (U)(LEAST) ? small : normal;                                                                          \
    r = u >= (U)(LIMIT) ? INFINITE : r;                                                                             \
    r = u > (U)(ENDLESS) ? INFINITE | (INFINITE >> 1 & ~INFINITE) : r; /* the highest bit of the mantissa */        \
    return (uint16_t)(r | sign);                                                                                    \
  }
PC_HALF_ROUND(f32_f16, f32, uint32_t, 13, 112u << 23, 113u << 23, 0.5f, 143u << 23, 255u << 23, 0x7c00u)
PC_HALF_ROUND(f64_f16, f64, uint64_t, 42, 1008ull << 52, 1009ull << 52, 0x1p28, 1039ull << 52, 2047ull << 52, 0x7c00u)
PC_HALF_ROUND(f64_bf16, f64, uint64_t, 45, 896ull << 52, 897ull << 52, 0x1p-81, 1151ull << 52, 2047ull << 52, 0x7f80u)

/* bf16 is the upper half of an f32: no rebias, and subnormals are where they were. */
PC_INLINE uint16_t pc_round_f32_bf16(pc_f32 a) {
  uint32_t u = pc_bits_f32(a), r = (u + 0x7fffu + (u >> 16 & 1)) >> 16;
  return (uint16_t)((u & 0x7fffffffu) > (255u << 23) ? (u >> 16 & 0x8000u) | 0x7fc0u : r);
}

#define PC_HALF_CAST(FROM, TO)                                         \
  PC_INLINE pc_##TO pc_cast_##FROM##_##TO(pc_##FROM a) {               \
    pc_##TO r;                                                         \
    r.bits = pc_round_##FROM##_##TO(a);                                \
    return r;                                                          \
  }
PC_HALF_CAST(f32, f16)
PC_HALF_CAST(f32, bf16)
PC_HALF_CAST(f64, f16)
PC_HALF_CAST(f64, bf16)

/* For sums and products that are no loop of an elementwise op. */
#define PC_HALF_RING(D)                                                                                              \
  PC_INLINE pc_##D pc_add_##D(pc_##D a, pc_##D b) { return pc_cast_f32_##D(pc_cast_##D##_f32(a) + pc_cast_##D##_f32(b)); } \
  PC_INLINE pc_##D pc_mul_##D(pc_##D a, pc_##D b) { return pc_cast_f32_##D(pc_cast_##D##_f32(a) * pc_cast_##D##_f32(b)); }
PC_HALF_RING(f16)
PC_HALF_RING(bf16)

#define PC_HALF_SWITCH(D)                                                          \
  PC_INLINE pc_##D pc_switch_##D(pc_bool cond, pc_##D a, pc_##D b) {               \
    pc_##D r;                                                                      \
    r.bits = cond ? a.bits : b.bits;                                               \
    return r;                                                                      \
  }
PC_HALF_SWITCH(f16)
PC_HALF_SWITCH(bf16)

#endif
