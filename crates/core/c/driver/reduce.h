/* driver/reduce.h: reduces over some axes of its (broadcast) operands, or of a map of them, without storing the map.
 *
 *   operands --pc_loop--> kept dimensions x reduced dimensions
 *     rows      the innermost dimension is reduced: for each output, take its elements in chunks, map them, fold them into lanes
 *     columns   the innermost dimension is kept, or rows are short (reduce_columns.h): for a tile of outputs at once, map row after
 *               row and step into lanes. Rows up to the number of lanes are stored and added in place. Blocks of gathered short
 *               rows stay for the tiles that read them again
 *     in order  few contiguous rows of a reduction that is PC_ASSOCIATIVE: step into the outputs, without lanes
 *     short     short contiguous rows: map a tile of them as a whole, and transpose it (reduce_tiles.h)
 *     stripes   few columns of many rows: map several rows at once, and step into several lanes at once (reduce_tiles.h)
 *
 *   flat      at most 512 contiguous elements in all: one call of the map, one fold (reduce_few.h)
 *   blocks    one output of many elements: fold the lanes of each block on several threads, then combine them in order
 *
 * Every way gives the bits that monoid.h defines. Many rows or columns are cut for several threads (cut.h). Results of the map are stored
 * in a block of the L1 cache only. A plain reduction reads contiguous elements in place.
 */
#ifndef PRECAST_DRIVER_REDUCE_H
#define PRECAST_DRIVER_REDUCE_H

#include "cut.h"
#include "reduce_columns.h"
#include "reduce_few.h"
#include <precast/output.h>

/* Appends dimension d of `all` to `to`. */
static void pc_reduce_take(pc_loop *to, const pc_loop *all, int32_t d) {
  to->shape[to->ndim] = all->shape[d];
  for (int32_t k = 0; k < all->n_in; k++) to->stride[k][to->ndim] = all->stride[k][d];
  to->ndim++;
}

/* Prefetches the chunk after one of n elements: while lanes are added up from the map's block, nothing else reads memory. Always inlined,
 * as gcc drops calls of a function that does nothing else. */
__attribute__((always_inline)) static inline void pc_reduce_ahead(const pc_reduce_run *r, int64_t n) {
  for (int32_t k = 0; k < r->op->n_in; k++) {
    int64_t bytes = r->chunks.block[k] == NULL ? n * r->inner.item[k] : 0;
    const char *next = r->chunks.data[k] + bytes;
    for (int64_t byte = 0; byte < bytes; byte += 64) __builtin_prefetch(next + byte);
  }
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
      if (r->ahead) pc_reduce_ahead(r, n);
      r->chunks.data[r->op->n_in] = r->mapped;
      int failure = r->op->map(ctx, n, r->chunks.data);
      if (failure != 0) return failure;
      x = r->mapped;
    }
    m->fold(lanes, x, n, pc_loop_rest(pos - start, m->lanes));
  }
  return 0;
}

/* Returns whether the total of a row is final before all its elements are read; overwrites the lanes. */
static int pc_reduce_is_settled(pc_reduce_run *r) {
  const pc_monoid *m = r->op->monoid;
  if (!(r->op->flags & PC_SETTLES)) return 0;
  m->clear(r->lanes, m->lanes);
  return __builtin_memcmp(r->lanes, r->totals, (size_t)m->item) != 0;
}

/* Computes one output, whose elements begin at r->inner.data. */
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

/* The ways to compute the outputs; see the head of this file. */
typedef enum pc_reduce_way { PC_REDUCE_ROWS, PC_REDUCE_COLUMNS, PC_REDUCE_SHORT_ROWS } pc_reduce_way;

/* Chooses columns if the last kept dimension has shorter steps than the last reduced one, or if an output has very few elements. Else
 * chooses rows, or short rows if they are short. */
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

/* Computes the outputs at one setting of the outer dimensions: `n` from column c on, or one row. */
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

/* Reports to a profile how the outputs are computed. */
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

/* Computes all outputs, a row or a tile at a time. If gathered rows are held, tiles of the same columns come one after the other. */
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

/* Computes all outputs of a run; sets up its working memory and releases it. */
static int pc_reduce_all(pc_context *ctx, pc_reduce_run *r) {
  pc_area_begin(&r->area);
  int failure = pc_reduce_outer(ctx, r);
  pc_area_end(ctx, &r->area);
  return failure;
}

/* Returns another run of the same operation, whose outer loop is not set yet. It is in the host's memory, as the stack has one run already. */
PC_SELDOM static pc_reduce_run *pc_reduce_again(pc_context *ctx, const pc_reduce_run *r) {
  pc_reduce_run *own = (pc_reduce_run *)ctx->host->alloc(ctx, sizeof *own);
  if (own == NULL) return NULL;
  own->op = r->op;
  own->inner = r->inner;
  own->count = r->count;
  own->ahead = r->ahead;
  return own;
}

typedef struct pc_reduce_cut {
  pc_cut cut;
  pc_reduce_run *run;
} pc_reduce_cut;

/* Computes a range of the outputs. */
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
  int is_done; /* one call did all blocks: the host uses one thread */
} pc_reduce_blocks;

/* Computes the lanes of a range of blocks. */
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

/* Computes one output of so many elements that its blocks are worth more than one thread. */
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

/* Runs `op` the general way; see the head of this file. */
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
  r.ahead = r.op->map != NULL && pc_loop_size(&r.outer) * r.count >= PC_REDUCE_MUCH_BYTES / 8;
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
