/* driver/reduce_columns.h: reductions whose outputs lie nearer in memory than the elements of one output; computes a tile of outputs at
 * once (see reduce.h). */
#ifndef PRECAST_DRIVER_REDUCE_COLUMNS_H
#define PRECAST_DRIVER_REDUCE_COLUMNS_H

#include "reduce_tiles.h"

/* Returns whether the elements behind an output are so few that their columns are added up in place. */
static int pc_reduce_is_few(const pc_reduce_run *r) { return r->op->monoid->few_columns != NULL && r->count <= r->op->monoid->lanes; }

/* Returns whether the outputs are computed in order: see the head of reduce.h. */
static int pc_reduce_is_in_order(const pc_reduce_run *r) {
  const pc_monoid *m = r->op->monoid;
  return (r->op->flags & PC_ASSOCIATIVE) && r->op->map == NULL && m->steps != NULL && r->inner.ndim == 1 && r->count <= 2 * m->lanes &&
         r->outer.stride[0][r->outer.ndim - 1] == r->outer.item[0];
}

/* Returns the bytes of lanes that an output has. */
static int64_t pc_reduce_column(const pc_reduce_run *r, int by_columns) {
  if (by_columns && pc_reduce_is_in_order(r)) return 2 * r->op->monoid->item; /* the output, and a row of as many */
  return (by_columns && pc_reduce_is_few(r) ? r->count : r->op->monoid->lanes) * r->op->monoid->item;
}

/* Sets `data` to row p of the tile's operands, made contiguous; `at` has the addresses of the row. */
static void pc_reduce_gather(pc_reduce_run *r, int64_t p, char *const *base, char *const *at, int64_t columns, char **data) {
  int32_t last = r->outer.ndim - 1;
  for (int32_t k = 0; k < r->op->n_in; k++) {
    int32_t item = r->outer.item[k];
    data[k] = at[k];
    if (item != 0 && r->outer.stride[k][last] != item && columns > 1) {
      data[k] = r->scratch + (k * r->depth + pc_loop_rest(p, r->depth)) * r->room;
      if (r->held[k] != base[k]) pc_copies()->line(item, columns, at[k], r->outer.stride[k][last], data[k], 0);
    } else if (r->inner.ndim > 0) {
      /* Rows are far apart, so the hardware does not foresee them. */
      const char *ahead = at[k] + 4 * r->inner.stride[k][r->inner.ndim - 1];
      for (int64_t byte = 0; byte < columns * item; byte += 64) __builtin_prefetch(ahead + byte);
    }
  }
}

/* Sets `to` to the sum of a part of few_columns' tree. Its first row is `first`, and its rows are `apart` rows from each other: rows of
 * `columns` elements at `x`, `row` bytes apart. `room` has such a row for each step of the tree. */
static void pc_reduce_tree(const pc_reduce_run *r, const char *x, int64_t row, int64_t columns, int64_t first, int64_t apart, char *to, char *room) {
  const pc_monoid *m = r->op->monoid;
  const int64_t bytes = columns * m->item;
  if (first + apart >= r->count) {
    __builtin_memcpy(to, x + first * row, (size_t)bytes);
    return;
  }
  pc_reduce_tree(r, x, row, columns, first, 2 * apart, to, room);
  const char *other = x + (first + apart) * row;
  if (first + 3 * apart < r->count) {
    pc_reduce_tree(r, x, row, columns, first + apart, 2 * apart, room, room + bytes);
    other = room;
  }
  m->step(to, other, columns);
}

/* Does the work of pc_reduce_tile for columns of a few elements each: their rows are mapped or copied, and added up in place. If the result
 * depends on the total alone, contiguous rows without a map are added up from the operand itself, and in the output if that is contiguous. */
static int pc_reduce_few(pc_context *ctx, pc_reduce_run *r, char *const *base, int64_t columns) {
  const pc_monoid *m = r->op->monoid;
  int32_t n_in = r->op->n_in, last = r->outer.ndim - 1;
  int64_t index[PC_MAX_NDIM] = {0}, row_bytes = columns * m->item, kept = r->count, to_step = r->outer.stride[n_in][last];
  char *at[PC_LOOP_OPERANDS], *data[PC_LOOP_OPERANDS], *made = r->lanes;
  if (r->op->map == NULL && (r->op->flags & PC_TOTAL) && r->outer.stride[0][last] == m->item && r->inner.ndim == 1) {
    if (to_step == m->item) made = base[n_in];
    pc_reduce_tree(r, base[0], r->inner.stride[0][0], columns, 0, 1, made, r->lanes + row_bytes);
    kept = 1;
  } else {
    for (int32_t k = 0; k < n_in; k++) at[k] = base[k];
    for (int64_t p = 0; p < r->count; p++) {
      char *row = made + p * row_bytes;
      if (r->op->map == NULL) {
        pc_copies()->line(m->item, columns, at[0], r->outer.stride[0][last], row, 0);
      } else {
        pc_reduce_gather(r, p, base, at, columns, data);
        data[n_in] = row;
        int failure = r->op->map(ctx, columns, data);
        if (failure != 0) return failure;
      }
      pc_loop_next(&r->inner, r->inner.ndim, -1, index, at);
    }
  }
  m->few_columns(made, kept, columns);
  if (made != base[n_in]) pc_copy_strided(m->item, columns, base[n_in], to_step, made, m->item);
  return 0;
}

/* Computes `columns` outputs from `base` on, along the last dimension of r->outer. */
static int pc_reduce_tile(pc_context *ctx, pc_reduce_run *r, char *const *base, int64_t columns) {
  const pc_monoid *m = r->op->monoid;
  int32_t n_in = r->op->n_in, last = r->outer.ndim - 1;
  int64_t index[PC_MAX_NDIM] = {0};
  char *at[PC_LOOP_OPERANDS], *data[PC_LOOP_OPERANDS];
  for (int32_t k = 0; k < n_in; k++) at[k] = base[k];
  for (int64_t p = 0; p < r->count; p++) {
    int64_t in_block = p % PC_REDUCE_BLOCK, lane = pc_loop_rest(in_block, m->lanes);
    if (in_block == 0) m->clear(r->lanes, m->lanes * columns);
    pc_reduce_gather(r, p, base, at, columns, data);
    const char *x = data[0];
    if (r->op->map != NULL) {
      data[n_in] = r->mapped;
      int failure = r->op->map(ctx, columns, data);
      if (failure != 0) return failure;
      x = r->mapped;
    }
    m->step(r->lanes + lane * columns * m->item, x, columns);
    if (in_block == PC_REDUCE_BLOCK - 1 || p == r->count - 1) m->close(r->lanes, columns, r->totals, p < PC_REDUCE_BLOCK);
    pc_loop_next(&r->inner, r->inner.ndim, -1, index, at);
  }
  m->finish(r->totals, columns, r->count, base[n_in], last < 0 ? 0 : r->outer.stride[n_in][last]);
  return 0;
}

/* Does the work of pc_reduce_tile for elements in place, contiguous along the columns: the rows of a lane are added four at a time. */
static void pc_reduce_columns(pc_reduce_run *r, char *const *base, int64_t columns) {
  const pc_monoid *m = r->op->monoid;
  int64_t row = r->inner.stride[0][0], lane_bytes = columns * m->item;
  for (int64_t start = 0; start < r->count; start += PC_REDUCE_BLOCK) {
    int64_t end = r->count - start < PC_REDUCE_BLOCK ? r->count : start + PC_REDUCE_BLOCK;
    m->clear(r->lanes, m->lanes * columns);
    for (int64_t p = start; p < end; p += 4 * m->lanes) {
      for (int64_t lane = 0; lane < m->lanes && p + lane < end; lane++) {
        int64_t rows = pc_loop_divide(end - p - lane + m->lanes - 1, m->lanes);
        m->steps(r->lanes + lane * lane_bytes, base[0] + (p + lane) * row, columns, rows < 4 ? rows : 4, m->lanes * row);
      }
    }
    m->close(r->lanes, columns, r->totals, start == 0);
  }
  int32_t last = r->outer.ndim - 1;
  m->finish(r->totals, columns, r->count, base[1], last < 0 ? 0 : r->outer.stride[1][last]);
}

/* Does the work of pc_reduce_columns in order: adds the lanes to the outputs in the order of the tree, which is that of their numbers with
 * the bits reversed. */
static void pc_reduce_ordered(pc_reduce_run *r, char *const *base, int64_t columns) {
  const pc_monoid *m = r->op->monoid;
  int64_t row = r->inner.stride[0][0], to_step = r->outer.stride[1][r->outer.ndim - 1], lane = 0;
  char *to = to_step == m->item ? base[1] : r->lanes;
  __builtin_memcpy(to, base[0], (size_t)(columns * m->item));
  for (int32_t k = 0; k < m->lanes; k++) {
    int64_t first = k == 0 ? m->lanes : lane, rows = (r->count - first + m->lanes - 1) / m->lanes;
    if (first < r->count) m->steps(to, base[0] + first * row, columns, rows, m->lanes * row);
    int64_t bit = m->lanes / 2;
    for (; lane & bit; bit /= 2) lane -= bit;
    lane += bit;
  }
  if (to != base[1]) pc_copy_strided(m->item, columns, base[1], to_step, to, m->item);
}
/* Returns how many outputs the columns way computes at once. Elements in place are read in wide rows if there is much to read. */
static int64_t pc_reduce_width(const pc_reduce_run *r, int64_t columns, int plain) {
  int64_t column = pc_reduce_column(r, 1), most = PC_REDUCE_LANES_BYTES / column;
  int64_t room = PC_LOOP_SCRATCH_BYTES / r->op->n_in / 16 & ~(int64_t)7;
  if (!pc_reduce_is_in_order(r) && most > PC_LOOP_BLOCK) most = PC_LOOP_BLOCK;
  if (!plain) most = most < room ? most : room;
  if (columns <= most) return columns;
  if (!plain || columns * r->count < PC_REDUCE_MUCH_BYTES / r->op->monoid->item) return most;
  int64_t tiles = (columns * column + PC_REDUCE_WIDE_BYTES - 1) / PC_REDUCE_WIDE_BYTES;
  return ((columns + tiles - 1) / tiles + 7) & ~(int64_t)7;
}

#endif
