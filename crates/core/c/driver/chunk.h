/* driver/chunk.h: a pc_loop cut in chunks, each operand contiguous (see loop.h). */
#ifndef PRECAST_DRIVER_CHUNK_H
#define PRECAST_DRIVER_CHUNK_H

#include "loop.h"

#define PC_LOOP_SHORT_ROW 128 /* rows below this are packed, several to a chunk */

/* How each operand of a loop reaches the kernel. */
typedef struct pc_chunks {
  int64_t row;   /* extent of the last dimension */
  int64_t total; /* elements in all */
  int64_t most;  /* longest chunk */
  int64_t block_bytes;
  int packs;     /* chunks go on over the ends of rows */
  char *block[PC_LOOP_OPERANDS];   /* where it is gathered, once that is known; NULL: handed over in place */
  uint8_t still[PC_LOOP_OPERANDS]; /* does not move: its block is filled once */
  char *data[PC_LOOP_OPERANDS];    /* what the kernel gets */
} pc_chunks;

/* Plans the chunks of `loop`, blocks of `longest` elements at most. Returns the bytes of its blocks, PC_LOOP_SCRATCH_BYTES at most, for
 * pc_chunks_place. */
static int64_t pc_chunks_plan(pc_chunks *c, const pc_loop *loop, int64_t longest) {
  int32_t last = loop->ndim - 1, blocks = 0, widest = 8;
  c->row = last < 0 ? 1 : loop->shape[last];
  c->total = pc_loop_size(loop);
  c->packs = last > 0 && c->row < PC_LOOP_SHORT_ROW;
  for (int32_t k = 0; k < loop->n_all; k++) {
    int64_t step = loop->item[k];
    int linear = 1;
    c->still[k] = k < loop->n_in;
    for (int32_t d = last; d >= 0; d--) {
      linear &= loop->stride[k][d] == step;
      c->still[k] &= loop->stride[k][d] == 0;
      step *= loop->shape[d];
    }
    /* A scalar is loaded by the kernel; the rest is in place if whole rows, or with packing everything, is contiguous. */
    int in_place = loop->item[k] == 0 || linear || (!c->packs && loop->stride[k][last] == loop->item[k]);
    c->block[k] = in_place ? NULL : (char *)c;
    blocks += !in_place;
    widest = loop->item[k] > widest ? loop->item[k] : widest;
  }
  c->most = INT64_MAX;
  if (blocks == 0) return 0;
  int64_t most = (PC_LOOP_SCRATCH_BYTES / widest / blocks) & ~(int64_t)7, all = (c->total + 7) & ~(int64_t)7;
  most = most < longest ? most : longest;
  c->most = most < all ? most : all;
  c->block_bytes = c->most * widest;
  return blocks * c->block_bytes;
}

/* Puts the blocks to `at`, which is 64-byte aligned. */
static void pc_chunks_place(pc_chunks *c, const pc_loop *loop, char *at) {
  for (int32_t k = 0; k < loop->n_all; k++) {
    if (c->block[k] == NULL) continue;
    c->block[k] = at;
    at += c->block_bytes;
  }
}

/* Gathers n elements of operand k from position `pos` on into its block, or with `scatter` puts them back. */
static void pc_chunks_copy(const pc_chunks *c, const pc_loop *loop, int32_t k, int64_t pos, int64_t n, int scatter);

/* The element of operand k at row `r`, column `column`. */
static char *pc_chunks_at(const pc_loop *loop, int32_t k, int64_t r, int64_t column) {
  int32_t last = loop->ndim - 1;
  char *at = loop->data[k];
  if (last >= 0) at += column * loop->stride[k][last];
  for (int32_t d = last - 1; d > 0; d--) {
    at += r % loop->shape[d] * loop->stride[k][d];
    r /= loop->shape[d];
  }
  return last > 0 ? at + r * loop->stride[k][0] : at;
}

static void pc_chunks_copy(const pc_chunks *c, const pc_loop *loop, int32_t k, int64_t pos, int64_t n, int scatter) {
  int64_t r = pos / c->row, column = pos % c->row, step = loop->stride[k][loop->ndim - 1];
  char *block = c->block[k];
  for (; n > 0; r++, column = 0) {
    int64_t m = c->row - column < n ? c->row - column : n;
    char *at = pc_chunks_at(loop, k, r, column);
    pc_copy_strided(loop->item[k], m, scatter ? at : block, scatter ? step : loop->item[k], scatter ? block : at,
                    scatter ? loop->item[k] : step);
    block += m * loop->item[k];
    n -= m;
  }
}

/* Fills the blocks of operands that do not move. */
static void pc_chunks_still(const pc_chunks *c, const pc_loop *loop) {
  int64_t filled = c->most < c->total ? c->most : c->total;
  for (int32_t k = 0; k < loop->n_in; k++) {
    if (c->block[k] != NULL && c->still[k]) pc_copy_strided(loop->item[k], filled, c->block[k], loop->item[k], loop->data[k], 0);
  }
}

/* Readies the chunk at `pos`, of at most `limit` elements: fills c->data of every operand. Returns its length. */
static int64_t pc_chunks_ready(pc_chunks *c, const pc_loop *loop, int64_t pos, int64_t limit) {
  int64_t r = pos / c->row, column = pos % c->row, n = c->packs ? c->total - pos : c->row - column;
  n = n < c->most ? n : c->most;
  n = n < limit ? n : limit;
  if (pos == 0) pc_chunks_still(c, loop);
  for (int32_t k = 0; k < loop->n_all; k++) {
    if (c->block[k] == NULL) {
      c->data[k] = c->packs ? loop->data[k] + pos * loop->item[k] : pc_chunks_at(loop, k, r, column);
      continue;
    }
    c->data[k] = c->block[k];
    if (k < loop->n_in && !c->still[k]) pc_chunks_copy(c, loop, k, pos, n, 0);
  }
  return n;
}

#endif
