/* driver/elemwise.h: applies a kernel to every element, with NumPy's broadcasting decided at run time.
 *
 *   all operands contiguous with one shape, outputs too or not yet made --------> one call of the kernel on all elements
 *   few elements, some operands broadcast or strided ---------------------------> blocks of these operands, then one call (flat.h)
 *   long rows ------------------------------------------------------------------> one call of the kernel per row or part of it (long.h)
 *   anything else --> pc_loop: broadcast, coalesce, order, prefer --> pc_chunks: gather --> kernel per chunk
 *                     or, if an operand is transposed, --> pc_tiles: turn --> kernel per row of a tile
 *   Many elements are cut in ranges for several threads (cut.h).
 *
 * Operands align right; extent 1 stretches; another mismatch is a value error that names the operand. Outputs that fit
 * are reused, whatever their strides; missing or unfit outputs are allocated C-contiguous. An output may be one of the
 * inputs (same first element, same strides); any other overlap is the caller's mistake.
 * The bits do not depend on the way: kernels are elementwise, and functions of the element alone.
 */
#ifndef PRECAST_DRIVER_ELEMWISE_H
#define PRECAST_DRIVER_ELEMWISE_H

#include "cut.h"
#include "flat.h"
#include "long.h"
#include "tile.h"
#include <precast/output.h>

/* A loop of at most so many elements keeps its last dimension. */
#define PC_ELEMWISE_FEW 64

/* Runs the kernel over a loop in tiles. Their blocks are in `scratch`, which has PC_LOOP_SCRATCH_BYTES, if they fit. */
static __attribute__((noinline)) int pc_elemwise_tiles(pc_context *ctx, pc_tiles *t, const pc_loop *loop, pc_kernel kernel, char *scratch) {
  char *heap = t->bytes <= PC_LOOP_SCRATCH_BYTES ? NULL : (char *)ctx->host->alloc(ctx, (size_t)t->bytes);
  if (heap == NULL && t->bytes > PC_LOOP_SCRATCH_BYTES) return -1;
  pc_tiles_place(t, loop, heap != NULL ? heap : scratch);
  if (pc_plan_is_asked()) pc_plan_tell("tiles, turned", pc_loop_size(loop) / loop->shape[loop->ndim - 1], loop->shape[loop->ndim - 1], t->columns);
  int failure = pc_tiles_run(ctx, t, loop, kernel);
  if (heap != NULL) ctx->host->release(ctx, heap);
  return failure;
}

/* Runs the kernel over a loop. */
static int pc_elemwise_loop(pc_context *ctx, const pc_loop *loop, pc_kernel kernel) {
  char scratch[PC_LOOP_SCRATCH_BYTES] __attribute__((aligned(64)));
  pc_tiles tiles;
  if (pc_tiles_plan(&tiles, loop)) return pc_elemwise_tiles(ctx, &tiles, loop, kernel, scratch);
  if (pc_long_fits(loop)) return pc_long_run(ctx, loop, kernel, scratch);
  pc_chunks c;
  pc_chunks_plan(&c, loop, pc_loop_near(loop));
  pc_chunks_place(&c, loop, scratch);
  if (pc_plan_is_asked()) pc_plan_tell("short rows, packed", c.total / c.row, c.row, c.most < c.total ? c.most : c.total);
  for (int64_t pos = 0, n; pos < c.total; pos += n) {
    n = pc_chunks_ready(&c, loop, pos, c.total);
    int failure = kernel(ctx, n, c.data);
    if (failure != 0) return failure;
    for (int32_t k = loop->n_in; k < loop->n_all; k++) {
      if (c.block[k] != NULL) pc_chunks_copy(&c, loop, k, pos, n, 1);
    }
  }
  return 0;
}

typedef struct pc_elemwise_cut {
  pc_cut cut;
  pc_kernel kernel;
} pc_elemwise_cut;

/* Runs the kernel over a range of a loop that is cut. */
PC_SELDOM static int pc_elemwise_range(pc_context *ctx, int64_t first, int64_t end, void *state) {
  const pc_elemwise_cut *c = (const pc_elemwise_cut *)state;
  if (end - first == c->cut.extent) return pc_elemwise_loop(ctx, c->cut.whole, c->kernel);
  pc_loop *part = (pc_loop *)ctx->host->alloc(ctx, sizeof *part);
  if (part == NULL) return -1;
  pc_cut_take(&c->cut, first, end, part);
  int failure = pc_elemwise_loop(ctx, part, c->kernel);
  ctx->host->release(ctx, part);
  return failure;
}

/* Runs `e` the general way; see the head of this file. */
static int pc_elemwise_strided(pc_context *ctx, const pc_elemwise *e, pc_tensor *const *in, pc_tensor **out) {
  pc_loop loop;
  loop.ndim = 0;
  loop.n_in = e->n_in;
  loop.n_all = e->n_in + e->n_out;
  for (int32_t k = 0; k < e->n_in; k++) {
    if (pc_loop_common(ctx, &loop, k, in[k], e->names ? e->names[k] : NULL) != 0) return -1;
  }
  for (int32_t k = 0; k < e->n_in; k++) pc_loop_operand(&loop, k, in[k], e->scalar[k]);
  for (int32_t j = 0; j < e->n_out; j++) {
    pc_tensor *t = pc_output_ready(ctx, &out[j], e->dtypes[j], loop.ndim, loop.shape);
    if (t == NULL) return -1;
    pc_loop_operand(&loop, e->n_in + j, t, 0);
  }
  int64_t size = pc_loop_size(&loop);
  if (size == 0) return 0;
  pc_loop_coalesce(&loop);
  if (pc_loop_order(&loop)) pc_loop_coalesce(&loop);
  if (loop.ndim > 1 && size > PC_ELEMWISE_FEW && pc_loop_prefer(&loop)) pc_loop_coalesce(&loop);
  pc_elemwise_cut c;
  c.kernel = e->kernel;
  if (!pc_cut_plan(&c.cut, &loop, 1, e->flags)) return pc_elemwise_loop(ctx, &loop, e->kernel);
  return ctx->host->parallel(ctx, c.cut.extent, c.cut.grain, pc_elemwise_range, &c);
}

typedef struct pc_elemwise_flat {
  const pc_elemwise *op;
  pc_tensor *const *in, *const *out;
} pc_elemwise_flat;

/* Runs the kernel on elements first .. end of contiguous operands. */
PC_SELDOM static int pc_elemwise_elements(pc_context *ctx, int64_t first, int64_t end, void *state) {
  const pc_elemwise_flat *f = (const pc_elemwise_flat *)state;
  char *data[PC_LOOP_OPERANDS];
  for (int32_t k = 0; k < f->op->n_in + f->op->n_out; k++) {
    const pc_tensor *t = k < f->op->n_in ? f->in[k] : f->out[k - f->op->n_in];
    int moves = k >= f->op->n_in || !f->op->scalar[k];
    data[k] = t->data + (moves ? first * pc_dtype_bytes(t->dtype) : 0);
  }
  return f->op->kernel(ctx, end - first, data);
}

/* Runs the kernel on few elements, after spreading some operands. */
static __attribute__((noinline)) int pc_elemwise_spread(pc_context *ctx, const pc_elemwise *e, const pc_flat *f, pc_tensor *const *in, char **data) {
  char scratch[PC_FLAT_SPREAD_BYTES] __attribute__((aligned(64)));
  pc_flat_spread(f, e->n_in, in, e->scalar, scratch, data);
  if (pc_plan_is_asked()) pc_plan_tell("few elements, spread", 1, f->n, f->n);
  return e->kernel(ctx, f->n, data);
}

/* Runs `e` on `in`; `out` are the output variables, NULL or reusable. Returns 0, or non-zero with the error slot set; each output variable
 * then holds a valid tensor or its previous value. */
static int pc_elemwise_run(pc_context *ctx, const pc_elemwise *e, pc_tensor *const *in, pc_tensor **out) {
  char *data[PC_LOOP_OPERANDS];
  pc_flat f = {NULL, 0, 0, 0};
  for (int32_t k = 0; k < e->n_in; k++) {
    if (!e->scalar[k] && !pc_flat_add(&f, k, in[k])) return pc_elemwise_strided(ctx, e, in, out);
    data[k] = in[k]->data;
  }
  if (f.lead == NULL || !pc_flat_is_little(&f)) return pc_elemwise_strided(ctx, e, in, out);
  for (int32_t j = 0; j < e->n_out; j++) {
    if (out[j] == NULL) {
      out[j] = ctx->host->tensor_new(ctx, e->dtypes[j], f.lead->ndim, f.lead->shape);
      if (out[j] == NULL) return -1;
    }
    const pc_tensor *t = out[j];
    int is_ours = t->dtype == e->dtypes[j] && t->object.refcount == 1 && !(t->flags & PC_FLAG_READONLY);
    if (!is_ours || !pc_flat_fits(t, f.lead)) return pc_elemwise_strided(ctx, e, in, out);
    data[e->n_in + j] = t->data;
  }
  if (f.n == 0) return 0;
  if (f.spread == 0 && pc_plan_is_asked()) pc_plan_tell("contiguous", 1, f.n, f.n);
  if (f.spread != 0) return pc_elemwise_spread(ctx, e, &f, in, data);
  if (f.n >= 2 * PC_CUT_ELEMENTS && (e->flags & PC_SHARED)) {
    pc_elemwise_flat flat = {e, in, out};
    return ctx->host->parallel(ctx, f.n, PC_CUT_ELEMENTS, pc_elemwise_elements, &flat);
  }
  return e->kernel(ctx, f.n, data);
}

#endif
