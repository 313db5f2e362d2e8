/* precast/ops/dimshuffle.h: permutes, inserts and drops dimensions; the result is a view, nothing is copied. */
#ifndef PRECAST_OPS_DIMSHUFFLE_H
#define PRECAST_OPS_DIMSHUFFLE_H

#include <precast/output.h>

/* order[d]: which dimension of `in` becomes dimension d, -1 for a new one of extent 1. Dimensions that `order` does not
 * name are dropped and must have extent 1: a value error otherwise. Replaces the tensor in `*out`. */
__attribute__((unused)) static int pc_dimshuffle(pc_context *ctx, pc_tensor *in, int32_t ndim, const int32_t *order, pc_tensor **out) {
  int64_t shape[PC_MAX_NDIM] = {0}, strides[PC_MAX_NDIM] = {0};
  uint32_t named = 0;
  for (int32_t d = 0; d < ndim; d++) {
    shape[d] = order[d] < 0 ? 1 : in->shape[order[d]];
    strides[d] = order[d] < 0 ? 0 : in->strides[order[d]];
    if (order[d] >= 0) named |= (uint32_t)1 << order[d];
  }
  for (int32_t d = 0; d < in->ndim; d++) {
    if (!(named >> d & 1u) && in->shape[d] != 1) {
      pc_error_format(ctx, PC_ERROR_VALUE, "cannot drop dimension %d of extent %lld: only dimensions of extent 1 can be dropped",
                      (int)d, (long long)in->shape[d]);
      return -1;
    }
  }
  pc_tensor *t = ctx->host->tensor_view(ctx, in, ndim, shape, strides, in->data);
  if (t == NULL) return -1;
  pc_xdecref((pc_object *)*out);
  *out = t;
  return 0;
}

#endif
