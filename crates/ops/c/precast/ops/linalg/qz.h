/* precast/ops/linalg/qz.h: generalized Schur decompositions of pairs of matrices.
 *
 * Rotations make b triangular and a Hessenberg, and the QZ algorithm with implicit shifts, single ones of complex and double ones of real
 * matrices, makes a triangular or quasi-triangular. Numbers up to 2⁻⁵² of the norm of a matrix count as 0; zeros on the diagonal of b move
 * down to their eigenvalue, which is infinite. The diagonal of b is real and not negative.
 *
 * Source. C. B. Moler, G. W. Stewart, An algorithm for generalized matrix eigenvalue problems, 1973; G. H. Golub, C. F. Van Loan, Matrix
 * Computations, 7.7.
 */
#ifndef PRECAST_OPS_LINALG_QZ_H
#define PRECAST_OPS_LINALG_QZ_H

#include <precast/ops/linalg/pencil.h>

/* The power of 2 that moves a number of this size next to 1. */
__attribute__((unused)) static double pc_qz_scale(double largest) {
  union {
    double number;
    uint64_t bits;
  } of = {largest};
  uint64_t exponent = of.bits >> 52;
  exponent = exponent < 1 ? 1 : exponent > 2045 ? 2045 : exponent;
  of.bits = (2046 - exponent) << 52;
  return largest == 0 ? 1 : of.number;
}

/* The size below which numbers of a matrix count as 0. */
__attribute__((unused)) static double pc_qz_least(const pc_pencil *of, const double *x) {
  double sum = 0;
  for (int64_t i = 0; i < of->n * of->parts * of->n; i++) sum += x[i] * x[i];
  return 0x1p-52 * __builtin_sqrt(sum);
}

/* Makes b triangular and a Hessenberg. */
__attribute__((unused)) static void pc_qz_hessenberg(const pc_pencil *of) {
  const int64_t n = of->n;
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = n - 2; i >= j; i--) pc_pencil_clear_below(of, of->b, i, j, 0);
  }
  for (int64_t j = 0; j + 2 < n; j++) {
    for (int64_t i = n - 2; i > j; i--) {
      pc_pencil_clear_below(of, of->a, i, j, j);
      pc_pencil_clear_left(of, of->b, i + 1, i, n - 1);
    }
  }
}

/* Moves the 0 in row k of the diagonal of b down to row `last`, and makes the number left of the diagonal of a there 0. */
__attribute__((unused)) static void pc_qz_chase(const pc_pencil *of, int64_t first, int64_t k, int64_t last) {
  for (int64_t j = k; j < last; j++) {
    pc_pencil_clear_below(of, of->b, j, j + 1, j > first ? j - 1 : j);
    if (j > first) pc_pencil_clear_left(of, of->a, j + 1, j - 1, j + 1);
  }
  pc_pencil_clear_left(of, of->a, last, last - 1, last);
}

/* The last two rows of a·b⁻¹ from `first` to `last`: m[4]. An exceptional shift replaces them. */
__attribute__((unused)) static void pc_qz_end(const pc_pencil *of, int64_t first, int64_t last, int64_t sweeps, pc_c128 *m) {
  const int64_t k = last - 1;
  const pc_c128 own = pc_pencil_at(of, of->b, k, k), end = pc_pencil_at(of, of->b, last, last), above = pc_pencil_at(of, of->b, k, last);
  pc_c128 before = pc_zero(), x = pc_pencil_at(of, of->a, k, k), y = pc_pencil_at(of, of->a, k, last);
  if (k > first) {
    before = pc_div_c128(pc_pencil_at(of, of->a, k, k - 1), pc_pencil_at(of, of->b, k - 1, k - 1));
    x = pc_sub_c128(x, pc_mul_c128(before, pc_pencil_at(of, of->b, k - 1, k)));
    y = pc_sub_c128(y, pc_mul_c128(before, pc_pencil_at(of, of->b, k - 1, last)));
  }
  m[0] = pc_div_c128(x, own);
  m[1] = pc_div_c128(pc_sub_c128(y, pc_mul_c128(m[0], above)), end);
  m[2] = pc_div_c128(pc_pencil_at(of, of->a, last, k), own);
  m[3] = pc_div_c128(pc_sub_c128(pc_pencil_at(of, of->a, last, last), pc_mul_c128(m[2], above)), end);
  if (sweeps % PC_SCHUR_EXCEPTION == PC_SCHUR_EXCEPTION - 1) {
    const double size = pc_size_of(m[2]) + pc_size_of(before);
    m[0] = m[3] = pc_complex_f64(0.75 * size + m[3].re, m[3].im);
    m[1] = pc_complex_f64(-0.4375 * size, 0);
    m[2] = pc_complex_f64(size, 0);
  }
}

/* The start of a sweep with two shifts: a multiple of three numbers. The shifts are conjugates, or both the eigenvalue of the last two rows of
 * a·b⁻¹ that is nearer to its last number. */
__attribute__((unused)) static void pc_qz_double(const pc_pencil *of, int64_t first, int64_t last, int64_t sweeps, pc_c128 *v) {
  const int64_t n = of->n, at = first * n + first;
  const double *a = of->a + at, *b = of->b + at;
  pc_c128 m[4];
  pc_qz_end(of, first, last, sweeps, m);
  const double own = a[0] / b[0], below = a[n] / b[0], beside = (a[1] - own * b[1]) / b[n + 1], next = (a[n + 1] - below * b[1]) / b[n + 1];
  const double half = (m[0].re - m[3].re) / 2, square = half * half + m[1].re * m[2].re, root = __builtin_sqrt(pc_size(square));
  double x = m[0].re - own, y = m[3].re - own, product = m[1].re * m[2].re;
  if (square >= 0) x = y += half < 0 ? half + root : half - root, product = 0;
  v[0] = pc_complex_f64((x * y - product) / below + beside, 0);
  v[1] = pc_complex_f64(next - own - x - y, 0);
  v[2] = pc_complex_f64(a[2 * n + 1] / b[n + 1], 0);
}

/* The start of a sweep with one shift, the eigenvalue of the last two rows of a·b⁻¹ that is nearer to its last number. */
__attribute__((unused)) static void pc_qz_single(const pc_pencil *of, int64_t first, int64_t last, int64_t sweeps, pc_c128 *v) {
  pc_c128 m[4];
  pc_qz_end(of, first, last, sweeps, m);
  const pc_c128 half = pc_scaled(pc_sub_c128(m[0], m[3]), 0.5), product = pc_mul_c128(m[1], m[2]);
  pc_c128 root = pc_schur_root(pc_add_c128(pc_mul_c128(half, half), product)), shift = m[3];
  if (half.re * root.re + half.im * root.im < 0) root = pc_negative(root);
  const pc_c128 sum = pc_add_c128(half, root);
  if (sum.re != 0 || sum.im != 0) shift = pc_sub_c128(shift, pc_div_c128(product, sum));
  v[0] = pc_sub_c128(pc_pencil_at(of, of->a, first, first), pc_mul_c128(shift, pc_pencil_at(of, of->b, first, first)));
  v[1] = pc_pencil_at(of, of->a, first + 1, first);
}

/* One sweep of the QZ algorithm from `first` to `last`. */
__attribute__((unused)) static void pc_qz_sweep(const pc_pencil *of, int64_t first, int64_t last, int64_t sweeps) {
  pc_c128 v[3] = {{0, 0}, {0, 0}, {0, 0}};
  if (of->parts == 1) pc_qz_double(of, first, last, sweeps, v);
  else pc_qz_single(of, first, last, sweeps, v);
  for (int64_t k = first; k < last; k++) {
    const int is_wide = of->parts == 1 && k + 2 <= last;
    if (k == first) {
      if (is_wide) {
        const pc_turn turn = pc_turn_of(v[1], v[2]);
        pc_pencil_rows(of, k + 1, k, turn);
        v[1] = pc_add_c128(pc_scaled(v[1], turn.c), pc_mul_c128(turn.s, v[2]));
      }
      pc_pencil_rows(of, k, k, pc_turn_of(v[0], v[1]));
    } else {
      if (is_wide) pc_pencil_clear_below(of, of->a, k + 1, k - 1, k - 1);
      pc_pencil_clear_below(of, of->a, k, k - 1, k - 1);
    }
    const int64_t reach = k + of->parts % 2 + 2 < last ? k + of->parts % 2 + 2 : last;
    if (is_wide) pc_pencil_clear_left(of, of->b, k + 2, k + 1, reach);
    pc_pencil_clear_left(of, of->b, k + 1, k, reach);
  }
}

/* Makes the numbers of the diagonal of b real and not negative by factors of columns. */
__attribute__((unused)) static void pc_qz_turn(const pc_pencil *of) {
  const int64_t n = of->n;
  for (int64_t j = 0; j < n; j++) {
    const pc_c128 own = pc_pencil_at(of, of->b, j, j);
    const double size = pc_abs_of(own);
    if (own.re >= 0 && own.im == 0) continue;
    const pc_c128 by = pc_complex_f64(own.re / size, -own.im / size);
    for (int64_t i = 0; i <= j; i++) {
      pc_pencil_put(of, of->a, i, j, pc_mul_c128(pc_pencil_at(of, of->a, i, j), by));
      pc_pencil_put(of, of->b, i, j, pc_mul_c128(pc_pencil_at(of, of->b, i, j), by));
    }
    if (pc_pencil_is_pair(of, j)) pc_pencil_put(of, of->a, j + 1, j, pc_mul_c128(pc_pencil_at(of, of->a, j + 1, j), by));
    double *z = of->z + j * of->row;
    for (int64_t i = 0; i < n; i++) {
      const pc_c128 turned = pc_mul_c128(pc_complex_f64(z[i], of->parts == 2 ? z[n + i] : 0), by);
      z[i] = turned.re;
      if (of->parts == 2) z[n + i] = turned.im;
    }
    pc_pencil_put(of, of->b, j, j, pc_complex_f64(size, 0));
  }
}

/* Makes a triangular or quasi-triangular. Returns whether it fails. */
__attribute__((unused)) static int pc_qz_diagonal(const pc_pencil *of) {
  const double of_a = pc_qz_least(of, of->a), of_b = pc_qz_least(of, of->b);
  int64_t sweeps = 0;
  for (int64_t last = of->n - 1; last >= 0;) {
    int64_t first = last, k = last;
    while (first > 0 && pc_abs_of(pc_pencil_at(of, of->a, first, first - 1)) > of_a) first--;
    if (first > 0) pc_pencil_put(of, of->a, first, first - 1, pc_zero());
    while (k >= first && pc_abs_of(pc_pencil_at(of, of->b, k, k)) > of_b) k--;
    const int is_pair = of->parts == 1 && first + 1 == last;
    if (k >= first) {
      pc_pencil_put(of, of->b, k, k, pc_zero());
      if (first < last) pc_qz_chase(of, first, k, last);
      last--;
    } else if (first == last || is_pair) {
      if (is_pair) pc_pencil_pair(of, first);
      last = first - 1;
    } else {
      if (sweeps == PC_SCHUR_SWEEPS) return 1;
      pc_qz_sweep(of, first, last, sweeps++);
      continue;
    }
    sweeps = 0;
  }
  pc_qz_turn(of);
  return 0;
}

/* Decomposes the pair. q and z must be units. Returns whether it fails. */
__attribute__((unused)) static int pc_qz_decompose(const pc_pencil *of, int64_t sort) {
  pc_qz_hessenberg(of);
  if (pc_qz_diagonal(of)) return 1;
  if (sort == PC_SORT_NONE) return 0;
  if (pc_pencil_sort(of, sort)) return 1;
  pc_qz_turn(of);
  return 0;
}

#endif
