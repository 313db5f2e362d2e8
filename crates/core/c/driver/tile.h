/* driver/tile.h: a pc_loop in tiles, for operands that run the other way (transposed).
 *
 *   `rows` is the dimension through which such an operand is contiguous. Eight rows of it are taken at once: a tile of eight
 *   rows and some hundred columns is turned into a block of the L1 cache, whole cache lines being read, and then the kernel
 *   runs on row after row of it. Lines of the next tile are asked for meanwhile: each lies on a page of its own.
 *
 * For elementwise kernels only, which do not see in which order their elements come.
 */
#ifndef PRECAST_DRIVER_TILE_H
#define PRECAST_DRIVER_TILE_H

#include "chunk.h"

#define PC_TILE_ROWS 8
#define PC_TILE_COLUMNS 256 /* at most */

/* How each operand of a loop reaches the kernel. */
typedef enum pc_tile_way { PC_TILE_IN_PLACE, PC_TILE_GATHERED, PC_TILE_TURNED } pc_tile_way;

typedef struct pc_tiles {
  int32_t rows;    /* the dimension whose neighbours a tile has as rows */
  int64_t columns; /* of a full tile */
  uint8_t way[PC_LOOP_OPERANDS];
  char *block[PC_LOOP_OPERANDS];
} pc_tiles;

/* Bytes from a row of a block to the next: no multiple of 4 KiB, so that rows do not share the cache's sets. */
static int64_t pc_tile_pitch(const pc_tiles *t, int32_t item) { return t->columns * item + 64; }

/* Whether operand k is walked in long steps along columns, and is contiguous along `rows`. */
static int pc_tile_is_turned(const pc_loop *loop, int32_t k, int32_t rows) {
  int64_t along = loop->stride[k][loop->ndim - 1];
  return loop->item[k] != 0 && loop->stride[k][rows] == loop->item[k] && along != 0 && along != loop->item[k];
}

/* Plans tiles of `loop` in `scratch`, of PC_LOOP_SCRATCH_BYTES. 0: no operand runs the other way, or tiles would be too small. */
static int pc_tiles_plan(pc_tiles *t, const pc_loop *loop, char *scratch) {
  int32_t last = loop->ndim - 1, most = 0;
  t->rows = 0;
  for (int32_t d = 0; d < last; d++) {
    int32_t turned = 0;
    for (int32_t k = 0; k < loop->n_all; k++) turned += pc_tile_is_turned(loop, k, d);
    if (turned > most) most = turned, t->rows = d;
  }
  if (most == 0 || loop->shape[t->rows] < PC_TILE_ROWS || loop->shape[last] < PC_LOOP_SHORT_ROW) return 0;
  int64_t bytes = 0; /* of a column of all blocks */
  for (int32_t k = 0; k < loop->n_all; k++) {
    int in_place = loop->item[k] == 0 || loop->stride[k][last] == loop->item[k];
    t->way[k] = in_place ? PC_TILE_IN_PLACE : pc_tile_is_turned(loop, k, t->rows) ? PC_TILE_TURNED : PC_TILE_GATHERED;
    bytes += in_place ? 0 : loop->item[k] * (int64_t)(t->way[k] == PC_TILE_TURNED ? PC_TILE_ROWS : 1);
  }
  int64_t room = PC_LOOP_SCRATCH_BYTES - (int64_t)loop->n_all * 64 * PC_TILE_ROWS;
  t->columns = room / bytes & ~(int64_t)7;
  if (t->columns > PC_TILE_COLUMNS) t->columns = PC_TILE_COLUMNS;
  if (room <= 0 || t->columns < 32) return 0;
  for (int32_t k = 0; k < loop->n_all; k++) {
    t->block[k] = scratch;
    if (t->way[k] != PC_TILE_IN_PLACE) scratch += pc_tile_pitch(t, loop->item[k]) * (t->way[k] == PC_TILE_TURNED ? PC_TILE_ROWS : 1);
  }
  return 1;
}

/* Eight rows of 8-byte elements, two by two columns: `from` is contiguous along rows and `step` bytes apart along columns. */
static void pc_tile_turn_8(char *to, int64_t pitch, const char *from, int64_t step, int64_t columns) {
  typedef uint64_t pair __attribute__((vector_size(16), aligned(1), may_alias));
  int64_t j = 0;
  for (; j + 2 <= columns; j += 2, from += 2 * step) {
    for (int64_t r = 0; r < PC_TILE_ROWS; r += 2) {
      pair a = *(const pair *)(from + r * 8), b = *(const pair *)(from + step + r * 8);
      pair first = {a[0], b[0]}, second = {a[1], b[1]};
      *(pair *)(to + r * pitch + j * 8) = first;
      *(pair *)(to + (r + 1) * pitch + j * 8) = second;
    }
  }
  for (; j < columns; j++) pc_copy_strided(8, PC_TILE_ROWS, to + j * 8, pitch, from, 8);
}

/* The tile of `columns` and `rows` between `at` in memory and the block of operand k; `back`: from the block. */
static void pc_tile_turn(const pc_tiles *t, const pc_loop *loop, int32_t k, char *at, int64_t rows, int64_t columns, int back) {
  int32_t item = loop->item[k];
  int64_t step = loop->stride[k][loop->ndim - 1], pitch = pc_tile_pitch(t, item);
  char *block = t->block[k];
  if (!back && item == 8 && rows == PC_TILE_ROWS) {
    pc_tile_turn_8(block, pitch, at, step, columns);
    return;
  }
  for (int64_t j = 0; j < columns; j++, at += step, block += item) {
    pc_copy_strided(item, rows, back ? at : block, back ? item : pitch, back ? block : at, back ? pitch : item);
  }
}

/* Asks for the lines of `share` of what comes after a tile: one in PC_TILE_ROWS of the next tile's columns. */
static void pc_tile_ahead(const pc_tiles *t, const pc_loop *loop, const char *tile, int32_t k, int64_t share, int64_t left) {
  int64_t step = loop->stride[k][loop->ndim - 1], part = t->columns / PC_TILE_ROWS, from = t->columns + share * part;
  for (int64_t j = from; j < from + part && j < left; j++) {
    __builtin_prefetch(tile + j * step);
    __builtin_prefetch(tile + j * step + PC_TILE_ROWS * loop->item[k] - 1);
  }
}

/* One tile, whose first elements are at `base`; `left` columns are to come, this tile's among them. */
static int pc_tile_run(pc_context *ctx, const pc_tiles *t, const pc_loop *loop, pc_kernel kernel, char *const *base, int64_t rows, int64_t left) {
  int32_t last = loop->ndim - 1;
  int64_t columns = left < t->columns ? left : t->columns;
  char *data[PC_LOOP_OPERANDS];
  for (int32_t k = 0; k < loop->n_in; k++) {
    if (t->way[k] == PC_TILE_TURNED) pc_tile_turn(t, loop, k, base[k], rows, columns, 0);
  }
  for (int64_t r = 0; r < rows; r++) {
    for (int32_t k = 0; k < loop->n_all; k++) {
      int32_t item = loop->item[k];
      char *at = base[k] + r * loop->stride[k][t->rows];
      data[k] = t->way[k] == PC_TILE_IN_PLACE ? at : t->way[k] == PC_TILE_GATHERED ? t->block[k] : t->block[k] + r * pc_tile_pitch(t, item);
      if (t->way[k] == PC_TILE_GATHERED && k < loop->n_in) pc_copy_strided(item, columns, data[k], item, at, loop->stride[k][last]);
      if (t->way[k] == PC_TILE_TURNED && k < loop->n_in) pc_tile_ahead(t, loop, base[k], k, r, left);
    }
    int failure = kernel(ctx, columns, data);
    if (failure != 0) return failure;
    for (int32_t k = loop->n_in; k < loop->n_all; k++) {
      char *at = base[k] + r * loop->stride[k][t->rows];
      if (t->way[k] == PC_TILE_GATHERED) pc_copy_strided(loop->item[k], columns, at, loop->stride[k][last], data[k], loop->item[k]);
    }
  }
  for (int32_t k = loop->n_in; k < loop->n_all; k++) {
    if (t->way[k] == PC_TILE_TURNED) pc_tile_turn(t, loop, k, base[k], rows, columns, 1);
  }
  return 0;
}

/* All tiles of a loop. */
static int pc_tiles_run(pc_context *ctx, const pc_tiles *t, const pc_loop *loop, pc_kernel kernel) {
  int32_t last = loop->ndim - 1;
  int64_t index[PC_MAX_NDIM] = {0};
  char *at[PC_LOOP_OPERANDS], *base[PC_LOOP_OPERANDS];
  for (int32_t k = 0; k < loop->n_all; k++) at[k] = loop->data[k];
  for (;;) {
    for (int64_t r = 0; r < loop->shape[t->rows]; r += PC_TILE_ROWS) {
      int64_t rows = loop->shape[t->rows] - r < PC_TILE_ROWS ? loop->shape[t->rows] - r : PC_TILE_ROWS;
      for (int64_t c = 0; c < loop->shape[last]; c += t->columns) {
        for (int32_t k = 0; k < loop->n_all; k++) base[k] = at[k] + r * loop->stride[k][t->rows] + c * loop->stride[k][last];
        int failure = pc_tile_run(ctx, t, loop, kernel, base, rows, loop->shape[last] - c);
        if (failure != 0) return failure;
      }
    }
    if (!pc_loop_next(loop, last, t->rows, index, at)) return 0;
  }
}

#endif
