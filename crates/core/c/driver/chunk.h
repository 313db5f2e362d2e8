/* driver/chunk.h: cuts a pc_loop in chunks, in which each operand is contiguous (see loop.h).
 *
 * A gathered operand has a nest: its own dimensions, joined where its steps allow, independently of other operands. So a broadcast row,
 * and a column, are grids of two dimensions (grid.h) whatever the rank. Chunks of short rows are whole rows if possible. Elements that
 * repeat from chunk to chunk, such as broadcast rows, stay in their block.
 */
#ifndef PRECAST_DRIVER_CHUNK_H
#define PRECAST_DRIVER_CHUNK_H

#include "copies.h"
#include "loop.h"

#define PC_LOOP_ROWS 8 /* a chunk of packed rows has whole rows, if so many fit */

/* The near dimensions of an operand: `rows` of `columns` elements; the first `rest` dimensions of the loop are outside. Steps in
 * bytes. */
typedef struct pc_nest {
  int64_t columns, column, rows, row;
  int64_t period; /* elements after which it repeats */
  int32_t rest;
  int32_t held;   /* elements that the block of an input has; 0: none yet */
  int64_t next;   /* where the next chunk begins, if it follows the last one: at this position, .. */
  int64_t inner, outer, left; /* .. in column `left` of row `inner` of the grid `outer` */
} pc_nest;

/* How each operand of a loop reaches the kernel. */
typedef struct pc_chunks {
  int64_t row;   /* extent of the last dimension */
  int64_t total; /* elements in all */
  int64_t most;  /* longest chunk */
  int64_t block_bytes;
  int packs;     /* chunks go on over the ends of rows */
  char *block[PC_LOOP_OPERANDS];   /* the block it is gathered into, once placed; NULL: handed over in place */
  pc_nest nest[PC_LOOP_OPERANDS];  /* of an operand with a block */
  int64_t phase[PC_LOOP_OPERANDS]; /* of an input with a block: the place in its period where the block begins, .. */
  const char *from[PC_LOOP_OPERANDS]; /* .. and where the operand began */
  char *data[PC_LOOP_OPERANDS];    /* the addresses that the kernel gets */
} pc_chunks;

/* Joins dimensions of operand k from d down to 0 that have one step; a part of a loop may have some of extent 1. Returns the first one
 * that does not join. */
static int32_t pc_nest_join(const pc_loop *loop, int32_t k, int32_t d, int64_t *extent, int64_t *step) {
  while (d >= 0 && loop->shape[d] == 1) d--;
  *extent = d < 0 ? 1 : loop->shape[d];
  *step = d < 0 ? 0 : loop->stride[k][d];
  for (d--; d >= 0 && (loop->shape[d] == 1 || loop->stride[k][d] == *step * *extent); d--) *extent *= loop->shape[d];
  return d;
}

/* Sets `e` to the nest of operand k. */
static inline void pc_nest_plan(pc_nest *e, const pc_loop *loop, int32_t k) {
  e->next = e->inner = e->outer = e->left = 0;
  int32_t d = pc_nest_join(loop, k, loop->ndim - 1, &e->columns, &e->column);
  e->rest = pc_nest_join(loop, k, d, &e->rows, &e->row) + 1;
}

/* Returns the number of elements after which operand k repeats; `total` if it never does. */
static int64_t pc_nest_period(const pc_loop *loop, int32_t k, int64_t total) {
  for (int32_t d = 0; d < loop->ndim && (loop->shape[d] == 1 || loop->stride[k][d] == 0); d++) total /= loop->shape[d];
  return total;
}

/* Rounds the longest chunk to whole rows, or to whole periods of a repeating operand. If these are many, rounds to multiples of 8 or 16 of
 * them, so that operands in place stay aligned to lines of the cache. */
static void pc_chunks_round(pc_chunks *c, const pc_loop *loop) {
  int64_t unit = c->row * PC_LOOP_ROWS <= c->most ? c->row : 1;
  for (int32_t k = 0; k < loop->n_in; k++) {
    if (c->block[k] != NULL && c->nest[k].period > unit && c->nest[k].period <= c->most) unit = c->nest[k].period;
  }
  int64_t units = c->most / unit;
  c->most = (units >= 32 ? units & ~(int64_t)15 : units >= 16 ? units & ~(int64_t)7 : units) * unit;
}

/* Plans the chunks of `loop`, blocks of `longest` elements at most. Returns the bytes of its blocks, PC_LOOP_SCRATCH_BYTES at most, for
 * pc_chunks_place. */
static int64_t pc_chunks_plan(pc_chunks *c, const pc_loop *loop, int64_t longest) {
  int32_t last = loop->ndim - 1, blocks = 0, widest = 8;
  c->row = last < 0 ? 1 : loop->shape[last];
  c->total = pc_loop_size(loop);
  c->packs = last > 0 && c->row < PC_LOOP_SHORT_ROW;
  for (int32_t k = 0; k < loop->n_all; k++) {
    int32_t item = loop->item[k];
    c->block[k] = NULL;
    widest = item > widest ? item : widest;
    /* A scalar is loaded by the kernel; other operands are in place if their rows, or with packing all elements, are contiguous. */
    if (item == 0 || last < 0 || (!c->packs && loop->stride[k][last] == item)) continue;
    pc_nest_plan(&c->nest[k], loop, k);
    if (c->nest[k].columns == c->total && c->nest[k].column == item) continue;
    c->block[k] = (char *)c;
    c->nest[k].held = 0;
    c->nest[k].period = c->total > longest ? pc_nest_period(loop, k, c->total) : c->total;
    blocks++;
  }
  c->most = INT64_MAX;
  if (blocks == 0) return 0;
  int64_t most = (PC_LOOP_SCRATCH_BYTES / widest / blocks) & ~(int64_t)7, all = (c->total + 7) & ~(int64_t)7;
  most = most < longest ? most : longest;
  c->most = most < all ? most : all;
  c->block_bytes = c->most * widest;
  if (c->packs && c->most < c->total) pc_chunks_round(c, loop);
  return blocks * c->block_bytes;
}

/* Places the blocks at `at`, which is 64-byte aligned. */
static void pc_chunks_place(pc_chunks *c, const pc_loop *loop, char *at) {
  for (int32_t k = 0; k < loop->n_all; k++) {
    if (c->block[k] == NULL) continue;
    c->block[k] = at;
    at += c->block_bytes;
  }
}

/* Returns the address of the element of operand k at the `r`-th setting of the first `ndim` dimensions. */
static char *pc_chunks_at(const pc_loop *loop, int32_t k, int32_t ndim, int64_t r) {
  char *at = loop->data[k];
  for (int32_t d = ndim - 1; d > 0 && r > 0; d--) {
    int64_t before = pc_loop_divide(r, loop->shape[d]);
    at += (r - before * loop->shape[d]) * loop->stride[k][d];
    r = before;
  }
  return ndim > 0 ? at + r * loop->stride[k][0] : at;
}

/* Gathers n elements of operand k from position `pos` on into its block, or with `back` copies them from the block. */
static void pc_chunks_copy(pc_chunks *c, const pc_loop *loop, int32_t k, int64_t pos, int64_t n, int back) {
  pc_nest *e = &c->nest[k];
  int32_t item = loop->item[k];
  char *block = c->block[k];
  if (e->rows == 1) {
    pc_copies()->line(item, n, loop->data[k] + pos * e->column, e->column, block, back);
    return;
  }
  int64_t r = e->inner, column = e->left, q = e->outer;
  if (pos != e->next) { /* divisions take longer than the copy of a short row */
    r = pos / e->columns;
    column = pos - r * e->columns;
    q = r / e->rows;
    r -= q * e->rows;
  }
  e->next = pos + n;
  while (n > 0) {
    char *at = pc_chunks_at(loop, k, e->rest, q) + r * e->row;
    while (n > 0 && r < e->rows) {
      int64_t columns = e->columns - column < n ? e->columns - column : n, rows = 1;
      if (columns < e->columns) {
        pc_copies()->line(item, columns, at + column * e->column, e->column, block, back);
        column += columns;
        rows = column == e->columns;
        column -= rows * e->columns;
        block += columns * item;
        n -= columns;
      } else {
        rows = pc_loop_divide(n, columns);
        rows = rows < e->rows - r ? rows : e->rows - r;
        const pc_grid g = {at, rows, columns, e->row, e->column};
        pc_copies()->copy(item, &g, block, back);
        block += rows * columns * item;
        n -= rows * columns;
      }
      at += rows * e->row;
      r += rows;
    }
    if (r == e->rows) q++, r = 0;
  }
  e->inner = r;
  e->left = column;
  e->outer = q;
}

/* Returns the place in its period of element `pos` of input k, in row r. In a long row, an input with step 0 has one element for the whole
 * row. */
static int64_t pc_chunks_phase(const pc_chunks *c, const pc_loop *loop, int32_t k, int64_t pos, int64_t r) {
  int64_t period = c->nest[k].period;
  if (period == 1) return 0;
  if (!c->packs && loop->stride[k][loop->ndim - 1] == 0) return r;
  return period < c->total ? pc_loop_rest(pos, period) : pos;
}

/* Gathers n elements of input k at `pos`, in row r, unless its block has them. */
static void pc_chunks_fill(pc_chunks *c, const pc_loop *loop, int32_t k, int64_t pos, int64_t r, int64_t n) {
  int64_t phase = pc_chunks_phase(c, loop, k, pos, r);
  int32_t last = loop->ndim - 1;
  if (n <= c->nest[k].held && phase == c->phase[k] && c->from[k] == loop->data[k]) return;
  if (c->packs) {
    pc_chunks_copy(c, loop, k, pos, n, 0);
  } else {
    int64_t step = loop->stride[k][last];
    pc_copies()->line(loop->item[k], n, pc_chunks_at(loop, k, last, r) + (pos - r * c->row) * step, step, c->block[k], 0);
  }
  c->phase[k] = phase;
  c->nest[k].held = (int32_t)n;
  c->from[k] = loop->data[k];
}

/* Readies the chunk at `pos`, of at most `limit` elements: fills c->data of every operand. Returns its length. */
static int64_t pc_chunks_ready(pc_chunks *c, const pc_loop *loop, int64_t pos, int64_t limit) {
  int64_t r = 0, column = pos, n = c->total - pos;
  if (!c->packs && c->row < c->total) {
    r = pc_loop_divide(pos, c->row);
    column = pos - r * c->row;
    n = c->row - column;
  }
  n = n < c->most ? n : c->most;
  n = n < limit ? n : limit;
  for (int32_t k = 0; k < loop->n_all; k++) {
    if (c->block[k] != NULL) {
      c->data[k] = c->block[k];
      if (k < loop->n_in) pc_chunks_fill(c, loop, k, pos, r, n);
    } else if (c->packs || loop->ndim == 0) {
      c->data[k] = loop->data[k] + pos * loop->item[k];
    } else {
      int32_t last = loop->ndim - 1;
      c->data[k] = pc_chunks_at(loop, k, last, r) + column * loop->stride[k][last];
    }
  }
  return n;
}

#endif
