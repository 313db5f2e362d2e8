/* driver/grid.h: copies grids of elements (rows x columns) between strided memory and a block that has them contiguous, row by row.
 *
 *   way in memory                        copied as
 *   columns in step 0                    each element repeated
 *   rows in step 0                       the first row, then twice as many rows at a time
 *   columns contiguous                   each row by a few words, the last two of which may overlap
 *   rows contiguous                      turned (turn.h)
 *   anything else                        element by element
 *
 * Short rows are the reason: a call for each row would take longer than its elements.
 */
#ifndef PRECAST_DRIVER_GRID_H
#define PRECAST_DRIVER_GRID_H

#include "../turn.h"
#include <precast/copy.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

typedef struct pc_sixteen_bytes { uint64_t low, high; } __attribute__((aligned(1), may_alias)) pc_sixteen_bytes;
typedef uint8_t pc_grid_bytes __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint16_t pc_grid_halves __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint16_t pc_two_bytes __attribute__((aligned(1), may_alias));

/* Where the elements lie: steps in bytes. */
typedef struct pc_grid {
  char *at;
  int64_t rows, columns, row, column;
} pc_grid;

/* Copies one element of `item` bytes, a constant. */
static inline __attribute__((always_inline)) void pc_grid_element(int item, char *to, const char *from) {
  if (item == 1) *(uint8_t *)to = *(const uint8_t *)from;
  if (item == 2) *(pc_two_bytes *)to = *(const pc_two_bytes *)from;
  if (item == 4) *(pc_four_bytes *)to = *(const pc_four_bytes *)from;
  if (item == 8) *(pc_eight_bytes *)to = *(const pc_eight_bytes *)from;
  if (item == 16) *(pc_sixteen_bytes *)to = *(const pc_sixteen_bytes *)from;
}

/* Sixteen bytes of one element again and again. */
static inline __attribute__((always_inline)) pc_two pc_grid_same(int item, const char *from) {
  if (item == 1) return (pc_two)((pc_grid_bytes){0} + *(const uint8_t *)from);
  if (item == 2) return (pc_two)((pc_grid_halves){0} + *(const pc_two_bytes *)from);
  if (item == 4) return (pc_two)((pc_four){0} + *(const pc_four_bytes *)from);
  if (item == 8) return (pc_two){0} + *(const pc_eight_bytes *)from;
  return *(const pc_two *)from;
}

/* Repeats each of `rows` elements, `step` bytes apart, to rows of `bytes`, which is at least 16. */
static inline __attribute__((always_inline)) void pc_grid_repeat_long(int item, const int64_t bytes, char *to, const char *from, int64_t step,
                                                                      int64_t rows) {
  for (; rows > 0; rows--, from += step, to += bytes) {
    const pc_two same = pc_grid_same(item, from);
    #pragma GCC unroll 4
    for (int64_t i = 0; i + 16 <= bytes; i += 16) *(pc_two *)(to + i) = same;
    if (bytes % 16 != 0) *(pc_two *)(to + bytes - 16) = same;
  }
}

/* The same for any number of elements in a row. */
static inline __attribute__((always_inline)) void pc_grid_repeat(int item, char *to, const char *from, int64_t step, int64_t rows, int64_t columns) {
  const int64_t bytes = columns * item;
  switch (bytes) {
  case 16: return pc_grid_repeat_long(item, 16, to, from, step, rows);
  case 24: return pc_grid_repeat_long(item, 24, to, from, step, rows);
  case 32: return pc_grid_repeat_long(item, 32, to, from, step, rows);
  case 40: return pc_grid_repeat_long(item, 40, to, from, step, rows);
  case 48: return pc_grid_repeat_long(item, 48, to, from, step, rows);
  case 64: return pc_grid_repeat_long(item, 64, to, from, step, rows);
  default: break;
  }
  if (bytes >= 16) return pc_grid_repeat_long(item, bytes, to, from, step, rows);
  if (bytes >= 8) {
    for (; rows > 0; rows--, from += step, to += bytes) {
      const uint64_t same = pc_grid_same(item, from)[0];
      *(pc_eight_bytes *)to = same;
      *(pc_eight_bytes *)(to + bytes - 8) = same;
    }
    return;
  }
  for (; rows > 0; rows--, from += step) {
    for (int64_t i = 0; i < columns; i++, to += item) pc_grid_element(item, to, from);
  }
}

/* Copies rows of `bytes` each, at least 16, which are contiguous on both sides. */
static inline __attribute__((always_inline)) void pc_grid_rows_long(const int64_t bytes, int64_t rows, char *to, int64_t to_step,
                                                                    const char *from, int64_t step) {
  for (; rows > 0; rows--, to += to_step, from += step) {
    #pragma GCC unroll 4
    for (int64_t i = 0; i + 16 <= bytes; i += 16) *(pc_two *)(to + i) = *(const pc_two *)(from + i);
    if (bytes % 16 != 0) *(pc_two *)(to + bytes - 16) = *(const pc_two *)(from + bytes - 16);
  }
}

/* Copies rows of `bytes` each, which are contiguous on both sides. */
static inline __attribute__((always_inline)) void pc_grid_rows(int64_t bytes, int64_t rows, char *to, int64_t to_step, const char *from, int64_t step) {
  switch (bytes) {
  case 16: return pc_grid_rows_long(16, rows, to, to_step, from, step);
  case 24: return pc_grid_rows_long(24, rows, to, to_step, from, step);
  case 32: return pc_grid_rows_long(32, rows, to, to_step, from, step);
  case 40: return pc_grid_rows_long(40, rows, to, to_step, from, step);
  case 64: return pc_grid_rows_long(64, rows, to, to_step, from, step);
  default: break;
  }
  if (bytes > 128) {
    for (; rows > 0; rows--, to += to_step, from += step) __builtin_memcpy(to, from, (size_t)bytes);
  } else if (bytes >= 16) {
    pc_grid_rows_long(bytes, rows, to, to_step, from, step);
  } else if (bytes >= 8) {
    for (; rows > 0; rows--, to += to_step, from += step) {
      *(pc_eight_bytes *)to = *(const pc_eight_bytes *)from;
      *(pc_eight_bytes *)(to + bytes - 8) = *(const pc_eight_bytes *)(from + bytes - 8);
    }
  } else if (bytes >= 4) {
    for (; rows > 0; rows--, to += to_step, from += step) {
      *(pc_four_bytes *)to = *(const pc_four_bytes *)from;
      *(pc_four_bytes *)(to + bytes - 4) = *(const pc_four_bytes *)(from + bytes - 4);
    }
  } else {
    for (; rows > 0; rows--, to += to_step, from += step) {
      for (int64_t i = 0; i < bytes; i++) to[i] = from[i];
    }
  }
}

/* Copies row 0 of the block to those after it. */
static void pc_grid_again(char *block, int64_t bytes, int64_t rows) {
  for (int64_t done = 1; done < rows; done *= 2) {
    int64_t more = rows - done < done ? rows - done : done;
    __builtin_memcpy(block + done * bytes, block, (size_t)(more * bytes));
  }
}

/* Element by element; steps of the block are `item` and `bytes`. */
static inline __attribute__((always_inline)) void pc_grid_plain(int item, const pc_grid *g, char *block, int back) {
  char *row = g->at;
  for (int64_t i = 0; i < g->rows; i++, row += g->row) {
    char *at = row;
    for (int64_t j = 0; j < g->columns; j++, at += g->column, block += item) pc_grid_element(item, back ? at : block, back ? block : at);
  }
}

/* The same for elements of 8 bytes, of which two are stored at once; not back. */
static inline __attribute__((always_inline)) void pc_grid_pairs(const pc_grid *g, char *block) {
  const char *row = g->at;
  for (int64_t i = 0; i < g->rows; i++, row += g->row) {
    const char *at = row;
    int64_t j = 0;
    for (; j + 2 <= g->columns; j += 2, at += 2 * g->column, block += 16) {
      const pc_two both = {*(const pc_eight_bytes *)at, *(const pc_eight_bytes *)(at + g->column)};
      *(pc_two *)block = both;
    }
    if (j == g->columns) continue;
    *(pc_eight_bytes *)block = *(const pc_eight_bytes *)at;
    block += 8;
  }
}

static inline __attribute__((always_inline)) void pc_grid_gather_of(int item, const pc_grid *g, char *block) {
  const int64_t bytes = g->columns * item;
  if (g->column == 0) {
    pc_grid_repeat(item, block, g->at, g->row, g->rows, g->columns);
  } else if (g->row == 0) {
    pc_grid first = {g->at, 1, g->columns, 0, g->column};
    pc_grid_plain(item, &first, block, 0);
    pc_grid_again(block, bytes, g->rows);
  } else if (g->column == item) {
    pc_grid_rows(bytes, g->rows, block, bytes, g->at, g->row);
  } else if (g->row == item && (item == 4 || item == 8)) {
    pc_turn(item, g->columns, g->rows, block, bytes, g->at, g->column);
  } else if (item == 8) {
    pc_grid_pairs(g, block);
  } else {
    pc_grid_plain(item, g, block, 0);
  }
}

static inline __attribute__((always_inline)) void pc_grid_scatter_of(int item, const pc_grid *g, char *block) {
  const int64_t bytes = g->columns * item;
  if (g->column == item) {
    pc_grid_rows(bytes, g->rows, g->at, g->row, block, bytes);
  } else if (g->row == item && (item == 4 || item == 8)) {
    pc_turn(item, g->rows, g->columns, g->at, g->column, block, bytes);
  } else {
    pc_grid_plain(item, g, block, 1);
  }
}

/* Copies a grid of elements of `item` bytes to the block, or with `back` from there. */
static __attribute__((noinline)) void pc_grid_copy(int32_t item, const pc_grid *g, char *block, int back) {
  if (item == 8) {
    back ? pc_grid_scatter_of(8, g, block) : pc_grid_gather_of(8, g, block);
  } else if (item == 4) {
    back ? pc_grid_scatter_of(4, g, block) : pc_grid_gather_of(4, g, block);
  } else if (item == 2) {
    back ? pc_grid_scatter_of(2, g, block) : pc_grid_gather_of(2, g, block);
  } else if (item == 1) {
    back ? pc_grid_scatter_of(1, g, block) : pc_grid_gather_of(1, g, block);
  } else {
    back ? pc_grid_scatter_of(16, g, block) : pc_grid_gather_of(16, g, block);
  }
}

/* Whether AVX2 may be used, which the host says. */
static int pc_grid_is_wide;

#ifdef __x86_64__
/* Gathers every second one of n elements of 8 bytes, and returns how many: all but a few at the end, behind which nothing may be. */
__attribute__((target("avx2"))) static int64_t pc_grid_seconds_8(int64_t n, char *to, const char *from) {
  int64_t i = 0;
  for (; i + 4 < n; i += 4, from += 64) {
    __m256i a = _mm256_loadu_si256((const __m256i *)from), b = _mm256_loadu_si256((const __m256i *)(from + 32));
    _mm256_storeu_si256((__m256i *)(to + 8 * i), _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(a, b), 0xd8));
  }
  return i;
}
#else
static int64_t pc_grid_seconds_8(int64_t n, char *to, const char *from) {
  (void)n, (void)to, (void)from;
  return 0;
}
#endif

/* Gathers n elements of 8 bytes, `step` bytes apart: two for each store. */
static void pc_grid_line_8(int64_t n, char *to, const char *from, int64_t step) {
  int64_t i = step == 16 && __atomic_load_n(&pc_grid_is_wide, __ATOMIC_RELAXED) ? pc_grid_seconds_8(n, to, from) : 0;
  from += i * step;
  for (; i + 4 <= n; i += 4, from += 4 * step) {
    pc_two a = {*(const pc_eight_bytes *)from, *(const pc_eight_bytes *)(from + step)};
    pc_two b = {*(const pc_eight_bytes *)(from + 2 * step), *(const pc_eight_bytes *)(from + 3 * step)};
    *(pc_two *)(to + 8 * i) = a;
    *(pc_two *)(to + 8 * i + 16) = b;
  }
  for (; i < n; i++, from += step) *(pc_eight_bytes *)(to + 8 * i) = *(const pc_eight_bytes *)from;
}

/* Gathers n elements of 4 bytes, `step` bytes apart: four for each store. */
static void pc_grid_line_4(int64_t n, char *to, const char *from, int64_t step) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4, from += 4 * step) {
    pc_four a = {*(const pc_four_bytes *)from, *(const pc_four_bytes *)(from + step), *(const pc_four_bytes *)(from + 2 * step),
                 *(const pc_four_bytes *)(from + 3 * step)};
    *(pc_four *)(to + 4 * i) = a;
  }
  for (; i < n; i++, from += step) *(pc_four_bytes *)(to + 4 * i) = *(const pc_four_bytes *)from;
}

/* Copies n elements between where they lie, `step` bytes apart, and the block, or with `back` from there. */
static void pc_grid_line(int32_t item, int64_t n, char *at, int64_t step, char *block, int back) {
  if (!back && item == 8 && step != 8 && step != 0 && step != -8) {
    pc_grid_line_8(n, block, at, step);
  } else if (!back && item == 4 && step != 4 && step != 0 && step != -4 && step != 8) {
    pc_grid_line_4(n, block, at, step);
  } else {
    pc_copy_strided(item, n, back ? at : block, back ? step : item, back ? block : at, back ? item : step);
  }
}

#endif
