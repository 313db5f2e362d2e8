/* grid/turn.h: turns rows into columns. A part of template.h. */

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
/* Turns four rows and columns of elements of 8 bytes. Only the first `rows` rows are read. */
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

/* Does the work of pc_turn in tiles. If rows of `to` are contiguous, the last rows, which are fewer than a tile has, are turned by tiles
 * too, and first: later stores overwrite the elements that these tiles write behind a row. The last of them would write behind `to`, so
 * pc_turn takes its place. */
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
