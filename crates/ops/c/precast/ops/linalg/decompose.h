/* precast/ops/linalg/decompose.h: decompositions of one matrix and triangular systems. A part of matrix.h, which includes it for each dtype:
 * PC_T is the type of an element, PC_NAME(name) the name of a function for it; PC_PART and PC_PART_NAME are those of its real part.
 * Operations on elements are in real.h and complex.h.
 *
 * Each element x becomes x - a·b for one index k after another, in the order that each function states, and a product is rounded before it
 * is subtracted. The loops are cut into blocks that keep this order, so they do not show in the bits.
 */
#ifndef PC_T
#include <precast/ops/linalg/matrix.h>
#else

/* Solves a·x = b in place: x[n,m] holds b, its rows are contiguous. `upper`: from the last row to the first, else from the first to the
 * last; the other triangle of a is not read. `unit`: the diagonal counts as ones. Returns whether a number on the diagonal is 0; then x is
 * not valid. */
__attribute__((unused, noinline)) static int PC_NAME(pc_triangular_solve)(int upper, int unit, int64_t n, int64_t m, PC_NAME(pc_matrix) a,
                                                                          PC_T *x, int64_t x_row) {
  if (upper && n > 0) {
    a.data += (n - 1) * (a.row + a.column);
    a.row = -a.row, a.column = -a.column;
    x += (n - 1) * x_row;
    x_row = -x_row;
  }
  for (int64_t i = 0; i < n && !unit; i++) {
    if (PC_NAME(pc_is_zero)(a.data[i * (a.row + a.column)])) return 1;
  }
  for (int64_t start = 0; start < n; start += PC_MATRIX_BLOCK) {
    int64_t stop = n - start < PC_MATRIX_BLOCK ? n : start + PC_MATRIX_BLOCK;
    PC_NAME(pc_matrix) before = a;
    before.data += start * a.row;
    if (start > 0) PC_NAME(pc_subtract_product)(stop - start, m, start, x + start * x_row, x_row, before, x, x_row);
    for (int64_t i = start; i < stop; i++) {
      for (int64_t k = start; k < i; k++) PC_NAME(pc_subtract_row)(m, x + i * x_row, a.data[i * a.row + k * a.column], x + k * x_row);
      if (unit) continue;
      const PC_T diagonal = a.data[i * (a.row + a.column)];
      for (int64_t j = 0; j < m; j++) x[i * x_row + j] = PC_NAME(pc_divided)(x[i * x_row + j], diagonal);
    }
  }
  return 0;
}

/* Decomposes the Hermitian matrix whose conjugate has the upper triangle u[n,n] into the product of uᵀ and the conjugate of u, in place;
 * rows are `u_row` elements apart. Returns whether the matrix is not positive definite; a NaN does not count. */
__attribute__((unused, noinline)) static int PC_NAME(pc_cholesky_upper)(int64_t n, PC_T *u, int64_t u_row) {
  for (int64_t start = 0; start < n; start += PC_MATRIX_BLOCK) {
    int64_t stop = n - start < PC_MATRIX_BLOCK ? n : start + PC_MATRIX_BLOCK;
    for (int64_t k = start; k < stop; k++) {
      PC_T *row = u + k * u_row;
      const PC_PART square = PC_NAME(pc_real_part)(row[k]);
      if (square <= 0) return 1;
      const PC_PART diagonal = PC_PART_NAME(pc_sqrt)(square);
      row[k] = PC_NAME(pc_of_real)(diagonal);
      for (int64_t j = k + 1; j < n; j++) row[j] = PC_NAME(pc_over_real)(row[j], diagonal);
      for (int64_t i = k + 1; i < stop; i++) PC_NAME(pc_subtract_row)(n - i, u + i * u_row + i, PC_NAME(pc_conjugate)(row[i]), row + i);
    }
    for (int64_t i = stop; i < n; i += PC_MATRIX_ROWS) {
      int64_t rows = n - i < PC_MATRIX_ROWS ? n - i : PC_MATRIX_ROWS;
      PC_NAME(pc_matrix) columns = PC_NAME(pc_matrix_of)(u + start * u_row + i, 1, u_row);
      PC_T *to = u + i * u_row + i;
      PC_NAME(pc_subtract_product)(rows, n - i, stop - start, to, u_row, PC_NAME(pc_conjugates)(columns), u + start * u_row + i, u_row);
    }
  }
  return 0;
}

/* The lower Cholesky factor of a; of a the lower triangle is read. Triangles are turned block by block: a column touches many lines. */
__attribute__((unused)) static int PC_NAME(pc_cholesky_one)(const int64_t *props, int64_t n, int64_t m, const char *a, const int64_t *steps,
                                                            char *out, char *room) {
  const PC_T zero = PC_NAME(pc_of_real)(0);
  const int64_t row = pc_matrix_row(n, sizeof(PC_T)), most = PC_MATRIX_BLOCK;
  PC_T *l = (PC_T *)out, *u = row == n ? l : (PC_T *)(room + n * 8);
  (void)props, (void)m;
  for (int64_t start = 0; start < n; start += most) {
    for (int64_t j = start; j < n; j++) {
      for (int64_t i = start; i < start + most && i <= j; i++) u[i * row + j] = *(const PC_T *)(a + j * steps[0] + i * steps[1]);
    }
  }
  if (PC_NAME(pc_cholesky_upper)(n, u, row)) return 1;
  for (int64_t start = 0; start < n; start += most) {
    for (int64_t j = start; j < n; j++) {
      for (int64_t i = start; i < start + most && i <= j; i++) l[j * n + i] = u[i * row + j];
    }
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = i + 1; j < n; j++) l[i * n + j] = zero;
  }
  return 0;
}

/* The position of the pivot of column k, from row k on: the first NaN, or else the first of the largest absolute values. */
__attribute__((unused)) static int64_t PC_NAME(pc_pivot)(int64_t n, const PC_T *u, int64_t u_row, int64_t k) {
  int64_t pivot = k;
  PC_PART best = PC_NAME(pc_pivot_size)(u[k * u_row + k]);
  for (int64_t i = k + 1; i < n && best == best; i++) {
    PC_PART size = PC_NAME(pc_pivot_size)(u[i * u_row + k]);
    if (size > best || size != size) {
      pivot = i;
      best = size;
    }
  }
  return pivot;
}

/* Eliminates columns start to stop of u[n,n], from row `start` on, one after another; right of them rows are only exchanged. */
__attribute__((unused, noinline)) static void PC_NAME(pc_lu_few)(int64_t n, PC_T *u, int64_t u_row, int64_t *pivots, int64_t start,
                                                                      int64_t stop) {
  for (int64_t k = start; k < stop; k++) {
    int64_t pivot = pivots[k] = PC_NAME(pc_pivot)(n, u, u_row, k);
    for (int64_t j = 0; j < n && pivot != k; j++) {
      PC_T other = u[k * u_row + j];
      u[k * u_row + j] = u[pivot * u_row + j];
      u[pivot * u_row + j] = other;
    }
    PC_T diagonal = u[k * u_row + k];
    for (int64_t i = k + 1; i < n && !PC_NAME(pc_is_zero)(diagonal); i++) {
      PC_T factor = u[i * u_row + k] = PC_NAME(pc_divided)(u[i * u_row + k], diagonal);
      PC_NAME(pc_subtract_row)(stop - k - 1, u + i * u_row + k + 1, factor, u + k * u_row + k + 1);
    }
  }
}

/* The same for any number of columns: of many, first the left half, whose product is then subtracted from the right half at once. */
__attribute__((unused, noinline)) static void PC_NAME(pc_lu_columns)(int64_t n, PC_T *u, int64_t u_row, int64_t *pivots, int64_t start,
                                                                      int64_t stop) {
  if (stop - start <= PC_MATRIX_FEW) {
    PC_NAME(pc_lu_few)(n, u, u_row, pivots, start, stop);
    return;
  }
  const int64_t half = start + ((stop - start) / 2 + PC_MATRIX_FEW - 1) / PC_MATRIX_FEW * PC_MATRIX_FEW;
  PC_NAME(pc_lu_columns)(n, u, u_row, pivots, start, half);
  PC_NAME(pc_matrix) left = PC_NAME(pc_matrix_of)(u + start * u_row + start, u_row, 1), below = PC_NAME(pc_matrix_of)(u + half * u_row + start, u_row, 1);
  PC_NAME(pc_triangular_solve)(0, 1, half - start, stop - half, left, u + start * u_row + half, u_row);
  PC_NAME(pc_subtract_product)(n - half, stop - half, half - start, u + half * u_row + half, u_row, below, u + start * u_row + half, u_row);
  PC_NAME(pc_lu_columns)(n, u, u_row, pivots, half, stop);
}

/* Decomposes u[n,n] in place into L, whose diagonal of ones is not stored, and U. `pivots`: the row that row k was exchanged with, before
 * column k was eliminated. A column whose pivot is 0 is left unchanged. */
__attribute__((unused)) static void PC_NAME(pc_lu)(int64_t n, PC_T *u, int64_t u_row, int64_t *pivots) {
  PC_NAME(pc_lu_columns)(n, u, u_row, pivots, 0, n);
}

/* Copies a matrix to rows of neighbours, `row` elements apart. */
__attribute__((unused)) static void PC_NAME(pc_copy_matrix)(int64_t n, int64_t m, PC_T *to, int64_t row, const char *from, const int64_t *steps) {
  const int64_t shape[2] = {n, m}, own[2] = {row * (int64_t)sizeof(PC_T), (int64_t)sizeof(PC_T)};
  pc_copy_nd((int32_t)sizeof(PC_T), 2, shape, (char *)to, own, from, steps);
}

/* L and U of a in one matrix; the pivots in `room`. */
__attribute__((unused)) static int PC_NAME(pc_lu_one)(const int64_t *props, int64_t n, int64_t m, const char *a, const int64_t *steps, char *out,
                                                      char *room) {
  const int64_t row = pc_matrix_row(n, sizeof(PC_T)), own[2] = {row * (int64_t)sizeof(PC_T), (int64_t)sizeof(PC_T)};
  PC_T *u = row == n ? (PC_T *)out : (PC_T *)(room + n * 8);
  (void)props, (void)m;
  PC_NAME(pc_copy_matrix)(n, n, u, row, a, steps);
  PC_NAME(pc_lu)(n, u, row, (int64_t *)room);
  if (row != n) PC_NAME(pc_copy_matrix)(n, n, (PC_T *)out, n, (const char *)u, own);
  return 0;
}

/* Solves a·x = b, where x[n,m] holds b. `room`: n pivots, the matrix and the right side. */
__attribute__((unused)) static int PC_NAME(pc_solve_one)(const int64_t *props, int64_t n, int64_t m, const char *a, const int64_t *steps,
                                                         char *out, char *room) {
  const int64_t row = pc_matrix_row(n, sizeof(PC_T)), x_row = pc_matrix_row(m, sizeof(PC_T)), item = (int64_t)sizeof(PC_T);
  const int64_t plain[2] = {m * item, item}, own[2] = {x_row * item, item};
  int64_t *pivots = (int64_t *)room;
  PC_T *u = (PC_T *)(pivots + n), *x = x_row == m ? (PC_T *)out : u + n * row;
  PC_NAME(pc_matrix) both = PC_NAME(pc_matrix_of)(u, row, 1);
  (void)props;
  PC_NAME(pc_copy_matrix)(n, n, u, row, a, steps);
  if (x_row != m) PC_NAME(pc_copy_matrix)(n, m, x, x_row, out, plain);
  PC_NAME(pc_lu)(n, u, row, pivots);
  for (int64_t k = 0; k < n; k++) {
    for (int64_t j = 0; j < m && pivots[k] != k; j++) {
      PC_T other = x[k * x_row + j];
      x[k * x_row + j] = x[pivots[k] * x_row + j];
      x[pivots[k] * x_row + j] = other;
    }
  }
  if (PC_NAME(pc_triangular_solve)(0, 1, n, m, both, x, x_row) || PC_NAME(pc_triangular_solve)(1, 0, n, m, both, x, x_row)) return 1;
  if (x_row != m) PC_NAME(pc_copy_matrix)(n, m, (PC_T *)out, m, (const char *)x, own);
  return 0;
}

/* Solves a·x = b, where x[n,m] holds b and a is triangular. props: upper, unit diagonal. */
__attribute__((unused)) static int PC_NAME(pc_triangular_one)(const int64_t *props, int64_t n, int64_t m, const char *a, const int64_t *steps,
                                                              char *out, char *room) {
  const int64_t item = (int64_t)sizeof(PC_T);
  PC_NAME(pc_matrix) triangle = PC_NAME(pc_matrix_of)((const PC_T *)a, steps[0] / item, steps[1] / item);
  (void)room;
  return PC_NAME(pc_triangular_solve)(props[1] != 0, props[2] != 0, n, m, triangle, (PC_T *)out, m);
}

/* props: whether a failure gives NaN. */
__attribute__((unused)) static int PC_NAME(pc_cholesky)(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in,
                                                        pc_tensor **out) {
  (void)n_in;
  return pc_cholesky_of(ctx, props, in[0], out, PC_NAME(pc_cholesky_one), PC_GROUP_KERNEL(pc_cholesky_group));
}

/* out: L and U in one matrix, pivots. */
__attribute__((unused)) static int PC_NAME(pc_lu_factor)(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in,
                                                         pc_tensor **out) {
  (void)n_in;
  return pc_lu_of(ctx, props, in[0], out, PC_NAME(pc_lu_one), PC_GROUP_KERNEL(pc_lu_group));
}

/* props: whether a failure gives NaN. */
__attribute__((unused)) static int PC_NAME(pc_solve)(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in,
                                                     pc_tensor **out) {
  (void)n_in;
  return pc_system_of(ctx, props, in, out, PC_NAME(pc_solve_one), PC_GROUP_KERNEL(pc_solve_group));
}

/* props: whether a failure gives NaN, upper, unit diagonal. */
__attribute__((unused)) static int PC_NAME(pc_solve_triangular)(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in,
                                                                pc_tensor **out) {
  (void)n_in;
  return pc_system_of(ctx, props, in, out, PC_NAME(pc_triangular_one), PC_GROUP_KERNEL(pc_triangular_group));
}

#endif
