/* precast/ops/fixed.h: loops and graphs whose values are arrays of known extents. */
#ifndef PRECAST_OPS_FIXED_H
#define PRECAST_OPS_FIXED_H

#include <precast/ops/bits.h>
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

/* Returns whether the elements of a tensor are adjacent, in C order. */
__attribute__((unused)) static int pc_fixed_is_whole(const pc_tensor *t, int64_t item) {
  for (int32_t d = t->ndim - 1; d >= 0; d--) {
    if (t->shape[d] != 1 && t->strides[d] != item) return 0;
    item *= t->shape[d];
  }
  return 1;
}

/* Copies all elements between a tensor and an array in C order. */
__attribute__((unused, noinline)) static void pc_fixed_copy(const pc_tensor *t, char *array, int64_t item, int reads) {
  int64_t at[PC_MAX_NDIM] = {0};
  char *element = t->data;
  for (;;) {
    __builtin_memcpy(reads ? array : element, reads ? element : array, (size_t)item);
    array += item;
    int32_t d = t->ndim - 1;
    for (; d >= 0; d--) {
      element += t->strides[d];
      if (++at[d] < t->shape[d]) break;
      element -= t->shape[d] * t->strides[d];
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

/* Reads a tensor of `bytes` bytes in all; there is at least one element. */
PC_INLINE void pc_fixed_read(const pc_tensor *t, void *array, size_t bytes, size_t item) {
  if (bytes == item || pc_fixed_is_whole(t, (int64_t)item)) {
    __builtin_memcpy(array, t->data, bytes);
  } else {
    pc_fixed_copy(t, (char *)array, (int64_t)item, 1);
  }
}

/* The elements of a tensor in C order: its own, or a copy in `array`. */
PC_INLINE char *pc_fixed_view(const pc_tensor *t, void *array, size_t item) {
  if (pc_fixed_is_whole(t, (int64_t)item)) return t->data;
  pc_fixed_copy(t, (char *)array, (int64_t)item, 1);
  return (char *)array;
}

/* Writes a tensor of `bytes` bytes in all; there is at least one element. */
PC_INLINE void pc_fixed_write(const void *array, const pc_tensor *t, size_t bytes, size_t item) {
  if (bytes == item || pc_fixed_is_whole(t, (int64_t)item)) {
    __builtin_memcpy(t->data, array, bytes);
  } else {
    pc_fixed_copy(t, (char *)(uintptr_t)array, (int64_t)item, 0);
  }
}

static void pc_fixed_dealloc(pc_object *object) { (void)object; }

/* A tensor over an array in C order, which a function can read or write. */
PC_INLINE pc_tensor pc_fixed_tensor(void *array, size_t bytes, int32_t dtype, int32_t ndim, const int64_t *shape, const int64_t *strides) {
  static const pc_type type = {"array", pc_fixed_dealloc};
  return (pc_tensor){{1, &type}, (char *)array, dtype, ndim, shape, strides, 0, 0, NULL, (int64_t)bytes};
}

/* Ends a call that could write to `own`, a tensor over an array, or put another tensor in its place. */
PC_INLINE void pc_fixed_take(pc_tensor *result, const pc_tensor *own, void *array, size_t bytes, size_t item) {
  if (result == own) return;
  pc_fixed_read(result, array, bytes, item);
  pc_xdecref((pc_object *)result);
}

/* Fails with a message unless all elements are true. */
PC_INLINE int pc_fixed_assert(pc_context *ctx, int32_t kind, const char *message, const pc_bool *conditions, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!conditions[i]) {
      pc_error_set(ctx, kind, message);
      return -1;
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
