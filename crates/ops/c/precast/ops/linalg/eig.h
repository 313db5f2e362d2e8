/* precast/ops/linalg/eig.h: eigenvalues and right eigenvectors of matrices, over stacks of matrices with any strides.
 *
 * Powers of 2 balance the rows and columns of the matrix. From its Schur form, back substitution gives the eigenvectors, in f64. The
 * eigenvalues are in the order of the Schur form's diagonal; of a conjugate pair of a real matrix, the one with the positive imaginary part is first, and the
 * eigenvector of the other is the conjugate. An eigenvector has norm 1, and its first element of the largest absolute value is real and
 * positive. A matrix with NaN or an infinity has only NaN as results, and so has one whose eigenvalues do not converge.
 *
 * Source. B. N. Parlett, C. Reinsch, Balancing a matrix, 1969; R. James, J. Langou, B. R. Lowery, On matrix balancing and eigenvector
 * computation, arXiv:1401.5766; LAPACK, trevc.
 */
#ifndef PRECAST_OPS_LINALG_EIG_H
#define PRECAST_OPS_LINALG_EIG_H

#include <precast/ops/linalg/schur_complex.h>

/* The most passes that balance a matrix. */
#define PC_BALANCE_PASSES 100

/* The Euclidean norm of n numbers that are `along` elements apart. */
__attribute__((unused)) static double pc_balance_norm(int64_t n, const double *x, int64_t along) {
  double square = 0, largest = 0;
  for (int64_t i = 0; i < n; i++) square += x[i * along] * x[i * along];
  if (pc_square_fits(square)) return __builtin_sqrt(square);
  for (int64_t i = 0; i < n; i++) largest = pc_size(x[i * along]) > largest ? pc_size(x[i * along]) : largest;
  if (largest == 0) return 0;
  square = 0;
  for (int64_t i = 0; i < n; i++) square += (x[i * along] / largest) * (x[i * along] / largest);
  return largest * __builtin_sqrt(square);
}

/* Replaces a[n,n] by D⁻¹·a·D, where the diagonal d[n] of D holds powers of 2, so that the Euclidean norms of row i and column i are close. parts: the
 * elements of a number. */
__attribute__((unused)) static void pc_balance(int64_t n, int64_t parts, double *a, double *d) {
  for (int64_t i = 0; i < n; i++) d[i] = 1;
  int changed = 1;
  for (int pass = 0; pass < PC_BALANCE_PASSES && changed; pass++) {
    changed = 0;
    for (int64_t i = 0; i < n; i++) {
      double column = pc_balance_norm(parts * n, a + i, n), row = pc_balance_norm(parts * n, a + parts * i * n, 1), factor = 1;
      if (column == 0 || row == 0) continue;
      const double before = column + row;
      for (; column < row / 2 && factor * d[i] < 0x1p+300; factor *= 2) column *= 2, row /= 2;
      for (; row < column / 2 && factor * d[i] > 0x1p-300; factor /= 2) column /= 2, row *= 2;
      if (factor == 1 || column + row >= 0.95 * before) continue;
      d[i] *= factor;
      for (int64_t j = 0; j < parts * n; j++) a[parts * i * n + j] /= factor;
      for (int64_t j = 0; j < parts * n; j++) a[j * n + i] *= factor;
      changed = 1;
    }
  }
}

/* An equation with two unknowns. */
typedef struct pc_equation {
  pc_c128 first, last, right;
} pc_equation;

/* x, except that a number below `least` becomes `least`. */
static inline pc_c128 pc_at_least(pc_c128 x, double least) { return pc_size_of(x) < least ? pc_complex_f64(least, 0) : x; }

/* Solves two equations. */
__attribute__((unused)) static void pc_two_unknowns(pc_equation a, pc_equation b, double least, pc_c128 *x) {
  if (pc_size_of(a.first) < pc_size_of(b.first)) {
    pc_equation other = a;
    a = b;
    b = other;
  }
  pc_c128 factor = pc_div_c128(b.first, a.first), pivot = pc_sub_c128(b.last, pc_mul_c128(factor, a.last));
  x[1] = pc_div_c128(pc_sub_c128(b.right, pc_mul_c128(factor, a.right)), pc_at_least(pivot, least));
  x[0] = pc_div_c128(pc_sub_c128(a.right, pc_mul_c128(a.last, x[1])), a.first);
}

/* The least pivot for an eigenvalue; largest: the largest absolute value of h. */
static inline double pc_eig_least(double re, double im, double largest) {
  double least = 0x1p-52 * (pc_size(re) + pc_size(im));
  if (least < 0x1p-300 * largest) least = 0x1p-300 * largest;
  return least < 0x1p-960 ? 0x1p-960 : least;
}

/* Makes the numbers from `first` to `last` smaller if one of this size could lead to an overflow. */
static inline void pc_eig_shrink(double size, int64_t first, int64_t last, double *x, double *y) {
  for (int64_t i = first; i <= last && size > 0x1p+300; i++) x[i] /= size, y[i] /= size;
}

/* The eigenvector of eigenvalue k of a real matrix in the basis of the columns of z: x[n] has real parts, then y[n] imaginary parts. Returns
 * their number. */
__attribute__((unused)) static int64_t pc_eig_coefficients(const pc_schur_state *of, int64_t k, double largest, double *x, double *y) {
  const int64_t n = of->n, is_pair = of->imaginary[k] != 0, last = k + is_pair;
  const double *h = of->h, re = of->real[k], im = of->imaginary[k], least = pc_eig_least(re, im, largest);
  x[k] = 1, y[k] = 0;
  if (is_pair) {
    const double above = h[k * n + last], below = h[last * n + k];
    int is_wide = pc_size(above) >= pc_size(below);
    x[k] = is_wide ? 1 : -im / below, x[last] = 0;
    y[last] = is_wide ? im / above : 1;
  }
  for (int64_t j = k - 1; j >= 0; j--) {
    const int64_t count = last - j, two = j > 0 && h[j * n + j - 1] != 0;
    pc_equation rows[2];
    pc_c128 found[2];
    for (int64_t r = 0; r <= two; r++) {
      const double *row = h + (j - r) * n + j + 1;
      rows[r].first = pc_complex_f64(row[-1 - two] - (r == two ? re : 0), r == two ? -im : 0);
      rows[r].last = pc_complex_f64(row[-1] - (r == 0 ? re : 0), r == 0 ? -im : 0);
      rows[r].right = pc_complex_f64(-pc_dot_of(count, row, x + j + 1), is_pair ? -pc_dot_of(count, row, y + j + 1) : 0);
    }
    if (two) pc_two_unknowns(rows[1], rows[0], least, found);
    else found[0] = pc_div_c128(rows[0].right, pc_at_least(rows[0].last, least));
    j -= two;
    double size = 0;
    for (int64_t r = 0; r <= two; r++) {
      x[j + r] = found[r].re, y[j + r] = found[r].im;
      if (pc_size_of(found[r]) > size) size = pc_size_of(found[r]);
    }
    pc_eig_shrink(size, j, last, x, y);
  }
  return last + 1;
}

/* The same for a complex matrix. */
__attribute__((unused)) static int64_t pc_eig_complex_coefficients(const pc_schur_state *of, int64_t k, double largest, double *x, double *y) {
  const int64_t n = of->n;
  const pc_c128 value = pc_complex_f64(of->real[k], of->imaginary[k]);
  const double least = pc_eig_least(value.re, value.im, largest);
  x[k] = 1, y[k] = 0;
  for (int64_t j = k - 1; j >= 0; j--) {
    const double *row = of->h + 2 * j * n + j + 1, *re = x + j + 1, *im = y + j + 1;
    const pc_c128 right = pc_complex_f64(pc_dot_of(k - j, row + n, im) - pc_dot_of(k - j, row, re),
                                         -(pc_dot_of(k - j, row, im) + pc_dot_of(k - j, row + n, re)));
    const pc_c128 found = pc_div_c128(right, pc_at_least(pc_sub_c128(pc_complex_at(n, of->h, j, j), value), least));
    x[j] = found.re, y[j] = found.im;
    pc_eig_shrink(pc_size_of(found), j, k, x, y);
  }
  return k + 1;
}

/* Gives a vector of n complex numbers norm 1, and a real and positive first element among those of the largest absolute value. */
__attribute__((unused)) static void pc_eig_normal(int64_t n, double *v) {
  const double norm = pc_norm_of(2 * n, v);
  int64_t best;
  for (int64_t i = 0; i < 2 * n; i++) v[i] /= norm;
  pc_complex_scale(n, v, n, pc_complex_turn(n, v, &best));
  v[n + best] = 0;
}

/* Writes the eigenvectors. parts: the elements of a number of the matrix; x: 4·n elements. */
__attribute__((unused)) static void pc_eig_write(const pc_schur_state *of, int64_t parts, const double *d, const pc_lines *to, double *x) {
  const int64_t n = of->n;
  double *y = x + n, *v = y + n, largest = pc_largest(parts * n * n, of->h);
  for (int64_t k = 0; k < n; k++) {
    const int64_t is_pair = parts == 1 && of->imaginary[k] != 0, is_real = parts == 1 && !is_pair;
    const int64_t count = parts == 1 ? pc_eig_coefficients(of, k, largest, x, y) : pc_eig_complex_coefficients(of, k, largest, x, y);
    for (int64_t i = 0; i < 2 * n; i++) v[i] = 0;
    for (int64_t j = 0; j < count; j++) {
      const double *column = of->z + j * of->row;
      if (parts == 2) pc_complex_subtract(n, v, n, pc_complex_f64(-x[j], -y[j]), column, n);
      for (int64_t i = 0; i < n && parts == 1; i++) v[i] += x[j] * column[i];
      for (int64_t i = 0; i < n && is_pair; i++) v[n + i] += y[j] * column[i];
    }
    for (int64_t i = 0; i < n; i++) v[i] *= d[i], v[n + i] *= d[i];
    pc_eig_normal(n, v);
    for (int64_t i = n; i < 2 * n && is_real; i++) v[i] = 0;
    pc_write_column(to, k, n, v, 0);
    if (!is_pair) continue;
    for (int64_t i = n; i < 2 * n; i++) v[i] = -v[i];
    pc_write_column(to, ++k, n, v, 0);
  }
}

/* props: whether eigenvectors are a result, the elements of a number. room: parts·(n² + n) + 7·n elements, and n rows. */
__attribute__((unused)) static void pc_eig_one(const int64_t *props, int64_t n, int64_t columns, double *a, const pc_lines *results, double *room) {
  const int64_t parts = props[1], size = parts * n * n;
  double *d = room, *x = d + n, *values = x + 4 * n, *tau = values + 2 * n, *p = tau + parts * n, largest = pc_largest(size, a);
  const double scale = pc_to_middle(largest);
  const pc_schur_state of = {n, a, props[0] ? p + size : NULL, pc_row_of(parts * n), values, values + n};
  (void)columns;
  for (int64_t i = 0; i < size && scale != 1; i++) a[i] *= scale;
  int failed = !(largest <= 0x1.fffffffffffffp+1023);
  if (!failed) {
    pc_balance(n, parts, a, d);
    failed = parts == 1 ? pc_schur_decompose(&of, p, tau, x) : pc_complex_schur_decompose(&of, p, tau, x);
  }
  if (failed) {
    pc_write_nan(&results[0], 1, n);
    if (props[0]) pc_write_nan(&results[1], n, n);
    return;
  }
  for (int64_t i = 0; i < 2 * n; i++) x[i] = values[i] / scale;
  pc_write_row(&results[0], 0, n, x, 0);
  if (props[0]) pc_eig_write(&of, parts, d, &results[1], x);
}

/* props: whether eigenvectors are a result. out: eigenvalues, eigenvectors. */
__attribute__((unused)) static int pc_eig(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  const int64_t n = in[0]->shape[in[0]->ndim - 1], parts = pc_is_complex(in[0]->dtype) ? 2 : 1, own[2] = {props[0], parts};
  const int64_t room = parts * (n * n + n) + 7 * n + (props[0] ? n * pc_row_of(parts * n) : 0);
  const int32_t dtype = pc_whole_dtype(in[0]->dtype);
  pc_factors made = {pc_eig_one, 0, room, props[0] ? 2 : 1, {{1, n}, {n, n}}, {1, 2, 2}, {dtype, dtype, dtype}};
  (void)n_in;
  return pc_matrix_square(ctx, in[0]) ? -1 : pc_factor_stack(ctx, own, in[0], out, &made);
}

#endif
