/* driver/rows.h: folds and maps rows while they are in the cache: means and distances from them, exponentials and their sum.
 *
 *   operands --pc_loop--> kept dimensions x reduced dimensions; one setting of the kept ones is a row
 *     pass 0   x ──▶ fold ───────────────▶ mean              chunk by chunk through the row, then steps that run once
 *     pass 1   x, mean ──▶ map ──▶ d ; d*d ──▶ fold ──▶ root
 *     pass 2   d, root ──▶ map ──▶ output
 *
 * A fold has the order of monoid.h and a map is a function of the element alone, so the bits are those of the same steps run
 * one after the other on whole tensors. A tile is several short rows, which are one chunk, or one longer row. A single value
 * of a row is repeated to a chunk for maps that read it.
 *
 * Values of one pass are a chunk long. Values for a later pass are as long as the row: they lie in a buffer, or in an output
 * that is not written before their last use.
 *
 * Whether every map has the operands' common shape is checked here, at run time. Other programs run step by step (apart.h).
 */
#ifndef PRECAST_DRIVER_ROWS_H
#define PRECAST_DRIVER_ROWS_H

#include "cut.h"
#include "rows_plan.h"

/* Runs one fold: of n elements at `x` if the tile is one row, else of all its rows, which begin at `x`. */
static void pc_rows_fold(pc_rows_run *r, const pc_rows_step *step, int32_t fold, const char *x, int64_t pos, int64_t n) {
  const pc_monoid *m = step->monoid;
  if (r->rows == 1) {
    m->fold(r->lanes[fold], x, n, pc_loop_rest(pos % PC_REDUCE_BLOCK, m->lanes));
    return;
  }
  char *to = r->place[step->values[1]];
  int32_t item = pc_rows_item(r, step->values[1]);
  if (r->turned != NULL) {
    pc_short_fold(m, x, r->count, r->rows, r->turned, to, item);
    return;
  }
  for (int64_t row = 0; row < r->rows; row++, x += r->count * m->item, to += item) {
    m->clear(r->lanes[fold], m->lanes);
    m->fold(r->lanes[fold], x, r->count, 0);
    m->close(r->lanes[fold], 1, r->total[fold], 1);
    m->finish(r->total[fold], 1, r->count, to, 0);
  }
}

/* Copies the results of steps first .. end to outputs that are not written in place. */
static void pc_rows_put(pc_rows_run *r, int32_t first, int32_t end, int64_t pos, int64_t n) {
  for (int32_t j = 0; j < r->op->n_full; j++) {
    int32_t v = r->op->outputs[j], k = r->op->n_in + j;
    if (pc_rows_in_place(r, j) || r->written[v] < first || r->written[v] >= end) continue;
    char *from = pc_rows_at(r, v, pos);
    if (from != r->chunks.block[k]) __builtin_memcpy(r->chunks.block[k], from, (size_t)(n * r->tile.item[k]));
    pc_chunks_copy(&r->chunks, &r->tile, k, pos, n, 1);
  }
}

/* Prefetches this chunk of the next tile into the second-level cache, as the first holds this tile. So memory works while the last pass
 * computes. Behind the last tile this does no harm: a prefetch of an invalid address is ignored. Always inlined, as gcc drops calls of a
 * function that does nothing else. */
__attribute__((always_inline)) static inline void pc_rows_ahead(const pc_rows_run *r, int64_t pos, int64_t n) {
  int32_t last = r->outer.ndim - 1;
  for (int32_t k = 0; last >= 0 && k < r->tile.n_all; k++) {
    int64_t item = r->tile.item[k], to_next = r->rows * r->outer.stride[k][last];
    if (to_next == 0) continue; /* the same row, or a scalar */
    uintptr_t next = (uintptr_t)r->tile.data[k] + (uintptr_t)(to_next + pos * item);
    for (int64_t byte = 0; byte < n * item; byte += 64) __builtin_prefetch((const void *)(next + (uintptr_t)byte), 0, 2);
  }
}

/* Runs steps first .. end, all of one pass, on n elements from `pos` on. */
static int pc_rows_chunk(pc_context *ctx, pc_rows_run *r, int32_t first, int32_t end, int64_t pos, int64_t n) {
  char *data[PC_LOOP_OPERANDS];
  int32_t fold = 0;
  if (r->ahead && end == r->op->n_steps) pc_rows_ahead(r, pos, n);
  for (int32_t s = first; s < end; s++) {
    const pc_rows_step *step = &r->op->steps[s];
    if (step->monoid != NULL) {
      pc_rows_fold(r, step, fold++, pc_rows_at(r, step->values[0], pos), pos, n);
    } else if (!step->once) {
      for (int32_t i = 0; i < step->n_in + step->n_out; i++) data[i] = pc_rows_at(r, step->values[i], pos);
      int failure = step->kernel(ctx, n, data);
      if (failure != 0) return failure;
    }
  }
  if (r->puts) pc_rows_put(r, first, end, pos, n);
  return 0;
}

/* Clears the lanes of the folds among the steps first .. end, or adds them up, and with `last` writes the results. */
static void pc_rows_folds(pc_rows_run *r, int32_t first, int32_t end, int clears, int begins, int last) {
  int32_t fold = 0;
  for (int32_t s = first; s < end; s++) {
    const pc_monoid *m = r->op->steps[s].monoid;
    if (m == NULL) continue;
    if (clears) {
      m->clear(r->lanes[fold], m->lanes);
    } else {
      m->close(r->lanes[fold], 1, r->total[fold], begins);
      if (last) m->finish(r->total[fold], 1, r->count, r->place[r->op->steps[s].values[1]], 0);
    }
    fold++;
  }
}

/* Runs those of the steps first .. end that run once, and repeats the single values of all these steps. */
static int pc_rows_once(pc_context *ctx, pc_rows_run *r, int32_t first, int32_t end) {
  char *data[PC_LOOP_OPERANDS];
  for (int32_t s = first; s < end; s++) {
    const pc_rows_step *step = &r->op->steps[s];
    if (step->once) {
      for (int32_t i = 0; i < step->n_in + step->n_out; i++) {
        int32_t v = step->values[i];
        data[i] = v < r->op->n_in ? r->tile.data[v] : r->place[v];
      }
      int failure = step->kernel(ctx, r->rows, data);
      if (failure != 0) return failure;
    }
    for (int32_t i = 0; i < step->n_out; i++) {
      int32_t v = step->values[step->n_in + i], item = pc_rows_item(r, v);
      if (r->spread[v] == NULL) continue;
      const pc_grid single = {r->place[v], r->rows, r->rows > 1 ? r->count : r->chunk, item, 0};
      pc_copies()->copy(item, &single, r->spread[v], 0);
    }
  }
  return 0;
}

/* Readies the chunk at `pos`, of at most `most` elements. Returns its length. */
static int64_t pc_rows_gather(pc_rows_run *r, int64_t pos, int64_t most) {
  int64_t n = pc_chunks_ready(&r->chunks, &r->tile, pos, most);
  pc_rows_locate(r, r->chunks.data);
  return n;
}

/* Runs one pass, steps first .. end, through the tile. */
static int pc_rows_pass(pc_context *ctx, pc_rows_run *r, int32_t first, int32_t end) {
  int64_t pos = 0, elements = r->rows * r->count;
  do {
    int64_t start = pos, block = elements - pos < PC_REDUCE_BLOCK ? elements : pos + PC_REDUCE_BLOCK;
    if (r->rows == 1) pc_rows_folds(r, first, end, 1, 0, 0);
    while (pos < block) {
      int64_t most = block - pos < r->chunk ? block - pos : r->chunk, n = most;
      if (!r->straight && (first == 0 || !r->whole)) n = pc_rows_gather(r, pos, most);
      r->whole = n == elements;
      int failure = pc_rows_chunk(ctx, r, first, end, pos, n);
      if (failure != 0) return failure;
      pos += n;
    }
    if (r->rows == 1) pc_rows_folds(r, first, end, 0, start == 0, pos == elements);
  } while (pos < elements);
  return pc_rows_once(ctx, r, first, end);
}

/* Computes the tile whose first elements are at r->tile.data; `single` has the addresses of its single outputs. */
static int pc_rows_tile(pc_context *ctx, pc_rows_run *r, char *const *single) {
  for (int32_t first = 0, end = 0; first < r->op->n_steps; first = end) {
    while (end < r->op->n_steps && r->op->steps[end].pass == r->op->steps[first].pass) end++;
    int failure = pc_rows_pass(ctx, r, first, end);
    if (failure != 0) return failure;
  }
  int32_t last = r->outer.ndim - 1;
  for (int32_t j = 0; j < r->op->n_single; j++) {
    int32_t v = r->op->outputs[r->op->n_full + j], item = pc_rows_item(r, v), k = r->tile.n_all + j;
    pc_copy_strided(item, r->rows, single[j], last < 0 ? 0 : r->outer.stride[k][last], r->place[v], item);
  }
  return 0;
}

/* Computes all rows, in the order of the kept dimensions. */
static int pc_rows_outer(pc_context *ctx, pc_rows_run *r) {
  pc_loop *outer = &r->outer;
  int32_t last = outer->ndim - 1;
  int64_t index[PC_MAX_NDIM] = {0}, extent = last < 0 ? 1 : outer->shape[last], most = 1;
  if (r->count > 0 && r->count <= PC_ROWS_TILE / 4) most = PC_ROWS_TILE / r->count;
  r->rows = 0;
  for (;;) {
    for (int64_t row = 0; row < extent; row += r->rows) {
      int64_t rows = extent - row < most ? extent - row : most;
      if (rows != r->rows && pc_rows_plan(ctx, r, rows) != 0) return -1;
      if (pc_plan_is_asked()) pc_plan_tell(r->rows > 1 ? "rows, several at once" : "row by row", extent, r->count, r->rows > 1 ? r->rows * r->count : r->chunk);
      if (rows != r->rows) most = 1; /* there are too many operands to gather */
      char *at[PC_LOOP_OPERANDS];
      for (int32_t k = 0; k < outer->n_all; k++) at[k] = outer->data[k] + (last < 0 ? 0 : row * outer->stride[k][last]);
      for (int32_t k = 0; k < r->tile.n_all; k++) r->tile.data[k] = at[k];
      if (r->straight) pc_rows_locate(r, at);
      int failure = pc_rows_tile(ctx, r, at + r->tile.n_all);
      if (failure != 0) return failure;
    }
    if (!pc_loop_next(outer, last, -1, index, outer->data)) return 0;
  }
}

/* Makes output j ready, and operand n_in + j of `all`. */
PC_SELDOM static int pc_rows_output(pc_context *ctx, const pc_rows *op, pc_loop *all, int32_t j, pc_tensor **out) {
  int64_t shape[PC_MAX_NDIM];
  int32_t ndim = 0, k = op->n_in + j, single = j >= op->n_full, kept = single && op->kept >> (j - op->n_full) & 1u;
  for (int32_t d = 0; d < all->ndim; d++) {
    int reduced = single && pc_rows_reduces(op, d);
    if (!reduced || kept) shape[ndim++] = reduced ? 1 : all->shape[d];
  }
  int32_t dtype = op->dtypes[op->outputs[j]];
  pc_tensor *t = pc_output_ready(ctx, &out[j], dtype, ndim, shape);
  if (t == NULL) return -1;
  all->data[k] = t->data;
  all->item[k] = pc_dtype_bytes(dtype);
  for (int32_t d = 0, own = 0; d < all->ndim; d++) {
    int reduced = single && pc_rows_reduces(op, d);
    all->stride[k][d] = reduced ? 0 : t->strides[own];
    own += !reduced || kept;
  }
  return 0;
}

/* Sets `all` to the inputs, broadcast. Returns 0 if they cannot run by rows: they do not broadcast, they have no elements, or the inputs of
 * a fold or of a map of full values have less than the common shape. */
PC_SELDOM static int pc_rows_agree(const pc_rows *op, pc_loop *all, pc_tensor *const *in) {
  uint32_t has[PC_ROWS_VALUES], every = 0, flat = 0; /* the dimensions in which a value has the common extent */
  all->ndim = 0;
  all->n_in = op->n_in;
  all->n_all = op->n_in + op->n_full + op->n_single;
  for (int32_t k = 0; k < op->n_in; k++) all->ndim = in[k]->ndim > all->ndim ? in[k]->ndim : all->ndim;
  for (int32_t d = 0; d < all->ndim; d++) {
    all->shape[d] = 1;
    for (int32_t k = 0; k < op->n_in; k++) {
      int32_t own = d - (all->ndim - in[k]->ndim);
      int64_t extent = own < 0 ? 1 : in[k]->shape[own];
      if (all->shape[d] == 1) all->shape[d] = extent;
      if (extent == 0 || (extent != 1 && extent != all->shape[d])) return 0;
    }
    every |= 1u << d;
    if (all->shape[d] == 1) flat |= 1u << d;
  }
  for (int32_t k = 0; k < op->n_in; k++) {
    pc_loop_operand(all, k, in[k], op->scalar[k]);
    has[k] = flat;
    for (int32_t d = 0; d < all->ndim; d++) has[k] |= all->stride[k][d] != 0 ? 1u << d : 0;
    if (op->scalar[k]) has[k] = flat;
  }
  for (int32_t s = 0; s < op->n_steps; s++) {
    const pc_rows_step *step = &op->steps[s];
    uint32_t met = 0;
    for (int32_t i = 0; i < step->n_in; i++) met |= has[step->values[i]];
    if (!step->once && met != every) return 0;
    uint32_t makes = step->once ? met : step->monoid == NULL ? every : flat;
    for (int32_t d = 0; step->monoid != NULL && d < all->ndim; d++) makes |= pc_rows_reduces(op, d) ? 0 : 1u << d;
    for (int32_t i = 0; i < step->n_out; i++) has[step->values[step->n_in + i]] = makes;
  }
  return 1;
}

/* Cuts the common shape in rows, and readies the outputs. `all` is r->tile, which gets its own shape later. */
PC_SELDOM static int pc_rows_ready(pc_context *ctx, pc_rows_run *r, pc_loop *all, pc_tensor **out) {
  const pc_rows *op = r->op;
  for (int32_t j = 0; j < op->n_full + op->n_single; j++) {
    if (pc_rows_output(ctx, op, all, j, out) != 0) return -1;
  }
  r->outer.ndim = 0;
  r->outer.n_in = op->n_in;
  r->outer.n_all = all->n_all;
  for (int32_t d = 0; d < all->ndim; d++) {
    if (!pc_rows_reduces(op, d)) pc_rows_take(&r->outer, all, d, all->shape[d]);
  }
  for (int32_t k = 0; k < all->n_all; k++) {
    r->outer.data[k] = all->data[k];
    r->outer.item[k] = all->item[k];
  }
  pc_loop_coalesce(&r->outer);
  int32_t kept = r->outer.ndim;
  r->count = 1;
  for (int32_t d = 0; d < all->ndim; d++) {
    if (!pc_rows_reduces(op, d)) continue;
    pc_rows_take(&r->outer, all, d, all->shape[d]);
    r->count *= all->shape[d];
  }
  r->inner = r->outer.ndim - kept;
  r->outer.ndim = kept;
  r->tile.n_all = op->n_in + op->n_full;
  return 0;
}

/* Returns whether some input is contiguous across rows, not along them: a row of it would touch as many lines as it has elements. */
PC_SELDOM static int pc_rows_is_turned(const pc_rows *op, const pc_loop *all) {
  for (int32_t k = 0; k < op->n_in; k++) {
    int64_t along = 0, across = 0;
    for (int32_t d = 0; d < all->ndim; d++) {
      if (all->shape[d] >= 8) *(pc_rows_reduces(op, d) ? &along : &across) = all->stride[k][d];
    }
    if (across == all->item[k] && along != 0 && along != across && all->item[k] != 0) return 1;
  }
  return 0;
}

/* Computes all rows of a run; sets up its working memory and releases it. */
static int pc_rows_all(pc_context *ctx, pc_rows_run *r) {
  pc_area_begin(&r->area);
  int failure = pc_rows_outer(ctx, r);
  pc_area_end(ctx, &r->area);
  return failure;
}

typedef struct pc_rows_job {
  pc_cut cut;
  pc_rows_run *run;
} pc_rows_job;

/* Computes a range of the rows. */
PC_SELDOM static int pc_rows_range(pc_context *ctx, int64_t first, int64_t end, void *state) {
  pc_rows_job *c = (pc_rows_job *)state;
  if (end - first == c->cut.extent) return pc_rows_all(ctx, c->run);
  pc_rows_run *own = (pc_rows_run *)ctx->host->alloc(ctx, sizeof *own);
  if (own == NULL) return -1;
  own->op = c->run->op;
  own->inner = c->run->inner;
  own->count = c->run->count;
  own->tile.n_in = c->run->tile.n_in;
  own->tile.n_all = c->run->tile.n_all;
  for (int32_t k = 0; k < own->tile.n_all; k++) own->tile.item[k] = c->run->tile.item[k];
  pc_cut_take(&c->cut, first, end, &own->outer);
  int failure = pc_rows_all(ctx, own);
  ctx->host->release(ctx, own);
  return failure;
}

/* Runs `op` by rows, and sets `failure` to the result. Returns 0 if the operands cannot run by rows. */
static __attribute__((noinline)) int pc_rows_try(pc_context *ctx, const pc_rows *op, pc_tensor *const *in, pc_tensor **out, int *failure) {
  pc_rows_run r;
  if (!pc_rows_agree(op, &r.tile, in) || pc_rows_is_turned(op, &r.tile)) return 0;
  r.op = op;
  *failure = -1;
  if (pc_rows_ready(ctx, &r, &r.tile, out) != 0) return 1;
  pc_rows_job c;
  c.run = &r;
  int is_cut = pc_cut_plan(&c.cut, &r.outer, r.count, op->flags);
  *failure = is_cut ? ctx->host->parallel(ctx, c.cut.extent, c.cut.grain, pc_rows_range, &c) : pc_rows_all(ctx, &r);
  return 1;
}

/* Runs `op` on `in`; `out` are NULL or reusable. Returns 0, or non-zero with the error slot set. */
static int pc_rows_do(pc_context *ctx, const pc_rows *op, pc_tensor *const *in, pc_tensor **out) {
  int failure;
  return pc_rows_try(ctx, op, in, out, &failure) ? failure : pc_apart_do(ctx, op, in, out);
}

#endif
