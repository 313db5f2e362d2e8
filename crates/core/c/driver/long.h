/* driver/long.h: runs a kernel over a pc_loop of long rows, row by row.
 *
 *   operand in its row          the kernel gets
 *   contiguous                  the row in place
 *   one element, read           a block of that element, filled once for the row
 *   anything else               a block that is gathered, or scattered, for each part of the row
 *
 * A row is handed over whole if every operand of it is in place. Else a call has at most as many elements as a block.
 */
#ifndef PRECAST_DRIVER_LONG_H
#define PRECAST_DRIVER_LONG_H

#include "copies.h"
#include "loop.h"

#define PC_LONG_ROW_APART 32 /* least elements of a row that is contiguous while the rows lie apart */

typedef struct pc_long {
  int64_t row;   /* elements in a row */
  int64_t rows;
  int64_t most;  /* elements that the kernel gets at once */
  int64_t index[PC_MAX_NDIM];
  char *at[PC_LOOP_OPERANDS];     /* where the row of each operand begins */
  char *block[PC_LOOP_OPERANDS];  /* NULL: in place */
  const char *same[PC_LOOP_OPERANDS]; /* the element that an input's block has; NULL: none yet */
} pc_long;

/* Returns whether rows are long enough. Shorter rows are enough if each is contiguous and the rows lie apart, as packing would copy them. */
static int pc_long_fits(const pc_loop *loop) {
  const int32_t last = loop->ndim - 1;
  int32_t apart = 0;
  if (last <= 0 || loop->shape[last] >= PC_LOOP_SHORT_ROW) return last >= 0;
  if (loop->shape[last] < PC_LONG_ROW_APART) return 0;
  for (int32_t k = 0; k < loop->n_all; k++) {
    if (loop->item[k] == 0) continue;
    if (loop->stride[k][last] != loop->item[k]) return 0;
    apart |= loop->stride[k][last - 1] != 0 && loop->stride[k][last - 1] != loop->item[k] * loop->shape[last];
  }
  return apart;
}

/* Plans the rows of `loop`, which has dimensions and elements; its blocks are in `scratch`, of PC_LOOP_SCRATCH_BYTES and 64-byte aligned. */
static void pc_long_plan(pc_long *s, const pc_loop *loop, char *scratch) {
  const int32_t last = loop->ndim - 1;
  int32_t blocks = 0;
  s->row = loop->shape[last];
  s->rows = 1;
  for (int32_t d = 0; d < last; d++) {
    s->rows *= loop->shape[d];
    s->index[d] = 0;
  }
  for (int32_t k = 0; k < loop->n_all; k++) blocks += loop->item[k] != 0 && loop->stride[k][last] != loop->item[k];
  int64_t most = pc_loop_near(loop), bytes = PC_LOOP_NEAR_BYTES;
  for (; blocks * bytes > PC_LOOP_SCRATCH_BYTES; bytes /= 2) most /= 2;
  s->most = blocks == 0 ? s->row : most;
  for (int32_t k = 0; k < loop->n_all; k++) {
    int in_place = loop->item[k] == 0 || loop->stride[k][last] == loop->item[k];
    s->at[k] = loop->data[k];
    s->block[k] = in_place ? NULL : scratch;
    s->same[k] = NULL;
    scratch += in_place ? 0 : bytes;
  }
}

/* Moves to the next row. */
static void pc_long_next(pc_long *s, const pc_loop *loop) {
  for (int32_t d = loop->ndim - 2; d >= 0; d--) {
    int64_t back = ++s->index[d] < loop->shape[d] ? 0 : loop->shape[d];
    for (int32_t k = 0; k < loop->n_all; k++) s->at[k] += loop->stride[k][d] * (1 - back);
    if (back == 0) return;
    s->index[d] = 0;
  }
}

/* Runs the kernel over one row. */
static inline int pc_long_row(pc_context *ctx, pc_long *s, const pc_loop *loop, pc_kernel kernel) {
  const int32_t last = loop->ndim - 1;
  char *data[PC_LOOP_OPERANDS];
  int64_t n;
  for (int32_t k = 0; k < loop->n_all; k++) {
    data[k] = s->block[k] == NULL ? s->at[k] : s->block[k];
    if (s->block[k] == NULL || loop->stride[k][last] != 0 || k >= loop->n_in || s->same[k] == s->at[k]) continue;
    pc_copies()->line(loop->item[k], s->row < s->most ? s->row : s->most, s->at[k], 0, s->block[k], 0);
    s->same[k] = s->at[k];
  }
  for (int64_t pos = 0; pos < s->row; pos += n) {
    n = s->row - pos < s->most ? s->row - pos : s->most;
    for (int32_t k = 0; k < loop->n_in; k++) {
      int64_t step = loop->stride[k][last];
      if (s->block[k] != NULL && step != 0) pc_copies()->line(loop->item[k], n, s->at[k] + pos * step, step, s->block[k], 0);
    }
    int failure = kernel(ctx, n, data);
    if (failure != 0) return failure;
    for (int32_t k = 0; k < loop->n_all; k++) {
      int64_t step = loop->stride[k][last];
      if (s->block[k] == NULL) {
        data[k] += n * loop->item[k];
      } else if (k >= loop->n_in) {
        pc_copies()->line(loop->item[k], n, s->at[k] + pos * step, step, s->block[k], 1);
      }
    }
  }
  return 0;
}

/* Runs the kernel over all rows. */
static int pc_long_run(pc_context *ctx, const pc_loop *loop, pc_kernel kernel, char *scratch) {
  pc_long s;
  pc_long_plan(&s, loop, scratch);
  if (pc_plan_is_asked()) pc_plan_tell(s.most < s.row ? "rows, in blocks" : "rows in place", s.rows, s.row, s.most);
  for (int64_t r = 0; r < s.rows; r++) {
    if (r > 0) pc_long_next(&s, loop);
    int failure = pc_long_row(ctx, &s, loop, kernel);
    if (failure != 0) return failure;
  }
  return 0;
}

#endif
