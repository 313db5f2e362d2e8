/* precast/ops/linalg/schur.h: real Schur decompositions.
 *
 * Reflections make the matrix Hessenberg, and the implicit QR algorithm with double shifts makes it quasi-triangular. A block of two rows has
 * equal numbers on its diagonal and a pair of conjugate eigenvalues. Rows of h are contiguous, so products with h and reflections of it work
 * on neighbors, except those of columns.
 *
 * Source. G. H. Golub, C. F. Van Loan, Matrix Computations, 7.4 and 7.5; LAPACK, lahqr and lanv2; M. Ahues, F. Tisseur, A new deflation
 * criterion for the QR algorithm, 1997.
 */
#ifndef PRECAST_OPS_LINALG_SCHUR_H
#define PRECAST_OPS_LINALG_SCHUR_H

#include <precast/ops/linalg/rotate.h>

/* The most sweeps for one eigenvalue, those between two exceptional shifts, and those after which a number beside the diagonal is compared
 * with the diagonal alone. */
#define PC_SCHUR_SWEEPS 300
#define PC_SCHUR_EXCEPTION 10
#define PC_SCHUR_STRICT 40

/* A decomposition under way. The rows of complex matrices have twice the elements. */
typedef struct pc_schur_state {
  int64_t n;
  /* A matrix of n rows. */
  double *h;
  /* n rows, `row` elements apart: the columns of the product of all transformations. NULL: only eigenvalues are wanted. */
  double *z;
  int64_t row;
  /* The eigenvalues. */
  double *real, *imaginary;
} pc_schur_state;

/* Turns a[n,n] into a Hessenberg matrix. p[n,n]: row k then holds the vector of reflection k from index k + 1 on. y: n elements. */
__attribute__((unused)) static void pc_hessenberg(int64_t n, double *a, double *p, double *tau, double *y) {
  for (int64_t k = 0; k + 2 < n; k++) {
    const int64_t first = k + 1, rest = n - first;
    double *v = p + k * n + first;
    for (int64_t i = 0; i < rest; i++) v[i] = a[(first + i) * n + k];
    a[first * n + k] = pc_reflection(rest, v, 0, &tau[k]);
    for (int64_t i = 1; i < rest; i++) a[(first + i) * n + k] = 0;
    if (tau[k] == 0) continue;
    for (int64_t j = 0; j < rest; j++) y[j] = 0;
    for (int64_t i = 0; i < rest; i++) {
      const double *row = a + (first + i) * n + first;
      for (int64_t j = 0; j < rest; j++) y[j] += v[i] * row[j];
    }
    for (int64_t j = 0; j < rest; j++) y[j] *= tau[k];
    for (int64_t i = 0; i < rest; i++) {
      double *row = a + (first + i) * n + first;
      for (int64_t j = 0; j < rest; j++) row[j] -= v[i] * y[j];
    }
    pc_reflect(n, rest, a + first, n, v, tau[k]);
  }
}

/* Reflects n vectors of `few` elements, two or three: the vectors are `along` and their elements `across` apart. */
static inline __attribute__((always_inline)) void pc_reflect_few(const int few, int64_t n, double *x, const int64_t along, const int64_t across,
                                                                 const double *v, double tau) {
  for (int64_t j = 0; j < n; j++) {
    double *at = x + j * along, sum = at[0] + v[1] * at[across];
    if (few == 3) sum += v[2] * at[2 * across];
    sum *= tau;
    at[0] -= sum;
    at[across] -= sum * v[1];
    if (few == 3) at[2 * across] -= sum * v[2];
  }
}

/* Reflects neighboring rows. */
__attribute__((unused)) static void pc_reflect_rows(int few, int64_t n, double *x, int64_t row, const double *v, double tau) {
  if (few == 3) pc_reflect_few(3, n, x, 1, row, v, tau);
  else pc_reflect_few(2, n, x, 1, row, v, tau);
}

/* Reflects neighboring columns. */
__attribute__((unused)) static void pc_reflect_columns(int few, int64_t n, double *x, int64_t row, const double *v, double tau) {
  if (few == 3) pc_reflect_few(3, n, x, row, 1, v, tau);
  else pc_reflect_few(2, n, x, row, 1, v, tau);
}

/* Whether a number beside the diagonal counts as 0, from the sizes of this number, of the one above the diagonal, of the number on the diagonal
 * and of its difference from the one before it. */
__attribute__((unused)) static int pc_schur_is_negligible(double below, double above, double own, double gap) {
  double more = below > above ? below : above, less = below > above ? above : below;
  double wide = own > gap ? own : gap, narrow = own > gap ? gap : own, sum = wide + more, bound = 0x1p-52 * (narrow * (wide / sum));
  return less * (more / sum) <= (bound > 0x1p-960 ? bound : 0x1p-960);
}

/* Whether the number left of the diagonal in row k counts as 0. */
__attribute__((unused)) static int pc_schur_is_small(const pc_schur_state *of, int64_t k, int64_t last, int64_t sweeps) {
  const int64_t n = of->n;
  const double *h = of->h + k * n + k, below = pc_size(h[-1]), above = pc_size(h[-n]);
  double sizes = pc_size(h[-n - 1]) + pc_size(h[0]), gap = pc_size(h[-n - 1] - h[0]), own = pc_size(h[0]);
  if (below <= 0x1p-960) return 1;
  if (sizes == 0) sizes = (k > 1 ? pc_size(h[-n - 2]) : 0) + (k < last ? pc_size(h[n]) : 0);
  return below <= 0x1p-52 * sizes && (sweeps >= PC_SCHUR_STRICT || pc_schur_is_negligible(below, above, own, gap));
}

/* The two shifts of a sweep from `first` to `last`: real parts, and the imaginary part of the first. */
__attribute__((unused)) static void pc_schur_shifts(const pc_schur_state *of, int64_t first, int64_t last, int64_t sweeps, double *shifts) {
  const int64_t n = of->n;
  const double *end = of->h + last * n + last, *start = of->h + first * n + first;
  double a = end[-n - 1], b = end[-n], c = end[-1], d = end[0];
  if (sweeps % PC_SCHUR_EXCEPTION == PC_SCHUR_EXCEPTION - 1) {
    int at_end = sweeps % (2 * PC_SCHUR_EXCEPTION) != PC_SCHUR_EXCEPTION - 1;
    c = at_end ? pc_size(end[-1]) + pc_size(end[-n - 2]) : pc_size(start[n]) + pc_size(start[2 * n + 1]);
    a = d = 0.75 * c + (at_end ? end[0] : start[0]);
    b = -0.4375 * c;
  }
  double scale = pc_size(a) + pc_size(b) + pc_size(c) + pc_size(d);
  shifts[0] = shifts[1] = shifts[2] = 0;
  if (scale == 0) return;
  a /= scale, b /= scale, c /= scale, d /= scale;
  double mean = (a + d) / 2, square = (a - mean) * (d - mean) - b * c, root = __builtin_sqrt(pc_size(square));
  if (square >= 0) {
    shifts[0] = shifts[1] = mean * scale;
    shifts[2] = root * scale;
    return;
  }
  double more = mean + root, less = mean - root;
  shifts[0] = shifts[1] = (pc_size(more - d) <= pc_size(less - d) ? more : less) * scale;
}

/* The first column of the product of both shifted matrices that start in row k: a multiple of three numbers, in v. */
__attribute__((unused)) static void pc_schur_start(const pc_schur_state *of, int64_t k, const double *shifts, double *v) {
  const int64_t n = of->n;
  const double *h = of->h + k * n + k;
  double scale = pc_size(h[0] - shifts[1]) + pc_size(shifts[2]) + pc_size(h[n]), below = h[n] / scale;
  v[0] = (below * h[1] + (h[0] - shifts[0]) * ((h[0] - shifts[1]) / scale)) + shifts[2] * (shifts[2] / scale);
  v[1] = below * (h[0] + h[n + 1] - shifts[0] - shifts[1]);
  v[2] = below * h[2 * n + 1];
  scale = pc_size(v[0]) + pc_size(v[1]) + pc_size(v[2]);
  for (int i = 0; i < 3 && scale != 0; i++) v[i] /= scale;
}

/* One sweep of the QR algorithm from `first` to `last`. */
__attribute__((unused)) static void pc_schur_sweep(const pc_schur_state *of, int64_t first, int64_t last, int64_t sweeps) {
  const int64_t n = of->n, stop = of->z != NULL ? n : last + 1, top = of->z != NULL ? 0 : first;
  double shifts[3], v[3], tau, *h = of->h;
  pc_schur_shifts(of, first, last, sweeps, shifts);
  int64_t start = last - 2;
  for (;; start--) {
    pc_schur_start(of, start, shifts, v);
    if (start == first) break;
    const double *at = h + start * n + start;
    double beside = pc_size(at[-n - 1]) + pc_size(at[0]) + pc_size(at[n + 1]);
    if (pc_size(at[-1]) * (pc_size(v[1]) + pc_size(v[2])) <= 0x1p-52 * pc_size(v[0]) * beside) break;
  }
  for (int64_t k = start; k < last; k++) {
    const int few = last - k >= 2 ? 3 : 2;
    double *at = h + k * n + k;
    for (int i = 0; i < few && k > start; i++) v[i] = at[i * n - 1];
    double beta = pc_reflection(few, v, 0, &tau);
    if (k > start) {
      at[-1] = beta;
      for (int i = 1; i < few; i++) at[i * n - 1] = 0;
    } else if (start > first) {
      at[-1] *= 1 - tau;
    }
    if (tau == 0) continue;
    pc_reflect_rows(few, stop - k, at, n, v, tau);
    pc_reflect_columns(few, (k + 3 < last ? k + 3 : last) + 1 - top, h + top * n + k, n, v, tau);
    if (of->z != NULL) pc_reflect_rows(few, n, of->z + k * of->row, of->row, v, tau);
  }
}

/* The rotation that gives m[4], the rows of a matrix, its normal form: triangular, or with equal numbers on the diagonal and numbers of
 * opposite signs beside it. m becomes this form. */
__attribute__((unused)) static void pc_schur_normal(double *m, double *cosine, double *sine) {
  double a = m[0], b = m[1], c = m[2], d = m[3], half = (a - d) / 2, more = pc_size(b), less = pc_size(c);
  *cosine = 1, *sine = 0;
  if (c == 0) return;
  if (b == 0) {
    *cosine = 0, *sine = 1;
    m[0] = d, m[1] = -c, m[2] = 0, m[3] = a;
    return;
  }
  if (a == d && (b < 0) != (c < 0)) return;
  if (more < less) less = more, more = pc_size(c);
  if ((b < 0) != (c < 0)) less = -less;
  double scale = pc_size(half) > more ? pc_size(half) : more, square = half / scale * half + more / scale * less;
  if (square >= 0x1p-50) {
    double root = __builtin_sqrt(scale) * __builtin_sqrt(square), by = half + (half < 0 ? -root : root), length = pc_length(c, by);
    *cosine = by / length, *sine = c / length;
    m[0] = d + by, m[1] = b - c, m[2] = 0, m[3] = d - more / by * less;
    return;
  }
  double sum = b + c, length = pc_length(sum, a - d), turned = __builtin_sqrt((1 + pc_size(sum) / length) / 2);
  double other = -(half / (length * turned)) * (sum < 0 ? -1 : 1);
  double p = a * turned + b * other, q = b * turned - a * other, r = c * turned + d * other, s = d * turned - c * other;
  double first = p * turned + r * other, last = s * turned - q * other;
  b = q * turned + s * other, c = r * turned - p * other;
  double mean = (first + last) / 2;
  m[0] = m[3] = mean, m[1] = b, m[2] = c;
  *cosine = turned, *sine = other;
  if (c == 0) return;
  if (b == 0) {
    m[1] = -c, m[2] = 0;
    *cosine = -other, *sine = turned;
  } else if ((b < 0) == (c < 0)) {
    double of_b = __builtin_sqrt(pc_size(b)), of_c = __builtin_sqrt(pc_size(c)), by = 1 / __builtin_sqrt(pc_size(b + c));
    double apart = c < 0 ? -(of_b * of_c) : of_b * of_c;
    m[0] = mean + apart, m[1] = b - c, m[2] = 0, m[3] = mean - apart;
    *cosine = turned * (of_b * by) - other * (of_c * by), *sine = turned * (of_c * by) + other * (of_b * by);
  }
}

/* Gives the block of rows k and k + 1 its normal form, and stores its eigenvalues. */
__attribute__((unused)) static void pc_schur_pair(const pc_schur_state *of, int64_t k) {
  const int64_t n = of->n;
  double *at = of->h + k * n + k, m[4] = {at[0], at[1], at[n], at[n + 1]}, c, s;
  pc_schur_normal(m, &c, &s);
  at[0] = m[0], at[1] = m[1], at[n] = m[2], at[n + 1] = m[3];
  of->real[k] = m[0], of->real[k + 1] = m[3];
  of->imaginary[k] = m[2] == 0 ? 0 : __builtin_sqrt(pc_size(m[1])) * __builtin_sqrt(pc_size(m[2]));
  of->imaginary[k + 1] = m[2] == 0 ? 0 : -of->imaginary[k];
  if (of->z == NULL) return;
  pc_rotate_pair(n - k - 2, at + 2, at + n + 2, c, s);
  for (int64_t i = 0; i < k; i++) pc_rotate_pair(1, of->h + i * n + k, of->h + i * n + k + 1, c, s);
  pc_rotate_pair(n, of->z + k * of->row, of->z + (k + 1) * of->row, c, s);
}

/* Makes a Hessenberg matrix quasi-triangular. Returns whether it fails. */
__attribute__((unused)) static int pc_schur_diagonal(const pc_schur_state *of) {
  int64_t sweeps = 0;
  for (int64_t last = of->n - 1; last >= 0;) {
    int64_t first = last;
    while (first > 0 && !pc_schur_is_small(of, first, last, sweeps)) first--;
    if (first > 0) of->h[first * of->n + first - 1] = 0;
    if (first + 1 < last) {
      if (sweeps == PC_SCHUR_SWEEPS) return 1;
      pc_schur_sweep(of, first, last, sweeps++);
      continue;
    }
    if (first == last) {
      of->real[last] = of->h[last * of->n + last];
      of->imaginary[last] = 0;
    } else {
      pc_schur_pair(of, first);
    }
    last = first - 1;
    sweeps = 0;
  }
  return 0;
}

/* Decomposes the matrix h. p[n,n], tau, y: n elements each. Returns whether it fails. */
__attribute__((unused)) static int pc_schur_decompose(const pc_schur_state *of, double *p, double *tau, double *y) {
  const int64_t n = of->n;
  pc_hessenberg(n, of->h, p, tau, y);
  if (of->z != NULL) pc_reflect_units(0, n, n, of->z, of->row, p, n, tau, n > 2 ? n - 2 : 0, 1);
  return pc_schur_diagonal(of);
}

#endif
