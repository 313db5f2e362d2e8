/* precast/ops/reshape.h: the elements of a tensor, in C order, in another shape. A view where the strides allow it, else
 * a copy. */
#ifndef PRECAST_OPS_RESHAPE_H
#define PRECAST_OPS_RESHAPE_H

#include <precast/ops/strided.h>

/* Strides under which the memory of `in` has the new shape of as many elements (not 0); 0 if there are none. Both shapes
 * are cut into groups of dimensions with equal products; within a group the old ones must be one run of memory. */
__attribute__((unused, noinline)) static int pc_reshape_strides(const pc_tensor *in, int32_t ndim, const int64_t *shape, int64_t *strides) {
  int64_t n[PC_MAX_NDIM], step[PC_MAX_NDIM], own = pc_dtype_bytes(in->dtype);
  int32_t old = 0, i = 0, d = 0;
  for (int32_t k = 0; k < in->ndim; k++) {
    if (in->shape[k] == 1) continue;
    n[old] = in->shape[k];
    step[old++] = in->strides[k];
  }
  while (i < old) {
    int32_t first = d, j = i;
    int64_t left = n[j], right = 1;
    while (left != right) {
      if (right < left) {
        right *= shape[d++];
      } else {
        if (step[j] != step[j + 1] * n[j + 1]) return 0;
        left *= n[++j];
      }
    }
    int64_t at = step[j];
    for (int32_t k = d - 1; k >= first; k--) {
      strides[k] = at;
      at *= shape[k];
    }
    own = step[j];
    i = j + 1;
  }
  for (; d < ndim; d++) strides[d] = own;
  return 1;
}

/* Fills in what -1 stands for and checks the number of elements. */
__attribute__((unused, noinline)) static int pc_reshape_shape(pc_context *ctx, const pc_tensor *in, int32_t ndim, int64_t *shape) {
  int64_t size = pc_tensor_size(in), known = 1;
  int32_t open = -1;
  int fits = 1;
  char text[PC_TEXT_BYTES];
  for (int32_t d = 0; d < ndim; d++) {
    if (shape[d] == -1 && open >= 0) {
      pc_error_set(ctx, PC_ERROR_VALUE, "can only specify one unknown dimension");
      return -1;
    }
    if (shape[d] < -1) {
      pc_error_format(ctx, PC_ERROR_VALUE, "negative dimensions are not allowed: extent %lld of dimension %d", (long long)shape[d], (int)d);
      return -1;
    }
    if (shape[d] == -1) {
      open = d;
    } else if (__builtin_mul_overflow(known, shape[d], &known)) {
      fits = 0;
    }
  }
  for (int32_t d = 0; d < ndim; d++) {
    if (shape[d] == 0) {
      known = 0;
      fits = 1;
    }
  }
  if (open >= 0) {
    fits = fits && known > 0 && size % known == 0;
  } else {
    fits = fits && known == size;
  }
  if (!fits) {
    pc_error_format(ctx, PC_ERROR_VALUE, "cannot reshape array of size %lld into shape %s", (long long)size, pc_text_shape(ctx, text, ndim, shape));
    return -1;
  }
  if (open >= 0) shape[open] = size / known;
  return 0;
}

/* in: tensor, vector of the new extents (i64); props: the number of dimensions. */
__attribute__((unused, noinline)) static int pc_reshape(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  int64_t shape[PC_MAX_NDIM] = {0}, strides[PC_MAX_NDIM] = {0};
  int32_t ndim = (int32_t)props[0];
  (void)n_in;
  if (in[1]->shape[0] != ndim) {
    pc_error_format(ctx, PC_ERROR_VALUE, "the new shape has %lld dimension(s), expected %d", (long long)in[1]->shape[0], (int)ndim);
    return -1;
  }
  for (int32_t d = 0; d < ndim; d++) shape[d] = pc_integer_at(in[1], d);
  if (pc_reshape_shape(ctx, in[0], ndim, shape) != 0) return -1;
  if (pc_tensor_size(in[0]) == 0 || pc_reshape_strides(in[0], ndim, shape, strides)) {
    return pc_output_replace(&out[0], ctx->host->tensor_view(ctx, in[0], ndim, shape, strides, in[0]->data));
  }
  pc_tensor *t = pc_output_ready(ctx, &out[0], in[0]->dtype, ndim, shape);
  if (t == NULL) return -1;
  if (!pc_reshape_strides(t, in[0]->ndim, in[0]->shape, strides)) {
    /* The reused tensor has strides of its own. */
    t = ctx->host->tensor_new(ctx, in[0]->dtype, ndim, shape);
    if (pc_output_replace(&out[0], t) != 0) return -1;
    pc_reshape_strides(t, in[0]->ndim, in[0]->shape, strides);
  }
  pc_copy_nd(pc_dtype_bytes(t->dtype), in[0]->ndim, in[0]->shape, t->data, strides, in[0]->data, in[0]->strides);
  return 0;
}

#endif
