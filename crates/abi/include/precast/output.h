/* precast/output.h: reuses the tensor in an output variable of an op if it fits, else allocates one. */
#ifndef PRECAST_OUTPUT_H
#define PRECAST_OUTPUT_H

#include <precast/copy.h>

/* Whether `t` has no other owner and may be written as a result of this dtype and shape. Any strides are allowed that give
 * each element its own place. */
static inline int pc_output_fits(const pc_tensor *t, int32_t dtype, int32_t ndim, const int64_t *shape) {
  if (t == NULL || t->dtype != dtype || t->ndim != ndim || t->object.refcount != 1 || (t->flags & PC_FLAG_READONLY)) return 0;
  int overlaps = 0, empty = 0;
  for (int32_t d = 0; d < ndim; d++) {
    if (t->shape[d] != shape[d]) return 0;
    overlaps |= t->strides[d] == 0 && shape[d] > 1;
    empty |= shape[d] == 0;
  }
  return empty || !overlaps;
}

/* Returns the tensor to write to: `*out` if it fits, else a new tensor that replaces it. Returns NULL if the allocation
 * fails, with the error slot set and `*out` unchanged. */
__attribute__((unused)) static pc_tensor *pc_output_ready(pc_context *ctx, pc_tensor **out, int32_t dtype, int32_t ndim, const int64_t *shape) {
  if (pc_output_fits(*out, dtype, ndim, shape)) return *out;
  pc_tensor *fresh = ctx->host->tensor_new(ctx, dtype, ndim, shape);
  if (fresh != NULL) {
    pc_xdecref((pc_object *)*out);
    *out = fresh;
  }
  return fresh;
}

#endif
