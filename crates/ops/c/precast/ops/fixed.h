/* precast/ops/fixed.h: loops whose values are arrays of known extents. */
#ifndef PRECAST_OPS_FIXED_H
#define PRECAST_OPS_FIXED_H

#include <precast/ops/scan.h>

/* Checks integers that the code relies on. For each of `n`: an input, the number of its elements, and their values. Returns 0, or -1 with
 * the error slot set. */
__attribute__((unused)) static int pc_fixed_check(pc_context *ctx, const char *op, int32_t n, const int64_t *known, int32_t first,
                                                  pc_tensor *const *in) {
  for (int32_t i = 0; i < n; i++) {
    const int64_t input = first + *known++, size = *known++;
    const pc_tensor *const t = in[input];
    for (int64_t k = 0; k < size; k++, known++) {
      const int64_t found = *(const int64_t *)(t->data + (t->ndim > 0 ? k * t->strides[0] : 0));
      if (found != *known) {
        pc_error_format(ctx, PC_ERROR_VALUE, "%s: element %d of input %d is %lld, expected %lld", op, (int)k, (int)input, (long long)found,
                        (long long)*known);
        return -1;
      }
    }
  }
  return 0;
}

/* c[m,n] = a[m,k] . b[k,n] for arrays in C order, m and n above 1: the sums of pc_host.gemm, in the order of k. Where a multiplication and
 * an addition are one instruction, the host rounds both at once. Other code calls the host, since the CPU may be of either kind. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define PC_FIXED_PRODUCT(D, FMA)                                                                                                      \
  __attribute__((unused, always_inline)) static inline int pc_fixed_product_##D(pc_context *ctx, const int m, const int n, const int k, \
                                                                                const pc_##D *a, const pc_##D *b, pc_##D *c) {        \
    (void)ctx;                                                                                                                        \
    for (int i = 0; i < m; i++) {                                                                                                     \
      for (int j = 0; j < n; j++) c[i * n + j] = 0;                                                                                   \
      for (int l = 0; l < k; l++) {                                                                                                   \
        for (int j = 0; j < n; j++) c[i * n + j] = FMA(a[i * k + l], b[l * n + j], c[i * n + j]);                                     \
      }                                                                                                                               \
    }                                                                                                                                 \
    return 0;                                                                                                                         \
  }
#else
#define PC_FIXED_PRODUCT(D, FMA)                                                                                                      \
  __attribute__((unused)) static int pc_fixed_product_##D(pc_context *ctx, const int m, const int n, const int k, const pc_##D *a,    \
                                                          const pc_##D *b, pc_##D *c) {                                               \
    const int64_t item = (int64_t)sizeof(pc_##D);                                                                                     \
    return ctx->host->gemm(ctx, sizeof(pc_##D) == 4 ? PC_F32 : PC_F64, m, n, k, (const char *)a, k * item, item, (const char *)b, n * item,            \
                           item, (char *)c, n * item, item);                                                                          \
  }
#endif
PC_FIXED_PRODUCT(f64, __builtin_fma)
PC_FIXED_PRODUCT(f32, __builtin_fmaf)

#endif
