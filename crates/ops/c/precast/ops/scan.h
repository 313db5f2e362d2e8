/* precast/ops/scan.h: loops that call the C function of a graph.
 *
 * The function has the contract of pc_entry.run. Two tensors serve each carry in turn: a step reads one and writes the
 * other. Rows of sequences are views, and rows of results are written in place through views, so a step allocates
 * nothing once the tensors have their shapes. A row that the function replaced is copied.
 *
 *   args    arguments of the function: carries, rows of sequences, other inputs; then the cells of its outputs
 *   cells   of the instance: a spare tensor for each carry, a row and a store for each result, the flag of `until`
 */
#ifndef PRECAST_OPS_SCAN_H
#define PRECAST_OPS_SCAN_H

#include <precast/ops/body.h>
#include <precast/ops/strided.h>

typedef struct pc_scan {
  pc_body body;
  int32_t n_carries;
  int32_t n_sequences;
  int32_t n_others;
  int32_t n_rows;    /* results with a row for each step */
  int32_t reverse;   /* 1: from the last row to the first */
  int32_t until;     /* 1: the last output of the function ends the loop */
  const int64_t *known; /* the dtype, the rank and the extents of a row of each result; -1 if one is unknown */
} pc_scan;

/* Adds the step to the error, if there is one. */
__attribute__((unused, noinline, cold)) static int pc_scan_failed(pc_context *ctx, int64_t step) {
  const pc_error error = ctx->error;
  ctx->error.kind = PC_ERROR_NONE;
  if (error.kind != PC_ERROR_NONE && step < 0) {
    pc_error_format(ctx, error.kind, "%s (without steps)\nhint: declare the extents of the inputs, so that the shapes of rows are known",
                    error.message);
  } else if (error.kind != PC_ERROR_NONE) {
    pc_error_format(ctx, error.kind, "%s (step %lld)", error.message, (long long)step);
  }
  return -1;
}

/* The number of steps, which every sequence has rows for; -1 with the error slot set otherwise. */
__attribute__((unused)) static int64_t pc_scan_steps(pc_context *ctx, int32_t first, int32_t n_sequences, pc_tensor *const *in) {
  const int64_t steps = *(const int64_t *)in[0]->data;
  if (steps < 0) {
    pc_error_format(ctx, PC_ERROR_VALUE, "scan: the number of steps is %lld", (long long)steps);
    return -1;
  }
  for (int32_t k = 0; k < n_sequences; k++) {
    const int64_t rows = in[first + k]->shape[0];
    if (rows != steps) {
      pc_error_format(ctx, PC_ERROR_VALUE, "scan: sequence %d has %lld rows, expected %lld", (int)k, (long long)rows, (long long)steps);
      return -1;
    }
  }
  return steps;
}

/* The tensor of a result's rows: `*store` if it has `steps` rows like `row`, else a new one. NULL with the error slot set. */
static pc_tensor *pc_scan_store(pc_context *ctx, pc_tensor **store, int64_t steps, const pc_tensor *row) {
  int64_t shape[PC_MAX_NDIM];
  if (row->ndim >= PC_MAX_NDIM) {
    pc_error_format(ctx, PC_ERROR_VALUE, "scan: a result has more than %d dimensions", (int)PC_MAX_NDIM);
    return NULL;
  }
  shape[0] = steps;
  for (int32_t d = 0; d < row->ndim; d++) shape[d + 1] = row->shape[d];
  return pc_output_ready(ctx, store, row->dtype, row->ndim + 1, shape);
}

/* Whether a tensor has the shape of the rows of another one. */
static int pc_scan_fits(const pc_tensor *row, const pc_tensor *store) {
  int fits = row->ndim + 1 == store->ndim;
  for (int32_t d = 0; fits && d < row->ndim; d++) fits = row->shape[d] == store->shape[d + 1];
  return fits;
}

/* Gives a store twice as many rows, up to `most`. */
__attribute__((noinline)) static int pc_scan_grow(pc_context *ctx, pc_tensor **store, int64_t most) {
  const int64_t rows = (*store)->shape[0];
  int64_t shape[PC_MAX_NDIM];
  for (int32_t d = 0; d < (*store)->ndim; d++) shape[d] = (*store)->shape[d];
  shape[0] = rows > most / 2 ? most : 2 * rows;
  pc_tensor *const grown = ctx->host->tensor_new(ctx, (*store)->dtype, (*store)->ndim, shape);
  if (grown == NULL) return -1;
  pc_copy_nd(pc_dtype_bytes(grown->dtype), (*store)->ndim, (*store)->shape, grown->data, grown->strides, (*store)->data, (*store)->strides);
  return pc_output_replace(store, grown);
}

/* Where the function may write a row itself; NULL in the first step, and without elements, where all rows lie at one place. */
static char *pc_scan_place(const pc_tensor *store, int64_t step, int64_t at) {
  return step > 0 && pc_tensor_size(store) > 0 ? store->data + at * store->strides[0] : NULL;
}

/* Stores the row of a step, which `cell` has, unless the function wrote it to its place. */
static int pc_scan_keep(pc_context *ctx, pc_tensor **store, pc_object **cell, int64_t step, int64_t at, int64_t capacity) {
  const pc_tensor *const row = (pc_tensor *)*cell;
  if (step > 0 && row->data == pc_scan_place(*store, step, at) && row->data != NULL) return 0;
  if (step == 0 && pc_scan_store(ctx, store, capacity, row) == NULL) return -1;
  if (!pc_scan_fits(row, *store)) {
    pc_error_set(ctx, PC_ERROR_VALUE, "scan: a row has another shape than those before it");
    return -1;
  }
  char *const to = (*store)->data + at * (*store)->strides[0];
  pc_copy_nd(pc_dtype_bytes(row->dtype), row->ndim, row->shape, to, (*store)->strides + 1, row->data, row->strides);
  return 0;
}

/* A view of the row `at` of a tensor: `*cell` if it is one, else a new one. */
static int pc_scan_view(pc_context *ctx, pc_object **cell, pc_tensor *whole, int64_t at) {
  char *const data = whole->data == NULL ? NULL : whole->data + at * whole->strides[0];
  pc_tensor *const known = (pc_tensor *)*cell;
  if (known != NULL && known->object.refcount == 1 && known->owner == (pc_object *)whole) {
    known->data = data;
    return 0;
  }
  pc_tensor *const view = ctx->host->tensor_view(ctx, whole, whole->ndim - 1, whole->shape + 1, whole->strides + 1, data);
  if (view == NULL) return -1;
  pc_xdecref(*cell);
  *cell = (pc_object *)view;
  return 0;
}

/* Fills the cell of a sequence with a row of zeros, for the call that finds the extents of rows. */
static int pc_scan_zeros(pc_context *ctx, pc_object **cell, const pc_tensor *sequence) {
  pc_tensor *const row = ctx->host->tensor_new(ctx, sequence->dtype, sequence->ndim - 1, sequence->shape + 1);
  if (row == NULL) return -1;
  if (row->data != NULL) __builtin_memset(row->data, 0, (size_t)(pc_tensor_size(row) * pc_dtype_bytes(row->dtype)));
  *cell = (pc_object *)row;
  return 0;
}

/* Runs the steps. On failure the cells that were made hold valid objects. Returns the number of steps that were run, or -1. */
static int64_t pc_scan_loop(pc_context *ctx, const pc_scan *op, void *self, pc_object **cells, pc_object **args, pc_tensor *const *in,
                            pc_tensor **out, int64_t steps) {
  const int32_t carries = op->n_carries, n_in = carries + op->n_sequences + op->n_others;
  pc_object **const made = args + n_in;
  pc_object **const spare = cells, **const kept = cells + carries + op->n_rows;
  for (int64_t step = 0; step < steps; step++) {
    const int64_t at = op->reverse ? steps - 1 - step : step;
    for (int32_t k = carries; k < carries + op->n_sequences; k++) {
      if (pc_scan_view(ctx, &args[k], in[1 + k], at)) return pc_scan_failed(ctx, step);
    }
    for (int32_t j = 0; step > 0 && j < op->n_rows; j++) {
      pc_tensor **const store = op->until ? (pc_tensor **)&kept[j] : &out[carries + j];
      if (at >= (*store)->shape[0] && pc_scan_grow(ctx, store, steps)) return pc_scan_failed(ctx, step);
      if (pc_scan_place(*store, step, at) == NULL) continue;
      if (pc_scan_view(ctx, &made[carries + j], *store, at)) return pc_scan_failed(ctx, step);
    }
    if (ctx->host->cancelled(ctx) || op->body(self, ctx, args)) return pc_scan_failed(ctx, step);
    for (int32_t j = 0; j < op->n_rows; j++) {
      pc_tensor **const store = op->until ? (pc_tensor **)&kept[j] : &out[carries + j];
      const int64_t capacity = op->until && steps > 16 ? 16 : steps;
      if (pc_scan_keep(ctx, store, &made[carries + j], step, at, capacity)) return pc_scan_failed(ctx, step);
    }
    for (int32_t i = 0; i < carries; i++) {
      pc_object *const result = made[i];
      made[i] = step == 0 ? spare[i] : args[i];
      if (step == 0) spare[i] = NULL;
      args[i] = result;
    }
    if (op->until && *(const pc_bool *)((pc_tensor *)made[carries + op->n_rows])->data) return step + 1;
  }
  return steps;
}

/* Makes results without rows. If their extents are unknown, calls the function on zeros. */
static int pc_scan_empty(pc_context *ctx, const pc_scan *op, void *self, pc_object **args, pc_tensor *const *in, pc_tensor **out) {
  const int32_t carries = op->n_carries, n_in = carries + op->n_sequences + op->n_others;
  const int64_t *known = op->known;
  const int is_known = *known >= 0;
  for (int32_t j = 0; is_known && j < op->n_rows; j++) {
    const int32_t ndim = (int32_t)known[1];
    int64_t shape[PC_MAX_NDIM] = {0};
    for (int32_t d = 0; d < ndim; d++) shape[d + 1] = known[2 + d];
    if (pc_output_ready(ctx, &out[carries + j], (int32_t)known[0], ndim + 1, shape) == NULL) return -1;
    known += 2 + ndim;
  }
  if (is_known) return 0;
  for (int32_t k = carries; k < carries + op->n_sequences; k++) {
    if (pc_scan_zeros(ctx, &args[k], in[1 + k])) return -1;
  }
  if (op->body(self, ctx, args)) return pc_scan_failed(ctx, -1);
  for (int32_t j = 0; j < op->n_rows; j++) {
    if (pc_scan_store(ctx, &out[carries + j], 0, (pc_tensor *)args[n_in + carries + j]) == NULL) return -1;
  }
  return 0;
}

/* Copies the results of a loop that ended early out of their stores. */
static int pc_scan_cut(pc_context *ctx, pc_tensor **out, const pc_tensor *store, int64_t steps) {
  int64_t shape[PC_MAX_NDIM];
  for (int32_t d = 0; d < store->ndim; d++) shape[d] = store->shape[d];
  shape[0] = steps;
  pc_tensor *const cut = pc_output_ready(ctx, out, store->dtype, store->ndim, shape);
  if (cut == NULL) return -1;
  pc_copy_nd(pc_dtype_bytes(cut->dtype), cut->ndim, shape, cut->data, cut->strides, store->data, store->strides);
  return 0;
}

/* Returns a tensor that the instance may keep; releases one that lies in memory of the caller, and returns NULL. */
static pc_object *pc_scan_spare(pc_object *tensor) {
  if (tensor != NULL && (((pc_tensor *)tensor)->owner != NULL || ((pc_tensor *)tensor)->capacity_bytes == 0)) {
    pc_xdecref(tensor);
    return NULL;
  }
  return tensor;
}

/* Makes the last carry `*last` the output: in the memory of the caller's tensor `*other` if it fits. */
static void pc_scan_finish(pc_object **last, pc_object **other) {
  const pc_tensor *const from = (pc_tensor *)*last;
  pc_tensor *const to = (pc_tensor *)*other;
  if (from->capacity_bytes == 0 || !pc_output_fits(to, from->dtype, from->ndim, from->shape)) return;
  pc_copy_nd(pc_dtype_bytes(from->dtype), from->ndim, from->shape, to->data, to->strides, from->data, from->strides);
  *other = *last;
  *last = (pc_object *)to;
}

/* Runs a loop. `in` are the number of steps and the inputs of the op, `out` its output variables. Returns 0, or another number with
 * the error slot set. */
__attribute__((unused)) static int pc_scan_run(pc_context *ctx, const pc_scan *op, void *self, pc_object **cells, pc_object **args,
                                               pc_tensor *const *in, pc_tensor **out) {
  const int32_t carries = op->n_carries, n_in = carries + op->n_sequences + op->n_others;
  const int64_t steps = pc_scan_steps(ctx, 1 + carries, op->n_sequences, in);
  if (steps < 0) return -1;
  pc_object **const made = args + n_in;
  for (int32_t i = 0; i < n_in; i++) {
    args[i] = i >= carries && i < carries + op->n_sequences ? NULL : (pc_object *)in[1 + i];
  }
  /* The two tensors of a carry are used in turn; the last step writes to that of the output. */
  const int begins_with_output = op->until || steps == 0 || steps % 2 == 1;
  for (int32_t i = 0; i < carries; i++) {
    made[i] = begins_with_output ? (pc_object *)out[i] : cells[i];
    if (!begins_with_output) cells[i] = (pc_object *)out[i];
    out[i] = NULL;
  }
  for (int32_t j = 0; j < op->n_rows; j++) {
    made[carries + j] = cells[carries + j];
    cells[carries + j] = NULL;
  }
  pc_object **const flag = &cells[carries + 2 * op->n_rows];
  if (op->until) {
    made[carries + op->n_rows] = *flag;
    *flag = NULL;
  }
  const int64_t done = pc_scan_loop(ctx, op, self, cells, args, in, out, steps);
  int failed = done < 0;
  if (!failed && steps == 0 && op->n_rows > 0) failed = pc_scan_empty(ctx, op, self, args, in, out);
  for (int32_t j = 0; !failed && op->until && steps > 0 && j < op->n_rows; j++) {
    failed = pc_scan_cut(ctx, &out[carries + j], (pc_tensor *)cells[carries + op->n_rows + j], done);
  }
  for (int32_t i = 0; i < carries; i++) {
    /* After a step, the carry is the loop's own. */
    const int is_own = args[i] != (pc_object *)in[1 + i];
    if (failed) {
      if (is_own) pc_xdecref(args[i]);
      pc_xdecref(made[i]);
      cells[i] = pc_scan_spare(cells[i]);
    } else if (is_own) {
      if (op->until && done % 2 == 0) pc_scan_finish(&args[i], &made[i]);
      out[i] = (pc_tensor *)args[i];
      pc_xdecref(cells[i]);
      cells[i] = pc_scan_spare(made[i]);
    } else {
      out[i] = (pc_tensor *)made[i];
      failed = pc_copy_tensor(ctx, in[1 + i], &out[i]) != 0;
    }
  }
  for (int32_t k = carries; k < carries + op->n_sequences; k++) pc_xdecref(args[k]);
  for (int32_t j = 0; j < op->n_rows; j++) {
    /* Views do not outlive the call. */
    cells[carries + j] = pc_scan_spare(made[carries + j]);
  }
  if (op->until) *flag = made[carries + op->n_rows];
  return failed;
}

#endif
