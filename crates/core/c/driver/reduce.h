/* driver/reduce.h: reduces over some axes of its (broadcast) operands, or of a map of them, without storing the map.
 *
 *   operands --pc_loop--> kept dimensions x reduced dimensions
 *     rows      the reduced dimensions are the near ones: for each output, take them in chunks, map, fold into lanes
 *     columns   a kept dimension is the near one, or rows are short: for a tile of outputs at once, map row after row and step
 *               into lanes; no more rows than there are lanes are kept instead, and added up in place. What is gathered of short
 *               rows stays for the tiles that read it again
 *     in order  of a few rows as they lie, where parentheses do not show (PC_ASSOCIATIVE): into the outputs, without lanes
 *     short     the same of short rows as they lie: a tile of them is mapped as a whole and turned (reduce_tiles.h)
 *     stripes   few columns of many rows: rows are mapped several at once, and step into several lanes at once
 *
 *   flat      one output of at most 512 elements that lie contiguous (flat.h): one call of the map, one fold
 *   blocks    one output of many elements: the lanes of each block, on several threads; then their trees, in order
 *
 * All give the bits that monoid.h defines. Rows and columns are cut where there are many (cut.h). The map's results live in a
 * block of the L1 cache only; a plain reduction of contiguous elements reads them where they are.
 */
#ifndef PRECAST_DRIVER_REDUCE_H
#define PRECAST_DRIVER_REDUCE_H

#include "cut.h"
#include "flat.h"
#include "reduce_tiles.h"
#include <precast/output.h>

/* Moves dimension d of `all` to the end of `to`. */
static void pc_reduce_take(pc_loop *to, const pc_loop *all, int32_t d) {
  to->shape[to->ndim] = all->shape[d];
  for (int32_t k = 0; k < all->n_in; k++) to->stride[k][to->ndim] = all->stride[k][d];
  to->ndim++;
}

/* Folds the block at `start` of the output whose elements begin at r->inner.data into `lanes`. */
static int pc_reduce_block(pc_context *ctx, pc_reduce_run *r, int64_t start, char *lanes) {
  const pc_monoid *m = r->op->monoid;
  int64_t end = r->count - start < PC_REDUCE_BLOCK ? r->count : start + PC_REDUCE_BLOCK;
  m->clear(lanes, m->lanes);
  for (int64_t pos = start, n; pos < end; pos += n) {
    int64_t most = end - pos;
    if (r->op->map != NULL && most > PC_LOOP_BLOCK) most = PC_LOOP_BLOCK;
    n = pc_chunks_ready(&r->chunks, &r->inner, pos, most);
    const char *x = r->chunks.data[0];
    if (r->op->map != NULL) {
      r->chunks.data[r->op->n_in] = r->mapped;
      int failure = r->op->map(ctx, n, r->chunks.data);
      if (failure != 0) return failure;
      x = r->mapped;
    }
    m->fold(lanes, x, n, pc_loop_rest(pos - start, m->lanes));
  }
  return 0;
}

/* Whether the total of a row is final before all its elements are read; overwrites the lanes. */
static int pc_reduce_is_settled(pc_reduce_run *r) {
  const pc_monoid *m = r->op->monoid;
  if (!(r->op->flags & PC_SETTLES)) return 0;
  m->clear(r->lanes, m->lanes);
  return __builtin_memcmp(r->lanes, r->totals, (size_t)m->item) != 0;
}

/* One output, whose elements begin at r->inner.data. */
static int pc_reduce_row(pc_context *ctx, pc_reduce_run *r, char *out) {
  const pc_monoid *m = r->op->monoid;
  for (int64_t start = 0; start == 0 || start < r->count; start += PC_REDUCE_BLOCK) {
    int failure = pc_reduce_block(ctx, r, start, r->lanes);
    if (failure != 0) return failure;
    m->close(r->lanes, 1, r->totals, start == 0);
    if (pc_reduce_is_settled(r)) break;
  }
  m->finish(r->totals, 1, r->count, out, 0);
  return 0;
}

/* Whether the elements behind an output are so few that their columns are added up in place. */
static int pc_reduce_is_few(const pc_reduce_run *r) { return r->op->monoid->few_columns != NULL && r->count <= r->op->monoid->lanes; }

/* Whether the outputs are made in order: see the head of this file. */
static int pc_reduce_is_in_order(const pc_reduce_run *r) {
  const pc_monoid *m = r->op->monoid;
  return (r->op->flags & PC_ASSOCIATIVE) && r->op->map == NULL && m->steps != NULL && r->inner.ndim == 1 && r->count <= 2 * m->lanes &&
         r->outer.stride[0][r->outer.ndim - 1] == r->outer.item[0];
}

/* Bytes that an output has of the lanes. */
static int64_t pc_reduce_column(const pc_reduce_run *r, int by_columns) {
  if (by_columns && pc_reduce_is_in_order(r)) return 2 * r->op->monoid->item; /* the output, and a row of as many */
  return (by_columns && pc_reduce_is_few(r) ? r->count : r->op->monoid->lanes) * r->op->monoid->item;
}

/* Gives row p of the tile's operands, contiguous, in `data`; `at` is where it lies. */
static void pc_reduce_gather(pc_reduce_run *r, int64_t p, char *const *base, char *const *at, int64_t columns, char **data) {
  int32_t last = r->outer.ndim - 1;
  for (int32_t k = 0; k < r->op->n_in; k++) {
    int32_t item = r->outer.item[k];
    data[k] = at[k];
    if (item != 0 && r->outer.stride[k][last] != item && columns > 1) {
      data[k] = r->scratch + (k * r->depth + pc_loop_rest(p, r->depth)) * r->room;
      if (r->held[k] != base[k]) pc_copies()->line(item, columns, at[k], r->outer.stride[k][last], data[k], 0);
    } else if (r->inner.ndim > 0) {
      /* Rows are far apart, so the hardware does not see them coming. */
      const char *ahead = at[k] + 4 * r->inner.stride[k][r->inner.ndim - 1];
      for (int64_t byte = 0; byte < columns * item; byte += 64) __builtin_prefetch(ahead + byte);
    }
  }
}

/* Adds to `to` the part of few_columns' tree whose first row is `first`, and whose rows are `apart` rows from each other: rows of `columns`
 * elements at `x`, `row` bytes apart. `room` has such a row for each step of the tree. */
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

/* As pc_reduce_tile, of columns of a few elements each: they are mapped to rows, which are added up in place. Rows that lie contiguous and
 * need no map are added up from where they lie, if the number of rows does not matter later, and in the output if that is contiguous. */
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

/* `columns` outputs from `base` on, along the last dimension of r->outer. */
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

/* As pc_reduce_tile, of elements as they lie, contiguous along the columns: the rows of a lane are added four at a time. */
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

/* As pc_reduce_columns, in order: the tree over lanes takes them by their numbers' bits, read from the last one on. */
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

/* How the outputs are made: see the head of this file. */
typedef enum pc_reduce_way { PC_REDUCE_ROWS, PC_REDUCE_COLUMNS, PC_REDUCE_SHORT_ROWS } pc_reduce_way;

/* Columns, where the last kept dimension is nearer in memory than the last reduced one, or where there are few rows of it; else
 * rows. */
static pc_reduce_way pc_reduce_choose(const pc_reduce_run *r) {
  int32_t kept = r->outer.ndim - 1, reduced = r->inner.ndim - 1;
  if (kept < 0 || reduced < 0 || r->outer.shape[kept] < 8 || r->count == 0) return PC_REDUCE_ROWS;
  if (r->count < PC_REDUCE_TINY) return PC_REDUCE_COLUMNS;
  const pc_reduce_way rows = r->count < PC_SHORT_ROW ? PC_REDUCE_SHORT_ROWS : PC_REDUCE_ROWS;
  for (int32_t k = 0; k < r->op->n_in; k++) {
    int64_t near = r->outer.stride[k][kept], far = r->inner.stride[k][reduced];
    near = near < 0 ? -near : near;
    far = far < 0 ? -far : far;
    if (r->outer.item[k] != 0 && near != 0 && far != 0 && near != far) return near < far ? PC_REDUCE_COLUMNS : rows;
  }
  return rows;
}

/* How many outputs the columns way makes at once. Elements as they lie are read in whole rows, where there is much to read. */
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

/* Readies the memory of a run that makes `most` outputs at once, `by_columns` or one row after the other. */
static int pc_reduce_ready(pc_context *ctx, pc_reduce_run *r, int64_t most, int by_columns, int plain) {
  int is_few = by_columns && pc_reduce_is_few(r), has_totals = !is_few && !(by_columns && pc_reduce_is_in_order(r));
  int64_t lanes = most * pc_reduce_column(r, by_columns), totals = has_totals ? most * 16 : 0, mapped = totals, gathered = 0;
  r->room = pc_area_whole(most * 16);
  r->depth = by_columns && !plain && r->count < PC_REDUCE_SHORT ? r->count : 1;
  if (!by_columns) {
    gathered = pc_chunks_plan(&r->chunks, &r->inner, PC_LOOP_BLOCK);
    mapped = 16 * (r->count < PC_LOOP_BLOCK ? r->count : PC_LOOP_BLOCK);
  } else if (!plain && (!is_few || r->op->map != NULL)) {
    gathered = r->op->n_in * r->depth * r->room;
  }
  if (pc_reduce_place(ctx, r, gathered, mapped, lanes, totals) != 0) return -1;
  if (!by_columns) pc_chunks_place(&r->chunks, &r->inner, r->scratch);
  return 0;
}

/* The outputs of one setting of the outer dimensions: `n` from column c on, or one. */
static int pc_reduce_part(pc_context *ctx, pc_reduce_run *r, int by_columns, int plain, int64_t c, int64_t n) {
  const pc_loop *outer = &r->outer;
  char *at[PC_LOOP_OPERANDS];
  for (int32_t k = 0; k < outer->n_all; k++) at[k] = outer->data[k] + (by_columns ? c * outer->stride[k][outer->ndim - 1] : 0);
  if (by_columns && pc_reduce_is_in_order(r)) {
    pc_reduce_ordered(r, at, n);
    return 0;
  }
  if (by_columns && !plain) {
    int failure = pc_reduce_is_few(r) ? pc_reduce_few(ctx, r, at, n) : pc_reduce_tile(ctx, r, at, n);
    for (int32_t k = 0; r->depth > 1 && k < r->op->n_in; k++) r->held[k] = at[k];
    return failure;
  }
  if (by_columns) {
    pc_reduce_columns(r, at, n);
    return 0;
  }
  for (int32_t k = 0; k < r->op->n_in; k++) r->inner.data[k] = at[k];
  return pc_reduce_row(ctx, r, at[r->op->n_in]);
}

/* Tells a profile how the outputs are made. */
PC_SELDOM static void pc_reduce_tell(const pc_reduce_run *r, pc_reduce_way way) {
  const int64_t outputs = pc_loop_size(&r->outer), most = r->count < PC_LOOP_BLOCK ? r->count : PC_LOOP_BLOCK;
  if (way == PC_REDUCE_SHORT_ROWS) {
    pc_plan_tell("short rows, several at once", outputs, r->count, pc_short_rows(r->op->monoid, r->count) * r->count);
  } else if (way == PC_REDUCE_ROWS) {
    pc_plan_tell("rows", outputs, r->count, r->op->map == NULL && r->inner.ndim <= 1 ? r->count : most);
  } else if (pc_reduce_has_stripes(r)) {
    pc_plan_tell("columns, few", outputs, r->count, most);
  } else {
    const int64_t width = pc_reduce_width(r, r->outer.shape[r->outer.ndim - 1], 0);
    pc_plan_tell(pc_reduce_is_in_order(r) ? "columns, in order" : "columns", outputs, r->count, width);
  }
}

/* Runs over the outer dimensions, a row or a tile at a time; where tiles are held, over all with the same columns first. */
static int pc_reduce_outer(pc_context *ctx, pc_reduce_run *r) {
  pc_loop *outer = &r->outer;
  const pc_reduce_way way = pc_reduce_choose(r);
  if (pc_plan_is_asked()) pc_reduce_tell(r, way);
  if (way == PC_REDUCE_SHORT_ROWS) return pc_reduce_short(ctx, r);
  if (way == PC_REDUCE_COLUMNS && pc_reduce_has_stripes(r)) return pc_reduce_stripes(ctx, r);
  int by_columns = way == PC_REDUCE_COLUMNS;
  int32_t ndim = by_columns ? outer->ndim - 1 : outer->ndim; /* dimensions stepped through one by one */
  int64_t index[PC_MAX_NDIM] = {0}, columns = by_columns ? outer->shape[ndim] : 1;
  int plain = by_columns && r->op->map == NULL && r->op->monoid->steps != NULL && r->inner.ndim == 1 && outer->stride[0][ndim] == outer->item[0];
  plain = plain && (!pc_reduce_is_few(r) || pc_reduce_is_in_order(r));
  int64_t most = by_columns ? pc_reduce_width(r, columns, plain) : 1;
  if (pc_reduce_ready(ctx, r, most, by_columns, plain) != 0) return -1;
  int64_t wide = r->depth > 1 ? most : columns;
  for (int64_t first = 0; first < columns; first += wide) {
    int64_t end = columns - first < wide ? columns : first + wide;
    for (int32_t k = 0; k < r->op->n_in; k++) r->held[k] = NULL;
    do {
      for (int64_t c = first; c < end; c += most) {
        int failure = pc_reduce_part(ctx, r, by_columns, plain, c, end - c < most ? end - c : most);
        if (failure != 0) return failure;
      }
    } while (pc_loop_next(outer, ndim, -1, index, outer->data));
  }
  return 0;
}

/* All outputs of a run. */
static int pc_reduce_all(pc_context *ctx, pc_reduce_run *r) {
  pc_area_begin(&r->area);
  int failure = pc_reduce_outer(ctx, r);
  pc_area_end(ctx, &r->area);
  return failure;
}

/* A run of the same operation by itself, whose outer loop is yet to be set; the host's memory, as the stack has one already. */
PC_SELDOM static pc_reduce_run *pc_reduce_again(pc_context *ctx, const pc_reduce_run *r) {
  pc_reduce_run *own = (pc_reduce_run *)ctx->host->alloc(ctx, sizeof *own);
  if (own == NULL) return NULL;
  own->op = r->op;
  own->inner = r->inner;
  own->count = r->count;
  return own;
}

typedef struct pc_reduce_cut {
  pc_cut cut;
  pc_reduce_run *run;
} pc_reduce_cut;

/* A range of the outputs. */
PC_SELDOM static int pc_reduce_outputs(pc_context *ctx, int64_t first, int64_t end, void *state) {
  pc_reduce_cut *c = (pc_reduce_cut *)state;
  if (end - first == c->cut.extent) return pc_reduce_all(ctx, c->run);
  pc_reduce_run *own = pc_reduce_again(ctx, c->run);
  if (own == NULL) return -1;
  pc_cut_take(&c->cut, first, end, &own->outer);
  int failure = pc_reduce_all(ctx, own);
  ctx->host->release(ctx, own);
  return failure;
}

typedef struct pc_reduce_blocks {
  pc_reduce_run *run;
  char *lanes; /* of each block */
  int is_done; /* all by one call: there is one thread */
} pc_reduce_blocks;

/* The lanes of a range of blocks. */
PC_SELDOM static int pc_reduce_lanes(pc_context *ctx, int64_t first, int64_t end, void *state) {
  pc_reduce_blocks *b = (pc_reduce_blocks *)state;
  const pc_monoid *m = b->run->op->monoid;
  if (first == 0 && end * PC_REDUCE_BLOCK >= b->run->count) {
    b->is_done = 1;
    return pc_reduce_all(ctx, b->run);
  }
  pc_reduce_run *own = pc_reduce_again(ctx, b->run);
  if (own == NULL) return -1;
  pc_area_begin(&own->area);
  int failure = pc_reduce_ready(ctx, own, 1, 0, 0);
  for (int64_t block = first; block < end && failure == 0; block++) {
    failure = pc_reduce_block(ctx, own, block * PC_REDUCE_BLOCK, b->lanes + block * m->lanes * m->item);
  }
  pc_area_end(ctx, &own->area);
  ctx->host->release(ctx, own);
  return failure;
}

/* One output of so many elements that its blocks are worth more than a thread. */
PC_SELDOM static int pc_reduce_by_blocks(pc_context *ctx, pc_reduce_run *r) {
  const pc_monoid *m = r->op->monoid;
  int64_t blocks = (r->count + PC_REDUCE_BLOCK - 1) / PC_REDUCE_BLOCK, lane_bytes = m->lanes * m->item;
  pc_reduce_blocks b = {r, (char *)ctx->host->alloc(ctx, (size_t)(blocks * lane_bytes)), 0};
  if (b.lanes == NULL) return -1;
  int failure = ctx->host->parallel(ctx, blocks, PC_CUT_ELEMENTS / PC_REDUCE_BLOCK, pc_reduce_lanes, &b);
  if (failure == 0 && !b.is_done) {
    char total[16] __attribute__((aligned(16)));
    for (int64_t block = 0; block < blocks; block++) m->close(b.lanes + block * lane_bytes, 1, total, block == 0);
    m->finish(total, 1, r->count, r->outer.data[r->op->n_in], 0);
  }
  ctx->host->release(ctx, b.lanes);
  return failure;
}

/* Sets a run's loops to the kept and to the reduced dimensions of `in`, broadcast. */
static __attribute__((noinline)) int pc_reduce_split(pc_context *ctx, pc_reduce_run *r, const pc_reduce *op, pc_tensor *const *in) {
  pc_loop all;
  all.ndim = 0;
  all.n_in = all.n_all = op->n_in;
  for (int32_t k = 0; k < op->n_in; k++) {
    if (pc_loop_common(ctx, &all, k, in[k], op->names ? op->names[k] : NULL) != 0) return -1;
  }
  for (int32_t k = 0; k < op->n_in; k++) pc_loop_operand(&all, k, in[k], op->scalar[k]);
  r->op = op;
  r->outer.ndim = r->inner.ndim = 0;
  r->inner.n_in = r->inner.n_all = r->outer.n_in = op->n_in;
  r->outer.n_all = op->n_in + 1;
  for (int32_t d = 0; d < all.ndim; d++) {
    pc_reduce_take(op->axes == PC_REDUCE_ALL || (op->axes >> d & 1u) ? &r->inner : &r->outer, &all, d);
  }
  for (int32_t k = 0; k < op->n_in; k++) {
    r->outer.data[k] = r->inner.data[k] = all.data[k];
    r->outer.item[k] = r->inner.item[k] = all.item[k];
  }
  return 0;
}

/* Whether all axes are reduced, of `ndim`. */
static int pc_reduce_takes_all(const pc_reduce *op, int32_t ndim) {
  uint32_t all = ndim < 32 ? (1u << ndim) - 1 : ~0u;
  return op->axes == PC_REDUCE_ALL || (op->axes & all) == all;
}

/* How few elements are reduced that lie contiguous. */
typedef enum pc_reduce_flat_way { PC_REDUCE_LOOP, PC_REDUCE_WHOLE, PC_REDUCE_LAST, PC_REDUCE_FIRST } pc_reduce_flat_way;

/* Adds up the operands. PC_REDUCE_LOOP, if they are many or a loop is needed; else whether all axes are reduced, or the last ones, or the
 * first ones, whose number of elements is `count`. */
static pc_reduce_flat_way pc_reduce_flatten(const pc_reduce *op, pc_tensor *const *in, const pc_tensor *out, pc_flat *f, int64_t *count) {
  for (int32_t k = 0; k < op->n_in; k++) {
    if (!op->scalar[k] && !pc_flat_add(f, k, in[k])) return PC_REDUCE_LOOP;
  }
  if (f->lead == NULL || f->n == 0 || f->n > PC_LOOP_BLOCK || !pc_flat_is_little(f)) return PC_REDUCE_LOOP;
  if (op->monoid->lanes * op->monoid->item > PC_REDUCE_FLAT_LANES_BYTES) return PC_REDUCE_LOOP;
  int32_t ndim = f->lead->ndim, edge = 0;
  if (pc_reduce_takes_all(op, ndim)) return PC_REDUCE_WHOLE;
  if (out != NULL && !pc_flat_fits(out, out)) return PC_REDUCE_LOOP;
  const uint32_t first = op->axes & 1u;
  while (edge < ndim && (op->axes >> edge & 1u) == first) edge++;
  for (int32_t d = edge; d < ndim; d++) {
    if ((op->axes >> d & 1u) == first) return PC_REDUCE_LOOP;
  }
  *count = 1;
  for (int32_t d = first ? 0 : edge; d < (first ? edge : ndim); d++) *count *= f->lead->shape[d];
  if (edge == ndim) return PC_REDUCE_LOOP;
  if (!first) return PC_REDUCE_LAST;
  return pc_short_is_few(op->monoid, *count) ? PC_REDUCE_FIRST : PC_REDUCE_LOOP;
}

/* The output of few elements, which is contiguous. */
static pc_tensor *pc_reduce_flat_output(pc_context *ctx, const pc_reduce *op, const pc_flat *f, pc_reduce_flat_way way, pc_tensor **out) {
  int64_t shape[PC_MAX_NDIM];
  int32_t ndim = 0;
  for (int32_t d = 0; way != PC_REDUCE_WHOLE && d < f->lead->ndim; d++) {
    if (!(op->axes >> d & 1u)) shape[ndim++] = f->lead->shape[d];
  }
  return pc_output_ready(ctx, out, op->dtype, ndim, shape);
}

/* The outputs of rows of `count` elements each, or with `by_columns` of as many columns: of few elements in all. */
static __attribute__((noinline)) void pc_reduce_flat_rows(const pc_reduce *op, const char *x, int64_t count, int64_t rows, int by_columns, char *out) {
  char scratch[3 * PC_SHORT_TURNED_BYTES] __attribute__((aligned(64))), total[16] __attribute__((aligned(16)));
  const pc_monoid *m = op->monoid;
  int32_t item = pc_dtype_bytes(op->dtype);
  if (by_columns) {
    __builtin_memcpy(scratch, x, (size_t)(count * rows * m->item));
    m->few_columns(scratch, count, rows);
    __builtin_memcpy(out, scratch, (size_t)(rows * m->item));
  } else if (pc_short_pays(count, rows)) {
    pc_short_fold(m, x, count, rows, scratch, out, item);
  } else {
    for (; rows > 0; rows--, x += count * m->item, out += item) {
      m->clear(scratch, m->lanes);
      m->fold(scratch, x, count, 0);
      m->close(scratch, 1, total, 1);
      m->finish(total, 1, count, out, 0);
    }
  }
}

/* Few elements. */
static __attribute__((noinline)) int pc_reduce_flat(pc_context *ctx, const pc_reduce *op, const pc_flat *f, pc_reduce_flat_way way, int64_t count, pc_tensor *const *in, pc_tensor **out) {
  char scratch[PC_FLAT_SPREAD_BYTES] __attribute__((aligned(64))), mapped[PC_LOOP_BLOCK * 16] __attribute__((aligned(64)));
  char lanes[PC_REDUCE_FLAT_LANES_BYTES] __attribute__((aligned(64))), total[16] __attribute__((aligned(16)));
  char *data[PC_LOOP_OPERANDS];
  const pc_monoid *m = op->monoid;
  pc_flat_spread(f, op->n_in, in, op->scalar, scratch, data);
  pc_tensor *t = pc_reduce_flat_output(ctx, op, f, way, out);
  if (t == NULL) return -1;
  const char *x = data[0];
  if (pc_plan_is_asked()) pc_plan_tell("few elements", way == PC_REDUCE_WHOLE ? 1 : f->n / count, way == PC_REDUCE_WHOLE ? f->n : count, f->n);
  if (op->map != NULL) {
    x = data[op->n_in] = mapped;
    int failure = op->map(ctx, f->n, data);
    if (failure != 0) return failure;
  }
  if (way != PC_REDUCE_WHOLE) {
    pc_reduce_flat_rows(op, x, count, f->n / count, way == PC_REDUCE_FIRST, t->data);
    return 0;
  }
  m->clear(lanes, m->lanes);
  m->fold(lanes, x, f->n, 0);
  m->close(lanes, 1, total, 1);
  m->finish(total, 1, f->n, t->data, 0);
  return 0;
}

/* The general way: see the head of this file. */
static __attribute__((noinline)) int pc_reduce_strided(pc_context *ctx, const pc_reduce *op, pc_tensor *const *in, pc_tensor **out) {
  pc_reduce_run r;
  if (pc_reduce_split(ctx, &r, op, in) != 0) return -1;
  pc_tensor *t = pc_output_ready(ctx, out, op->dtype, r.outer.ndim, r.outer.shape);
  if (t == NULL) return -1;
  r.count = pc_loop_size(&r.inner);
  if (r.count == 0 && op->monoid->no_empty != NULL) {
    pc_error_format(ctx, PC_ERROR_VALUE, "zero-size array to reduction operation %s which has no identity", op->monoid->no_empty);
    return -1;
  }
  if (pc_loop_size(&r.outer) == 0) return 0;
  pc_loop_operand(&r.outer, op->n_in, t, 0);
  pc_loop_coalesce(&r.outer);
  pc_loop_coalesce(&r.inner);
  pc_reduce_cut c;
  c.run = &r;
  if (pc_cut_plan(&c.cut, &r.outer, r.count, op->flags)) {
    return ctx->host->parallel(ctx, c.cut.extent, c.cut.grain, pc_reduce_outputs, &c);
  }
  if (r.outer.ndim == 0 && (op->flags & PC_SHARED) && r.count >= 2 * PC_CUT_ELEMENTS) return pc_reduce_by_blocks(ctx, &r);
  return pc_reduce_all(ctx, &r);
}

/* Runs `op` on `in`; `*out` is NULL or reusable. Returns 0, or non-zero with the error slot set. */
static int pc_reduce_do(pc_context *ctx, const pc_reduce *op, pc_tensor *const *in, pc_tensor **out) {
  pc_flat f = {NULL, 0, 0, 0};
  int64_t count = 1;
  pc_reduce_flat_way way = pc_reduce_flatten(op, in, *out, &f, &count);
  return way != PC_REDUCE_LOOP ? pc_reduce_flat(ctx, op, &f, way, count, in, out) : pc_reduce_strided(ctx, op, in, out);
}

#endif
