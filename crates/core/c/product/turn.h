/* product/turn.h: rows that become columns, as an operand is copied whose elements run the other way. */
#ifndef PRECAST_PRODUCT_TURN_H
#define PRECAST_PRODUCT_TURN_H

#include <stdint.h>

typedef uint64_t pc_two __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint32_t pc_four __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t pc_eight_bytes __attribute__((aligned(4), may_alias));
typedef uint32_t pc_four_bytes __attribute__((may_alias));

/* Four rows and columns, steps in bytes, of elements of 8 bytes. Each line is one shuffle of two registers. */
static inline void pc_turn_block_8(char *to, int64_t to_step, const char *from, int64_t step) {
  for (int i = 0; i < 4; i += 2) {
    for (int j = 0; j < 4; j += 2) {
      pc_two a = *(const pc_two *)(from + i * step + j * 8), b = *(const pc_two *)(from + (i + 1) * step + j * 8);
      *(pc_two *)(to + j * to_step + i * 8) = (pc_two){a[0], b[0]};
      *(pc_two *)(to + (j + 1) * to_step + i * 8) = (pc_two){a[1], b[1]};
    }
  }
}

/* The same of elements of 4 bytes. */
static inline void pc_turn_block_4(char *to, int64_t to_step, const char *from, int64_t step) {
  pc_four a = *(const pc_four *)from, b = *(const pc_four *)(from + step);
  pc_four c = *(const pc_four *)(from + 2 * step), d = *(const pc_four *)(from + 3 * step);
  pc_four ab = {a[0], b[0], a[1], b[1]}, cd = {c[0], d[0], c[1], d[1]};
  pc_four ab_high = {a[2], b[2], a[3], b[3]}, cd_high = {c[2], d[2], c[3], d[3]};
  *(pc_four *)to = (pc_four){ab[0], ab[1], cd[0], cd[1]};
  *(pc_four *)(to + to_step) = (pc_four){ab[2], ab[3], cd[2], cd[3]};
  *(pc_four *)(to + 2 * to_step) = (pc_four){ab_high[0], ab_high[1], cd_high[0], cd_high[1]};
  *(pc_four *)(to + 3 * to_step) = (pc_four){ab_high[2], ab_high[3], cd_high[2], cd_high[3]};
}

/* to[j][i] = from[i][j] for i of `rows` and j of `columns`; elements of 4 or 8 bytes, steps from row to row in bytes. */
static void pc_turn(int bytes, int64_t rows, int64_t columns, char *to, int64_t to_step, const char *from, int64_t step) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    int64_t j = 0;
    for (; j + 4 <= columns; j += 4) {
      char *at = to + j * to_step + i * bytes;
      const char *block = from + i * step + j * bytes;
      bytes == 8 ? pc_turn_block_8(at, to_step, block, step) : pc_turn_block_4(at, to_step, block, step);
    }
    for (; j < columns; j++) {
      for (int64_t r = i; r < i + 4; r++) {
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
