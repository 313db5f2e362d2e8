/* grid/template.h: the copies of grid.h by vectors of PC_WIDE_BYTES. Defined by who includes it:
 *
 *   PC_TARGET                    an attribute that allows the instructions
 *   PC_LANES_8(E), PC_LANES_4(E) E(0), E(1), ... for each element of 8, or of 4 bytes, of a vector
 *   PC_NUMBERS(P), PC_CHOSEN(NUMBERS, FROM)   the words of 4 bytes of a vector that are numbered by so many bytes at P; of wider ones than 16
 */
#include "../turn.h"
#include "grid.h"
#include <precast/copy.h>

#define PC_GRID_NEAR_BYTES 4096 /* between rows no page can lie that is not there */
#define PC_COPY PC_TARGET static inline __attribute__((always_inline))

typedef uint64_t pc_wide __attribute__((vector_size(PC_WIDE_BYTES), aligned(1), may_alias));
typedef uint32_t pc_wide_fours __attribute__((vector_size(PC_WIDE_BYTES), aligned(1), may_alias));
typedef uint16_t pc_wide_halves __attribute__((vector_size(PC_WIDE_BYTES), aligned(1), may_alias));
typedef uint8_t pc_wide_bytes __attribute__((vector_size(PC_WIDE_BYTES), aligned(1), may_alias));
typedef struct pc_sixteen_bytes { uint64_t low, high; } __attribute__((aligned(1), may_alias)) pc_sixteen_bytes;
typedef uint8_t pc_grid_bytes __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint16_t pc_grid_halves __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint16_t pc_two_bytes __attribute__((aligned(1), may_alias));

/* Copies one element of `item` bytes, a constant. */
PC_COPY void pc_grid_element(int item, char *to, const char *from) {
  if (item == 1) *(uint8_t *)to = *(const uint8_t *)from;
  if (item == 2) *(pc_two_bytes *)to = *(const pc_two_bytes *)from;
  if (item == 4) *(pc_four_bytes *)to = *(const pc_four_bytes *)from;
  if (item == 8) *(pc_eight_bytes *)to = *(const pc_eight_bytes *)from;
  if (item == 16) *(pc_sixteen_bytes *)to = *(const pc_sixteen_bytes *)from;
}

/* Sixteen bytes of one element again and again. */
PC_COPY pc_two pc_grid_same(int item, const char *from) {
  if (item == 1) return (pc_two)((pc_grid_bytes){0} + *(const uint8_t *)from);
  if (item == 2) return (pc_two)((pc_grid_halves){0} + *(const pc_two_bytes *)from);
  if (item == 4) return (pc_two)((pc_four){0} + *(const pc_four_bytes *)from);
  if (item == 8) return (pc_two){0} + *(const pc_eight_bytes *)from;
  return *(const pc_two *)from;
}

/* A vector of the same, of elements of at most 8 bytes. */
PC_COPY pc_wide pc_grid_same_wide(int item, const char *from) {
  if (item == 1) return (pc_wide)((pc_wide_bytes){0} + *(const uint8_t *)from);
  if (item == 2) return (pc_wide)((pc_wide_halves){0} + *(const pc_two_bytes *)from);
  if (item == 4) return (pc_wide)((pc_wide_fours){0} + *(const pc_four_bytes *)from);
  return (pc_wide){0} + *(const pc_eight_bytes *)from;
}

/* A vector of elements of 8 or 4 bytes, `step` bytes apart. */
PC_COPY pc_wide pc_grid_apart(int item, const char *from, int64_t step) {
#define PC_AT_8(I) *(const pc_eight_bytes *)(from + (I) * step)
#define PC_AT_4(I) *(const pc_four_bytes *)(from + (I) * step)
  if (item == 8) return (pc_wide){PC_LANES_8(PC_AT_8)};
  return (pc_wide)(pc_wide_fours){PC_LANES_4(PC_AT_4)};
#undef PC_AT_8
#undef PC_AT_4
}

/* Every second element, from the first on, of two vectors. */
PC_COPY pc_wide pc_grid_seconds(int item, const char *from) {
#define PC_SECOND(I) 2 * (I)
  const pc_wide a = *(const pc_wide *)from, b = *(const pc_wide *)(from + PC_WIDE_BYTES);
  if (item == 8) return PC_SHUFFLED(pc_wide, a, b, PC_LANES_8(PC_SECOND));
  return (pc_wide)PC_SHUFFLED(pc_wide_fours, (pc_wide_fours)a, (pc_wide_fours)b, PC_LANES_4(PC_SECOND));
#undef PC_SECOND
}

/* A vector that ends with the element at `from`, in the opposite order. */
PC_COPY pc_wide pc_grid_backwards(int item, const char *from) {
#define PC_BACK_8(I) PC_WIDE_BYTES / 8 - 1 - (I)
#define PC_BACK_4(I) PC_WIDE_BYTES / 4 - 1 - (I)
  const pc_wide a = *(const pc_wide *)(from + item - PC_WIDE_BYTES);
  if (item == 8) return PC_SHUFFLED(pc_wide, a, a, PC_LANES_8(PC_BACK_8));
  return (pc_wide)PC_SHUFFLED(pc_wide_fours, (pc_wide_fours)a, (pc_wide_fours)a, PC_LANES_4(PC_BACK_4));
#undef PC_BACK_8
#undef PC_BACK_4
}

/* Repeats each of `rows` elements, `step` bytes apart, to rows of `bytes`, which is at least 16. */
PC_COPY void pc_grid_repeat_long(int item, const int64_t bytes, char *to, const char *from, int64_t step, int64_t rows) {
  for (; rows > 0; rows--, from += step, to += bytes) {
    const pc_two same = pc_grid_same(item, from);
    #pragma GCC unroll 4
    for (int64_t i = 0; i + 16 <= bytes; i += 16) *(pc_two *)(to + i) = same;
    if (bytes % 16 != 0) *(pc_two *)(to + bytes - 16) = same;
  }
}

/* The same of rows of a vector at least, of elements of at most 8 bytes. */
PC_COPY void pc_grid_repeat_wide(int item, int64_t bytes, char *to, const char *from, int64_t step, int64_t rows) {
  for (; rows > 0; rows--, from += step, to += bytes) {
    const pc_wide same = pc_grid_same_wide(item, from);
    #pragma GCC unroll 4
    for (int64_t i = 0; i + PC_WIDE_BYTES <= bytes; i += PC_WIDE_BYTES) *(pc_wide *)(to + i) = same;
    if (bytes % PC_WIDE_BYTES != 0) *(pc_wide *)(to + bytes - PC_WIDE_BYTES) = same;
  }
}

#if PC_WIDE_BYTES > 16
/* The words of the vectors that a vector of elements of so many words becomes, each repeated C times: by C, and by vector. */
#define PC_SPREAD_WORD(WORDS, C, V, I) (uint8_t)((((V) * (PC_WIDE_BYTES / 4) + (I)) / (WORDS) / (C)) * (WORDS) + (I) % (WORDS))
#define PC_SPREAD_EIGHT(WORDS, C, V, I) \
  PC_SPREAD_WORD(WORDS, C, V, I), PC_SPREAD_WORD(WORDS, C, V, I + 1), PC_SPREAD_WORD(WORDS, C, V, I + 2), PC_SPREAD_WORD(WORDS, C, V, I + 3), \
    PC_SPREAD_WORD(WORDS, C, V, I + 4), PC_SPREAD_WORD(WORDS, C, V, I + 5), PC_SPREAD_WORD(WORDS, C, V, I + 6), \
    PC_SPREAD_WORD(WORDS, C, V, I + 7)
#if PC_WIDE_BYTES == 32
#define PC_SPREAD_VECTOR(WORDS, C, V) PC_SPREAD_EIGHT(WORDS, C, V, 0)
#else
#define PC_SPREAD_VECTOR(WORDS, C, V) PC_SPREAD_EIGHT(WORDS, C, V, 0), PC_SPREAD_EIGHT(WORDS, C, V, 8)
#endif
#define PC_SPREAD_2(WORDS, C) PC_SPREAD_VECTOR(WORDS, C, 0), PC_SPREAD_VECTOR(WORDS, C, 1)
#define PC_SPREAD_3(WORDS, C) PC_SPREAD_2(WORDS, C), PC_SPREAD_VECTOR(WORDS, C, 2)
#define PC_SPREAD_4(WORDS, C) PC_SPREAD_3(WORDS, C), PC_SPREAD_VECTOR(WORDS, C, 3)
#define PC_SPREAD_5(WORDS, C) PC_SPREAD_4(WORDS, C), PC_SPREAD_VECTOR(WORDS, C, 4)
#define PC_SPREAD_6(WORDS, C) PC_SPREAD_5(WORDS, C), PC_SPREAD_VECTOR(WORDS, C, 5)
#define PC_SPREAD_7(WORDS, C) PC_SPREAD_6(WORDS, C), PC_SPREAD_VECTOR(WORDS, C, 6)
#define PC_SPREAD_ALL(WORDS) \
  {PC_SPREAD_2(WORDS, 2), PC_SPREAD_3(WORDS, 3), PC_SPREAD_4(WORDS, 4), PC_SPREAD_5(WORDS, 5), PC_SPREAD_6(WORDS, 6), PC_SPREAD_7(WORDS, 7)}
static const uint8_t pc_grid_spread_numbers[2][27 * PC_WIDE_BYTES / 4] = {PC_SPREAD_ALL(1), PC_SPREAD_ALL(2)};

/* Repeats each of `rows` elements of 4 or 8 bytes, which are contiguous, 2 to 7 times: those that are whole vectors, and returns how many. */
PC_COPY int64_t pc_grid_spread(int item, int64_t columns, char *to, const char *from, int64_t rows) {
  const int64_t lanes = PC_WIDE_BYTES / item;
  const uint8_t *numbers = pc_grid_spread_numbers[item / 4 - 1] + (columns * (columns - 1) / 2 - 1) * (PC_WIDE_BYTES / 4);
  pc_wide chosen[7];
  int64_t done = 0;
  for (int64_t v = 0; v < columns; v++) chosen[v] = (pc_wide)PC_NUMBERS(numbers + v * (PC_WIDE_BYTES / 4));
  for (; done + lanes <= rows; done += lanes, from += PC_WIDE_BYTES) {
    const pc_wide all = *(const pc_wide *)from;
    for (int64_t v = 0; v < columns; v++, to += PC_WIDE_BYTES) *(pc_wide *)to = (pc_wide)PC_CHOSEN(chosen[v], all);
  }
  return done;
}
#endif

/* Repeats each of `rows` elements, `step` bytes apart, to a row. */
PC_COPY void pc_grid_repeat(int item, char *to, const char *from, int64_t step, int64_t rows, int64_t columns) {
  const int64_t bytes = columns * item;
#if PC_WIDE_BYTES > 16
  if ((item == 4 || item == 8) && step == item && columns > 1 && columns < 8 && bytes % PC_WIDE_BYTES != 0) {
    const int64_t done = pc_grid_spread(item, columns, to, from, rows);
    to += done * bytes;
    from += done * step;
    rows -= done;
  }
#endif
  if (item <= 8 && bytes == PC_WIDE_BYTES) return pc_grid_repeat_wide(item, PC_WIDE_BYTES, to, from, step, rows);
  if (item <= 8 && bytes > PC_WIDE_BYTES) return pc_grid_repeat_wide(item, bytes, to, from, step, rows);
  switch (bytes) {
  case 16: return pc_grid_repeat_long(item, 16, to, from, step, rows);
  case 24: return pc_grid_repeat_long(item, 24, to, from, step, rows);
  case 32: return pc_grid_repeat_long(item, 32, to, from, step, rows);
  case 40: return pc_grid_repeat_long(item, 40, to, from, step, rows);
  case 48: return pc_grid_repeat_long(item, 48, to, from, step, rows);
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
PC_COPY void pc_grid_rows_long(const int64_t bytes, int64_t rows, char *to, int64_t to_step, const char *from, int64_t step) {
  for (; rows > 0; rows--, to += to_step, from += step) {
    #pragma GCC unroll 4
    for (int64_t i = 0; i + 16 <= bytes; i += 16) *(pc_two *)(to + i) = *(const pc_two *)(from + i);
    if (bytes % 16 != 0) *(pc_two *)(to + bytes - 16) = *(const pc_two *)(from + bytes - 16);
  }
}

/* The same of a vector at least. */
PC_COPY void pc_grid_rows_wide(int64_t bytes, int64_t rows, char *to, int64_t to_step, const char *from, int64_t step) {
  for (; rows > 0; rows--, to += to_step, from += step) {
    #pragma GCC unroll 4
    for (int64_t i = 0; i + PC_WIDE_BYTES <= bytes; i += PC_WIDE_BYTES) *(pc_wide *)(to + i) = *(const pc_wide *)(from + i);
    if (bytes % PC_WIDE_BYTES != 0) *(pc_wide *)(to + bytes - PC_WIDE_BYTES) = *(const pc_wide *)(from + bytes - PC_WIDE_BYTES);
  }
}

/* Copies rows shorter than a vector to a block, by a vector each. The next row overwrites what such a vector has behind its row. No vector
 * reaches beyond the last row, on either side, so the last rows are left. Returns how many rows are copied. */
PC_COPY int64_t pc_grid_rows_short(int64_t bytes, int64_t rows, char *to, const char *from, int64_t step) {
  int64_t done = 0;
  if (step < bytes || step > PC_GRID_NEAR_BYTES) return 0;
  for (; done * bytes + PC_WIDE_BYTES <= rows * bytes; done++, to += bytes, from += step) *(pc_wide *)to = *(const pc_wide *)from;
  return done;
}

/* Copies rows of `bytes` each, which are contiguous on both sides. */
PC_COPY void pc_grid_rows(int64_t bytes, int64_t rows, char *to, int64_t to_step, const char *from, int64_t step) {
  if (bytes > 1024) {
    for (; rows > 0; rows--, to += to_step, from += step) __builtin_memcpy(to, from, (size_t)bytes);
    return;
  }
  if (bytes == PC_WIDE_BYTES) return pc_grid_rows_wide(PC_WIDE_BYTES, rows, to, to_step, from, step);
  if (bytes > PC_WIDE_BYTES) return pc_grid_rows_wide(bytes, rows, to, to_step, from, step);
  if (PC_WIDE_BYTES > 16 && bytes > 16 && to_step == bytes) {
    const int64_t done = pc_grid_rows_short(bytes, rows, to, from, step);
    rows -= done;
    to += done * to_step;
    from += done * step;
  }
  switch (bytes) {
  case 16: return pc_grid_rows_long(16, rows, to, to_step, from, step);
  case 24: return pc_grid_rows_long(24, rows, to, to_step, from, step);
  case 32: return pc_grid_rows_long(32, rows, to, to_step, from, step);
  case 40: return pc_grid_rows_long(40, rows, to, to_step, from, step);
  default: break;
  }
  if (bytes >= 16) {
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
PC_TARGET static void pc_grid_again(char *block, int64_t bytes, int64_t rows) {
  for (int64_t done = 1; done < rows; done *= 2) {
    int64_t more = rows - done < done ? rows - done : done;
    __builtin_memcpy(block + done * bytes, block, (size_t)(more * bytes));
  }
}

/* Copies elements of one row, `step` bytes apart, to the block: of 4 or 8 bytes by vectors. */
PC_COPY void pc_grid_gather_row(int item, int64_t columns, char *block, const char *from, int64_t step) {
  int64_t j = 0;
  if (item == 4 || item == 8) {
    for (; j + PC_WIDE_BYTES / item <= columns; j += PC_WIDE_BYTES / item, block += PC_WIDE_BYTES, from += PC_WIDE_BYTES / item * step) {
      *(pc_wide *)block = pc_grid_apart(item, from, step);
    }
  }
  if (item == 8) {
    for (; j + 2 <= columns; j += 2, block += 16, from += 2 * step) {
      *(pc_two *)block = (pc_two){*(const pc_eight_bytes *)from, *(const pc_eight_bytes *)(from + step)};
    }
  }
  for (; j < columns; j++, block += item, from += step) pc_grid_element(item, block, from);
}

/* Copies rows whose elements lie in any steps: of rows shorter than a vector, as many at once as a vector has elements of 4 or 8 bytes. */
PC_COPY void pc_grid_gather_rows(int item, const pc_grid *g, char *block) {
  const int64_t lanes = PC_WIDE_BYTES / item, columns = g->columns;
  const char *at = g->at;
  int64_t i = 0;
  if (PC_WIDE_BYTES > 16 && (item == 4 || item == 8) && columns < lanes && columns <= 8 && g->rows >= 2 * lanes) {
    int64_t offset[8 * PC_WIDE_BYTES / 4], *next = offset;
    for (int64_t r = 0; r < lanes; r++) {
      for (int64_t j = 0; j < columns; j++) *next++ = r * g->row + j * g->column;
    }
    for (; i + lanes <= g->rows; i += lanes, at += lanes * g->row) {
      for (const int64_t *of = offset; of < next; of += lanes, block += PC_WIDE_BYTES) {
#define PC_OF_8(I) *(const pc_eight_bytes *)(at + of[I])
#define PC_OF_4(I) *(const pc_four_bytes *)(at + of[I])
        *(pc_wide *)block = item == 8 ? (pc_wide){PC_LANES_8(PC_OF_8)} : (pc_wide)(pc_wide_fours){PC_LANES_4(PC_OF_4)};
#undef PC_OF_8
#undef PC_OF_4
      }
    }
  }
  for (; i < g->rows; i++, at += g->row, block += columns * item) pc_grid_gather_row(item, columns, block, at, g->column);
}

/* Copies rows that run backwards, of elements of 4 or 8 bytes, and have a vector at least. */
PC_COPY void pc_grid_reverse(int item, const pc_grid *g, char *block) {
  const int64_t lanes = PC_WIDE_BYTES / item, bytes = g->columns * item;
  const char *from = g->at;
  for (int64_t i = 0; i < g->rows; i++, from += g->row, block += bytes) {
    int64_t j = 0;
    for (; j + lanes <= g->columns; j += lanes) *(pc_wide *)(block + j * item) = pc_grid_backwards(item, from - j * item);
    if (j < g->columns) *(pc_wide *)(block + bytes - PC_WIDE_BYTES) = pc_grid_backwards(item, from - bytes + PC_WIDE_BYTES);
  }
}

/* Turns eight rows and columns by vectors of eight elements; steps in bytes. Only the first `rows` rows are read, and in each row of `to`
 * only so many elements count. */
#define PC_TURN_EIGHT(NAME, V) \
  PC_COPY void NAME(int64_t rows, char *to, int64_t to_step, const char *from, int64_t step) { \
    V a[8], b[8]; \
    _Pragma("GCC unroll 8") for (int i = 0; i < 8; i++) a[i] = i < rows ? *(const V *)(from + i * step) : (V){0}; \
    _Pragma("GCC unroll 8") for (int i = 0; i < 8; i += 2) { \
      b[i] = PC_SHUFFLED(V, a[i], a[i + 1], 0, 8, 2, 10, 4, 12, 6, 14); \
      b[i + 1] = PC_SHUFFLED(V, a[i], a[i + 1], 1, 9, 3, 11, 5, 13, 7, 15); \
    } \
    _Pragma("GCC unroll 8") for (int i = 0; i < 8; i += 4) { \
      _Pragma("GCC unroll 2") for (int k = i; k < i + 2; k++) { \
        a[k] = PC_SHUFFLED(V, b[k], b[k + 2], 0, 1, 8, 9, 4, 5, 12, 13); \
        a[k + 2] = PC_SHUFFLED(V, b[k], b[k + 2], 2, 3, 10, 11, 6, 7, 14, 15); \
      } \
    } \
    _Pragma("GCC unroll 8") for (int i = 0; i < 4; i++) { \
      *(V *)(to + i * to_step) = PC_SHUFFLED(V, a[i], a[i + 4], 0, 1, 2, 3, 8, 9, 10, 11); \
    } \
    _Pragma("GCC unroll 8") for (int i = 0; i < 4; i++) { \
      *(V *)(to + (i + 4) * to_step) = PC_SHUFFLED(V, a[i], a[i + 4], 4, 5, 6, 7, 12, 13, 14, 15); \
    } \
  }

#if PC_WIDE_BYTES > 16
typedef uint32_t pc_eight_fours __attribute__((vector_size(32), aligned(1), may_alias));
PC_TURN_EIGHT(pc_turn_eight_4, pc_eight_fours)
#if PC_WIDE_BYTES == 64
PC_TURN_EIGHT(pc_turn_wide_8, pc_wide)
#else
/* Four rows and columns. */
PC_COPY void pc_turn_wide_8(int64_t rows, char *to, int64_t to_step, const char *from, int64_t step) {
  pc_wide a[4];
  #pragma GCC unroll 4
  for (int i = 0; i < 4; i++) a[i] = i < rows ? *(const pc_wide *)(from + i * step) : (pc_wide){0};
  const pc_wide b = PC_SHUFFLED(pc_wide, a[0], a[1], 0, 4, 2, 6), c = PC_SHUFFLED(pc_wide, a[0], a[1], 1, 5, 3, 7);
  const pc_wide d = PC_SHUFFLED(pc_wide, a[2], a[3], 0, 4, 2, 6), e = PC_SHUFFLED(pc_wide, a[2], a[3], 1, 5, 3, 7);
  *(pc_wide *)to = PC_SHUFFLED(pc_wide, b, d, 0, 1, 4, 5);
  *(pc_wide *)(to + to_step) = PC_SHUFFLED(pc_wide, c, e, 0, 1, 4, 5);
  *(pc_wide *)(to + 2 * to_step) = PC_SHUFFLED(pc_wide, b, d, 2, 3, 6, 7);
  *(pc_wide *)(to + 3 * to_step) = PC_SHUFFLED(pc_wide, c, e, 2, 3, 6, 7);
}
#endif

/* Turns a tile of `side` rows, of which `rows` count, and as many columns. */
PC_COPY void pc_grid_turn_tile(int item, int64_t rows, char *to, int64_t to_step, const char *from, int64_t step) {
  item == 8 ? pc_turn_wide_8(rows, to, to_step, from, step) : pc_turn_eight_4(rows, to, to_step, from, step);
}

/* As pc_turn, in tiles. If rows of `to` are contiguous, the last rows, which are fewer than a tile has, are turned by tiles too, and first:
 * later stores overwrite what these tiles write behind a row. The last of them would write behind `to`, so pc_turn takes its place. */
PC_COPY void pc_grid_turn_wide(int item, int64_t rows, int64_t columns, char *to, int64_t to_step, const char *from, int64_t step) {
  const int64_t side = item == 8 ? PC_WIDE_BYTES / 8 : 8, whole = rows / side * side, rest = rows - whole, most = columns / side * side;
  if (rows <= 2) return pc_turn(item, rows, columns, to, to_step, from, step);
  for (int64_t j = 0; rest > 0 && j < most; j += side) {
    char *at = to + j * to_step + whole * item;
    const char *part = from + whole * step + j * item;
    if (to_step == rows * item && (columns - j - side + 1) * to_step >= (whole + side) * item) {
      pc_grid_turn_tile(item, rest, at, to_step, part, step);
    } else {
      pc_turn(item, rest, side, at, to_step, part, step);
    }
  }
  for (int64_t i = 0; i < whole; i += side) {
    for (int64_t j = 0; j < most; j += side) pc_grid_turn_tile(item, side, to + j * to_step + i * item, to_step, from + i * step + j * item, step);
  }
  pc_turn(item, rows, columns - most, to + most * to_step, to_step, from + most * item, step);
}
#else
PC_COPY void pc_grid_turn_wide(int item, int64_t rows, int64_t columns, char *to, int64_t to_step, const char *from, int64_t step) {
  pc_turn(item, rows, columns, to, to_step, from, step);
}
#endif

PC_TARGET static __attribute__((noinline)) void pc_grid_turn(int32_t item, int64_t rows, int64_t columns, char *to, int64_t to_step, const char *from, int64_t step) {
  if (item == 8) {
    pc_grid_turn_wide(8, rows, columns, to, to_step, from, step);
  } else {
    pc_grid_turn_wide(4, rows, columns, to, to_step, from, step);
  }
}

PC_COPY void pc_grid_gather_of(int item, const pc_grid *g, char *block) {
  const int64_t bytes = g->columns * item;
  if (g->column == 0) {
    pc_grid_repeat(item, block, g->at, g->row, g->rows, g->columns);
  } else if (g->row == 0) {
    pc_grid_gather_row(item, g->columns, block, g->at, g->column);
    pc_grid_again(block, bytes, g->rows);
  } else if (g->column == item) {
    pc_grid_rows(bytes, g->rows, block, bytes, g->at, g->row);
  } else if (g->row == item && (item == 4 || item == 8)) {
    pc_grid_turn(item, g->columns, g->rows, block, bytes, g->at, g->column);
  } else if (g->column == -item && (item == 4 || item == 8) && bytes >= PC_WIDE_BYTES) {
    pc_grid_reverse(item, g, block);
  } else {
    pc_grid_gather_rows(item, g, block);
  }
}

PC_COPY void pc_grid_scatter_of(int item, const pc_grid *g, char *block) {
  const int64_t bytes = g->columns * item;
  if (g->column == item) {
    pc_grid_rows(bytes, g->rows, g->at, g->row, block, bytes);
  } else if (g->row == item && (item == 4 || item == 8)) {
    pc_grid_turn(item, g->rows, g->columns, g->at, g->column, block, bytes);
  } else {
    char *row = g->at;
    for (int64_t i = 0; i < g->rows; i++, row += g->row) {
      char *at = row;
      for (int64_t j = 0; j < g->columns; j++, at += g->column, block += item) pc_grid_element(item, at, block);
    }
  }
}

/* Elements of other than 4 and 8 bytes are copied by every level as by the first. */
PC_TARGET static void pc_grid_copy(int32_t item, const pc_grid *g, char *block, int back) {
  if (item == 8) {
    back ? pc_grid_scatter_of(8, g, block) : pc_grid_gather_of(8, g, block);
  } else if (item == 4) {
    back ? pc_grid_scatter_of(4, g, block) : pc_grid_gather_of(4, g, block);
#if PC_WIDE_BYTES > 16
  } else {
    pc_grid_all.copy(item, g, block, back);
#else
  } else if (item == 2) {
    back ? pc_grid_scatter_of(2, g, block) : pc_grid_gather_of(2, g, block);
  } else if (item == 1) {
    back ? pc_grid_scatter_of(1, g, block) : pc_grid_gather_of(1, g, block);
  } else {
    back ? pc_grid_scatter_of(16, g, block) : pc_grid_gather_of(16, g, block);
#endif
  }
}

/* Gathers n elements of 4 or 8 bytes, `step` bytes apart. */
PC_COPY void pc_grid_line_of(int item, int64_t n, char *to, const char *from, int64_t step) {
  const int64_t lanes = PC_WIDE_BYTES / item;
  if (step == 0 && n >= lanes) {
    pc_grid_repeat_wide(item, n * item, to, from, 0, 1);
  } else if (step == -item && n >= lanes) {
    const pc_grid g = {(char *)(uintptr_t)from, 1, n, 0, step};
    pc_grid_reverse(item, &g, to);
  } else {
    int64_t i = 0;
    /* Behind the last element nothing may be. */
    for (; step == 2 * item && i + lanes < n; i += lanes, from += 2 * PC_WIDE_BYTES) *(pc_wide *)(to + i * item) = pc_grid_seconds(item, from);
    pc_grid_gather_row(item, n - i, to + i * item, from, step);
  }
}

PC_TARGET static void pc_grid_line(int32_t item, int64_t n, char *at, int64_t step, char *block, int back) {
  if (!back && item == 8 && step != 8) {
    pc_grid_line_of(8, n, block, at, step);
  } else if (!back && item == 4 && step != 4) {
    pc_grid_line_of(4, n, block, at, step);
#if PC_WIDE_BYTES > 16
  } else {
    pc_grid_all.line(item, n, at, step, block, back);
#else
  } else {
    pc_copy_strided(item, n, back ? at : block, back ? step : item, back ? block : at, back ? item : step);
#endif
  }
}
