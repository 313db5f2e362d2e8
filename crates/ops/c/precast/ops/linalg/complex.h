/* precast/ops/linalg/complex.h: the elements that decompose.h needs, for c64 and c128. A part of matrix.h, which defines PC_T and PC_NAME. */
#ifndef PC_T
#include <precast/ops/linalg/matrix.h>
#else

/* A matrix that is read; its steps are in elements and may be negative. */
typedef struct PC_NAME(pc_matrix) {
  const PC_T *data;
  int64_t row, column;
  /* Whether the conjugates are read. */
  int conjugate;
} PC_NAME(pc_matrix);

static inline PC_NAME(pc_matrix) PC_NAME(pc_matrix_of)(const PC_T *data, int64_t row, int64_t column) {
  PC_NAME(pc_matrix) made = {data, row, column, 0};
  return made;
}

static inline PC_NAME(pc_matrix) PC_NAME(pc_conjugates)(PC_NAME(pc_matrix) a) {
  a.conjugate = !a.conjugate;
  return a;
}

static inline int PC_NAME(pc_is_zero)(PC_T x) { return x.re == 0 && x.im == 0; }
/* |re| + |im|, as in LAPACK. */
static inline PC_PART PC_NAME(pc_pivot_size)(PC_T x) { return PC_PART_NAME(pc_abs)(x.re) + PC_PART_NAME(pc_abs)(x.im); }
/* The quotient. The inverse of y in pc_div would overflow or lose digits at both ends of the range, so both are moved. */
static inline PC_T PC_NAME(pc_divided)(PC_T x, PC_T y) {
  const int is_short = sizeof(PC_PART) == 4;
  const double size = PC_NAME(pc_pivot_size)(y), least = is_short ? 0x1p-110 : 0x1p-1000, most = 1 / least, step = is_short ? 0x1p+40 : 0x1p+100;
  if (size >= least && size <= most) return PC_NAME(pc_div)(x, y);
  const PC_PART by = (PC_PART)(size < least ? step : 1 / step);
  return PC_NAME(pc_div)(PC_PART_NAME(pc_complex)(x.re * by, x.im * by), PC_PART_NAME(pc_complex)(y.re * by, y.im * by));
}
static inline PC_PART PC_NAME(pc_real_part)(PC_T x) { return x.re; }
static inline PC_T PC_NAME(pc_of_real)(PC_PART x) { return PC_PART_NAME(pc_complex)(x, 0); }
static inline PC_T PC_NAME(pc_conjugate)(PC_T x) { return PC_NAME(pc_conj)(x); }
static inline PC_T PC_NAME(pc_over_real)(PC_T x, PC_PART y) { return PC_PART_NAME(pc_complex)(x.re / y, x.im / y); }

/* x -= factor · y for n neighbors. */
static inline __attribute__((unused)) void PC_NAME(pc_subtract_row)(int64_t n, PC_T *x, PC_T factor, const PC_T *y) {
  for (int64_t j = 0; j < n; j++) x[j] = PC_NAME(pc_sub)(x[j], PC_NAME(pc_mul)(factor, y[j]));
}

/* c[m,n] -= a[m,k] · b[k,n], k in ascending order. The columns of b and c are neighbors. c overlaps neither a nor b. */
__attribute__((unused, noinline)) static void PC_NAME(pc_subtract_product)(int64_t m, int64_t n, int64_t k, PC_T *c, int64_t c_row,
                                                                           PC_NAME(pc_matrix) a, const PC_T *b, int64_t b_row) {
  for (int64_t i = 0; i < m; i++) {
    for (int64_t at = 0; at < k; at++) {
      const PC_T factor = a.data[i * a.row + at * a.column];
      PC_NAME(pc_subtract_row)(n, c + i * c_row, a.conjugate ? PC_NAME(pc_conj)(factor) : factor, b + at * b_row);
    }
  }
}

#endif
