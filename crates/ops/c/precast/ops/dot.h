/* precast/ops/dot.h: matrix and vector products through the host's GEMM, for f32 and f64, any strides.
 *
 *   (k)(k) -> ()     (k)(k,n) -> (n)     (m,k)(k) -> (m)     (m,k)(k,n) -> (m,n)
 *
 * The order of the sums is the host's: the same for any number of threads, not across kinds of CPU.
 */
#ifndef PRECAST_OPS_DOT_H
#define PRECAST_OPS_DOT_H

#include <precast/ops/output.h>

/* `*out` = a . b. Ranks are 1 or 2. A value error, in NumPy's words, when the inner extents differ. */
__attribute__((unused)) static int pc_dot(pc_context *ctx, const pc_tensor *a, const pc_tensor *b, pc_tensor **out) {
  int32_t last = a->ndim - 1, ndim = 0;
  int64_t k = a->shape[last], shape[2];
  if (k != b->shape[0]) {
    pc_error_format(ctx, PC_ERROR_VALUE,
                    last ? (b->ndim == 2 ? "shapes (%lld,%lld) and (%lld,%lld) not aligned: %lld (dim 1) != %lld (dim 0)"
                                         : "shapes (%lld,%lld) and (%lld,)%.0lld not aligned: %lld (dim 1) != %lld (dim 0)")
                         : (b->ndim == 2 ? "shapes (%.0lld%lld,) and (%lld,%lld) not aligned: %lld (dim 0) != %lld (dim 0)"
                                         : "shapes (%.0lld%lld,) and (%lld,)%.0lld not aligned: %lld (dim 0) != %lld (dim 0)"),
                    (long long)(last ? a->shape[0] : 0), (long long)k, (long long)b->shape[0],
                    (long long)(b->ndim == 2 ? b->shape[1] : 0), (long long)k, (long long)b->shape[0]);
    return -1;
  }
  int64_t m = 1, n = 1;
  if (a->ndim == 2) shape[ndim++] = m = a->shape[0];
  if (b->ndim == 2) shape[ndim++] = n = b->shape[1];
  pc_tensor *t = pc_output_ready(ctx, out, a->dtype, ndim, shape);
  if (t == NULL) return -1;
  if (m == 0 || n == 0) return 0;
  int64_t row = a->ndim == 2 ? t->strides[0] : 0, column = b->ndim == 2 ? t->strides[ndim - 1] : 0;
  if (k == 0) {
    int64_t zero = 0;
    int32_t item = pc_dtype_bytes(t->dtype);
    for (int64_t i = 0; i < m; i++) pc_copy_strided(item, n, t->data + i * row, column, (const char *)&zero, 0);
    return 0;
  }
  return ctx->host->gemm(ctx, a->dtype, m, n, k, a->data, a->ndim == 2 ? a->strides[0] : 0, a->strides[last], b->data,
                         b->strides[0], b->ndim == 2 ? b->strides[1] : 0, t->data, row, column);
}

#endif
