/* precast/ops/output.h: the output cells of an op: keep what is there when it fits, allocate when it does not. */
#ifndef PRECAST_OPS_OUTPUT_H
#define PRECAST_OPS_OUTPUT_H

#include <precast/ops/loop.h>

/* Whether `cell` holds a tensor that nobody else holds, may be written, and has the wanted dtype and shape. Its strides
 * may be any that give each element its own place. */
PC_DRIVER static int pc_output_fits(const pc_tensor *t, int32_t dtype, int32_t ndim, const int64_t *shape) {
  if (t == NULL || t->dtype != dtype || t->ndim != ndim || t->object.refcount != 1 || (t->flags & PC_FLAG_READONLY)) return 0;
  for (int32_t d = 0; d < ndim; d++) {
    if (t->shape[d] != shape[d] || (t->strides[d] == 0 && shape[d] > 1)) return 0;
  }
  return 1;
}

/* The tensor to write to: the one in `*cell`, or a new one that replaces it. NULL, with the error slot set and the cell
 * as it was, when memory is refused. */
PC_DRIVER static pc_tensor *pc_output_ready(pc_context *ctx, pc_object **cell, int32_t dtype, int32_t ndim, const int64_t *shape) {
  pc_tensor *t = (pc_tensor *)*cell;
  if (pc_output_fits(t, dtype, ndim, shape)) return t;
  t = ctx->host->tensor_new(ctx, dtype, ndim, shape);
  if (t != NULL) {
    pc_xdecref(*cell);
    *cell = (pc_object *)t;
  }
  return t;
}

/* Puts `t`, whose one reference is given away, into the cell. */
static inline void pc_output_put(pc_object **cell, pc_tensor *t) {
  pc_xdecref(*cell);
  *cell = (pc_object *)t;
}

#endif
