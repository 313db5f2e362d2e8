/* precast/ops/random/threefry.h: words of random bits, a function of a key and a counter.
 *
 * Threefry-2x32 with 20 rounds of J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3"
 * (2011). A key, a counter and a result are 64 bits: the first 32-bit word of the pair is the high one. These are the bits of JAX.
 *
 * For one key the function is a bijection, so 2^64 counters give each word once. It is not a cipher. */
#ifndef PRECAST_OPS_RANDOM_THREEFRY_H
#define PRECAST_OPS_RANDOM_THREEFRY_H

#include <precast/ops/bits.h>

/* One round: a sum, a rotation and an exclusive or. */
#define PC_THREEFRY_ROUND(N) \
  do { \
    x = x + y; \
    y = (y << (N)) | (y >> (32 - (N))); \
    y = y ^ x; \
  } while (0)

/* Four rounds, then a part of the key. */
#define PC_THREEFRY_EVEN(A, B) \
  do { \
    PC_THREEFRY_ROUND(13); \
    PC_THREEFRY_ROUND(15); \
    PC_THREEFRY_ROUND(26); \
    PC_THREEFRY_ROUND(6); \
    x = x + (A); \
    y = y + (B); \
  } while (0)
#define PC_THREEFRY_ODD(A, B) \
  do { \
    PC_THREEFRY_ROUND(17); \
    PC_THREEFRY_ROUND(29); \
    PC_THREEFRY_ROUND(16); \
    PC_THREEFRY_ROUND(24); \
    x = x + (A); \
    y = y + (B); \
  } while (0)

PC_INLINE pc_u64 pc_threefry_u64(pc_u64 key, pc_u64 counter) {
  const uint32_t a = (uint32_t)(key >> 32), b = (uint32_t)key, c = a ^ b ^ 0x1bd11bdau;
  uint32_t x = (uint32_t)(counter >> 32) + a, y = (uint32_t)counter + b;
  PC_THREEFRY_EVEN(b, c + 1u);
  PC_THREEFRY_ODD(c, a + 2u);
  PC_THREEFRY_EVEN(a, b + 3u);
  PC_THREEFRY_ODD(b, c + 4u);
  PC_THREEFRY_EVEN(c, a + 5u);
  return (pc_u64)x << 32 | y;
}

/* The high 52 bits of a word as a multiple of 2^-52 in [0, 1). */
PC_INLINE pc_f64 pc_unit_draw_f64(pc_u64 word) { return pc_from_bits_f64(word >> 12 | 0x3ff0000000000000u) - 1.0; }

/* Number i of the stream of a word, a uniform float in (0, 1): an odd multiple of 2^-53. */
PC_INLINE pc_f64 pc_stream_f64(pc_u64 word, pc_u64 i) { return pc_unit_draw_f64(pc_threefry_u64(word, i)) + 0x1p-53; }

/* The tries of a loop that rejects candidates. No sampler rejects a candidate with a probability above 0.4, so the last one is
 * reached with a probability below 2^-160. */
#define PC_STREAM_TRIES 128

#endif
