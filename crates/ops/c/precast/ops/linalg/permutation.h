/* precast/ops/linalg/permutation.h: the order of rows after a sequence of exchanges, for stacks of sequences with any strides. */
#ifndef PRECAST_OPS_LINALG_PERMUTATION_H
#define PRECAST_OPS_LINALG_PERMUTATION_H

#include <precast/ops/strided.h>

/* in: the row that each row is exchanged with, one after another (i64). */
__attribute__((unused, noinline)) static int pc_pivot_to_permutation(pc_context *ctx, const int64_t *props, int32_t n_in,
                                                                     pc_tensor *const *in, pc_tensor **out) {
  const pc_tensor *pivots = in[0];
  const int32_t last = pivots->ndim - 1;
  const int64_t n = pivots->shape[last];
  (void)props, (void)n_in;
  pc_tensor *t = pc_output_ready(ctx, &out[0], PC_I64, pivots->ndim, pivots->shape);
  if (t == NULL) return -1;
  int64_t count = n == 0 ? 0 : pc_tensor_size(t) / n;
  for (int64_t line = 0; line < count; line++) {
    const char *from = pivots->data;
    char *to = t->data;
    int64_t position = line;
    for (int32_t d = last - 1; d >= 0; d--) {
      from += position % t->shape[d] * pivots->strides[d];
      to += position % t->shape[d] * t->strides[d];
      position /= t->shape[d];
    }
    for (int64_t i = 0; i < n; i++) *(int64_t *)(to + i * t->strides[last]) = i;
    for (int64_t i = 0; i < n; i++) {
      int64_t other = *(const int64_t *)(from + i * pivots->strides[last]);
      if (other < 0 || other >= n) {
        pc_error_format(ctx, PC_ERROR_INDEX, "pivot %lld of row %lld is out of bounds for %lld rows", (long long)other, (long long)i,
                        (long long)n);
        return -1;
      }
      int64_t *one = (int64_t *)(to + i * t->strides[last]), *two = (int64_t *)(to + other * t->strides[last]), kept = *one;
      *one = *two;
      *two = kept;
    }
  }
  return 0;
}

#endif
