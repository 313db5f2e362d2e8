/* precast/ops/linalg/eigh.h: eigenvalues and eigenvectors of symmetric and Hermitian matrices, over stacks of matrices with any strides.
 *
 * Reflections make the matrix tridiagonal, and the implicit QL algorithm makes it diagonal. The eigenvalues are in ascending order. Of each
 * eigenvector, the first of the largest absolute values is positive; a complex one is real and positive. A matrix with NaN or an infinity has only NaN as results, and so has one
 * whose eigenvalues do not converge.
 *
 * Source. G. H. Golub, C. F. Van Loan, Matrix Computations, 8.3; EISPACK, tred2 and imtql2.
 */
#ifndef PRECAST_OPS_LINALG_EIGH_H
#define PRECAST_OPS_LINALG_EIGH_H

#include <precast/ops/linalg/reflect_complex.h>

/* The most sweeps for one eigenvalue, and those after which a number beside the diagonal is compared with the whole matrix. */
#define PC_EIGH_SWEEPS 60
#define PC_EIGH_STRICT 30

/* The product of a symmetric matrix of i rows and v; of a, whose rows are n elements apart, the lower triangle is read. */
__attribute__((unused)) static void pc_symmetric_product(int64_t i, int64_t n, const double *a, const double *v, double *y) {
  for (int64_t r = 0; r < i; r++) {
    const double *row = a + r * n;
    y[r] = pc_dot_of(r + 1, row, v);
    for (int64_t j = 0; j < r; j++) y[j] += v[r] * row[j];
  }
}

/* Turns the lower triangle of a[n,n] into a tridiagonal matrix with the given diagonal; below[i] is beside diagonal[i] and diagonal[i + 1].
 * Row i then holds the vector of reflection i in its first i elements. y: n elements. */
__attribute__((unused)) static void pc_tridiagonal(int64_t n, double *a, double *diagonal, double *below, double *tau, double *y) {
  for (int64_t i = n - 1; i > 0; i--) {
    double *v = a + i * n;
    diagonal[i] = v[i];
    below[i - 1] = pc_reflection(i, v, i - 1, &tau[i]);
    if (tau[i] == 0) continue;
    pc_symmetric_product(i, n, a, v, y);
    for (int64_t j = 0; j < i; j++) y[j] *= tau[i];
    double part = -0.5 * tau[i] * pc_dot_of(i, y, v);
    for (int64_t j = 0; j < i; j++) y[j] += part * v[j];
    for (int64_t r = 0; r < i; r++) {
      double *row = a + r * n;
      for (int64_t j = 0; j <= r; j++) row[j] -= v[r] * y[j] + y[r] * v[j];
    }
  }
  if (n > 0) diagonal[0] = a[0];
}

/* One sweep of the QL algorithm from `last` to `first`. Stores the rotations in the order of their use; returns their number. */
__attribute__((unused)) static int64_t pc_ql_sweep(int64_t first, int64_t last, double *d, double *e, double *c, double *s) {
  double g = (d[first + 1] - d[first]) / (2 * e[first]), r = pc_length(g, 1), sine = 1, cosine = 1, p = 0;
  g = d[last] - d[first] + e[first] / (g + (g >= 0 ? r : -r));
  int64_t count = 0;
  for (int64_t i = last - 1; i >= first; i--) {
    double f = sine * e[i], b = cosine * e[i];
    r = pc_length(f, g);
    e[i + 1] = r;
    if (r == 0) {
      d[i + 1] -= p;
      e[last] = 0;
      return count;
    }
    sine = f / r;
    cosine = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * sine + 2 * cosine * b;
    p = sine * r;
    d[i + 1] = g + p;
    g = cosine * r - b;
    c[count] = cosine;
    s[count++] = sine;
  }
  d[first] -= p;
  e[first] = g;
  e[last] = 0;
  return count;
}

/* Makes a tridiagonal matrix diagonal: d[n], and e[n] with one number more than the matrix has. The n rows of z, which have `length` elements,
 * are rotated alike; NULL: there are none. c, s: n elements each. Returns whether it fails. */
__attribute__((unused)) static int pc_ql(int64_t n, double *d, double *e, double *z, int64_t length, double *c, double *s) {
  const int64_t row = pc_row_of(length);
  const double of_d = pc_largest(n, d), of_e = pc_largest(n, e), norm = of_d > of_e ? of_d : of_e;
  for (int64_t first = 0; first < n; first++) {
    for (int sweeps = 0;; sweeps++) {
      const double least = sweeps < PC_EIGH_STRICT ? 0x1p-960 : 0x1p-52 * norm;
      int64_t last = first;
      while (last < n - 1 && !(pc_size(e[last]) <= 0x1p-52 * (pc_size(d[last]) + pc_size(d[last + 1])) + least)) last++;
      if (last == first) break;
      if (sweeps == PC_EIGH_SWEEPS) return 1;
      int64_t count = pc_ql_sweep(first, last, d, e, c, s);
      if (z != NULL) pc_rotate(count, length, z + last * row, -row, c, s);
    }
  }
  return 0;
}

/* props: whether the upper triangle is read, whether eigenvectors are a result. a: its lower triangle is read. room: 7·n elements, and n rows. */
__attribute__((unused)) static void pc_eigh_one(const int64_t *props, int64_t n, int64_t columns, double *a, const pc_lines *results, double *room) {
  double *d = room, *e = d + n, *tau = e + n, *c = tau + n, *s = c + n, *z = props[1] ? s + 2 * n : NULL, largest = 0;
  int64_t *order = (int64_t *)(s + n);
  const int64_t row = pc_row_of(n);
  (void)columns;
  for (int64_t i = 0; i < n && largest == largest; i++) {
    double size = pc_largest(i + 1, a + i * n);
    if (size > largest || size != size) largest = size;
  }
  double scale = pc_to_middle(largest);
  for (int64_t i = 0; i < n * n && scale != 1; i++) a[i] *= scale;
  int failed = !(largest <= 0x1.fffffffffffffp+1023);
  if (!failed) {
    pc_tridiagonal(n, a, d, e, tau, c);
    if (n > 0) e[n - 1] = 0;
    if (z != NULL) {
      for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) z[i * row + j] = i == j ? 1 : 0;
      }
      for (int64_t i = 1; i < n; i++) pc_reflect(i, i, z, row, a + i * n, tau[i]);
    }
    failed = pc_ql(n, d, e, z, n, c, s);
  }
  if (failed) {
    pc_write_nan(&results[0], 1, n);
    if (z != NULL) pc_write_nan(&results[1], n, n);
    return;
  }
  pc_order_of(n, d, 0, order);
  for (int64_t j = 0; j < n; j++) c[j] = d[order[j]] / scale;
  pc_write_row(&results[0], 0, n, c, 0);
  for (int64_t j = 0; j < n && z != NULL; j++) {
    const double *vector = z + order[j] * row;
    pc_write_column(&results[1], j, n, vector, pc_is_turned(n, vector));
  }
}

/* The product of the conjugate of a Hermitian matrix of i rows and v; of a, whose rows are 2·n elements apart, the lower triangle is read, and
 * of its diagonal the real parts. y: as v. */
__attribute__((unused)) static void pc_hermitian_product(int64_t i, int64_t n, const double *a, const double *v, double *y) {
  for (int64_t r = 0; r < i; r++) {
    const double *row = a + 2 * r * n;
    const pc_c128 sum = pc_complex_dot(r, row, n, v, n), factor = pc_complex_f64(-v[r], -v[n + r]);
    y[r] = sum.re + row[r] * v[r];
    y[n + r] = sum.im + row[r] * v[n + r];
    pc_complex_subtract(r, y, n, factor, row, n);
  }
}

/* The same as pc_tridiagonal for a Hermitian matrix, of which the conjugate is decomposed. y: 2·n elements. */
__attribute__((unused)) static void pc_hermitian_tridiagonal(int64_t n, double *a, double *diagonal, double *below, pc_c128 *tau, double *y) {
  for (int64_t i = n - 1; i > 0; i--) {
    double *v = a + 2 * i * n;
    diagonal[i] = v[i];
    below[i - 1] = pc_complex_reflection(i, v, n, i - 1, &tau[i]);
    if (tau[i].re == 0 && tau[i].im == 0) continue;
    pc_hermitian_product(i, n, a, v, y);
    pc_complex_scale(i, y, n, tau[i]);
    const pc_c128 sum = pc_complex_dot(i, v, n, y, n), part = pc_complex_f64(0.5 * (tau[i].re * sum.re + tau[i].im * sum.im), 0);
    pc_complex_subtract(i, y, n, part, v, n);
    for (int64_t r = 0; r < i; r++) {
      double *row = a + 2 * r * n;
      pc_complex_subtract(r + 1, row, n, pc_complex_f64(y[r], -y[n + r]), v, n);
      pc_complex_subtract(r + 1, row, n, pc_complex_f64(v[r], -v[n + r]), y, n);
    }
  }
  if (n > 0) diagonal[0] = a[0];
}

/* pc_eigh_one for Hermitian matrices. room: 9·n elements, and n rows of 2·n. */
__attribute__((unused)) static void pc_eigh_complex_one(const int64_t *props, int64_t n, int64_t columns, double *a, const pc_lines *results,
                                                        double *room) {
  double *d = room, *e = d + n, *c = e + n, *s = c + 2 * n, *z = props[1] ? s + 4 * n : NULL, largest = 0;
  pc_c128 *tau = (pc_c128 *)(s + n);
  int64_t *order = (int64_t *)(s + 3 * n);
  const int64_t row = pc_row_of(2 * n);
  (void)columns;
  for (int64_t i = 0; i < 2 * n * n && props[0]; i++) {
    /* The kernel got the transpose, whose elements are the conjugates. */
    if (i % (2 * n) >= n) a[i] = -a[i];
  }
  for (int64_t i = 0; i < 2 * n && largest == largest; i++) {
    double size = pc_largest(i < n ? i + 1 : i - n, i < n ? a + 2 * i * n : a + 2 * (i - n) * n + n);
    if (size > largest || size != size) largest = size;
  }
  double scale = pc_to_middle(largest);
  for (int64_t i = 0; i < 2 * n * n && scale != 1; i++) a[i] *= scale;
  int failed = !(largest <= 0x1.fffffffffffffp+1023);
  if (!failed) {
    pc_hermitian_tridiagonal(n, a, d, e, tau, c);
    if (n > 0) e[n - 1] = 0;
    if (z != NULL) {
      for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < 2 * n; j++) z[i * row + j] = i == j ? 1 : 0;
      }
      for (int64_t i = 1; i < n; i++) pc_complex_reflect(i, i, z, row, n, a + 2 * i * n, n, tau[i]);
    }
    failed = pc_ql(n, d, e, z, 2 * n, c, s);
  }
  if (failed) {
    pc_write_nan(&results[0], 1, n);
    if (z != NULL) pc_write_nan(&results[1], n, n);
    return;
  }
  pc_order_of(n, d, 0, order);
  for (int64_t j = 0; j < n; j++) c[j] = d[order[j]] / scale;
  pc_write_row(&results[0], 0, n, c, 0);
  for (int64_t j = 0; j < n && z != NULL; j++) {
    double *vector = z + order[j] * row;
    int64_t best;
    pc_complex_scale(n, vector, n, pc_complex_turn(n, vector, &best));
    for (int64_t i = 0; i < n; i++) vector[n + i] = i == best ? 0 : -vector[n + i];
    pc_write_column(&results[1], j, n, vector, 0);
  }
}

/* props: whether the upper triangle is read, whether eigenvectors are a result. out: eigenvalues, eigenvectors. */
__attribute__((unused)) static int pc_eigh(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  const int64_t n = in[0]->shape[in[0]->ndim - 1];
  const int32_t dtype = in[0]->dtype;
  pc_factors made = {pc_eigh_one, props[0] != 0, 7 * n + (props[1] ? n * pc_row_of(n) : 0), props[1] ? 2 : 1, {{1, n}, {n, n}}, {1, 2, 2},
                     {pc_part_dtype(dtype), dtype, dtype}};
  if (pc_is_complex(dtype)) made.kernel = pc_eigh_complex_one, made.room = 9 * n + (props[1] ? n * pc_row_of(2 * n) : 0);
  (void)n_in;
  return pc_matrix_square(ctx, in[0]) ? -1 : pc_factor_stack(ctx, props, in[0], out, &made);
}

#endif
