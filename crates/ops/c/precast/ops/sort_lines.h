/* precast/ops/sort_lines.h: several lines of keys sorted at once, a line in each lane of a vector.
 *
 * A sorting network compares the same places whatever the keys are, so that each of its steps is the minimum and the maximum of two
 * vectors. It takes n log² n of them for n keys a line: fewer than radix sort takes while lines are short. Keys alone are sorted
 * this way, because equal ones may change places.
 *
 * Source. D. E. Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M (Batcher's merge exchange).
 */
#ifndef PRECAST_OPS_SORT_LINES_H
#define PRECAST_OPS_SORT_LINES_H

#include <precast/module.h>

#define PC_SORT_LINES_BYTES 64 /* a key of each line */
#define PC_SORT_LINES_MOST 16  /* lines of 32-bit keys */
#define PC_SORT_LINES_LONG 1024

/* Sorts n rows of a key for each line. */
#define PC_SORT_LINES_KEYS(NAME, U)                                                              \
  static inline void NAME##_exchange(U *__restrict__ low, U *__restrict__ high) {                \
    for (int32_t l = 0; l < (int32_t)(PC_SORT_LINES_BYTES / sizeof(U)); l++) {                   \
      const U a = low[l], b = high[l];                                                           \
      low[l] = a < b ? a : b;                                                                    \
      high[l] = a < b ? b : a;                                                                   \
    }                                                                                            \
  }                                                                                              \
  __attribute__((unused, noinline)) static void NAME(int64_t n, U *key) {                        \
    const int64_t lines = PC_SORT_LINES_BYTES / sizeof(U);                                       \
    int64_t top = 1;                                                                             \
    while (2 * top < n) top *= 2;                                                                \
    for (int64_t p = top; p > 0; p /= 2) {                                                       \
      int64_t q = top, r = 0, d = p;                                                             \
      for (;;) {                                                                                 \
        for (int64_t start = r; start < n - d; start += 2 * p) {                                 \
          const int64_t end = start + p < n - d ? start + p : n - d;                             \
          for (int64_t i = start; i < end; i++) NAME##_exchange(key + i * lines, key + (i + d) * lines); \
        }                                                                                        \
        if (q == p) break;                                                                       \
        d = q - p;                                                                               \
        q /= 2;                                                                                  \
        r = p;                                                                                   \
      }                                                                                          \
    }                                                                                            \
  }

#endif
