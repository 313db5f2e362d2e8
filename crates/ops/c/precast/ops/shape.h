/* precast/ops/shape.h: extents of a tensor, copies and views of it, conditions: shape, shape_i, deep_copy, view, assert. */
#ifndef PRECAST_OPS_SHAPE_H
#define PRECAST_OPS_SHAPE_H

#include <precast/ops/strided.h>

/* Returns the extents as a vector of i64. */
__attribute__((unused, noinline)) static int pc_shape(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  int64_t ndim = in[0]->ndim;
  (void)props, (void)n_in;
  pc_tensor *t = pc_output_ready(ctx, &out[0], PC_I64, 1, &ndim);
  if (t == NULL) return -1;
  for (int64_t d = 0; d < ndim; d++) *(int64_t *)(t->data + d * t->strides[0]) = in[0]->shape[d];
  return 0;
}

/* Returns one extent; props: its dimension. */
__attribute__((unused, noinline)) static int pc_shape_i(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  pc_tensor *t = pc_output_ready(ctx, &out[0], PC_I64, 0, NULL);
  (void)n_in;
  if (t == NULL) return -1;
  *(int64_t *)t->data = in[0]->shape[props[0]];
  return 0;
}

__attribute__((unused, noinline)) static int pc_deep_copy(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  (void)props, (void)n_in;
  return pc_copy_tensor(ctx, in[0], &out[0]);
}

__attribute__((unused, noinline)) static int pc_view(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  (void)props, (void)n_in;
  return pc_output_view(ctx, in[0], &out[0]);
}

/* Returns whether every element of a tensor of bool is true. */
__attribute__((unused, noinline)) static int pc_all_true(const pc_tensor *t) {
  int64_t index[PC_MAX_NDIM] = {0};
  const char *at = t->data;
  if (pc_tensor_size(t) == 0) return 1;
  for (;;) {
    if (*at == 0) return 0;
    int32_t d = t->ndim - 1;
    for (; d >= 0; d--) {
      int64_t by = ++index[d] < t->shape[d] ? 1 : 1 - t->shape[d];
      at += by * t->strides[d];
      if (by == 1) break;
      index[d] = 0;
    }
    if (d < 0) return 1;
  }
}

/* pc_assert_<kind>. in: tensor, then conditions (bool). Fails with `message` unless all elements of all conditions are true. */
#define PC_ASSERT(NAME, KIND)                                                                                                               \
  __attribute__((unused, noinline)) static int NAME(pc_context *ctx, const char *message, int32_t n_in, pc_tensor *const *in, pc_tensor **out) { \
    for (int32_t k = 1; k < n_in; k++) {                                                                                                    \
      if (!pc_all_true(in[k])) {                                                                                                            \
        pc_error_set(ctx, KIND, message);                                                                                                   \
        return -1;                                                                                                                          \
      }                                                                                                                                     \
    }                                                                                                                                       \
    return pc_output_view(ctx, in[0], &out[0]);                                                                                             \
  }
PC_ASSERT(pc_assert, PC_ERROR_ASSERT)
PC_ASSERT(pc_assert_type, PC_ERROR_TYPE)
PC_ASSERT(pc_assert_value, PC_ERROR_VALUE)
PC_ASSERT(pc_assert_memory, PC_ERROR_MEMORY)
PC_ASSERT(pc_assert_runtime, PC_ERROR_RUNTIME)
PC_ASSERT(pc_assert_index, PC_ERROR_INDEX)

#endif
