/* precast/ops/linalg/schur_complex.h: Schur decompositions of complex matrices.
 *
 * Reflections make the matrix Hessenberg, and the implicit QR algorithm with single shifts makes it triangular. Rows have the real parts, then
 * the imaginary parts.
 *
 * Source. G. H. Golub, C. F. Van Loan, Matrix Computations, 7.4 and 7.5; LAPACK, zlahqr.
 */
#ifndef PRECAST_OPS_LINALG_SCHUR_COMPLEX_H
#define PRECAST_OPS_LINALG_SCHUR_COMPLEX_H

#include <precast/ops/linalg/reflect_complex.h>
#include <precast/ops/linalg/schur.h>

/* |re| + |im|. */
static inline double pc_size_of(pc_c128 x) { return pc_size(x.re) + pc_size(x.im); }

/* An element of a matrix of n columns. */
static inline pc_c128 pc_complex_at(int64_t n, const double *a, int64_t i, int64_t j) {
  return pc_complex_f64(a[2 * i * n + j], a[2 * i * n + n + j]);
}

static inline void pc_complex_put(int64_t n, double *a, int64_t i, int64_t j, pc_c128 x) {
  a[2 * i * n + j] = x.re;
  a[2 * i * n + n + j] = x.im;
}

/* The square root whose real part is not negative. */
static inline pc_c128 pc_schur_root(pc_c128 x) {
  double size = pc_length(x.re, x.im), large = __builtin_sqrt((size + pc_size(x.re)) / 2), small;
  if (large == 0) return pc_complex_f64(0, 0);
  small = pc_size(x.im) / (2 * large);
  if (x.re >= 0) return pc_complex_f64(large, x.im < 0 ? -small : small);
  return pc_complex_f64(small, x.im < 0 ? -large : large);
}

/* Turns a[n,n] into a Hessenberg matrix. p[n,n]: row k then holds the vector of reflection k from index k + 1 on. y: 2·n elements. */
__attribute__((unused)) static void pc_complex_hessenberg(int64_t n, double *a, double *p, pc_c128 *tau, double *y) {
  for (int64_t k = 0; k + 2 < n; k++) {
    const int64_t first = k + 1, rest = n - first;
    double *v = p + 2 * k * n + first;
    for (int64_t i = 0; i < rest; i++) v[i] = a[2 * (first + i) * n + k], v[n + i] = a[2 * (first + i) * n + n + k];
    const double beta = pc_complex_reflection(rest, v, n, 0, &tau[k]);
    for (int64_t i = 0; i < rest; i++) pc_complex_put(n, a, first + i, k, pc_complex_f64(i == 0 ? beta : 0, 0));
    if (tau[k].re == 0 && tau[k].im == 0) continue;
    for (int64_t j = 0; j < rest; j++) y[j] = y[n + j] = 0;
    for (int64_t i = 0; i < rest; i++) {
      pc_complex_subtract(rest, y, n, pc_complex_f64(-v[i], v[n + i]), a + 2 * (first + i) * n + first, n);
    }
    pc_complex_scale(rest, y, n, pc_conj_c128(tau[k]));
    for (int64_t i = 0; i < rest; i++) {
      pc_complex_subtract(rest, a + 2 * (first + i) * n + first, n, pc_complex_f64(v[i], v[n + i]), y, n);
    }
    for (int64_t i = 0; i < n; i++) {
      double *row = a + 2 * i * n + first, re = pc_dot_of(rest, row, v) - pc_dot_of(rest, row + n, v + n);
      const pc_c128 factor = pc_mul_c128(tau[k], pc_complex_f64(re, pc_dot_of(rest, row, v + n) + pc_dot_of(rest, row + n, v)));
      for (int64_t j = 0; j < rest; j++) row[j] -= factor.re * v[j] + factor.im * v[n + j];
      for (int64_t j = 0; j < rest; j++) row[n + j] -= factor.im * v[j] - factor.re * v[n + j];
    }
  }
}

/* Reflects n pairs (x, y) of numbers, `along` elements apart, by 1 - tau·(1, v)·(1, v)ᴴ. */
static inline void pc_reflect_two(int64_t n, double *x, double *y, int64_t along, int64_t apart, pc_c128 v, pc_c128 tau) {
  for (int64_t i = 0; i < n; i++, x += along, y += along) {
    double re = x[0] + (v.re * y[0] + v.im * y[apart]), im = x[apart] + (v.re * y[apart] - v.im * y[0]);
    double by = tau.re * re - tau.im * im, turned = tau.re * im + tau.im * re;
    x[0] -= by, x[apart] -= turned;
    y[0] -= v.re * by - v.im * turned;
    y[apart] -= v.re * turned + v.im * by;
  }
}

/* Whether the number left of the diagonal in row k counts as 0. */
__attribute__((unused)) static int pc_complex_is_small(const pc_schur_state *of, int64_t k, int64_t last, int64_t sweeps) {
  const int64_t n = of->n;
  const pc_c128 before = pc_complex_at(n, of->h, k - 1, k - 1), here = pc_complex_at(n, of->h, k, k);
  const double below = pc_size_of(pc_complex_at(n, of->h, k, k - 1)), above = pc_size_of(pc_complex_at(n, of->h, k - 1, k));
  double sizes = pc_size_of(before) + pc_size_of(here), own = pc_size_of(here), gap = pc_size_of(pc_sub_c128(before, here));
  if (below <= 0x1p-960) return 1;
  if (sizes == 0) {
    sizes = (k > 1 ? pc_size_of(pc_complex_at(n, of->h, k - 1, k - 2)) : 0) + (k < last ? pc_size_of(pc_complex_at(n, of->h, k + 1, k)) : 0);
  }
  return below <= 0x1p-52 * sizes && (sweeps >= PC_SCHUR_STRICT || pc_schur_is_negligible(below, above, own, gap));
}

/* The shift of a sweep from `first` to `last`: the eigenvalue of the last two rows that is nearer to the last number of the diagonal. */
__attribute__((unused)) static pc_c128 pc_complex_shift(const pc_schur_state *of, int64_t first, int64_t last, int64_t sweeps) {
  const int64_t n = of->n;
  const pc_c128 end = pc_complex_at(n, of->h, last, last), below = pc_complex_at(n, of->h, last, last - 1);
  if (sweeps % (2 * PC_SCHUR_EXCEPTION) == PC_SCHUR_EXCEPTION - 1) {
    const pc_c128 start = pc_complex_at(n, of->h, first, first);
    return pc_complex_f64(start.re + 0.75 * pc_size_of(pc_complex_at(n, of->h, first + 1, first)), start.im);
  }
  if (sweeps % PC_SCHUR_EXCEPTION == PC_SCHUR_EXCEPTION - 1) return pc_complex_f64(end.re + 0.75 * pc_size_of(below), end.im);
  const pc_c128 product = pc_mul_c128(pc_schur_root(pc_complex_at(n, of->h, last - 1, last)), pc_schur_root(below));
  if (product.re == 0 && product.im == 0) return end;
  const pc_c128 twice = pc_sub_c128(pc_complex_at(n, of->h, last - 1, last - 1), end), half = pc_complex_f64(twice.re / 2, twice.im / 2);
  const double scale = pc_size_of(half) > pc_size_of(product) ? pc_size_of(half) : pc_size_of(product);
  const pc_c128 u = pc_complex_f64(product.re / scale, product.im / scale), x = pc_complex_f64(half.re / scale, half.im / scale);
  pc_c128 root = pc_schur_root(pc_add_c128(pc_mul_c128(x, x), pc_mul_c128(u, u)));
  if (x.re * root.re + x.im * root.im < 0) root = pc_complex_f64(-root.re, -root.im);
  return pc_sub_c128(end, pc_mul_c128(product, pc_div_c128(u, pc_add_c128(x, root))));
}

/* One sweep of the QR algorithm from `first` to `last`. */
__attribute__((unused)) static void pc_complex_sweep(const pc_schur_state *of, int64_t first, int64_t last, int64_t sweeps) {
  const int64_t n = of->n, stop = of->z != NULL ? n : last + 1, top = of->z != NULL ? 0 : first;
  const pc_c128 start = pc_sub_c128(pc_complex_at(n, of->h, first, first), pc_complex_shift(of, first, last, sweeps));
  double *h = of->h;
  for (int64_t k = first; k < last; k++) {
    const pc_c128 own = k > first ? pc_complex_at(n, h, k, k - 1) : start, next = pc_complex_at(n, h, k + 1, k > first ? k - 1 : k);
    double pair[4] = {own.re, next.re, own.im, next.im}, *row = h + 2 * k * n + k, *column = h + 2 * top * n + k;
    pc_c128 tau;
    const double beta = pc_complex_reflection(2, pair, 2, 0, &tau);
    const pc_c128 v = pc_complex_f64(pair[1], pair[3]);
    if (k > first) {
      pc_complex_put(n, h, k, k - 1, pc_complex_f64(beta, 0));
      pc_complex_put(n, h, k + 1, k - 1, pc_complex_f64(0, 0));
    }
    pc_reflect_two(stop - k, row, row + 2 * n, 1, n, v, pc_conj_c128(tau));
    pc_reflect_two((k + 2 < last ? k + 2 : last) + 1 - top, column, column + 1, 2 * n, n, pc_conj_c128(v), tau);
    if (of->z != NULL) pc_reflect_two(n, of->z + k * of->row, of->z + (k + 1) * of->row, 1, n, pc_conj_c128(v), tau);
  }
}

/* Makes a Hessenberg matrix triangular. Returns whether it fails. */
__attribute__((unused)) static int pc_complex_diagonal(const pc_schur_state *of) {
  const pc_c128 zero = {0, 0};
  int64_t sweeps = 0;
  for (int64_t last = of->n - 1; last >= 0;) {
    int64_t first = last;
    while (first > 0 && !pc_complex_is_small(of, first, last, sweeps)) first--;
    if (first > 0) pc_complex_put(of->n, of->h, first, first - 1, zero);
    if (first < last) {
      if (sweeps == PC_SCHUR_SWEEPS) return 1;
      pc_complex_sweep(of, first, last, sweeps++);
      continue;
    }
    const pc_c128 value = pc_complex_at(of->n, of->h, last, last);
    of->real[last] = value.re;
    of->imaginary[last] = value.im;
    last--;
    sweeps = 0;
  }
  return 0;
}

/* Decomposes the complex matrix h. p[n,n]; tau, y: 2·n elements each. Returns whether it fails. */
__attribute__((unused)) static int pc_complex_schur_decompose(const pc_schur_state *of, double *p, double *tau, double *y) {
  const int64_t n = of->n;
  pc_complex_hessenberg(n, of->h, p, (pc_c128 *)tau, y);
  if (of->z != NULL) pc_complex_units(0, n, n, of->z, of->row, p, (const pc_c128 *)tau, n > 2 ? n - 2 : 0, 1);
  return pc_complex_diagonal(of);
}

#endif
