/* precast/ops/sum_to.h: the sum over the dimensions to which a tensor was broadcast. The order is that of a sum over those axes. */
#ifndef PRECAST_OPS_SUM_TO_H
#define PRECAST_OPS_SUM_TO_H

#include <precast/ops/fill.h>
#include <precast/ops/monoid.h>
#include <precast/ops/text.h>

/* The axes of `t` that are summed, as a mask; -1 with an error if the shape was not broadcast to that of `t`. */
__attribute__((unused, noinline)) static int64_t pc_sum_to_axes(pc_context *ctx, const pc_tensor *t, int32_t ndim, const int64_t *shape) {
  char wanted[PC_TEXT_BYTES], found[PC_TEXT_BYTES];
  int32_t extra = t->ndim - ndim;
  int64_t axes = 0;
  int fits = 1;
  for (int32_t d = 0; d < t->ndim; d++) {
    int64_t n = d < extra ? 0 : shape[d - extra];
    if (d >= extra && n == t->shape[d]) continue;
    fits = fits && (d < extra || n == 1);
    axes |= (int64_t)1 << d;
  }
  if (fits) return axes;
  pc_error_format(ctx, PC_ERROR_VALUE, "cannot sum shape %s to shape %s, which was not broadcast to it",
                  pc_text_shape(ctx, found, t->ndim, t->shape), pc_text_shape(ctx, wanted, ndim, shape));
  return -1;
}

/* in: tensor, then an extent (i64) a dimension of the result. A view where nothing is summed. */
__attribute__((unused, noinline)) static int pc_sum_to(pc_context *ctx, const pc_monoid *monoid, int32_t n_in, pc_tensor *const *in,
                                                       pc_tensor **out) {
  static const uint8_t scalar[1] = {0};
  int64_t shape[PC_MAX_NDIM], strides[PC_MAX_NDIM];
  int32_t ndim = n_in - 1, kept = 0;
  if (pc_extents(ctx, ndim, in + 1, shape) != 0) return -1;
  int64_t axes = pc_sum_to_axes(ctx, in[0], ndim, shape);
  if (axes < 0) return -1;
  if (axes == 0) return pc_output_view(ctx, in[0], &out[0]);
  pc_reduce op = {1, PC_SHARED, (uint32_t)axes, in[0]->dtype, scalar, NULL, NULL, monoid};
  if (ctx->host->reduce(ctx, &op, in, &out[0]) != 0) return -1;
  if (out[0]->ndim == ndim) return 0;
  int32_t extra = in[0]->ndim - ndim;
  for (int32_t d = 0; d < ndim; d++) strides[d] = axes >> (d + extra) & 1 ? monoid->item : out[0]->strides[kept++];
  return pc_output_replace(&out[0], ctx->host->tensor_view(ctx, out[0], ndim, shape, strides, out[0]->data));
}

#define PC_SUM_TO(NAME, D)                                                                                                          \
  PC_MONOID_sum_##D(NAME##_sum, PC_MONOID_COLUMNS)                                                                                  \
  static int NAME(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {                     \
    (void)props;                                                                                                                    \
    return pc_sum_to(ctx, &NAME##_sum, n_in, in, out);                                                                              \
  }

#endif
