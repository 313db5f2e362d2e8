/* precast/ops/linalg/svd.h: singular value decompositions, over stacks of matrices with any strides.
 *
 * Reflections from both sides make the matrix bidiagonal, and the implicit QR algorithm makes it diagonal. The singular values are in
 * descending order. Of each column of u, the first of the largest absolute values is positive; a complex one is real and positive. Of a matrix with fewer rows than columns, the
 * transpose is decomposed. A matrix with NaN or an infinity has only NaN as results, and so has one whose singular values do not converge.
 *
 * Source. G. H. Golub, C. Reinsch, Singular value decomposition and least squares solutions, 1970; LINPACK, svdc.
 */
#ifndef PRECAST_OPS_LINALG_SVD_H
#define PRECAST_OPS_LINALG_SVD_H

#include <precast/ops/linalg/reflect_complex.h>
#include <precast/ops/linalg/rotate.h>

/* The most sweeps, for each singular value. */
#define PC_SVD_SWEEPS 60

/* A decomposition under way. The rows of u and v are singular vectors of m and n numbers; NULL: there are none. */
typedef struct pc_svd_state {
  int64_t n, m;
  /* The elements of a number. */
  int64_t parts;
  /* The diagonal, and the numbers above it, followed by a 0. */
  double *d, *e;
  double *u, *v;
  int64_t u_row, v_row;
  /* Sweeps that rotate the rows of u and v. */
  pc_sweeps *of_u, *of_v;
} pc_svd_state;

/* x -= factor·y for n numbers. */
static inline void pc_subtract_multiple(int64_t n, double *x, double factor, const double *y) {
  for (int64_t i = 0; i < n; i++) x[i] -= factor * y[i];
}

/* Adds the products of rows of n numbers, `row` elements apart, and one factor each to y, one row after another. */
__attribute__((unused)) static void pc_add_multiples(int64_t rows, int64_t n, double *y, const double *x, int64_t row, const double *factors) {
  int64_t j = 0;
  for (; j + 4 <= rows; j += 4, x += 4 * row) {
    const double a = factors[j], b = factors[j + 1], c = factors[j + 2], d = factors[j + 3];
    #pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) y[i] = (((y[i] + a * x[i]) + b * x[row + i]) + c * x[2 * row + i]) + d * x[3 * row + i];
  }
  for (; j < rows; j++, x += row) {
    for (int64_t i = 0; i < n; i++) y[i] += factors[j] * x[i];
  }
}

/* Makes a matrix with m rows and n columns bidiagonal, m >= n. a[n,m]: the transpose, whose rows are `row` elements apart; row j then holds the vector of the left reflection j from
 * index j on. p[n,n]: row j then holds that of the right reflection from index j + 1 on. y: m elements. The change
 * by a right reflection is subtracted with the next left one, so that a row is loaded into the cache once. */
__attribute__((unused)) static void pc_bidiagonal(const pc_svd_state *of, double *a, int64_t row, double *p, double *left, double *right, double *y) {
  const int64_t n = of->n, m = of->m;
  for (int64_t k = 0; k < n; k++) {
    const double *before = k > 0 && right[k - 1] != 0 ? p + (k - 1) * n : NULL; /* the vector of a reflection whose y is not subtracted */
    double *v = p + k * n, *own = a + k * row + k;
    int64_t rest = m - k - 1;
    if (before != NULL) pc_subtract_multiple(m - k, own, before[k], y);
    of->d[k] = pc_reflection(m - k, own, 0, &left[k]);
    for (int64_t j = k + 1; j < n; j += PC_REFLECT_ROWS) {
      const int64_t rows = n - j < PC_REFLECT_ROWS ? n - j : PC_REFLECT_ROWS;
      for (int64_t r = 0; r < rows && before != NULL; r++) pc_subtract_multiple(m - k, a + (j + r) * row + k, before[j + r], y);
      pc_reflect(rows, m - k, a + j * row + k, row, own, left[k]);
    }
    of->e[k] = right[k] = 0;
    if (k + 1 == n) continue;
    for (int64_t j = k + 1; j < n; j++) v[j] = a[j * row + k];
    of->e[k] = pc_reflection(n - k - 1, v + k + 1, 0, &right[k]);
    if (right[k] == 0) continue;
    for (int64_t i = 0; i < rest; i++) y[i] = 0;
    pc_add_multiples(n - k - 1, rest, y, a + (k + 1) * row + k + 1, row, v + k + 1);
    for (int64_t i = 0; i < rest; i++) y[i] *= right[k];
  }
}

/* pc_bidiagonal for complex matrices: a[n,m], p[n,n] and y[m] have rows of complex numbers. The bidiagonal matrix is real. */
__attribute__((unused)) static void pc_complex_bidiagonal(const pc_svd_state *of, double *a, double *p, pc_c128 *left, pc_c128 *right,
                                                          double *y) {
  const int64_t n = of->n, m = of->m;
  for (int64_t k = 0; k < n; k++) {
    double *v = p + 2 * k * n;
    int64_t rest = m - k - 1;
    of->d[k] = pc_complex_reflection(m - k, a + 2 * k * m + k, m, 0, &left[k]);
    pc_complex_reflect(n - k - 1, m - k, a + 2 * (k + 1) * m + k, 2 * m, m, a + 2 * k * m + k, m, pc_conj_c128(left[k]));
    of->e[k] = 0, right[k] = pc_complex_f64(0, 0);
    if (k + 1 == n) continue;
    for (int64_t j = k + 1; j < n; j++) v[j] = a[2 * j * m + k], v[n + j] = -a[2 * j * m + m + k];
    of->e[k] = pc_complex_reflection(n - k - 1, v + k + 1, n, 0, &right[k]);
    if (right[k].re == 0 && right[k].im == 0) continue;
    for (int64_t i = 0; i < rest; i++) y[i] = y[m + i] = 0;
    for (int64_t j = k + 1; j < n; j++) {
      pc_complex_subtract(rest, y, m, pc_complex_f64(-v[j], -v[n + j]), a + 2 * j * m + k + 1, m);
    }
    pc_complex_scale(rest, y, m, right[k]);
    for (int64_t j = k + 1; j < n; j++) pc_complex_subtract(rest, a + 2 * j * m + k + 1, m, pc_complex_f64(v[j], -v[n + j]), y, m);
  }
}

/* Removes the number above a diagonal that ends with 0 at `end`; the matrix starts at `first`. */
__attribute__((unused)) static void pc_svd_end(const pc_svd_state *of, int64_t first, int64_t end) {
  double c, s, f = of->e[end - 1];
  of->e[end - 1] = 0;
  pc_sweeps_apply(of->of_v);
  for (int64_t j = end - 1; j >= first; j--) {
    of->d[j] = pc_rotation(of->d[j], f, &c, &s);
    if (j > first) {
      f = -s * of->e[j - 1];
      of->e[j - 1] *= c;
    }
    if (of->v != NULL) pc_rotate_pair(of->parts * of->n, of->v + j * of->v_row, of->v + end * of->v_row, c, s);
  }
}

/* Removes the number beside a 0 at `zero` in the diagonal; the matrix ends at `end`. */
__attribute__((unused)) static void pc_svd_split(const pc_svd_state *of, int64_t zero, int64_t end) {
  double c, s, f = of->e[zero];
  of->e[zero] = 0;
  pc_sweeps_apply(of->of_u);
  for (int64_t j = zero + 1; j <= end; j++) {
    of->d[j] = pc_rotation(of->d[j], f, &c, &s);
    f = -s * of->e[j];
    of->e[j] *= c;
    if (of->u != NULL) pc_rotate_pair(of->parts * of->m, of->u + j * of->u_row, of->u + zero * of->u_row, c, s);
  }
}

/* The shift of a sweep from `first` to `end`. */
__attribute__((unused)) static double pc_svd_shift(const double *d, const double *e, int64_t first, int64_t end) {
  double all[5] = {d[end], d[end - 1], e[end - 1], d[first], e[first]}, scale = pc_largest(5, all);
  double last = d[end] / scale, before = d[end - 1] / scale, beside = e[end - 1] / scale, start = d[first] / scale;
  double b = ((before + last) * (before - last) + beside * beside) / 2, c = (last * beside) * (last * beside), shift = 0;
  if (b != 0 || c != 0) {
    shift = __builtin_sqrt(b * b + c);
    shift = c / (b + (b < 0 ? -shift : shift));
  }
  return (start + last) * (start - last) + shift;
}

/* One sweep of the QR algorithm from `first` to `end`. */
__attribute__((unused)) static void pc_svd_sweep(const pc_svd_state *of, int64_t first, int64_t end) {
  double *d = of->d, *e = of->e, f = pc_svd_shift(d, e, first, end), all[5] = {d[end], d[end - 1], e[end - 1], d[first], e[first]};
  double scale = pc_largest(5, all), g = (d[first] / scale) * (e[first] / scale);
  const int64_t count = end - first, at_u = of->of_u->count * of->n, at_v = of->of_v->count * of->n;
  for (int64_t i = 0; i < count; i++) {
    int64_t j = first + i;
    double c, s, length = pc_rotation(f, g, &c, &s);
    if (i > 0) e[j - 1] = length;
    f = c * d[j] + s * e[j];
    e[j] = c * e[j] - s * d[j];
    g = s * d[j + 1];
    d[j + 1] *= c;
    of->of_v->c[at_v + i] = c, of->of_v->s[at_v + i] = s;
    d[j] = pc_rotation(f, g, &c, &s);
    f = c * e[j] + s * d[j + 1];
    d[j + 1] = c * d[j + 1] - s * e[j];
    g = s * e[j + 1];
    e[j + 1] *= c;
    of->of_u->c[at_u + i] = c, of->of_u->s[at_u + i] = s;
  }
  e[end - 1] = f;
  pc_sweeps_add(of->of_v, first, count);
  pc_sweeps_add(of->of_u, first, count);
}

/* Makes a bidiagonal matrix diagonal. Returns whether it fails. */
__attribute__((unused)) static int pc_svd_diagonal(const pc_svd_state *of) {
  double *d = of->d, *e = of->e;
  int64_t sweeps = 0;
  for (int64_t end = of->n - 1; end > 0;) {
    int64_t first = end;
    for (; first > 0; first--) {
      if (pc_size(e[first - 1]) <= 0x1p-52 * (pc_size(d[first - 1]) + pc_size(d[first])) + 0x1p-960) break;
    }
    if (first > 0) e[first - 1] = 0;
    if (first == end) {
      end--;
      continue;
    }
    if (sweeps++ == PC_SVD_SWEEPS * of->n) return 1;
    int64_t zero = end;
    for (; zero >= first; zero--) {
      double beside = (zero < end ? pc_size(e[zero]) : 0) + (zero > first ? pc_size(e[zero - 1]) : 0);
      if (pc_size(d[zero]) <= 0x1p-52 * beside + 0x1p-960) break;
    }
    if (zero >= first) d[zero] = 0;
    if (zero < first) pc_svd_sweep(of, first, end);
    else if (zero == end) pc_svd_end(of, first, end);
    else pc_svd_split(of, zero, end);
  }
  pc_sweeps_apply(of->of_u);
  pc_sweeps_apply(of->of_v);
  return 0;
}

/* Makes the first of the largest numbers of a column of the result u real and positive, and conjugates v, whose rows so far are the conjugates
 * of the results. `of_v` is NULL if v is not written. `turned`: the matrix is the transpose of the input, so v becomes u. */
__attribute__((unused)) static void pc_svd_turn(const pc_svd_state *of, int turned, double *of_u, double *of_v) {
  int64_t best, is_v = turned && of_v != NULL, length = is_v ? of->n : of->m;
  double *own = is_v ? of_v : of_u;
  const pc_c128 factor = pc_complex_turn(length, own, &best);
  pc_complex_scale(of->m, of_u, of->m, factor);
  if (of_v != NULL) pc_complex_scale(of->n, of_v, of->n, factor);
  for (int64_t i = of->n; i < 2 * of->n && of_v != NULL; i++) of_v[i] = -of_v[i];
  own[length + best] = 0;
}

/* Writes the singular vectors. `turned`: the matrix is the transpose of the input. */
__attribute__((unused)) static void pc_svd_write(const pc_svd_state *of, const int64_t *order, int64_t height, int turned, const pc_lines *u,
                                                 const pc_lines *v) {
  for (int64_t j = 0; j < height; j++) {
    double *of_u = of->u + (j < of->n ? order[j] : j) * of->u_row, *of_v = j < of->n ? of->v + order[j] * of->v_row : NULL;
    for (int64_t i = 0; of_v != NULL && i < of->parts * of->n && of->d[order[j]] < 0; i++) of_v[i] = -of_v[i];
    int negative = 0;
    if (of->parts == 2) pc_svd_turn(of, turned, of_u, of_v);
    else negative = turned && of_v != NULL ? pc_is_turned(of->n, of_v) : pc_is_turned(of->m, of_u);
    if (turned) pc_write_row(v, j, of->m, of_u, negative);
    else pc_write_column(u, j, of->m, of_u, negative);
    if (of_v == NULL) continue;
    if (turned) pc_write_column(u, j, of->n, of_v, negative);
    else pc_write_row(v, j, of->n, of_v, negative);
  }
}

/* a[n,m]: the transposed matrix, n <= m. props: whether all singular vectors are results, whether there are any, whether a is the input
 * itself, the elements of a number. results: u, s, v or s. */
__attribute__((unused)) static void pc_svd_one(const int64_t *props, int64_t n, int64_t m, double *a, const pc_lines *results, double *room) {
  const int64_t height = !props[1] ? 0 : props[0] ? m : n, parts = props[3], size = parts * n * m;
  const int64_t u_row = pc_row_of(parts * m), v_row = pc_row_of(parts * n);
  const int64_t rotations = pc_sweeps_room(props[1] != 0, n);
  double *left = room, *right = left + parts * n, *y = right + parts * n, *p = y + parts * m, *d = p + parts * n * n, *c = d + 3 * n;
  double *u = c + 4 * rotations, *v = u + height * u_row, *apart = props[1] ? v + n * v_row : u, largest = pc_largest(size, a);
  pc_sweeps of_u = {props[1] ? u : NULL, parts * m, 1, c, c + rotations, n, 0, {0}, {0}};
  pc_sweeps of_v = {props[1] ? v : NULL, parts * n, 1, c + 2 * rotations, c + 3 * rotations, n, 0, {0}, {0}};
  pc_svd_state of = {n, m, parts, d, d + n, of_u.x, of_v.x, u_row, v_row, &of_u, &of_v};
  const double scale = pc_to_middle(largest);
  int64_t *order = (int64_t *)(d + 2 * n);
  int failed = !(largest <= 0x1.fffffffffffffp+1023);
  for (int64_t i = 0; i < size && scale != 1; i++) a[i] *= scale;
  const int64_t row = parts == 1 ? pc_matrix_row(m, sizeof *a) : m;
  for (int64_t j = 0; j < n && row != m; j++) __builtin_memcpy(apart + j * row, a + j * m, (size_t)m * sizeof *a);
  if (row != m) a = apart;
  if (!failed) {
    if (parts == 1) pc_bidiagonal(&of, a, row, p, left, right, y);
    else pc_complex_bidiagonal(&of, a, p, (pc_c128 *)left, (pc_c128 *)right, y);
    if (props[1] && parts == 1) {
      pc_reflect_units(0, height, m, u, u_row, a, row, left, n, 0);
      pc_reflect_units(0, n, n, v, v_row, p, n, right, n, 1);
    } else if (props[1]) {
      pc_complex_units(0, height, m, u, u_row, a, (const pc_c128 *)left, n, 0);
      pc_complex_units(0, n, n, v, v_row, p, (const pc_c128 *)right, n, 1);
    }
    pc_rows_pad(height, parts * m, u);
    if (props[1]) pc_rows_pad(n, parts * n, v);
    failed = pc_svd_diagonal(&of);
  }
  const pc_lines *singular = &results[props[1] != 0];
  if (failed) {
    int64_t rows = props[2] ? n : m, columns = props[2] ? m : n;
    pc_write_nan(singular, 1, n);
    if (props[1]) pc_write_nan(&results[0], rows, props[0] ? rows : n);
    if (props[1]) pc_write_nan(&results[2], props[0] ? columns : n, columns);
    return;
  }
  for (int64_t j = 0; j < n; j++) y[j] = pc_size(d[j]);
  pc_order_of(n, y, 1, order);
  for (int64_t j = 0; j < n; j++) left[j] = y[order[j]] / scale;
  pc_write_row(singular, 0, n, left, 0);
  if (props[1]) pc_svd_write(&of, order, height, props[2] != 0, &results[0], &results[2]);
}

/* props: whether all singular vectors are results, whether there are any. out: u, s, v or s. */
__attribute__((unused)) static int pc_svd(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  const int64_t rows = in[0]->shape[in[0]->ndim - 2], columns = in[0]->shape[in[0]->ndim - 1], turned = rows < columns;
  const int32_t dtype = in[0]->dtype, part = pc_part_dtype(dtype);
  const int64_t parts = pc_is_complex(dtype) ? 2 : 1, n = turned ? rows : columns, m = turned ? columns : rows;
  const int64_t own[4] = {props[0], props[1], turned, parts}, row = pc_matrix_row(m, 8), apart = parts == 1 && row != m ? n * row : 0;
  const int64_t room = parts * (n * n + m + 2 * n) + 3 * n + 4 * pc_sweeps_room(props[1] != 0, n) + apart;
  pc_factors made = {pc_svd_one, !turned, room, 1, {{1, n}}, {1, 0, 0}, {part, part, part}};
  (void)n_in;
  if (props[1]) {
    pc_factors all = {pc_svd_one, !turned, room + pc_row_of(parts * m) * (props[0] ? m : n) + pc_row_of(parts * n) * n, 3,
                      {{rows, props[0] ? rows : n}, {1, n}, {props[0] ? columns : n, columns}}, {2, 1, 2}, {dtype, part, dtype}};
    made = all;
  }
  return pc_factor_stack(ctx, own, in[0], out, &made);
}

#endif
