/* turn.h: turns rows into columns, to copy operands whose elements run the other way. */
#ifndef PRECAST_TURN_H
#define PRECAST_TURN_H

#include <stdint.h>

typedef uint64_t pc_two __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint32_t pc_four __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint64_t pc_eight_bytes __attribute__((aligned(1), may_alias));
typedef uint32_t pc_four_bytes __attribute__((aligned(1), may_alias));

/* Selects elements of two vectors, counted from the first of A on. Uses the compiler's shuffle, as a vector given element by element is
 * also loaded element by element. */
#ifdef __clang__
#define PC_SHUFFLED(V, A, B, ...) __builtin_shufflevector(A, B, __VA_ARGS__)
#else
#define PC_SHUFFLED(V, A, B, ...) __builtin_shuffle(A, B, (V){__VA_ARGS__})
#endif

/* Turns two rows and columns of elements of 8 bytes; steps in bytes. */
static inline void pc_turn_block_8(char *to, int64_t to_step, const char *from, int64_t step) {
  pc_two a = *(const pc_two *)from, b = *(const pc_two *)(from + step);
  *(pc_two *)to = PC_SHUFFLED(pc_two, a, b, 0, 2);
  *(pc_two *)(to + to_step) = PC_SHUFFLED(pc_two, a, b, 1, 3);
}

/* Turns four rows and columns of elements of 4 bytes. */
static inline void pc_turn_block_4(char *to, int64_t to_step, const char *from, int64_t step) {
  pc_four a = *(const pc_four *)from, b = *(const pc_four *)(from + step);
  pc_four c = *(const pc_four *)(from + 2 * step), d = *(const pc_four *)(from + 3 * step);
  pc_four ab = PC_SHUFFLED(pc_four, a, b, 0, 4, 1, 5), cd = PC_SHUFFLED(pc_four, c, d, 0, 4, 1, 5);
  pc_four ab_high = PC_SHUFFLED(pc_four, a, b, 2, 6, 3, 7), cd_high = PC_SHUFFLED(pc_four, c, d, 2, 6, 3, 7);
  *(pc_four *)to = PC_SHUFFLED(pc_four, ab, cd, 0, 1, 4, 5);
  *(pc_four *)(to + to_step) = PC_SHUFFLED(pc_four, ab, cd, 2, 3, 6, 7);
  *(pc_four *)(to + 2 * to_step) = PC_SHUFFLED(pc_four, ab_high, cd_high, 0, 1, 4, 5);
  *(pc_four *)(to + 3 * to_step) = PC_SHUFFLED(pc_four, ab_high, cd_high, 2, 3, 6, 7);
}

/* Sets to[j][i] = from[i][j] for i of `rows` and j of `columns`; elements of 4 or 8 bytes, steps from row to row in bytes. */
static inline __attribute__((always_inline)) void pc_turn(int bytes, int64_t rows, int64_t columns, char *to, int64_t to_step, const char *from, int64_t step) {
  const int64_t side = 16 / bytes;
  int64_t i = 0;
  for (; i + side <= rows; i += side) {
    int64_t j = 0;
    for (; j + side <= columns; j += side) {
      char *at = to + j * to_step + i * bytes;
      const char *block = from + i * step + j * bytes;
      bytes == 8 ? pc_turn_block_8(at, to_step, block, step) : pc_turn_block_4(at, to_step, block, step);
    }
    for (; j < columns; j++) {
      for (int64_t r = i; r < i + side; r++) {
        if (bytes == 8) *(pc_eight_bytes *)(to + j * to_step + r * 8) = *(const pc_eight_bytes *)(from + r * step + j * 8);
        if (bytes == 4) *(pc_four_bytes *)(to + j * to_step + r * 4) = *(const pc_four_bytes *)(from + r * step + j * 4);
      }
    }
  }
  for (; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      if (bytes == 8) *(pc_eight_bytes *)(to + j * to_step + i * 8) = *(const pc_eight_bytes *)(from + i * step + j * 8);
      if (bytes == 4) *(pc_four_bytes *)(to + j * to_step + i * 4) = *(const pc_four_bytes *)(from + i * step + j * 4);
    }
  }
}

#endif
