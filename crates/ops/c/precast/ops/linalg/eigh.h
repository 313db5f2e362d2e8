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
#include <precast/ops/linalg/rotate.h>

/* The most sweeps for one eigenvalue, and those after which a number beside the diagonal is compared with the whole matrix. */
#define PC_EIGH_SWEEPS 60
#define PC_EIGH_STRICT 30
/* Rows that are handled one by one, as they are short; a multiple of 4. */
#define PC_SYMMETRIC_FEW 24

/* Of row r of the lower triangle of a symmetric matrix: subtracts the elements of v·yᵀ + y·vᵀ, and adds its part of the product of the matrix
 * and w to `product`. This is done already for the first `done` elements, a multiple of 8, whose sum has the given lanes. */
__attribute__((unused, noinline)) static void pc_symmetric_row(int64_t r, int64_t done, const pc_lanes *sums, double *x, const double *v,
                                                               const double *y, const double *w, double *product) {
  for (int64_t j = done; j <= r; j++) x[j] -= v[r] * y[j] + y[r] * v[j];
  product[r] = pc_dot_after(sums, r + 1 - done, x + done, w + done);
  for (int64_t j = done; j < r; j++) product[j] += w[r] * x[j];
}

/* The same for four rows from row r on, a multiple of 8 or 4 more. */
__attribute__((unused)) static void pc_symmetric_rows(int64_t r, double *a, int64_t row, const double *v, const double *y, const double *w,
                                                      double *product) {
  pc_lanes sums[PC_REFLECT_ROWS] = {{{{0}}}};
  const int64_t whole = r / 8 * 8;
  a += r * row;
  for (int64_t j = 0; j < whole; j += 8) {
    #pragma GCC unroll 4
    for (int l = 0; l < PC_LANE_VECTORS; l++) {
      const int64_t at = j + l * PC_LINE;
      const pc_line of_v = *(const pc_line *)(v + at), of_y = *(const pc_line *)(y + at), of_w = *(const pc_line *)(w + at);
      pc_line total = *(const pc_line *)(product + at);
      #pragma GCC unroll 4
      for (int k = 0; k < PC_REFLECT_ROWS; k++) {
        const pc_line x = *(const pc_line *)(a + k * row + at) - (v[r + k] * of_y + y[r + k] * of_v);
        *(pc_line *)(a + k * row + at) = x;
        sums[k].vectors[l] += x * of_w;
        total += w[r + k] * x;
      }
      *(pc_line *)(product + at) = total;
    }
  }
  #pragma GCC unroll 1
  for (int k = 0; k < PC_REFLECT_ROWS; k++) pc_symmetric_row(r + k, whole, &sums[k], a + k * row, v, y, w, product);
}

/* Turns the lower triangle of a[n,n] into a tridiagonal matrix with the given diagonal; below[i] is beside diagonal[i] and diagonal[i + 1].
 * Row i then holds the vector of reflection i in its first i elements. y: 2·n elements. The change by a reflection is subtracted in the pass
 * for the product of the next one, so that a row is loaded into the cache once. */
__attribute__((unused)) static void pc_tridiagonal(int64_t n, double *a, double *diagonal, double *below, double *tau, double *y) {
  const pc_lanes none = {{{0}}};
  double *product = y + n;
  const double *before = y; /* the vector of a reflection whose change is not subtracted; without one, it and y are 0 */
  for (int64_t j = 0; j < n; j++) y[j] = 0;
  for (int64_t i = n - 1; i > 0; i--) {
    double *v = a + i * n;
    int64_t r = 0;
    for (int64_t j = 0; j <= i; j++) v[j] -= before[i] * y[j] + y[i] * before[j];
    diagonal[i] = v[i];
    below[i - 1] = pc_reflection(i, v, i - 1, &tau[i]);
    for (; r < i && r < PC_SYMMETRIC_FEW; r++) pc_symmetric_row(r, 0, &none, a + r * n, before, y, v, product);
    for (; r + PC_REFLECT_ROWS <= i; r += PC_REFLECT_ROWS) pc_symmetric_rows(r, a, n, before, y, v, product);
    for (; r < i; r++) pc_symmetric_row(r, 0, &none, a + r * n, before, y, v, product);
    before = tau[i] == 0 ? y : v;
    for (int64_t j = 0; j < i; j++) y[j] = tau[i] == 0 ? 0 : product[j] * tau[i];
    if (tau[i] == 0) continue;
    double part = -0.5 * tau[i] * pc_dot_of(i, y, v);
    for (int64_t j = 0; j < i; j++) y[j] += part * v[j];
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

/* Makes a tridiagonal matrix diagonal: d[n], and e[n] with one number more than the matrix has. The rows of `vectors` are rotated alike.
 * Returns whether it fails. */
__attribute__((unused)) static int pc_ql(int64_t n, double *d, double *e, pc_sweeps *vectors) {
  const double of_d = pc_largest(n, d), of_e = pc_largest(n, e), norm = of_d > of_e ? of_d : of_e;
  for (int64_t first = 0; first < n; first++) {
    for (int sweeps = 0;; sweeps++) {
      const double least = sweeps < PC_EIGH_STRICT ? 0x1p-960 : 0x1p-52 * norm;
      int64_t last = first;
      while (last < n - 1 && !(pc_size(e[last]) <= 0x1p-52 * (pc_size(d[last]) + pc_size(d[last + 1])) + least)) last++;
      if (last == first) break;
      if (sweeps == PC_EIGH_SWEEPS) return 1;
      const int64_t at = vectors->count * vectors->most;
      pc_sweeps_add(vectors, last, pc_ql_sweep(first, last, d, e, vectors->c + at, vectors->s + at));
    }
  }
  pc_sweeps_apply(vectors);
  return 0;
}

/* props: whether the upper triangle is read, whether eigenvectors are a result. a: its lower triangle is read. room: 6·n elements,
 * the rotations of the sweeps, and n rows. */
__attribute__((unused)) static void pc_eigh_one(const int64_t *props, int64_t n, int64_t columns, double *a, const pc_lines *results, double *room) {
  const int64_t row = pc_row_of(n), rotations = pc_sweeps_room(props[1] != 0, n);
  double *d = room, *e = d + n, *tau = e + n, *y = tau + n, *c = y + 3 * n, *z = props[1] ? c + 2 * rotations : NULL, largest = 0;
  int64_t *order = (int64_t *)(y + 2 * n);
  pc_sweeps vectors = {z, n, -1, c, c + rotations, n, 0, {0}, {0}};
  (void)columns;
  for (int64_t i = 0; i < n && largest == largest; i++) {
    double size = pc_largest(i + 1, a + i * n);
    if (size > largest || size != size) largest = size;
  }
  double scale = pc_to_middle(largest);
  for (int64_t i = 0; i < n * n && scale != 1; i++) a[i] *= scale;
  int failed = !(largest <= 0x1.fffffffffffffp+1023);
  if (!failed) {
    pc_tridiagonal(n, a, d, e, tau, y);
    if (n > 0) e[n - 1] = 0;
    if (z != NULL) {
      for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < row; j++) z[i * row + j] = i == j ? 1 : 0;
      }
      /* All reflections of a few rows, which so stay in the first-level cache. */
      for (int64_t r = 0; r < n; r += PC_REFLECT_ROWS) {
        for (int64_t i = r + 1; i < n; i++) {
          pc_reflect(i - r < PC_REFLECT_ROWS ? i - r : PC_REFLECT_ROWS, i, z + r * row, row, a + i * n, tau[i]);
        }
      }
    }
    failed = pc_ql(n, d, e, &vectors);
  }
  if (failed) {
    pc_write_nan(&results[0], 1, n);
    if (z != NULL) pc_write_nan(&results[1], n, n);
    return;
  }
  pc_order_of(n, d, 0, order);
  for (int64_t j = 0; j < n; j++) y[j] = d[order[j]] / scale;
  pc_write_row(&results[0], 0, n, y, 0);
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

/* pc_eigh_one for Hermitian matrices. room: 7·n elements, the rotations of the sweeps, and n rows of 2·n. */
__attribute__((unused)) static void pc_eigh_complex_one(const int64_t *props, int64_t n, int64_t columns, double *a, const pc_lines *results,
                                                        double *room) {
  const int64_t row = pc_row_of(2 * n), rotations = pc_sweeps_room(props[1] != 0, n);
  double *d = room, *e = d + n, *y = e + n, *c = y + 5 * n, *z = props[1] ? c + 2 * rotations : NULL, largest = 0;
  pc_c128 *tau = (pc_c128 *)(y + 2 * n);
  int64_t *order = (int64_t *)(y + 4 * n);
  pc_sweeps vectors = {z, 2 * n, -1, c, c + rotations, n, 0, {0}, {0}};
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
    pc_hermitian_tridiagonal(n, a, d, e, tau, y);
    if (n > 0) e[n - 1] = 0;
    if (z != NULL) {
      for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < row; j++) z[i * row + j] = i == j ? 1 : 0;
      }
      for (int64_t i = 1; i < n; i++) pc_complex_reflect(i, i, z, row, n, a + 2 * i * n, n, tau[i]);
    }
    failed = pc_ql(n, d, e, &vectors);
  }
  if (failed) {
    pc_write_nan(&results[0], 1, n);
    if (z != NULL) pc_write_nan(&results[1], n, n);
    return;
  }
  pc_order_of(n, d, 0, order);
  for (int64_t j = 0; j < n; j++) y[j] = d[order[j]] / scale;
  pc_write_row(&results[0], 0, n, y, 0);
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
  const int64_t parts = pc_is_complex(dtype) ? 2 : 1, row = pc_row_of(parts * n);
  const int64_t room = (parts + 5) * n + 2 * pc_sweeps_room(props[1] != 0, n) + (props[1] ? n * row : 0);
  pc_factors made = {parts == 2 ? pc_eigh_complex_one : pc_eigh_one, props[0] != 0, room, props[1] ? 2 : 1, {{1, n}, {n, n}}, {1, 2, 2},
                     {pc_part_dtype(dtype), dtype, dtype}};
  (void)n_in;
  return pc_matrix_square(ctx, in[0]) ? -1 : pc_factor_stack(ctx, props, in[0], out, &made);
}

#endif
