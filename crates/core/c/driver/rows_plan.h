/* driver/rows_plan.h: places the values of a row program while a tile of rows is computed (rows.h). */
#ifndef PRECAST_DRIVER_ROWS_PLAN_H
#define PRECAST_DRIVER_ROWS_PLAN_H

#include "apart.h"
#include "area.h"
#include "chunk.h"
#include "short.h"

#define PC_ROWS_CHUNK 512           /* elements of a chunk, at most, of a longer row; half of it with `ahead` */
#define PC_ROWS_TILE 512            /* elements of a tile of several rows, or of a row that is one chunk, at most */
#define PC_ROWS_AHEAD_BYTES 262144  /* of the operands of a tile, at most, if the next tile is prefetched, .. */
#define PC_ROWS_FAR_BYTES 1048576   /* .. and of the operands of all tiles, at least: fewer are in the second-level cache */
#define PC_ROWS_BUFFER_BYTES 65536  /* all buffers together, unless a longer row must be kept */
#define PC_ROWS_LANES_BYTES 512     /* of a fold */

/* The state of a run. Operands of `outer` are inputs, full outputs, single outputs; `tile` has the inputs and the full outputs. */
typedef struct pc_rows_run {
  const pc_rows *op;
  pc_loop outer, tile;
  int32_t inner;         /* dimensions of a row, stored in `outer` behind its last to save stack */
  pc_chunks chunks;      /* of `tile` */
  int64_t count;         /* elements of a row */
  int64_t rows;          /* of the tile */
  int64_t chunk;         /* elements of a chunk, at most */
  int whole;             /* the tile is one chunk, which is ready since its first pass */
  int32_t written[PC_ROWS_VALUES], read[PC_ROWS_VALUES]; /* the step that makes a value, the last one that reads it; or -1 */
  int32_t operand[PC_ROWS_VALUES]; /* the operand of `tile` in which a value lies, or -1 */
  int32_t output[PC_ROWS_VALUES];  /* the full output in which a value lies, or -1 */
  char *place[PC_ROWS_VALUES];     /* the buffer of a value, or NULL; single values have one */
  char *spread[PC_ROWS_VALUES];    /* a single value repeated, if maps of full values read it; else NULL */
  uint8_t stays[PC_ROWS_VALUES];   /* the place of a value is as long as the tile */
  char *at[PC_ROWS_VALUES];        /* where maps of full values find a value: at position 0, or for this chunk */
  int32_t step[PC_ROWS_VALUES];    /* bytes to the next position; 0: `at` is for this chunk */
  int straight;                    /* operands are read in place, one element behind the other */
  int ahead;                       /* the next tile is prefetched while this one is computed */
  int puts;                        /* some output is not written in place */
  char *lanes[PC_ROWS_FOLDS];
  char *turned;                    /* memory to fold several short rows at once, else NULL */
  char total[PC_ROWS_FOLDS][16] __attribute__((aligned(16)));
  pc_area area;                    /* blocks, lanes and places */
} pc_rows_run;

static int32_t pc_rows_item(const pc_rows_run *r, int32_t value) { return pc_dtype_bytes(r->op->dtypes[value]); }

static int pc_rows_is_single(const pc_rows_run *r, int32_t value) {
  return value >= r->op->n_in && (r->op->steps[r->written[value]].monoid != NULL || r->op->steps[r->written[value]].once);
}

/* Returns whether full value v is made in one pass and read in a later one. */
static int pc_rows_crosses(const pc_rows_run *r, int32_t v) {
  return r->read[v] >= 0 && r->op->steps[r->read[v]].pass > r->op->steps[r->written[v]].pass;
}

/* Returns whether output j is written in place. */
static int pc_rows_in_place(const pc_rows_run *r, int32_t j) { return r->chunks.block[r->op->n_in + j] == NULL; }

/* Returns where a map of full values finds value v for the chunk at `pos`, which is ready. */
static char *pc_rows_at(const pc_rows_run *r, int32_t v, int64_t pos) { return r->at[v] + pos * r->step[v]; }

/* Sets the addresses of values that lie in operands. */
static void pc_rows_locate(pc_rows_run *r, char *const *operands) {
  for (int32_t v = 0; v < r->op->n_values; v++) {
    if (r->operand[v] >= 0) r->at[v] = operands[r->operand[v]];
  }
}

/* Sets `straight` and `ahead`: whether elements are read in place, and whether prefetching the next tile pays. */
PC_SELDOM static void pc_rows_reach(pc_rows_run *r) {
  int64_t element = 0, elements = r->rows * r->count;
  for (int32_t k = 0; k < r->tile.n_all; k++) element += r->tile.item[k];
  r->straight = r->chunks.most == INT64_MAX && (r->chunks.packs || r->tile.ndim <= 1);
  r->ahead = r->straight && element * elements <= PC_ROWS_AHEAD_BYTES && element * r->count * pc_loop_size(&r->outer) >= PC_ROWS_FAR_BYTES;
}

/* Sets where maps of full values find each value. */
PC_SELDOM static void pc_rows_settle(pc_rows_run *r) {
  const pc_rows *op = r->op;
  r->puts = 0;
  for (int32_t j = 0; j < op->n_full; j++) r->puts |= !pc_rows_in_place(r, j);
  for (int32_t v = 0; v < op->n_values; v++) {
    int is_input = v < op->n_in, in_operand = is_input || (r->spread[v] == NULL && r->place[v] == NULL);
    r->operand[v] = is_input ? v : in_operand ? op->n_in + r->output[v] : -1;
    r->at[v] = in_operand ? NULL : r->spread[v] != NULL ? r->spread[v] : r->place[v];
    int moves = in_operand ? r->straight && r->tile.item[r->operand[v]] != 0 : r->spread[v] == NULL && r->stays[v];
    r->step[v] = moves ? pc_rows_item(r, v) : 0;
  }
}

/* Returns an output in which value v can lie until its last use, or -1. Such an output is written in place, by the step of that use or
 * later, and is not shared with a third value. */
PC_SELDOM static int32_t pc_rows_home(const pc_rows_run *r, int32_t v) {
  for (int32_t j = 0; j < r->op->n_full; j++) {
    int32_t own = r->op->outputs[j], taken = 0;
    if (!pc_rows_in_place(r, j) || r->written[own] < r->read[v] || pc_rows_item(r, own) != pc_rows_item(r, v)) continue;
    for (int32_t other = r->op->n_in; other < r->op->n_values; other++) taken |= other != own && r->output[other] == j;
    if (!taken) return j;
  }
  return -1;
}

/* Finds the steps that make and read each value, and the values that lie in outputs. */
PC_SELDOM static void pc_rows_uses(pc_rows_run *r) {
  const pc_rows *op = r->op;
  for (int32_t v = 0; v < op->n_values; v++) r->written[v] = r->read[v] = r->output[v] = -1;
  for (int32_t s = 0; s < op->n_steps; s++) {
    const pc_rows_step *step = &op->steps[s];
    for (int32_t i = 0; i < step->n_in; i++) r->read[step->values[i]] = s;
    for (int32_t i = 0; i < step->n_out; i++) r->written[step->values[step->n_in + i]] = s;
  }
  for (int32_t j = 0; j < op->n_full; j++) r->output[op->outputs[j]] = j;
  for (int32_t v = op->n_in; v < op->n_values; v++) {
    r->stays[v] = 0;
    if (pc_rows_is_single(r, v)) continue;
    int crosses = pc_rows_crosses(r, v);
    if (r->output[v] < 0) {
      r->output[v] = crosses ? pc_rows_home(r, v) : -1;
      r->stays[v] = crosses && r->output[v] < 0;
    } else {
      r->stays[v] = crosses && !pc_rows_in_place(r, r->output[v]);
    }
  }
}

/* Returns whether maps of full values read single value v. */
PC_SELDOM static int pc_rows_is_spread(const pc_rows_run *r, int32_t v) {
  for (int32_t s = 0; s <= r->read[v]; s++) {
    const pc_rows_step *step = &r->op->steps[s];
    for (int32_t i = 0; !step->once && i < step->n_in; i++) {
      if (step->values[i] == v) return 1;
    }
  }
  return 0;
}

/* Returns the bytes of value v's place, for `elements` elements if it stays; 0 if it lies in an output. */
PC_SELDOM static int64_t pc_rows_place_bytes(const pc_rows_run *r, int32_t v, int64_t elements) {
  int32_t item = pc_rows_item(r, v);
  if (pc_rows_is_single(r, v)) return r->rows * item;
  if (r->stays[v]) return elements * item;
  return r->output[v] < 0 ? r->chunk * item : 0;
}

/* Returns the bytes of the repeated copy of value v; 0 if it is not repeated. */
PC_SELDOM static int64_t pc_rows_spread_bytes(const pc_rows_run *r, int32_t v) {
  return pc_rows_is_single(r, v) && pc_rows_is_spread(r, v) ? r->chunk * pc_rows_item(r, v) : 0;
}

/* Cuts the area: blocks of so many bytes, lanes of each fold, places of values, which are `elements` long if they stay. */
PC_SELDOM static int pc_rows_cut(pc_context *ctx, pc_rows_run *r, int64_t blocks, int64_t elements) {
  const pc_rows *op = r->op;
  int32_t folds = 0;
  int is_turned = pc_short_pays(r->count, r->rows);
  int64_t turned = 0;
  for (int32_t s = 0; s < op->n_steps; s++) {
    if (op->steps[s].monoid == NULL) continue;
    int64_t own = is_turned ? pc_short_bytes(op->steps[s].monoid, r->count, r->rows) : 0;
    turned = own > turned ? own : turned;
    folds++;
  }
  int64_t bytes = blocks + folds * PC_ROWS_LANES_BYTES + pc_area_whole(turned);
  for (int32_t v = op->n_in; v < op->n_values; v++) {
    bytes += pc_area_whole(pc_rows_place_bytes(r, v, elements)) + pc_area_whole(pc_rows_spread_bytes(r, v));
  }
  if (pc_area_ready(ctx, &r->area, bytes) != 0) return -1;
  pc_chunks_place(&r->chunks, &r->tile, pc_area_cut(&r->area, blocks));
  for (int32_t fold = 0; fold < folds; fold++) r->lanes[fold] = pc_area_cut(&r->area, PC_ROWS_LANES_BYTES);
  r->turned = is_turned ? pc_area_cut(&r->area, turned) : NULL;
  for (int32_t v = op->n_in; v < op->n_values; v++) {
    int64_t place = pc_rows_place_bytes(r, v, elements), spread = pc_rows_spread_bytes(r, v);
    r->place[v] = place > 0 ? pc_area_cut(&r->area, place) : NULL;
    r->spread[v] = spread > 0 ? pc_area_cut(&r->area, spread) : NULL;
  }
  pc_rows_settle(r);
  return 0;
}

/* Sets the length of a chunk, and gives each value its place. Returns 1 if several rows at once do not fit, -1 on failure. */
PC_SELDOM static int pc_rows_place(pc_context *ctx, pc_rows_run *r, int64_t blocks) {
  int64_t bytes = 0, stay_bytes = 0, single_bytes = 0, elements = r->rows * r->count;
  int32_t own = 0; /* values with a buffer */
  for (int32_t v = r->op->n_in; v < r->op->n_values; v++) {
    int single = pc_rows_is_single(r, v), item = pc_rows_item(r, v);
    single_bytes += single ? pc_area_whole(r->rows * item) : 0;
    stay_bytes += r->stays[v] ? item : 0;
    if (single ? pc_rows_is_spread(r, v) : r->output[v] < 0 || r->stays[v]) bytes += item, own++;
  }
  int64_t room = PC_ROWS_BUFFER_BYTES - single_bytes - 64 * (int64_t)own, fits = bytes == 0 ? INT64_MAX : (room / bytes) & ~(int64_t)15;
  /* A longer row is one chunk only if it is gathered and kept: so it is gathered once. */
  int in_buffers = elements <= fits && (elements <= PC_ROWS_TILE || (stay_bytes > 0 && blocks > 0));
  if (r->rows > 1 && !in_buffers) return 1;
  int64_t longest = r->ahead ? PC_ROWS_CHUNK / 2 : PC_ROWS_CHUNK;
  r->chunk = in_buffers ? elements : fits < longest ? fits : longest;
  return pc_rows_cut(ctx, r, blocks, elements);
}

/* Appends dimension d of `all`, with this extent, to `to`, which has the first operands of `all`. */
PC_SELDOM static void pc_rows_take(pc_loop *to, const pc_loop *all, int32_t d, int64_t extent) {
  to->shape[to->ndim] = extent;
  for (int32_t k = 0; k < to->n_all; k++) to->stride[k][to->ndim] = all->stride[k][d];
  to->ndim++;
}

/* Plans tiles of `rows` rows, or of one row if the operands or the buffers of so many do not fit into one chunk. */
PC_SELDOM static int pc_rows_plan(pc_context *ctx, pc_rows_run *r, int64_t rows) {
  r->rows = rows;
  r->tile.ndim = 0;
  if (rows > 1) pc_rows_take(&r->tile, &r->outer, r->outer.ndim - 1, rows);
  for (int32_t d = 0; d < r->inner; d++) pc_rows_take(&r->tile, &r->outer, r->outer.ndim + d, r->outer.shape[r->outer.ndim + d]);
  pc_loop_coalesce(&r->tile);
  int64_t blocks = pc_chunks_plan(&r->chunks, &r->tile, PC_LOOP_BLOCK);
  int is_one_chunk = (r->chunks.packs || r->tile.ndim <= 1) && r->chunks.most >= rows * r->count;
  if (rows > 1 && !is_one_chunk) return pc_rows_plan(ctx, r, 1);
  pc_rows_reach(r);
  pc_rows_uses(r);
  int placed = pc_rows_place(ctx, r, blocks);
  return placed > 0 ? pc_rows_plan(ctx, r, 1) : placed;
}

#endif
