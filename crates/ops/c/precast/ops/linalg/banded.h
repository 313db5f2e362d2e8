/* precast/ops/linalg/banded.h: systems of linear equations with banded matrices, over stacks with any strides.
 *
 * LAPACK's gbsv without blocks. Elements of f32 are converted to f64 when they are read, and results are rounded once. NaN propagates; a
 * NaN in a column is its pivot.
 *
 * Source. G. H. Golub, C. F. Van Loan, Matrix Computations, 4.3.
 */
#ifndef PRECAST_OPS_LINALG_BANDED_H
#define PRECAST_OPS_LINALG_BANDED_H

#include <precast/ops/linalg/matrix.h>

/* x -= factor · y for n neighbors. */
static inline void pc_banded_subtract(int64_t n, double *x, double factor, const double *y) {
  for (int64_t j = 0; j < n; j++) x[j] -= factor * y[j];
}

static inline void pc_banded_swap(int64_t n, double *x, double *y) {
  for (int64_t j = 0; j < n; j++) {
    double other = x[j];
    x[j] = y[j];
    y[j] = other;
  }
}

/* Reads the diagonals: the element of row i and column j is rows[i·width + j - i + lower]. Exchanges of rows add `lower` diagonals above
 * the given ones. steps: from diagonal to diagonal and from column to column, in bytes. */
__attribute__((unused)) static void pc_banded_read(int32_t dtype, int64_t lower, int64_t upper, int64_t n, const char *bands,
                                                   const int64_t *steps, double *rows) {
  const int64_t width = 2 * lower + upper + 1;
  for (int64_t i = 0; i < n * width; i++) rows[i] = 0;
  for (int64_t above = upper; above >= -lower; above--, bands += steps[0]) {
    for (int64_t j = above > 0 ? above : 0; j < n && j - above < n; j++) {
      const char *from = bands + j * steps[1];
      rows[(j - above) * width + lower + above] = dtype == PC_F32 ? (double)*(const float *)from : *(const double *)from;
    }
  }
}

/* Solves one system in place: x[n,m] holds the right sides. Returns whether a pivot is 0; then x is not valid. */
__attribute__((unused, noinline)) static int pc_banded_one(int64_t lower, int64_t upper, int64_t n, int64_t m, double *rows, double *x) {
  const int64_t reach = lower + upper, width = lower + reach + 1;
  for (int64_t k = 0; k < n; k++) {
    const int64_t below = n - 1 - k < lower ? n - 1 - k : lower, right = n - 1 - k < reach ? n - 1 - k : reach;
    double *top = rows + k * width + lower, best = __builtin_fabs(*top);
    int64_t pivot = 0;
    for (int64_t i = 1; i <= below && best == best; i++) {
      double size = __builtin_fabs(top[i * (width - 1)]);
      if (size > best || size != size) pivot = i, best = size;
    }
    if (pivot > 0) {
      pc_banded_swap(right + 1, top, top + pivot * (width - 1));
      pc_banded_swap(m, x + k * m, x + (k + pivot) * m);
    }
    if (*top == 0) return 1;
    for (int64_t i = 1; i <= below; i++) {
      double *row = top + i * (width - 1), factor = *row / *top;
      pc_banded_subtract(right, row + 1, factor, top + 1);
      pc_banded_subtract(m, x + (k + i) * m, factor, x + k * m);
    }
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    const int64_t right = n - 1 - i < reach ? n - 1 - i : reach;
    const double *row = rows + i * width + lower;
    for (int64_t k = 1; k <= right; k++) pc_banded_subtract(m, x + i * m, row[k], x + (i + k) * m);
    for (int64_t j = 0; j < m; j++) x[i * m + j] /= *row;
  }
  return 0;
}

/* in: diagonals, right sides; out: solutions. props: whether a failure gives NaN, the diagonals below and above the main one. */
__attribute__((unused)) static int pc_solve_banded(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in,
                                                   pc_tensor **out) {
  const pc_tensor *bands = in[0], *b = in[1];
  const int64_t lower = props[1], upper = props[2], n = bands->shape[bands->ndim - 1];
  char text[PC_TEXT_BYTES];
  int64_t shape[PC_MAX_NDIM], count = 1;
  (void)n_in;
  if (bands->shape[bands->ndim - 2] != lower + 1 + upper) {
    pc_error_format(ctx, PC_ERROR_VALUE, "expected %lld rows of diagonals, found the shape %s", (long long)(lower + 1 + upper),
                    pc_text_shape(ctx, text, bands->ndim, bands->shape));
    return -1;
  }
  int32_t ndim = pc_system_shape(ctx, bands, b, shape);
  if (ndim < 0) return -1;
  pc_tensor *t = pc_output_ready(ctx, out, bands->dtype, ndim, shape);
  if (t == NULL) return -1;
  if (pc_tensor_size(t) == 0) return 0;
  const int64_t m = shape[ndim - 1], room = n * (2 * lower + upper + 1);
  for (int32_t d = 0; d < ndim - 2; d++) count *= shape[d];
  double *rows = (double *)ctx->host->alloc(ctx, (size_t)(room + n * m) * sizeof(double)), *x = rows + room;
  if (rows == NULL) return -1;
  int failed = 0;
  for (int64_t i = 0; i < count && !failed; i++) {
    const int64_t *from = b->strides + b->ndim - 2;
    pc_lines to = {t->data + pc_stack_offset(t, t, i), t->strides[ndim - 2], t->strides[ndim - 1], t->dtype};
    pc_banded_read(bands->dtype, lower, upper, n, bands->data + pc_stack_offset(bands, t, i), bands->strides + bands->ndim - 2, rows);
    pc_read_matrix(b->dtype, n, m, x, b->data + pc_stack_offset(b, t, i), from[0], from[1]);
    failed = pc_banded_one(lower, upper, n, m, rows, x);
    if (failed && props[0]) {
      pc_matrix_nan(PC_F64, n * m, (char *)x);
      failed = 0;
    }
    for (int64_t row = 0; row < n; row++) pc_write_row(&to, row, m, x + row * m, 0);
  }
  ctx->host->release(ctx, rows);
  if (failed) pc_error_format(ctx, PC_ERROR_VALUE, "singular matrix");
  return failed ? -1 : 0;
}

#endif
