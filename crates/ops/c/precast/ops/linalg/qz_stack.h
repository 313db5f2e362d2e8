/* precast/ops/linalg/qz_stack.h: generalized Schur decompositions over stacks of pairs of matrices with any strides.
 *
 * A pair with NaN or an infinity has only NaN as results, and so has one whose eigenvalues do not converge.
 */
#ifndef PRECAST_OPS_LINALG_QZ_STACK_H
#define PRECAST_OPS_LINALG_QZ_STACK_H

#include <precast/ops/linalg/qz.h>

#define PC_QZ_RESULTS 6

/* Scales a matrix of some elements next to 1. Returns whether it is not finite. */
__attribute__((unused)) static int pc_qz_prepare(int64_t size, double *x, double *scale) {
  const double largest = pc_largest(size, x);
  *scale = pc_qz_scale(largest);
  for (int64_t i = 0; i < size; i++) x[i] *= *scale;
  return !(largest <= 0x1.fffffffffffffp+1023);
}

/* values: 3·n elements. */
__attribute__((unused)) static void pc_qz_one(pc_pencil *of, int64_t sort, const pc_lines *results, double *values) {
  const int64_t n = of->n, width = of->parts * n, size = width * n;
  const int is_infinite = pc_qz_prepare(size, of->a, &of->of_a) | pc_qz_prepare(size, of->b, &of->of_b);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < width; j++) of->q[i * of->row + j] = of->z[i * of->row + j] = i == j;
  }
  if (is_infinite || pc_qz_decompose(of, sort)) {
    for (int r = 0; r < PC_QZ_RESULTS; r++) pc_write_nan(&results[r], results[r].row == 0 ? 1 : n, n);
    return;
  }
  for (int64_t k = 0; k < n; k++) {
    pc_c128 alpha[2];
    const int count = pc_pencil_is_pair(of, k) ? 2 : 1;
    pc_pencil_values(of, k, alpha, values + 2 * n + k);
    for (int i = 0; i < count; i++) values[k + i] = alpha[i].re, values[n + k + i] = alpha[i].im;
    k += count - 1;
  }
  for (int64_t i = 0; i < size; i++) of->a[i] /= of->of_a, of->b[i] /= of->of_b;
  for (int64_t i = 0; i < n; i++) {
    pc_write_row(&results[0], i, n, of->a + i * width, 0);
    pc_write_row(&results[1], i, n, of->b + i * width, 0);
    pc_write_column(&results[4], i, n, of->q + i * of->row, 0);
    pc_write_column(&results[5], i, n, of->z + i * of->row, 0);
  }
  pc_write_row(&results[2], 0, n, values, 0);
  pc_write_row(&results[3], 0, n, values + 2 * n, 0);
}

/* in: two stacks. out: both Schur forms, the numerators and denominators of the eigenvalues, and the vectors on both sides as columns. props:
 * the eigenvalues that come first. */
__attribute__((unused)) static int pc_qz(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  const int32_t dtype = in[0]->dtype, stack = in[0]->ndim - 2;
  const int32_t ranks[PC_QZ_RESULTS] = {2, 2, 1, 1, 2, 2};
  const int32_t dtypes[PC_QZ_RESULTS] = {dtype, dtype, pc_whole_dtype(dtype), pc_part_dtype(dtype), dtype, dtype};
  const int64_t n = in[0]->shape[stack + 1], parts = pc_is_complex(dtype) ? 2 : 1, size = parts * n * n, row = pc_row_of(parts * n);
  pc_lines results[PC_QZ_RESULTS];
  pc_tensor *t[PC_QZ_RESULTS];
  int64_t count = 1;
  char text[2][PC_TEXT_BYTES];
  (void)n_in;
  if (pc_matrix_square(ctx, in[0])) return -1;
  for (int32_t d = 0; d < in[0]->ndim; d++) {
    if (in[0]->shape[d] == in[1]->shape[d]) continue;
    pc_error_format(ctx, PC_ERROR_VALUE, "expected matrices of equal shapes, found the shapes %s and %s",
                    pc_text_shape(ctx, text[0], in[0]->ndim, in[0]->shape), pc_text_shape(ctx, text[1], in[1]->ndim, in[1]->shape));
    return -1;
  }
  for (int32_t d = 0; d < stack; d++) count *= in[0]->shape[d];
  for (int r = 0; r < PC_QZ_RESULTS; r++) {
    t[r] = pc_output_ready(ctx, &out[r], dtypes[r], stack + ranks[r], in[0]->shape);
    if (t[r] == NULL) return -1;
    results[r].dtype = dtypes[r];
    results[r].row = ranks[r] == 2 ? t[r]->strides[stack] : 0;
    results[r].column = t[r]->strides[stack + ranks[r] - 1];
  }
  if (count == 0) return 0;
  double *room = (double *)ctx->host->alloc(ctx, (size_t)(2 * size + 2 * n * row + 3 * n + 1) * sizeof(double));
  if (room == NULL) return -1;
  pc_pencil of = {n, parts, room, room + size, room + 2 * size, room + 2 * size + n * row, row, 1, 1};
  for (int64_t i = 0; i < count; i++) {
    for (int r = 0; r < PC_QZ_RESULTS; r++) results[r].data = t[r]->data + pc_item_offset(t[r], ranks[r], i);
    for (int x = 0; x < 2; x++) {
      const int64_t *strides = in[x]->strides + stack;
      pc_read_matrix(dtype, n, n, x == 0 ? of.a : of.b, in[x]->data + pc_item_offset(in[x], 2, i), strides[0], strides[1]);
    }
    pc_qz_one(&of, props[0], results, of.z + n * row);
  }
  ctx->host->release(ctx, room);
  return 0;
}

#endif
