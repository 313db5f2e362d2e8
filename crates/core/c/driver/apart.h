/* driver/apart.h: runs the steps of a row program one after the other on whole tensors, for operands that rows.h cannot run by rows. */
#ifndef PRECAST_DRIVER_APART_H
#define PRECAST_DRIVER_APART_H

#include "loop.h"
#include <precast/output.h>

/* Returns whether axis d of the operands is reduced. */
static int pc_rows_reduces(const pc_rows *op, int32_t d) { return op->axes == PC_REDUCE_ALL || (d < 32 && op->axes >> d & 1u); }

/* The values of a program that is run step by step. Single values have the reduced dimensions, with extent 1. */
typedef struct pc_apart_run {
  const pc_rows *op;
  pc_tensor *value[PC_ROWS_VALUES]; /* operands and full outputs are borrowed; a result is NULL until its step runs */
  uint8_t owned[PC_ROWS_VALUES];
} pc_apart_run;

/* Runs a fold; its result gets the reduced dimensions back, with extent 1. */
PC_SELDOM static int pc_apart_fold(pc_context *ctx, pc_apart_run *r, const pc_rows_step *step) {
  static const uint8_t full = 0;
  pc_tensor *x = r->value[step->values[0]], *reduced = NULL;
  int32_t v = step->values[1];
  const pc_reduce reduce = {1, r->op->flags, r->op->axes, r->op->dtypes[v], &full, NULL, NULL, step->monoid};
  int64_t shape[PC_MAX_NDIM], strides[PC_MAX_NDIM];
  if (ctx->host->reduce(ctx, &reduce, &x, &reduced) != 0) {
    pc_xdecref((pc_object *)reduced);
    return -1;
  }
  for (int32_t d = 0, own = 0; d < x->ndim; d++) {
    int gone = pc_rows_reduces(r->op, d);
    shape[d] = gone ? 1 : reduced->shape[own];
    strides[d] = gone ? 0 : reduced->strides[own];
    own += !gone;
  }
  r->value[v] = ctx->host->tensor_view(ctx, reduced, x->ndim, shape, strides, reduced->data);
  r->owned[v] = 1;
  pc_xdecref(&reduced->object);
  return r->value[v] == NULL ? -1 : 0;
}

/* Runs a map; a result that is a full output is written to that output. */
PC_SELDOM static int pc_apart_map(pc_context *ctx, pc_apart_run *r, const pc_rows_step *step, pc_tensor **out) {
  pc_tensor *in[PC_LOOP_OPERANDS], *made[PC_LOOP_OPERANDS];
  uint8_t scalar[PC_LOOP_OPERANDS];
  int32_t dtypes[PC_LOOP_OPERANDS], output[PC_LOOP_OPERANDS];
  for (int32_t i = 0; i < step->n_in; i++) {
    int32_t v = step->values[i];
    in[i] = r->value[v];
    scalar[i] = v < r->op->n_in ? r->op->scalar[v] : 0;
  }
  for (int32_t i = 0; i < step->n_out; i++) {
    int32_t v = step->values[step->n_in + i];
    output[i] = -1;
    for (int32_t j = 0; j < r->op->n_full; j++) output[i] = r->op->outputs[j] == v ? j : output[i];
    made[i] = output[i] < 0 ? NULL : out[output[i]];
    dtypes[i] = r->op->dtypes[v];
  }
  const pc_elemwise map = {step->n_in, r->op->flags, step->n_out, scalar, dtypes, NULL, step->kernel};
  int failure = ctx->host->elemwise(ctx, &map, in, made);
  for (int32_t i = 0; i < step->n_out; i++) {
    int32_t v = step->values[step->n_in + i];
    r->value[v] = made[i];
    r->owned[v] = output[i] < 0;
    if (output[i] >= 0) out[output[i]] = made[i];
  }
  return failure;
}

/* Copies single value t to output j. */
PC_SELDOM static int pc_apart_single(pc_context *ctx, const pc_rows *op, const pc_tensor *t, int32_t j, pc_tensor **out) {
  int64_t shape[PC_MAX_NDIM] = {0}, n = 1;
  int32_t ndim = 0, kept = op->kept >> (j - op->n_full) & 1u, item = pc_dtype_bytes(t->dtype);
  for (int32_t d = 0; d < t->ndim; d++) {
    n *= t->shape[d];
    if (kept || !pc_rows_reduces(op, d)) shape[ndim++] = t->shape[d];
  }
  pc_tensor *to = pc_output_ready(ctx, &out[j], t->dtype, ndim, shape);
  if (to == NULL) return -1;
  for (int64_t i = 0; i < n; i++) {
    int64_t left = i;
    const char *from = t->data;
    char *at = to->data;
    for (int32_t d = t->ndim - 1, own = ndim - 1; d >= 0; d--) {
      int64_t index = left % t->shape[d];
      left /= t->shape[d];
      from += index * t->strides[d];
      if (kept || !pc_rows_reduces(op, d)) at += index * to->strides[own--];
    }
    __builtin_memcpy(at, from, (size_t)item);
  }
  return 0;
}

/* Runs `op` step by step on `in`; `out` are NULL or reusable. Returns 0, or non-zero with the error slot set. */
PC_SELDOM static int pc_apart_do(pc_context *ctx, const pc_rows *op, pc_tensor *const *in, pc_tensor **out) {
  pc_apart_run r;
  if (pc_plan_is_asked()) pc_plan_tell("step by step, each on all elements", 1, 0, 0);
  int failure = 0;
  r.op = op;
  for (int32_t v = 0; v < op->n_values; v++) {
    r.value[v] = v < op->n_in ? in[v] : NULL;
    r.owned[v] = 0;
  }
  for (int32_t s = 0; s < op->n_steps && failure == 0; s++) {
    const pc_rows_step *step = &op->steps[s];
    failure = step->monoid != NULL ? pc_apart_fold(ctx, &r, step) : pc_apart_map(ctx, &r, step, out);
  }
  for (int32_t j = op->n_full; j < op->n_full + op->n_single && failure == 0; j++) {
    failure = pc_apart_single(ctx, op, r.value[op->outputs[j]], j, out);
  }
  for (int32_t v = op->n_in; v < op->n_values; v++) {
    if (r.owned[v]) pc_xdecref((pc_object *)r.value[v]);
  }
  return failure;
}

#endif
