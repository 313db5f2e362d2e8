/* precast/ops/linalg/reflect.h: Householder reflections of rows.
 *
 * A sum of products has 8 lanes: term i belongs to lane i mod 8, and a tree adds the lanes. Everything else is computed for each element by
 * itself. The order of operations is therefore the same for vectors of every width. Rows are handled four at a time, without effect on the
 * bits.
 *
 * Source. G. H. Golub, C. F. Van Loan, Matrix Computations, 5.1; LAPACK, larfg.
 */
#ifndef PRECAST_OPS_LINALG_REFLECT_H
#define PRECAST_OPS_LINALG_REFLECT_H

#include <precast/ops/linalg/stack.h>

#if defined(__AVX512F__)
#define PC_LINE_BYTES 64
#elif defined(__AVX2__)
#define PC_LINE_BYTES 32
#else
#define PC_LINE_BYTES 16
#endif
/* The numbers in a vector, and the vectors of a sum's lanes. */
#define PC_LINE (PC_LINE_BYTES / 8)
#define PC_LANE_VECTORS (64 / PC_LINE_BYTES)
#define PC_REFLECT_ROWS 4

typedef double pc_line __attribute__((vector_size(PC_LINE_BYTES), aligned(8), may_alias));

/* The lanes of a sum. */
typedef union pc_lanes {
  pc_line vectors[PC_LANE_VECTORS];
  double lanes[8];
} pc_lanes;

static inline double pc_size(double x) { return __builtin_fabs(x); }

static inline double pc_lanes_total(const double *s) { return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])); }

/* The total of the lanes of a sum and the products of n pairs that belong to the first n lanes. */
static inline double pc_lanes_last(const double *lanes, int64_t n, const double *x, const double *y) {
  double s[8];
  #pragma GCC unroll 8
  for (int lane = 0; lane < 8; lane++) s[lane] = lanes[lane];
  #pragma GCC unroll 8
  for (int lane = 0; lane < 7; lane++) {
    if (lane == n) break;
    s[lane] += x[lane] * y[lane];
  }
  return pc_lanes_total(s);
}

/* The sum of the products of n pairs, and of the lanes of pairs before them, whose number is a multiple of 8. */
static inline __attribute__((always_inline, unused)) double pc_dot_after(const pc_lanes *before, int64_t n, const double *x, const double *y) {
  pc_lanes sums = *before;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    #pragma GCC unroll 4
    for (int l = 0; l < PC_LANE_VECTORS; l++) sums.vectors[l] += *(const pc_line *)(x + i + l * PC_LINE) * *(const pc_line *)(y + i + l * PC_LINE);
  }
  return pc_lanes_last(sums.lanes, n - i, x + i, y + i);
}

/* The sum of the products of n pairs. */
__attribute__((unused, noinline)) static double pc_dot_of(int64_t n, const double *x, const double *y) {
  static const pc_lanes zeros = {{{0}}};
  return n < 8 ? pc_lanes_last(zeros.lanes, n, x, y) : pc_dot_after(&zeros, n, x, y);
}

/* The largest absolute value; NaN if any number is NaN. */
__attribute__((unused)) static double pc_largest(int64_t n, const double *x) {
  double largest = 0;
  for (int64_t i = 0; i < n; i++) {
    double size = pc_size(x[i]);
    if (size > largest || size != size) largest = size;
    if (size != size) break;
  }
  return largest;
}

/* Whether squares of this size neither overflow nor lose digits. */
static inline int pc_square_fits(double square) { return square > 0x1p-900 && square < 0x1p+900; }

/* The factor that moves a number of this size to the middle of the range. */
static inline double pc_to_middle(double largest) { return largest > 0x1p+400 ? 0x1p-600 : largest < 0x1p-400 ? 0x1p+600 : 1; }

/* The Euclidean norm. */
__attribute__((unused)) static double pc_norm_of(int64_t n, const double *x) {
  double square = pc_dot_of(n, x, x);
  if (square != square || pc_square_fits(square)) return __builtin_sqrt(square);
  double largest = pc_largest(n, x), scale = pc_to_middle(largest);
  if (largest == 0 || largest > 0x1.fffffffffffffp+1023) return largest;
  square = 0;
  for (int64_t i = 0; i < n; i++) square += (x[i] * scale) * (x[i] * scale);
  return __builtin_sqrt(square) / scale;
}

/* The root of x² + y². */
__attribute__((unused)) static double pc_length(double x, double y) {
  double square = x * x + y * y, pair[2];
  if (pc_square_fits(square)) return __builtin_sqrt(square);
  pair[0] = x, pair[1] = y;
  return pc_norm_of(2, pair);
}

/* Replaces x[n] by the vector v of a reflection 1 - tau·v·vᵀ that turns x into a multiple of one axis, and returns this multiple. The
 * number at `pivot` is the axis: v is 1 there, and the multiple has the opposite sign of x. tau is 0 if x is such a multiple. */
__attribute__((unused)) static double pc_reflection(int64_t n, double *x, int64_t pivot, double *tau) {
  const int64_t start = pivot == 0 ? 1 : 0, stop = start + n - 1;
  double alpha = x[pivot], rest = pc_norm_of(n - 1, x + start);
  x[pivot] = 1;
  *tau = 0;
  if (rest == 0) return alpha;
  double scale = pc_to_middle(pc_size(alpha) > rest ? pc_size(alpha) : rest);
  if (scale != 1) {
    alpha *= scale;
    for (int64_t i = start; i < stop; i++) x[i] *= scale;
    rest = pc_norm_of(n - 1, x + start);
  }
  double beta = alpha >= 0 ? -pc_length(alpha, rest) : pc_length(alpha, rest);
  *tau = (beta - alpha) / beta;
  for (int64_t i = start; i < stop; i++) x[i] /= alpha - beta;
  return beta / scale;
}

/* Reflects some rows of n numbers. */
static inline __attribute__((always_inline, unused)) void pc_reflect_tile(const int rows, int64_t n, double *x, int64_t row, const double *v,
                                                                          double tau) {
  pc_line vectors[PC_REFLECT_ROWS][PC_LANE_VECTORS] = {{{0}}};
  double factor[PC_REFLECT_ROWS];
  int64_t whole = n / 8 * 8;
  for (int64_t i = 0; i < whole; i += 8) {
    #pragma GCC unroll 4
    for (int l = 0; l < PC_LANE_VECTORS; l++) {
      const pc_line of_v = *(const pc_line *)(v + i + l * PC_LINE);
      #pragma GCC unroll 4
      for (int r = 0; r < rows; r++) vectors[r][l] += *(const pc_line *)(x + r * row + i + l * PC_LINE) * of_v;
    }
  }
  #pragma GCC unroll 4
  for (int r = 0; r < rows; r++) {
    pc_lanes sums;
    #pragma GCC unroll 4
    for (int l = 0; l < PC_LANE_VECTORS; l++) sums.vectors[l] = vectors[r][l];
    factor[r] = tau * pc_lanes_last(sums.lanes, n - whole, x + r * row + whole, v + whole);
  }
  for (int64_t i = 0; i < whole; i += PC_LINE) {
    const pc_line of_v = *(const pc_line *)(v + i);
    #pragma GCC unroll 4
    for (int r = 0; r < rows; r++) *(pc_line *)(x + r * row + i) -= factor[r] * of_v;
  }
  for (int r = 0; r < rows; r++) {
    for (int64_t i = whole; i < n; i++) x[r * row + i] -= factor[r] * v[i];
  }
}

/* Reflects `rows` rows of n numbers, which are `row` elements apart. Nothing happens if tau is 0. */
__attribute__((unused, noinline)) static void pc_reflect(int64_t rows, int64_t n, double *x, int64_t row, const double *v, double tau) {
  if (tau == 0) return;
  int64_t r = 0;
  for (; r + PC_REFLECT_ROWS <= rows; r += PC_REFLECT_ROWS) pc_reflect_tile(PC_REFLECT_ROWS, n, x + r * row, row, v, tau);
  for (; r < rows; r++) pc_reflect_tile(1, n, x + r * row, row, v, tau);
}

/* The elements from a row of n numbers to the next in rows that are rotated: an odd number of cache lines, so that the rows of a block of
 * columns lie in different sets of the cache. */
static inline int64_t pc_row_of(int64_t n) { return ((n + 7) / 8 | 1) * 8; }

/* The columns of a product of reflections, as `rows` rows of n numbers: row j is H(0)·…·H(last)·e(j). The vector of reflection k is v[k,n] from
 * index k + shift on; such rows are `v_row` elements apart. `first`: the index of the first row. `row`: elements from a row of q to the next. */
__attribute__((unused)) static void pc_reflect_units(int64_t first, int64_t rows, int64_t n, double *q, int64_t row, const double *v,
                                                     int64_t v_row, const double *tau, int64_t count, int64_t shift) {
  for (int64_t j = 0; j < rows; j++) {
    for (int64_t i = 0; i < n; i++) q[j * row + i] = i == first + j ? 1 : 0;
  }
  for (int64_t start = 0; start < rows; start += PC_REFLECT_ROWS) {
    int64_t stop = start + PC_REFLECT_ROWS < rows ? start + PC_REFLECT_ROWS : rows;
    int64_t last = first + stop - 1 - shift < count - 1 ? first + stop - 1 - shift : count - 1;
    for (int64_t k = last; k >= 0; k--) {
      /* Reflection k does not change earlier units. */
      int64_t from = k + shift - first > start ? k + shift - first : start;
      pc_reflect(stop - from, n - k - shift, q + from * row + k + shift, row, v + k * v_row + k + shift, tau[k]);
    }
  }
}

/* Whether the first of the largest absolute values is negative. */
__attribute__((unused)) static int pc_is_turned(int64_t n, const double *x) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; i++) {
    if (pc_size(x[i]) > pc_size(x[best])) best = i;
  }
  return n > 0 && x[best] < 0;
}

/* The order of n numbers; equal ones keep theirs. */
__attribute__((unused)) static void pc_order_of(int64_t n, const double *x, int descending, int64_t *order) {
  for (int64_t i = 0; i < n; i++) {
    int64_t at = i;
    for (; at > 0 && (descending ? x[order[at - 1]] < x[i] : x[order[at - 1]] > x[i]); at--) order[at] = order[at - 1];
    order[at] = i;
  }
}

/* Writes NaN to every element of a result. */
__attribute__((unused)) static void pc_write_nan(const pc_lines *to, int64_t rows, int64_t columns) {
  const double nan[2] = {__builtin_nan(""), __builtin_nan("")};
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) pc_write_line(to->dtype, 1, to->data + i * to->row + j * to->column, 0, nan, 0);
  }
}

#endif
