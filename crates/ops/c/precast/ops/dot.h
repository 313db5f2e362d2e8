/* precast/ops/dot.h: products of vectors, matrices and stacks of matrices, any strides; NumPy's dot and a product by pairs.
 *
 *   dot      the last dimension of a with the only one of b, or its last but one: ranks 1 to 3, the other dimensions follow
 *            each other, a's first
 *   batched  the same of a[i] and b[i] for each i: ranks 2 and 3, the first dimension is shared
 *   matmul   the last two dimensions, those before them broadcast: ranks 2 and more
 *
 * f32, f64, c64 and c128 go through the host's GEMM: its order of sums, the same for any number of threads, not across kinds
 * of CPU. Other dtypes are added up one after the other, each sum rounded to the dtype; integers wrap, bools give or of and.
 */
#ifndef PRECAST_OPS_DOT_H
#define PRECAST_OPS_DOT_H

#include <precast/ops/strided.h>

/* c[m,n] = a[m,k] . b[k,n], k > 0, as pc_host.gemm. */
typedef int (*pc_product)(pc_context *ctx, int32_t dtype, int64_t m, int64_t n, int64_t k, const char *a, int64_t a_row, int64_t a_col,
                          const char *b, int64_t b_row, int64_t b_col, char *c, int64_t c_row, int64_t c_col);

/* The shape and strides of the dimensions that a product walks through. */
typedef struct pc_operand {
  const char *data;
  int32_t ndim;
  const int64_t *shape;
  const int64_t *strides;
} pc_operand;

/* out = a . b by NumPy's dot, `strides` those of the result; k == 0 has been seen to. */
__attribute__((unused, noinline)) static int pc_dot_into(pc_context *ctx, int32_t dtype, const pc_operand *a, const pc_operand *b, char *out,
                                                         const int64_t *strides, pc_product product) {
  int32_t at = 0, inner = b->ndim == 1 ? 0 : b->ndim - 2, last = a->ndim - 1;
  int64_t m = a->ndim > 1 ? a->shape[last - 1] : 1, n = b->ndim > 1 ? b->shape[b->ndim - 1] : 1;
  int64_t stacks_a = a->ndim > 2 ? a->shape[0] : 1, stacks_b = b->ndim > 2 ? b->shape[0] : 1;
  int64_t out_a = a->ndim > 2 ? strides[at++] : 0, row = a->ndim > 1 ? strides[at++] : 0;
  int64_t out_b = b->ndim > 2 ? strides[at++] : 0, column = b->ndim > 1 ? strides[at] : 0;
  for (int64_t i = 0; i < stacks_a; i++) {
    for (int64_t j = 0; j < stacks_b; j++) {
      int failed = product(ctx, dtype, m, n, a->shape[last], a->data + (a->ndim > 2 ? i * a->strides[0] : 0),
                           a->ndim > 1 ? a->strides[last - 1] : 0, a->strides[last], b->data + (b->ndim > 2 ? j * b->strides[0] : 0),
                           b->strides[inner], b->ndim > 1 ? b->strides[b->ndim - 1] : 0, out + i * out_a + j * out_b, row, column);
      if (failed) return failed;
    }
  }
  return 0;
}

/* The shape of the product of what lies behind the first `shared` dimensions; a value error, in NumPy's words, when the
 * inner extents differ. */
__attribute__((unused, noinline)) static int pc_dot_shape(pc_context *ctx, int32_t shared, const pc_tensor *a, const pc_tensor *b, int64_t *shape) {
  char left[PC_TEXT_BYTES], right[PC_TEXT_BYTES];
  int32_t last = a->ndim - 1, inner = b->ndim - shared == 1 ? shared : b->ndim - 2, ndim = 0;
  int whole = shared == 0 || a->shape[0] == b->shape[0];
  if (!whole || a->shape[last] != b->shape[inner]) {
    pc_error_format(ctx, PC_ERROR_VALUE, "shapes %s and %s not aligned: %lld (dim %d) != %lld (dim %d)",
                    pc_text_shape(ctx, left, a->ndim, a->shape), pc_text_shape(ctx, right, b->ndim, b->shape),
                    (long long)a->shape[whole ? last : 0], (int)(whole ? last : 0), (long long)b->shape[whole ? inner : 0],
                    (int)(whole ? inner : 0));
    return -1;
  }
  for (int32_t d = 0; d < last; d++) shape[ndim++] = a->shape[d];
  for (int32_t d = shared; d < b->ndim; d++) {
    if (d != inner) shape[ndim++] = b->shape[d];
  }
  return ndim;
}

/* The shape of the products of all matrices in two stacks; a value error when the stacks cannot be broadcast. */
__attribute__((unused, noinline)) static int pc_matmul_shape(pc_context *ctx, const pc_tensor *a, const pc_tensor *b, int64_t *shape) {
  char left[PC_TEXT_BYTES], right[PC_TEXT_BYTES];
  int32_t ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
  for (int32_t d = 0; d < ndim - 2; d++) {
    int64_t m = d < ndim - a->ndim ? 1 : a->shape[d - (ndim - a->ndim)];
    int64_t n = d < ndim - b->ndim ? 1 : b->shape[d - (ndim - b->ndim)];
    if (m != n && m != 1 && n != 1) {
      pc_error_format(ctx, PC_ERROR_VALUE, "stacks of shapes %s and %s cannot be broadcast",
                      pc_text_shape(ctx, left, a->ndim, a->shape), pc_text_shape(ctx, right, b->ndim, b->shape));
      return -1;
    }
    shape[d] = m == 1 ? n : m;
  }
  shape[ndim - 2] = a->shape[a->ndim - 2];
  shape[ndim - 1] = b->shape[b->ndim - 1];
  if (a->shape[a->ndim - 1] == b->shape[b->ndim - 2]) return ndim;
  pc_error_format(ctx, PC_ERROR_VALUE, "shapes %s and %s not aligned: %lld (dim 1) != %lld (dim 0)",
                  pc_text_shape(ctx, left, 2, a->shape + a->ndim - 2), pc_text_shape(ctx, right, 2, b->shape + b->ndim - 2),
                  (long long)a->shape[a->ndim - 1], (long long)b->shape[b->ndim - 2]);
  return -1;
}

/* The bytes from the first matrix of a stack to one of the broadcast stacks, by its position in C order. */
__attribute__((unused, noinline)) static int64_t pc_matmul_offset(const pc_tensor *t, int32_t ndim, const int64_t *shape, int64_t position) {
  int64_t offset = 0;
  for (int32_t d = ndim - 3; d >= 0; d--) {
    int32_t own = d - (ndim - t->ndim);
    if (own >= 0 && t->shape[own] != 1) offset += position % shape[d] * t->strides[own];
    position /= shape[d];
  }
  return offset;
}

/* The products of `count` pairs of vectors or matrices, whose steps lead from one to the next. */
__attribute__((unused, noinline)) static int pc_dot_pairs(pc_context *ctx, int32_t dtype, int64_t count, const pc_operand *a, int64_t a_step,
                                                          const pc_operand *b, int64_t b_step, char *out, int64_t out_step,
                                                          const int64_t *strides, pc_product product) {
  if (product != NULL) {
    for (int64_t i = 0; i < count; i++) {
      pc_operand left = *a, right = *b;
      left.data += i * a_step;
      right.data += i * b_step;
      int failed = pc_dot_into(ctx, dtype, &left, &right, out + i * out_step, strides, product);
      if (failed) return failed;
    }
    return 0;
  }
  int rows = a->ndim > 1, columns = b->ndim > 1;
  const int64_t extents[] = {count, rows ? a->shape[0] : 1, columns ? b->shape[1] : 1, a->shape[rows]};
  const int64_t a_steps[] = {a_step, rows ? a->strides[0] : 0, a->strides[rows]};
  const int64_t b_steps[] = {b_step, b->strides[0], columns ? b->strides[1] : 0};
  const int64_t steps[] = {out_step, rows ? strides[0] : 0, columns ? strides[rows] : 0};
  return ctx->host->gemms(ctx, dtype, extents, a->data, a_steps, b->data, b_steps, out, steps);
}

/* From one matrix of a broadcast stack to the next. */
static inline int64_t pc_matmul_step(const pc_tensor *t) { return t->ndim > 2 && t->shape[t->ndim - 3] != 1 ? t->strides[t->ndim - 3] : 0; }

/* The product of each pair of matrices, those of the last dimension of stacks at once. */
__attribute__((unused, noinline)) static int pc_matmul_into(pc_context *ctx, const pc_tensor *a, const pc_tensor *b, pc_tensor *t, pc_product product) {
  int32_t ndim = t->ndim;
  int64_t stacks = 1, count = ndim > 2 ? t->shape[ndim - 3] : 1;
  for (int32_t d = 0; d < ndim - 2; d++) stacks *= t->shape[d];
  for (int64_t i = 0; i < stacks; i += count) {
    pc_operand left = {a->data + pc_matmul_offset(a, ndim, t->shape, i), 2, a->shape + a->ndim - 2, a->strides + a->ndim - 2};
    pc_operand right = {b->data + pc_matmul_offset(b, ndim, t->shape, i), 2, b->shape + b->ndim - 2, b->strides + b->ndim - 2};
    int failed = pc_dot_pairs(ctx, a->dtype, count, &left, pc_matmul_step(a), &right, pc_matmul_step(b),
                              t->data + pc_matmul_offset(t, ndim, t->shape, i), pc_matmul_step(t), t->strides + ndim - 2, product);
    if (failed) return failed;
  }
  return 0;
}

__attribute__((unused, noinline)) static int pc_dot_with(pc_context *ctx, int32_t shared, pc_tensor *const *in, pc_tensor **out, pc_product product) {
  static const char zero[16] = {0};
  static const int64_t still[PC_MAX_NDIM] = {0};
  const pc_tensor *a = in[0], *b = in[1];
  int64_t shape[PC_MAX_NDIM];
  int32_t ndim = shared < 0 ? pc_matmul_shape(ctx, a, b, shape) : pc_dot_shape(ctx, shared, a, b, shape);
  if (ndim < 0) return -1;
  pc_tensor *t = pc_output_ready(ctx, out, a->dtype, ndim, shape);
  if (t == NULL) return -1;
  if (pc_tensor_size(t) == 0) return 0;
  if (a->shape[a->ndim - 1] == 0) {
    pc_copy_nd(pc_dtype_bytes(t->dtype), ndim, shape, t->data, t->strides, zero, still);
    return 0;
  }
  if (shared < 0) return pc_matmul_into(ctx, a, b, t, product);
  pc_operand left = {a->data, a->ndim - shared, a->shape + shared, a->strides + shared};
  pc_operand right = {b->data, b->ndim - shared, b->shape + shared, b->strides + shared};
  if (!shared) return pc_dot_into(ctx, a->dtype, &left, &right, t->data, t->strides, product != NULL ? product : ctx->host->gemm);
  return pc_dot_pairs(ctx, a->dtype, a->shape[0], &left, a->strides[0], &right, b->strides[0], t->data, t->strides[0], t->strides + 1, product);
}

/* props: how many dimensions are shared, 0 or 1; -1 for a matmul. */
__attribute__((unused, noinline)) static int pc_dot(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  (void)n_in;
  return pc_dot_with(ctx, (int32_t)props[0], in, &out[0], NULL);
}

#endif
