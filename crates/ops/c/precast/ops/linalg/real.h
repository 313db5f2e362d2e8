/* precast/ops/linalg/real.h: the elements that decompose.h needs, for f32 and f64. A part of matrix.h, which defines PC_T and PC_NAME.
 *
 * The tiles keep the order of operations on each element, so they do not show in the bits.
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

static inline PC_NAME(pc_matrix) PC_NAME(pc_matrix_of)(const PC_T *data, int64_t row, int64_t column) {
  PC_NAME(pc_matrix) made = {data, row, column};
  return made;
}

/* A matrix of the conjugates, which are the elements themselves. */
static inline PC_NAME(pc_matrix) PC_NAME(pc_conjugates)(PC_NAME(pc_matrix) a) { return a; }

static inline int PC_NAME(pc_is_zero)(PC_T x) { return x == 0; }
static inline PC_T PC_NAME(pc_divided)(PC_T x, PC_T y) { return x / y; }
static inline PC_PART PC_NAME(pc_pivot_size)(PC_T x) { return PC_PART_NAME(pc_abs)(x); }
static inline PC_PART PC_NAME(pc_real_part)(PC_T x) { return x; }
static inline PC_T PC_NAME(pc_of_real)(PC_PART x) { return x; }
static inline PC_T PC_NAME(pc_conjugate)(PC_T x) { return x; }
static inline PC_T PC_NAME(pc_over_real)(PC_T x, PC_PART y) { return x / y; }

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

#undef PC_LANES

#endif
