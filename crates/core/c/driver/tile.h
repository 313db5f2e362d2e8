/* driver/tile.h: runs a pc_loop in tiles, for operands that run the other way (transposed).
 *
 *   `rows` is the dimension along which such an operand is contiguous. A tile has as many rows as two lines of the cache have elements,
 *   and all columns that fit. It is turned into a block of the second-level cache, then the kernel runs on it row by row. So operands
 *   that run the usual way are read in place, along the rows of the tile. Meanwhile the next tile is prefetched into the second-level
 *   cache: each of its lines lies on a page of its own, so the hardware does not foresee them.
 *
 * For elementwise kernels only: their results do not depend on the order of elements.
 */
#ifndef PRECAST_DRIVER_TILE_H
#define PRECAST_DRIVER_TILE_H

#include "chunk.h"

#define PC_TILE_BYTES 524288   /* of all blocks, at most */
#define PC_TILE_FAR_BYTES 8388608 /* of all operands, at most, if they count as cached and not in memory */
#define PC_TILE_LINE_BYTES 128 /* of a column */
#define PC_TILE_ROWS 32        /* at most, */
#define PC_TILE_FEW_ROWS 8     /* and at least: fewer would not pay */
#define PC_TILE_PART 8         /* columns of a block that are turned back at once: their lines may share a set of the cache */

/* How each operand of a loop reaches the kernel. */
typedef enum pc_tile_way { PC_TILE_IN_PLACE, PC_TILE_GATHERED, PC_TILE_TURNED } pc_tile_way;

typedef struct pc_tiles {
  int32_t rows;           /* the dimension along which a tile has rows */
  int64_t depth, columns; /* rows and columns of a full tile */
  int64_t bytes;          /* of all blocks */
  int is_far;             /* operands are in memory */
  uint8_t way[PC_LOOP_OPERANDS];
  char *block[PC_LOOP_OPERANDS];
} pc_tiles;

/* Returns the bytes from a row of a block to the next: an odd number of lines, so that rows do not share the cache's sets. */
static int64_t pc_tile_pitch(const pc_tiles *t, int32_t item) { return ((t->columns * item + 63) & ~(int64_t)63) | 64; }

/* Returns the number of rows in the block of operand k, which must have a block. */
static int64_t pc_tile_depth(const pc_tiles *t, int32_t k) { return t->way[k] == PC_TILE_TURNED ? t->depth : 1; }

/* Returns whether operand k is walked in long steps along columns, and is contiguous along `rows`. */
static int pc_tile_is_turned(const pc_loop *loop, int32_t k, int32_t rows) {
  int64_t along = loop->stride[k][loop->ndim - 1];
  return loop->item[k] != 0 && loop->stride[k][rows] == loop->item[k] && along != 0 && along != loop->item[k];
}

/* Plans the tiles of a loop. Returns 0 if no operand runs the other way, or if tiles would be too small. */
static int pc_tiles_plan(pc_tiles *t, const pc_loop *loop) {
  int32_t last = loop->ndim - 1, most = 0, widest = 1;
  t->rows = 0;
  if (last < 1 || loop->shape[last] < PC_LOOP_SHORT_ROW) return 0;
  for (int32_t d = 0; d < last; d++) {
    int32_t turned = 0;
    for (int32_t k = 0; k < loop->n_all; k++) turned += pc_tile_is_turned(loop, k, d);
    if (turned > most) most = turned, t->rows = d;
  }
  if (most == 0 || loop->shape[t->rows] < PC_TILE_FEW_ROWS) return 0;
  for (int32_t k = 0; k < loop->n_all; k++) {
    int in_place = loop->item[k] == 0 || loop->stride[k][last] == loop->item[k];
    t->way[k] = in_place ? PC_TILE_IN_PLACE : pc_tile_is_turned(loop, k, t->rows) ? PC_TILE_TURNED : PC_TILE_GATHERED;
    if (t->way[k] == PC_TILE_TURNED && loop->item[k] > widest) widest = loop->item[k];
  }
  t->depth = PC_TILE_LINE_BYTES / widest < PC_TILE_ROWS ? PC_TILE_LINE_BYTES / widest : PC_TILE_ROWS;
  int64_t of_column = 0, rows = 0, of_element = 0; /* columns and rows of all blocks */
  for (int32_t k = 0; k < loop->n_all; k++) {
    of_element += loop->item[k];
    if (t->way[k] == PC_TILE_IN_PLACE) continue;
    of_column += loop->item[k] * pc_tile_depth(t, k);
    rows += pc_tile_depth(t, k);
  }
  t->columns = (PC_TILE_BYTES - 128 * rows) / of_column & ~(int64_t)7;
  if (t->columns > loop->shape[last]) t->columns = loop->shape[last];
  t->is_far = pc_loop_size(loop) * of_element > PC_TILE_FAR_BYTES;
  t->bytes = 0;
  for (int32_t k = 0; k < loop->n_all; k++) {
    if (t->way[k] != PC_TILE_IN_PLACE) t->bytes += pc_tile_pitch(t, loop->item[k]) * pc_tile_depth(t, k);
  }
  return 1;
}

/* Places the blocks at `at`, which is 64-byte aligned. */
static void pc_tiles_place(pc_tiles *t, const pc_loop *loop, char *at) {
  for (int32_t k = 0; k < loop->n_all; k++) {
    if (t->way[k] == PC_TILE_IN_PLACE) continue;
    t->block[k] = at;
    at += pc_tile_pitch(t, loop->item[k]) * pc_tile_depth(t, k);
  }
}

/* Turns a tile of `rows` and `columns` of operand k from `at` in memory into its block, or with `back` from the block to `at`. */
static void pc_tile_turn(const pc_tiles *t, const pc_loop *loop, int32_t k, char *at, int64_t rows, int64_t columns, int back) {
  int32_t item = loop->item[k];
  int64_t step = loop->stride[k][loop->ndim - 1], pitch = pc_tile_pitch(t, item);
  char *block = t->block[k];
  if (item != 4 && item != 8) {
    for (int64_t j = 0; j < columns; j++, at += step, block += item) {
      pc_copy_strided(item, rows, back ? at : block, back ? item : pitch, back ? block : at, back ? pitch : item);
    }
  } else if (!back) {
    pc_copies()->turn(item, columns, rows, block, pitch, at, step);
  } else {
    for (int64_t j = 0; j < columns; j += PC_TILE_PART) {
      int64_t part = columns - j < PC_TILE_PART ? columns - j : PC_TILE_PART;
      pc_copies()->turn(item, rows, part, at + j * step, step, block + j * item, pitch);
    }
  }
}

/* A tile: where it begins, and its extents. */
typedef struct pc_tile {
  int64_t row, column, rows, columns;
} pc_tile;

/* Returns the tile that begins at a row and a column; it has no rows behind the last row. */
static pc_tile pc_tile_from(const pc_tiles *t, const pc_loop *loop, int64_t row, int64_t column) {
  int64_t rows = loop->shape[t->rows] - row, columns = loop->shape[loop->ndim - 1] - column;
  return (pc_tile){row, column, rows < t->depth ? rows : t->depth, columns < t->columns ? columns : t->columns};
}

/* Returns the tile behind `tile`. */
static pc_tile pc_tile_next(const pc_tiles *t, const pc_loop *loop, const pc_tile *tile) {
  int64_t column = tile->column + tile->columns;
  return column < loop->shape[loop->ndim - 1] ? pc_tile_from(t, loop, tile->row, column) : pc_tile_from(t, loop, tile->row + tile->rows, 0);
}

/* Returns the address where a tile begins in operand k, whose first element is at `at`. */
static char *pc_tile_at(const pc_tiles *t, const pc_loop *loop, int32_t k, const pc_tile *tile, char *at) {
  return at + tile->row * loop->stride[k][t->rows] + tile->column * loop->stride[k][loop->ndim - 1];
}

/* Prefetches the lines of columns first .. end of `tile`, which begins at `at` and comes next. Inlined, as gcc drops calls of a function
 * that only prefetches. */
static inline __attribute__((always_inline)) void pc_tile_ahead(const pc_loop *loop, int32_t k, const pc_tile *tile, const char *at, int64_t first, int64_t end) {
  int64_t step = loop->stride[k][loop->ndim - 1], bytes = tile->rows * loop->item[k];
  for (int64_t j = first; j < end && j < tile->columns; j++) {
    const char *from = at + j * step, *line = from - ((uintptr_t)from & 63);
    for (; line < from + bytes; line += 64) __builtin_prefetch(line, 0, 2);
  }
}

/* Runs the kernel over one tile; operands begin at `at`. */
static int pc_tile_run(pc_context *ctx, const pc_tiles *t, const pc_loop *loop, pc_kernel kernel, char *const *at, const pc_tile *tile) {
  int32_t last = loop->ndim - 1;
  const pc_tile next = pc_tile_next(t, loop, tile);
  int64_t share = (next.columns + tile->rows - 1) / tile->rows;
  char *data[PC_LOOP_OPERANDS];
  for (int32_t k = 0; k < loop->n_in; k++) {
    if (t->way[k] == PC_TILE_TURNED) pc_tile_turn(t, loop, k, pc_tile_at(t, loop, k, tile, at[k]), tile->rows, tile->columns, 0);
  }
  for (int64_t r = 0; r < tile->rows; r++) {
    for (int32_t k = 0; k < loop->n_all; k++) {
      int32_t item = loop->item[k];
      char *from = pc_tile_at(t, loop, k, tile, at[k]) + r * loop->stride[k][t->rows];
      data[k] = t->way[k] == PC_TILE_IN_PLACE ? from : t->way[k] == PC_TILE_GATHERED ? t->block[k] : t->block[k] + r * pc_tile_pitch(t, item);
      if (k >= loop->n_in) continue;
      if (t->way[k] == PC_TILE_GATHERED) pc_copies()->line(item, tile->columns, from, loop->stride[k][last], data[k], 0);
      if (t->way[k] == PC_TILE_TURNED && t->is_far && next.rows > 0) {
        pc_tile_ahead(loop, k, &next, pc_tile_at(t, loop, k, &next, at[k]), r * share, (r + 1) * share);
      }
    }
    int failure = kernel(ctx, tile->columns, data);
    if (failure != 0) return failure;
    for (int32_t k = loop->n_in; k < loop->n_all; k++) {
      if (t->way[k] != PC_TILE_GATHERED) continue;
      char *to = pc_tile_at(t, loop, k, tile, at[k]) + r * loop->stride[k][t->rows];
      pc_copies()->line(loop->item[k], tile->columns, to, loop->stride[k][last], data[k], 1);
    }
  }
  for (int32_t k = loop->n_in; k < loop->n_all; k++) {
    if (t->way[k] == PC_TILE_TURNED) pc_tile_turn(t, loop, k, pc_tile_at(t, loop, k, tile, at[k]), tile->rows, tile->columns, 1);
  }
  return 0;
}

/* Runs the kernel over all tiles of a loop. */
static int pc_tiles_run(pc_context *ctx, const pc_tiles *t, const pc_loop *loop, pc_kernel kernel) {
  int64_t index[PC_MAX_NDIM] = {0};
  char *at[PC_LOOP_OPERANDS];
  for (int32_t k = 0; k < loop->n_all; k++) at[k] = loop->data[k];
  do {
    for (pc_tile tile = pc_tile_from(t, loop, 0, 0); tile.rows > 0; tile = pc_tile_next(t, loop, &tile)) {
      int failure = pc_tile_run(ctx, t, loop, kernel, at, &tile);
      if (failure != 0) return failure;
    }
  } while (pc_loop_next(loop, loop->ndim - 1, t->rows, index, at));
  return 0;
}

#endif
