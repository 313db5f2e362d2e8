/* precast/ops/bits.h: a float's bits and back, and the attributes of functions that must melt into a loop. */
#ifndef PRECAST_OPS_BITS_H
#define PRECAST_OPS_BITS_H

#include <precast/tensor.h>

/* A function of this kind is inlined whatever it costs: a loop with a call in it is never vector code. C that calls them
 * for one element at a time may define PC_INLINE as less, which changes no bits and is compiled faster. Without optimisation no loop is
 * vector code, and inlined functions take much of a stack. */
#ifndef PC_INLINE
#ifdef __OPTIMIZE__
#define PC_INLINE static inline __attribute__((always_inline, unused))
#else
#define PC_INLINE static inline __attribute__((unused))
#endif
#endif

PC_INLINE uint64_t pc_bits_f64(pc_f64 x) {
  uint64_t u;
  __builtin_memcpy(&u, &x, sizeof u);
  return u;
}

PC_INLINE pc_f64 pc_from_bits_f64(uint64_t u) {
  pc_f64 x;
  __builtin_memcpy(&x, &u, sizeof x);
  return x;
}

PC_INLINE uint32_t pc_bits_f32(pc_f32 x) {
  uint32_t u;
  __builtin_memcpy(&u, &x, sizeof u);
  return u;
}

PC_INLINE pc_f32 pc_from_bits_f32(uint32_t u) {
  pc_f32 x;
  __builtin_memcpy(&x, &u, sizeof x);
  return x;
}

#endif
