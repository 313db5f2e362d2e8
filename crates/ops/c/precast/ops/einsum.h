/* precast/ops/einsum.h: a tensor with axes of extent 1 stretched to those of another tensor. */
#ifndef PRECAST_OPS_EINSUM_H
#define PRECAST_OPS_EINSUM_H

#include <precast/ops/strided.h>

/* in: tensor, another. props: the number of pairs of axes, then for each of them: both axes, the label, both operands, whether to
 * stretch. A view of the tensor, or a copy where an axis is stretched; a value error where extents differ and neither is 1. */
__attribute__((unused, noinline)) static int pc_einsum_operand(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  int64_t shape[PC_MAX_NDIM], strides[PC_MAX_NDIM];
  int stretched = 0;
  (void)n_in;
  for (int32_t d = 0; d < in[0]->ndim; d++) {
    shape[d] = in[0]->shape[d];
    strides[d] = in[0]->strides[d];
  }
  for (const int64_t *pair = props + 1; pair < props + 1 + 6 * props[0]; pair += 6) {
    int64_t own = in[0]->shape[pair[0]], other = in[1]->shape[pair[1]];
    if (own != other && own != 1 && other != 1) {
      pc_error_format(ctx, PC_ERROR_VALUE, "extents of `%c` differ: %lld in operand %lld, %lld in operand %lld", (int)pair[2], (long long)own,
                      (long long)pair[3], (long long)other, (long long)pair[4]);
      return -1;
    }
    if (pair[5] == 0 || own == other || own != 1) continue;
    shape[pair[0]] = other;
    strides[pair[0]] = 0;
    stretched = 1;
  }
  if (!stretched) return pc_output_view(ctx, in[0], &out[0]);
  pc_tensor *t = pc_output_ready(ctx, &out[0], in[0]->dtype, in[0]->ndim, shape);
  if (t == NULL) return -1;
  pc_copy_nd(pc_dtype_bytes(t->dtype), t->ndim, shape, t->data, t->strides, in[0]->data, strides);
  return 0;
}

#endif
