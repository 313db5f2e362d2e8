/* precast/ops/linalg/real.h: decompositions of one matrix and triangular systems. A part of matrix.h, which includes it for f32 and f64:
 * PC_T is the type of an element, PC_NAME(name) the name of a function for it.
 *
 * Each element x becomes x - a·b for one index k after another, in the order that each function states, and a product is rounded before it
 * is subtracted. The loops are cut into blocks and tiles that keep this order, so they do not show in the bits.
 */
#ifndef PC_T
#include <precast/ops/linalg/matrix.h>
#else

typedef PC_T PC_NAME(pc_vector) __attribute__((vector_size(PC_MATRIX_BYTES), may_alias));
typedef PC_T PC_NAME(pc_vector_at) __attribute__((vector_size(PC_MATRIX_BYTES), aligned(sizeof(PC_T)), may_alias));

/* The elements in a vector. */
#define PC_LANES ((int64_t)(PC_MATRIX_BYTES / sizeof(PC_T)))

/* A matrix that is read; its steps are in elements and may be negative. */
typedef struct PC_NAME(pc_matrix) {
  const PC_T *data;
  int64_t row, column;
} PC_NAME(pc_matrix);

/* c -= a · b for one tile: `rows` rows of `vectors` vectors, k in ascending order. Rows of b are `b_row` elements apart. */
static inline __attribute__((always_inline, unused)) void PC_NAME(pc_subtract_tile)(const int rows, const int vectors, int64_t k, PC_T *c,
                                                                                    int64_t c_row, PC_NAME(pc_matrix) a, const PC_T *b,
                                                                                    int64_t b_row) {
  PC_NAME(pc_vector) rest[PC_MATRIX_ROWS][2], of_b[2];
  #pragma GCC unroll 8
  for (int i = 0; i < rows; i++) {
    #pragma GCC unroll 2
    for (int j = 0; j < vectors; j++) rest[i][j] = *(const PC_NAME(pc_vector_at) *)(c + i * c_row + j * PC_LANES);
  }
  for (int64_t at = 0; at < k; at++) {
    #pragma GCC unroll 2
    for (int j = 0; j < vectors; j++) of_b[j] = *(const PC_NAME(pc_vector_at) *)(b + at * b_row + j * PC_LANES);
    #pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
      PC_T of_a = a.data[i * a.row + at * a.column];
      #pragma GCC unroll 2
      for (int j = 0; j < vectors; j++) rest[i][j] -= of_a * of_b[j];
    }
  }
  #pragma GCC unroll 8
  for (int i = 0; i < rows; i++) {
    #pragma GCC unroll 2
    for (int j = 0; j < vectors; j++) *(PC_NAME(pc_vector_at) *)(c + i * c_row + j * PC_LANES) = rest[i][j];
  }
}

/* The same for single columns: `rows` rows of one column. */
static inline __attribute__((always_inline, unused)) void PC_NAME(pc_subtract_column)(const int rows, int64_t k, PC_T *c, int64_t c_row,
                                                                                      PC_NAME(pc_matrix) a, const PC_T *b, int64_t b_row) {
  PC_T rest[PC_MATRIX_ROWS];
  #pragma GCC unroll 8
  for (int i = 0; i < rows; i++) rest[i] = c[i * c_row];
  for (int64_t at = 0; at < k; at++) {
    #pragma GCC unroll 8
    for (int i = 0; i < rows; i++) rest[i] -= a.data[i * a.row + at * a.column] * b[at * b_row];
  }
  #pragma GCC unroll 8
  for (int i = 0; i < rows; i++) c[i * c_row] = rest[i];
}

/* c[m,n] -= a[m,k] · b[k,n], k in ascending order. The columns of b and c are neighbors. c overlaps neither a nor b. */
__attribute__((unused, noinline)) static void PC_NAME(pc_subtract_product)(int64_t m, int64_t n, int64_t k, PC_T *c, int64_t c_row,
                                                                           PC_NAME(pc_matrix) a, const PC_T *b, int64_t b_row) {
  int64_t j = 0;
  while (j < n) {
    int64_t width = n - j >= 2 * PC_LANES ? 2 * PC_LANES : n - j >= PC_LANES ? PC_LANES : 1;
    for (int64_t i = 0; i < m;) {
      PC_NAME(pc_matrix) rows = {a.data + i * a.row, a.row, a.column};
      PC_T *to = c + i * c_row + j;
      int whole = m - i >= PC_MATRIX_ROWS;
      if (width == 2 * PC_LANES) {
        if (whole) PC_NAME(pc_subtract_tile)(PC_MATRIX_ROWS, 2, k, to, c_row, rows, b + j, b_row);
        else PC_NAME(pc_subtract_tile)(1, 2, k, to, c_row, rows, b + j, b_row);
      } else if (width == PC_LANES) {
        if (whole) PC_NAME(pc_subtract_tile)(PC_MATRIX_ROWS, 1, k, to, c_row, rows, b + j, b_row);
        else PC_NAME(pc_subtract_tile)(1, 1, k, to, c_row, rows, b + j, b_row);
      } else {
        if (whole) PC_NAME(pc_subtract_column)(PC_MATRIX_ROWS, k, to, c_row, rows, b + j, b_row);
        else PC_NAME(pc_subtract_column)(1, k, to, c_row, rows, b + j, b_row);
      }
      i += whole ? PC_MATRIX_ROWS : 1;
    }
    j += width;
  }
}

/* x -= factor · y for n neighbors. */
static inline __attribute__((unused)) void PC_NAME(pc_subtract_row)(int64_t n, PC_T *x, PC_T factor, const PC_T *y) {
  for (int64_t j = 0; j < n; j++) x[j] -= factor * y[j];
}

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
    if (a.data[i * (a.row + a.column)] == 0) return 1;
  }
  for (int64_t start = 0; start < n; start += PC_MATRIX_BLOCK) {
    int64_t stop = n - start < PC_MATRIX_BLOCK ? n : start + PC_MATRIX_BLOCK;
    PC_NAME(pc_matrix) before = {a.data + start * a.row, a.row, a.column};
    if (start > 0) PC_NAME(pc_subtract_product)(stop - start, m, start, x + start * x_row, x_row, before, x, x_row);
    for (int64_t i = start; i < stop; i++) {
      for (int64_t k = start; k < i; k++) PC_NAME(pc_subtract_row)(m, x + i * x_row, a.data[i * a.row + k * a.column], x + k * x_row);
      PC_T diagonal = unit ? 1 : a.data[i * (a.row + a.column)];
      for (int64_t j = 0; j < m && !unit; j++) x[i * x_row + j] /= diagonal;
    }
  }
  return 0;
}

/* Decomposes the symmetric matrix whose upper triangle u[n,n] holds into the product of uᵀ and u, in place. Returns whether the matrix is
 * not positive definite; a NaN does not count. */
__attribute__((unused, noinline)) static int PC_NAME(pc_cholesky_upper)(int64_t n, PC_T *u) {
  for (int64_t start = 0; start < n; start += PC_MATRIX_BLOCK) {
    int64_t stop = n - start < PC_MATRIX_BLOCK ? n : start + PC_MATRIX_BLOCK;
    for (int64_t k = start; k < stop; k++) {
      PC_T *row = u + k * n;
      if (row[k] <= 0) return 1;
      PC_T diagonal = row[k] = PC_NAME(pc_sqrt)(row[k]);
      for (int64_t j = k + 1; j < n; j++) row[j] /= diagonal;
      for (int64_t i = k + 1; i < stop; i++) PC_NAME(pc_subtract_row)(n - i, u + i * n + i, row[i], row + i);
    }
    for (int64_t i = stop; i < n; i += PC_MATRIX_ROWS) {
      int64_t rows = n - i < PC_MATRIX_ROWS ? n - i : PC_MATRIX_ROWS;
      PC_NAME(pc_matrix) columns = {u + start * n + i, 1, n};
      PC_NAME(pc_subtract_product)(rows, n - i, stop - start, u + i * n + i, n, columns, u + start * n + i, n);
    }
  }
  return 0;
}

/* The lower Cholesky factor of a in l[n,n]; of a the lower triangle is read. */
__attribute__((unused)) static int PC_NAME(pc_cholesky_one)(const int64_t *props, int64_t n, int64_t m, const char *a, const int64_t *steps,
                                                            char *out, char *room) {
  PC_T *l = (PC_T *)out;
  (void)props, (void)m, (void)room;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < i; j++) l[i * n + j] = 0;
    for (int64_t j = i; j < n; j++) l[i * n + j] = *(const PC_T *)(a + j * steps[0] + i * steps[1]);
  }
  if (PC_NAME(pc_cholesky_upper)(n, l)) return 1;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = i + 1; j < n; j++) {
      l[j * n + i] = l[i * n + j];
      l[i * n + j] = 0;
    }
  }
  return 0;
}

/* The position of the pivot of column k, from row k on: the first NaN, or else the first of the largest absolute values. */
__attribute__((unused)) static int64_t PC_NAME(pc_pivot)(int64_t n, const PC_T *u, int64_t k) {
  int64_t pivot = k;
  PC_T best = PC_NAME(pc_abs)(u[k * n + k]);
  for (int64_t i = k + 1; i < n && best == best; i++) {
    PC_T size = PC_NAME(pc_abs)(u[i * n + k]);
    if (size > best || size != size) {
      pivot = i;
      best = size;
    }
  }
  return pivot;
}

/* Decomposes u[n,n] in place into L, whose diagonal of ones is not stored, and U. `pivots`: the row that row k was exchanged with, before
 * column k was eliminated. A column whose pivot is 0 is left as it is. */
__attribute__((unused, noinline)) static void PC_NAME(pc_lu)(int64_t n, PC_T *u, int64_t *pivots) {
  for (int64_t start = 0; start < n; start += PC_MATRIX_BLOCK) {
    int64_t stop = n - start < PC_MATRIX_BLOCK ? n : start + PC_MATRIX_BLOCK;
    for (int64_t k = start; k < stop; k++) {
      int64_t pivot = pivots[k] = PC_NAME(pc_pivot)(n, u, k);
      for (int64_t j = 0; j < n && pivot != k; j++) {
        PC_T other = u[k * n + j];
        u[k * n + j] = u[pivot * n + j];
        u[pivot * n + j] = other;
      }
      PC_T diagonal = u[k * n + k];
      for (int64_t i = k + 1; i < n && diagonal != 0; i++) {
        PC_T factor = u[i * n + k] /= diagonal;
        PC_NAME(pc_subtract_row)(stop - k - 1, u + i * n + k + 1, factor, u + k * n + k + 1);
      }
    }
    PC_NAME(pc_matrix) panel = {u + start * n + start, n, 1}, below = {u + stop * n + start, n, 1};
    PC_NAME(pc_triangular_solve)(0, 1, stop - start, n - stop, panel, u + start * n + stop, n);
    PC_NAME(pc_subtract_product)(n - stop, n - stop, stop - start, u + stop * n + stop, n, below, u + start * n + stop, n);
  }
}

/* Copies a matrix to contiguous rows. */
__attribute__((unused)) static void PC_NAME(pc_copy_matrix)(int64_t n, int64_t m, PC_T *to, const char *from, const int64_t *steps) {
  const int64_t shape[2] = {n, m}, own[2] = {m * (int64_t)sizeof(PC_T), (int64_t)sizeof(PC_T)};
  pc_copy_nd((int32_t)sizeof(PC_T), 2, shape, (char *)to, own, from, steps);
}

/* L and U of a in one matrix; the pivots in `room`. */
__attribute__((unused)) static int PC_NAME(pc_lu_one)(const int64_t *props, int64_t n, int64_t m, const char *a, const int64_t *steps, char *out,
                                                      char *room) {
  (void)props, (void)m;
  PC_NAME(pc_copy_matrix)(n, n, (PC_T *)out, a, steps);
  PC_NAME(pc_lu)(n, (PC_T *)out, (int64_t *)room);
  return 0;
}

/* Solves a·x = b, where x[n,m] holds b. `room`: n pivots and n·n elements. */
__attribute__((unused)) static int PC_NAME(pc_solve_one)(const int64_t *props, int64_t n, int64_t m, const char *a, const int64_t *steps,
                                                         char *out, char *room) {
  int64_t *pivots = (int64_t *)room;
  PC_T *u = (PC_T *)(pivots + n), *x = (PC_T *)out;
  PC_NAME(pc_matrix) both = {u, n, 1};
  (void)props;
  PC_NAME(pc_copy_matrix)(n, n, u, a, steps);
  PC_NAME(pc_lu)(n, u, pivots);
  for (int64_t k = 0; k < n; k++) {
    for (int64_t j = 0; j < m && pivots[k] != k; j++) {
      PC_T other = x[k * m + j];
      x[k * m + j] = x[pivots[k] * m + j];
      x[pivots[k] * m + j] = other;
    }
  }
  PC_NAME(pc_triangular_solve)(0, 1, n, m, both, x, m);
  return PC_NAME(pc_triangular_solve)(1, 0, n, m, both, x, m);
}

/* Solves a·x = b, where x[n,m] holds b and a is triangular. props: upper, unit diagonal. */
__attribute__((unused)) static int PC_NAME(pc_triangular_one)(const int64_t *props, int64_t n, int64_t m, const char *a, const int64_t *steps,
                                                              char *out, char *room) {
  const int64_t item = (int64_t)sizeof(PC_T);
  PC_NAME(pc_matrix) triangle = {(const PC_T *)a, steps[0] / item, steps[1] / item};
  (void)room;
  return PC_NAME(pc_triangular_solve)(props[1] != 0, props[2] != 0, n, m, triangle, (PC_T *)out, m);
}

/* props: whether a failure gives NaN. */
__attribute__((unused)) static int PC_NAME(pc_cholesky)(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in,
                                                        pc_tensor **out) {
  (void)n_in;
  return pc_cholesky_of(ctx, props, in[0], out, PC_NAME(pc_cholesky_one));
}

/* out: L and U in one matrix, pivots. */
__attribute__((unused)) static int PC_NAME(pc_lu_factor)(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in,
                                                         pc_tensor **out) {
  (void)n_in;
  return pc_lu_of(ctx, props, in[0], out, PC_NAME(pc_lu_one));
}

/* props: whether a failure gives NaN. */
__attribute__((unused)) static int PC_NAME(pc_solve)(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in,
                                                     pc_tensor **out) {
  (void)n_in;
  return pc_system_of(ctx, props, in, out, PC_NAME(pc_solve_one));
}

/* props: whether a failure gives NaN, upper, unit diagonal. */
__attribute__((unused)) static int PC_NAME(pc_solve_triangular)(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in,
                                                                pc_tensor **out) {
  (void)n_in;
  return pc_system_of(ctx, props, in, out, PC_NAME(pc_triangular_one));
}

#undef PC_LANES

#endif
