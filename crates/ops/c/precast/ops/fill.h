/* precast/ops/fill.h: tensors made of numbers: alloc, make_vector. */
#ifndef PRECAST_OPS_FILL_H
#define PRECAST_OPS_FILL_H

#include <precast/ops/strided.h>

/* Reads `ndim` extents from tensors without dimensions; a value error when one is negative. */
__attribute__((unused, noinline)) static int pc_extents(pc_context *ctx, int32_t ndim, pc_tensor *const *in, int64_t *shape) {
  for (int32_t d = 0; d < ndim; d++) {
    shape[d] = pc_integer(in[d]);
    if (shape[d] < 0) {
      pc_error_format(ctx, PC_ERROR_VALUE, "negative dimensions are not allowed: extent %lld of dimension %d", (long long)shape[d], (int)d);
      return -1;
    }
  }
  return 0;
}

/* in: value, then an extent a dimension (i64). */
__attribute__((unused, noinline)) static int pc_alloc(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  int64_t shape[PC_MAX_NDIM], strides[PC_MAX_NDIM];
  int32_t ndim = n_in - 1;
  (void)props;
  shape[0] = 0; /* compilers warn about an array without elements */
  if (pc_extents(ctx, ndim, in + 1, shape) != 0) return -1;
  if (pc_broadcast_strides(ctx, in[0], ndim, shape, strides) != 0) return -1;
  pc_tensor *t = pc_output_ready(ctx, &out[0], in[0]->dtype, ndim, shape);
  if (t == NULL) return -1;
  pc_copy_nd(pc_dtype_bytes(t->dtype), ndim, shape, t->data, t->strides, in[0]->data, strides);
  return 0;
}

/* in: numbers without dimensions, all of one dtype. */
__attribute__((unused, noinline)) static int pc_make_vector(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  int64_t n = n_in;
  pc_tensor *t = pc_output_ready(ctx, &out[0], (int32_t)props[0], 1, &n);
  if (t == NULL) return -1;
  int32_t item = pc_dtype_bytes(t->dtype);
  for (int32_t i = 0; i < n_in; i++) pc_copy_strided(item, 1, t->data + i * t->strides[0], item, in[i]->data, item);
  return 0;
}

#endif
