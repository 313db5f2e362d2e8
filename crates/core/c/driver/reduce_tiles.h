/* driver/reduce_tiles.h: reductions that give a kernel several rows at once (see reduce.h).
 *
 *   short     kept x reduced, of few reduced elements: a tile of rows is mapped, and folded by short.h
 *   stripes   reduced x kept, of few kept elements: chunks of whole rows are mapped; neighbouring rows belong to neighbouring lanes,
 *             so one step adds as many rows as there are lanes
 */
#ifndef PRECAST_DRIVER_REDUCE_TILES_H
#define PRECAST_DRIVER_REDUCE_TILES_H

#include "chunk.h"
#include "short.h"

#define PC_REDUCE_LANES_BYTES 32768 /* all lanes of a tile: bounds the outputs that the columns way computes at once */
#define PC_REDUCE_WIDE_BYTES 458752 /* the same if there is much to read: wide rows, with lanes in the second-level cache */
#define PC_REDUCE_MUCH_BYTES 1048576
#define PC_REDUCE_FLAT_LANES_BYTES 1024
#define PC_REDUCE_SHORT 16         /* elements behind an output: fewer stay gathered for later tiles, */
#define PC_REDUCE_TINY 4           /* and fewer than this are not worth turning */
#define PC_REDUCE_STRIPES 64       /* columns of stripes, at most, .. */
#define PC_REDUCE_STRIPES_INPUTS 16 /* .. and their operands: a chunk has room for a row of each */

/* The state of a run. `outer` has the output as its last operand. */
typedef struct pc_reduce_run {
  const pc_reduce *op;
  pc_loop outer, inner;
  pc_chunks chunks; /* of rows */
  int64_t count;    /* elements behind each output */
  int64_t room;     /* bytes of a gathered row of an operand, for columns */
  int64_t depth;    /* rows of an operand that are held */
  int ahead;        /* operands of a map are read ahead: they are more than the caches hold */
  const char *held[PC_LOOP_OPERANDS]; /* the first address of the tile whose rows are held; NULL: no rows are */
  char *scratch, *mapped, *lanes, *totals; /* in `area` */
  pc_area area;
} pc_reduce_run;

/* Cuts the area: blocks of the chunks, `mapped` bytes for results of the map, `lanes` bytes for lanes, `totals` for totals. */
static int pc_reduce_place(pc_context *ctx, pc_reduce_run *r, int64_t gathered, int64_t mapped, int64_t lanes, int64_t totals) {
  if (r->op->map == NULL) mapped = 0;
  int64_t all = pc_area_whole(gathered) + pc_area_whole(mapped) + pc_area_whole(lanes) + pc_area_whole(totals);
  if (pc_area_ready(ctx, &r->area, all) != 0) return -1;
  r->scratch = pc_area_cut(&r->area, gathered);
  r->mapped = pc_area_cut(&r->area, mapped);
  r->lanes = pc_area_cut(&r->area, lanes);
  r->totals = pc_area_cut(&r->area, totals);
  return 0;
}

/* Readies the chunk at `pos`, of at most `limit` elements, and maps it to `to`. Sets `x` to its elements and `n` to their number. Returns
 * 0, or the failure of the map. */
static int pc_reduce_chunk(pc_context *ctx, pc_reduce_run *r, int64_t pos, int64_t limit, char *to, const char **x, int64_t *n) {
  *n = pc_chunks_ready(&r->chunks, &r->inner, pos, limit);
  *x = r->chunks.data[0];
  if (r->op->map == NULL) return 0;
  r->chunks.data[r->op->n_in] = to;
  *x = to;
  return r->op->map(ctx, *n, r->chunks.data);
}

/* Makes the last kept dimension the first one of r->inner, so that its chunks have several rows. */
static void pc_reduce_join(pc_reduce_run *r) {
  pc_loop *inner = &r->inner;
  for (int32_t d = inner->ndim; d > 0; d--) inner->shape[d] = inner->shape[d - 1];
  for (int32_t k = 0; k < inner->n_all; k++) {
    for (int32_t d = inner->ndim; d > 0; d--) inner->stride[k][d] = inner->stride[k][d - 1];
    inner->stride[k][0] = r->outer.stride[k][r->outer.ndim - 1];
  }
  inner->ndim++;
}

/* Readies the memory for tiles of `rows` short rows. */
static int pc_reduce_short_ready(pc_context *ctx, pc_reduce_run *r, int64_t rows) {
  const pc_monoid *m = r->op->monoid;
  r->inner.shape[0] = rows;
  int64_t gathered = pc_chunks_plan(&r->chunks, &r->inner, r->op->map == NULL ? rows * r->count : PC_LOOP_BLOCK);
  if (pc_reduce_place(ctx, r, gathered, rows * r->count * m->item, pc_short_bytes(m, r->count, rows), 0) != 0) return -1;
  pc_chunks_place(&r->chunks, &r->inner, r->scratch);
  return 0;
}

/* Computes the outputs of `rows` short rows, which begin at r->inner.data. */
static int pc_reduce_short_tile(pc_context *ctx, pc_reduce_run *r, int64_t rows, char *out) {
  const pc_monoid *m = r->op->monoid;
  const char *x = NULL;
  for (int64_t pos = 0, n; pos < rows * r->count; pos += n) {
    int failure = pc_reduce_chunk(ctx, r, pos, r->op->map == NULL ? INT64_MAX : PC_LOOP_BLOCK, r->mapped + pos * m->item, &x, &n);
    if (failure != 0) return failure;
  }
  if (r->op->map != NULL) x = r->mapped;
  pc_short_fold(m, x, r->count, rows, r->lanes, out, r->outer.stride[r->op->n_in][r->outer.ndim - 1]);
  return 0;
}

/* Computes all outputs from tiles of short rows. */
static int pc_reduce_short(pc_context *ctx, pc_reduce_run *r) {
  pc_loop *outer = &r->outer;
  int32_t last = outer->ndim - 1;
  int64_t index[PC_MAX_NDIM] = {0}, most = pc_short_rows(r->op->monoid, r->count), ready = 0;
  pc_reduce_join(r);
  do {
    for (int64_t row = 0, rows; row < outer->shape[last]; row += rows) {
      rows = outer->shape[last] - row < most ? outer->shape[last] - row : most;
      if (rows != ready && pc_reduce_short_ready(ctx, r, rows) != 0) return -1;
      ready = rows;
      for (int32_t k = 0; k < r->op->n_in; k++) r->inner.data[k] = outer->data[k] + row * outer->stride[k][last];
      int failure = pc_reduce_short_tile(ctx, r, rows, outer->data[r->op->n_in] + row * outer->stride[r->op->n_in][last]);
      if (failure != 0) return failure;
    }
  } while (pc_loop_next(outer, last, -1, index, outer->data));
  return 0;
}

/* Returns whether the columns are so few, and the rows so many, that they are stripes. */
static int pc_reduce_has_stripes(const pc_reduce_run *r) {
  int32_t last = r->outer.ndim - 1;
  if (r->count <= r->op->monoid->lanes || r->outer.shape[last] > PC_REDUCE_STRIPES || r->op->n_in > PC_REDUCE_STRIPES_INPUTS) return 0;
  return r->op->map != NULL || r->op->monoid->steps == NULL || r->inner.ndim > 1 || r->outer.stride[0][last] != r->outer.item[0];
}

/* Makes the last kept dimension the last one of r->inner, too, and readies the memory. */
static int pc_reduce_stripes_ready(pc_context *ctx, pc_reduce_run *r) {
  const pc_monoid *m = r->op->monoid;
  pc_loop *inner = &r->inner;
  int32_t last = r->outer.ndim - 1;
  int64_t columns = r->outer.shape[last];
  for (int32_t k = 0; k < inner->n_all; k++) inner->stride[k][inner->ndim] = r->outer.stride[k][last];
  inner->shape[inner->ndim++] = columns;
  int64_t gathered = pc_chunks_plan(&r->chunks, inner, PC_LOOP_BLOCK);
  if (pc_reduce_place(ctx, r, gathered, PC_LOOP_BLOCK * m->item, m->lanes * columns * m->item, columns * 16) != 0) return -1;
  pc_chunks_place(&r->chunks, inner, r->scratch);
  return 0;
}

/* Computes the outputs of one stripe, whose elements begin at r->inner.data; chunks have at most `most` rows. */
static int pc_reduce_stripe(pc_context *ctx, pc_reduce_run *r, int64_t most, char *out) {
  const pc_monoid *m = r->op->monoid;
  int32_t last = r->outer.ndim - 1;
  int64_t columns = r->outer.shape[last], row_bytes = columns * m->item;
  for (int64_t start = 0; start < r->count; start += PC_REDUCE_BLOCK) {
    int64_t end = r->count - start < PC_REDUCE_BLOCK ? r->count : start + PC_REDUCE_BLOCK, lane = 0;
    m->clear(r->lanes, m->lanes * columns);
    for (int64_t p = start, n; p < end; p += pc_loop_divide(n, columns)) {
      const char *x;
      int failure = pc_reduce_chunk(ctx, r, p * columns, (end - p < most ? end - p : most) * columns, r->mapped, &x, &n);
      if (failure != 0) return failure;
      for (int64_t rows = pc_loop_divide(n, columns), part; rows > 0; rows -= part, x += part * row_bytes) {
        part = m->lanes - lane < rows ? m->lanes - lane : rows;
        m->step(r->lanes + lane * row_bytes, x, part * columns);
        lane = pc_loop_rest(lane + part, m->lanes);
      }
    }
    m->close(r->lanes, columns, r->totals, start == 0);
  }
  m->finish(r->totals, columns, r->count, out, r->outer.stride[r->op->n_in][last]);
  return 0;
}

/* Computes all outputs from stripes. */
static int pc_reduce_stripes(pc_context *ctx, pc_reduce_run *r) {
  pc_loop *outer = &r->outer;
  int64_t index[PC_MAX_NDIM] = {0}, columns = outer->shape[outer->ndim - 1];
  if (pc_reduce_stripes_ready(ctx, r) != 0) return -1;
  int64_t most = (r->chunks.most < PC_LOOP_BLOCK ? r->chunks.most : PC_LOOP_BLOCK) / columns;
  do {
    for (int32_t k = 0; k < r->op->n_in; k++) r->inner.data[k] = outer->data[k];
    int failure = pc_reduce_stripe(ctx, r, most, outer->data[r->op->n_in]);
    if (failure != 0) return failure;
  } while (pc_loop_next(outer, outer->ndim - 1, -1, index, outer->data));
  return 0;
}

#endif
