/* precast/ops/join.h: tensors put one after another along an axis, and a tensor cut into pieces along one (views). */
#ifndef PRECAST_OPS_JOIN_H
#define PRECAST_OPS_JOIN_H

#include <precast/ops/strided.h>

/* in: tensors of one dtype and rank; props: axis. */
__attribute__((unused, noinline)) static int pc_join(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  int64_t shape[PC_MAX_NDIM];
  int32_t axis = (int32_t)props[0], ndim = in[0]->ndim;
  for (int32_t d = 0; d < ndim; d++) shape[d] = in[0]->shape[d];
  for (int32_t k = 1; k < n_in; k++) {
    for (int32_t d = 0; d < ndim; d++) {
      if (d == axis) {
        if (__builtin_add_overflow(shape[d], in[k]->shape[d], &shape[d])) shape[d] = INT64_MAX; /* refused below */
      } else if (in[k]->shape[d] != shape[d]) {
        pc_error_format(ctx, PC_ERROR_VALUE,
                        "all the input array dimensions except for the concatenation axis must match exactly, but along dimension %d, "
                        "the array at index 0 has size %lld and the array at index %d has size %lld",
                        (int)d, (long long)shape[d], (int)k, (long long)in[k]->shape[d]);
        return -1;
      }
    }
  }
  pc_tensor *t = pc_output_ready(ctx, &out[0], in[0]->dtype, ndim, shape);
  if (t == NULL) return -1;
  char *at = t->data;
  for (int32_t k = 0; k < n_in; k++) {
    pc_copy_nd(pc_dtype_bytes(t->dtype), ndim, in[k]->shape, at, t->strides, in[k]->data, in[k]->strides);
    at += in[k]->shape[axis] * t->strides[axis];
  }
  return 0;
}

/* in: tensor, vector of extents (i64); props: axis, number of pieces. */
__attribute__((unused, noinline)) static int pc_split(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  int64_t shape[PC_MAX_NDIM], n = props[1], total = 0;
  int32_t axis = (int32_t)props[0];
  int fits = 1;
  (void)n_in;
  if (in[1]->shape[0] != n) {
    pc_error_format(ctx, PC_ERROR_VALUE, "split: there are %lld extents for %lld pieces", (long long)in[1]->shape[0], (long long)n);
    return -1;
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t extent = pc_integer_at(in[1], i);
    if (extent < 0) {
      pc_error_format(ctx, PC_ERROR_VALUE, "split: extent %lld of piece %lld is negative", (long long)extent, (long long)i);
      return -1;
    }
    fits = fits && !__builtin_add_overflow(total, extent, &total);
  }
  if (!fits || total != in[0]->shape[axis]) {
    pc_error_format(ctx, PC_ERROR_VALUE, "split: the extents of the pieces sum to %lld, axis %d has size %lld", (long long)(fits ? total : INT64_MAX),
                    (int)axis, (long long)in[0]->shape[axis]);
    return -1;
  }
  for (int32_t d = 0; d < in[0]->ndim; d++) shape[d] = in[0]->shape[d];
  char *at = in[0]->data;
  for (int64_t i = 0; i < n; i++) {
    shape[axis] = pc_integer_at(in[1], i);
    if (pc_output_replace(&out[i], ctx->host->tensor_view(ctx, in[0], in[0]->ndim, shape, in[0]->strides, at)) != 0) return -1;
    at += shape[axis] * in[0]->strides[axis];
  }
  return 0;
}

#endif
