/* precast/ops/linalg/pencil.h: rotations of pairs of square matrices, and the order of the blocks of their Schur forms.
 *
 * A pair has the matrices a and b, or a alone. Rotations of neighboring rows and columns keep a = q·(a)·zᴴ and b = q·(b)·zᴴ; for a alone, q
 * is z. Real and complex matrices have the same code: the elements of real ones have an imaginary part of 0. Blocks of two rows exist only in
 * real forms, where the number left of the diagonal of a is not 0.
 *
 * Two neighboring blocks are exchanged by rotations that triangularize the bases of their deflating subspaces, which a linear system with at
 * most eight unknowns gives.
 *
 * Source. Z. Bai, J. W. Demmel, On swapping diagonal blocks in real Schur form, 1993; B. Kågström, A direct method for reordering eigenvalues
 * in the generalized real Schur form of a regular matrix pair (A, B), 1993.
 */
#ifndef PRECAST_OPS_LINALG_PENCIL_H
#define PRECAST_OPS_LINALG_PENCIL_H

#include <precast/ops/linalg/schur_stack.h>

/* The eigenvalues that come first. The orders of a pair exclude the bounds. */
enum { PC_SORT_NONE, PC_SORT_LEFT, PC_SORT_RIGHT, PC_SORT_INSIDE, PC_SORT_OUTSIDE };

/* The most rotations that make a block triangular. */
#define PC_PENCIL_TURNS 10

typedef struct pc_pencil {
  /* parts: the elements of a number. */
  int64_t n, parts;
  /* Matrices of n rows. b is NULL for a alone. */
  double *a, *b;
  /* The columns of q and z as n rows, `row` elements apart. q is NULL for a alone. */
  double *q, *z;
  int64_t row;
  /* The factors that a and b have been multiplied by. */
  double of_a, of_b;
} pc_pencil;

static inline pc_c128 pc_pencil_at(const pc_pencil *of, const double *x, int64_t i, int64_t j) {
  const double *at = x + of->parts * i * of->n + j;
  return pc_complex_f64(at[0], of->parts == 2 ? at[of->n] : 0);
}

static inline void pc_pencil_put(const pc_pencil *of, double *x, int64_t i, int64_t j, pc_c128 value) {
  double *at = x + of->parts * i * of->n + j;
  at[0] = value.re;
  if (of->parts == 2) at[of->n] = value.im;
}

static inline pc_c128 pc_zero(void) { return pc_complex_f64(0, 0); }
static inline pc_c128 pc_scaled(pc_c128 x, double by) { return pc_complex_f64(x.re * by, x.im * by); }
static inline pc_c128 pc_negative(pc_c128 x) { return pc_complex_f64(-x.re, -x.im); }
static inline double pc_abs_of(pc_c128 x) { return pc_length(x.re, x.im); }

/* A rotation of (x, y) into (c·x + s·y, c·y - conj(s)·x). */
typedef struct pc_turn {
  double c;
  pc_c128 s;
} pc_turn;

/* The rotation that turns (x, y) into (r, 0). c is not negative. */
__attribute__((unused)) static pc_turn pc_turn_of(pc_c128 x, pc_c128 y) {
  const double of_x = pc_abs_of(x), of_y = pc_abs_of(y), length = pc_length(of_x, of_y);
  pc_turn turn = {1, {0, 0}};
  if (of_y == 0) return turn;
  turn.c = of_x / length;
  if (of_x == 0) turn.s = pc_complex_f64(y.re / of_y, -y.im / of_y);
  else turn.s = pc_mul_c128(pc_complex_f64(x.re / of_x, x.im / of_x), pc_complex_f64(y.re / length, -y.im / length));
  return turn;
}

/* Rotates pairs of numbers, `step` elements apart. */
__attribute__((unused)) static void pc_turn_apply(int64_t parts, int64_t apart, int64_t count, double *x, double *y, int64_t step,
                                                  pc_turn turn) {
  const double c = turn.c, re = turn.s.re, im = turn.s.im;
  for (int64_t i = 0; i < count; i++, x += step, y += step) {
    double old = x[0], next = y[0];
    if (parts == 1) {
      x[0] = c * old + re * next;
      y[0] = c * next - re * old;
      continue;
    }
    double old_im = x[apart], next_im = y[apart];
    x[0] = c * old + (re * next - im * next_im);
    x[apart] = c * old_im + (re * next_im + im * next);
    y[0] = c * next - (re * old + im * old_im);
    y[apart] = c * next_im - (re * old_im - im * old);
  }
}

/* Rotates rows i and i + 1, which are 0 before column `from`. */
__attribute__((unused)) static void pc_pencil_rows(const pc_pencil *of, int64_t i, int64_t from, pc_turn turn) {
  const int64_t n = of->n, width = of->parts * n, at = i * width + from;
  pc_turn_apply(of->parts, n, n - from, of->a + at, of->a + at + width, 1, turn);
  if (of->b == NULL) return;
  pc_turn_apply(of->parts, n, n - from, of->b + at, of->b + at + width, 1, turn);
  turn.s = pc_conj_c128(turn.s);
  pc_turn_apply(of->parts, n, n, of->q + i * of->row, of->q + (i + 1) * of->row, 1, turn);
}

/* Rotates columns j and k, which are 0 after row `last`. */
__attribute__((unused)) static void pc_pencil_columns(const pc_pencil *of, int64_t j, int64_t k, int64_t last, pc_turn turn) {
  const int64_t n = of->n, width = of->parts * n;
  pc_turn_apply(of->parts, n, last + 1, of->a + j, of->a + k, width, turn);
  if (of->b != NULL) pc_turn_apply(of->parts, n, last + 1, of->b + j, of->b + k, width, turn);
  pc_turn_apply(of->parts, n, n, of->z + j * of->row, of->z + k * of->row, 1, turn);
}

/* Makes the number of row i + 1 and column j of x 0 by a rotation with the row above. */
__attribute__((unused)) static void pc_pencil_clear_below(const pc_pencil *of, double *x, int64_t i, int64_t j, int64_t from) {
  const pc_c128 y = pc_pencil_at(of, x, i + 1, j);
  if (y.re == 0 && y.im == 0) return;
  pc_pencil_rows(of, i, from, pc_turn_of(pc_pencil_at(of, x, i, j), y));
  pc_pencil_put(of, x, i + 1, j, pc_zero());
}

/* Makes the number of row i and column j of x 0 by a rotation with the column to the right. */
__attribute__((unused)) static void pc_pencil_clear_left(const pc_pencil *of, double *x, int64_t i, int64_t j, int64_t last) {
  const pc_c128 y = pc_pencil_at(of, x, i, j);
  if (y.re == 0 && y.im == 0) return;
  pc_pencil_columns(of, j + 1, j, last, pc_turn_of(pc_pencil_at(of, x, i, j + 1), y));
  pc_pencil_put(of, x, i, j, pc_zero());
}

/* Whether rows k and k + 1 are a block. */
static inline int pc_pencil_is_pair(const pc_pencil *of, int64_t k) {
  return of->parts == 1 && k + 1 < of->n && of->a[(k + 1) * of->n + k] != 0;
}

/* The block of rows k and k + 1 of a·b⁻¹, b triangular: m[4]. Returns whether its eigenvalues are real. mean ± root: the eigenvalues, or
 * their real parts and imaginary parts. */
__attribute__((unused)) static int pc_pencil_block(const pc_pencil *of, int64_t k, double *mean, double *root) {
  const int64_t n = of->n, at = k * n + k;
  const double *a = of->a + at, *b = of->b + at;
  double m[4], half, square;
  m[0] = a[0] / b[0], m[2] = a[n] / b[0];
  m[1] = (a[1] - m[0] * b[1]) / b[n + 1], m[3] = (a[n + 1] - m[2] * b[1]) / b[n + 1];
  half = (m[0] - m[3]) / 2;
  square = half * half + m[1] * m[2];
  *mean = m[3] + half;
  *root = __builtin_sqrt(pc_size(square));
  return square >= 0;
}

/* Rotates a block with real eigenvalues, b triangular, so that it is nearly triangular. value: one of them, whose size is not small. Returns
 * whether numbers are left that do not count as 0. */
__attribute__((unused)) static int pc_pencil_split(const pc_pencil *of, int64_t k, double value) {
  const int64_t n = of->n, at = k * n + k;
  double *a = of->a + at, *b = of->b + at;
  const double size = pc_size(value), by = size > 1 ? 1 / size : 1, w = size > 1 ? value / size : value;
  const double of_a = pc_size(a[0]) + pc_size(a[1]) + pc_size(a[n]) + pc_size(a[n + 1]), of_b = pc_size(b[0]) + pc_size(b[1]) + pc_size(b[n + 1]);
  const double of_first[2] = {by * a[0] - w * b[0], by * a[1] - w * b[1]}, of_second[2] = {by * a[n], by * a[n + 1] - w * b[n + 1]};
  const double *v = pc_length(of_first[0], of_first[1]) >= pc_length(of_second[0], of_second[1]) ? of_first : of_second;
  pc_pencil_columns(of, k, k + 1, k + 1, pc_turn_of(pc_complex_f64(v[1], 0), pc_complex_f64(-v[0], 0)));
  pc_pencil_clear_below(of, by * of_a < pc_size(w) * of_b ? of->a : of->b, k, k, k);
  if (pc_size(a[n]) > 0x1p-52 * of_a || pc_size(b[n]) > 0x1p-52 * of_b) return 1;
  a[n] = b[n] = 0;
  return 0;
}

/* Makes b of a block diagonal. */
__attribute__((unused)) static void pc_pencil_straighten(const pc_pencil *of, int64_t k) {
  const int64_t n = of->n;
  double *b = of->b + k * n + k;
  const double product = b[0] * b[1], gap = b[1] * b[1] + b[n + 1] * b[n + 1] - b[0] * b[0], zeta = gap / (2 * product);
  double tangent = 1 / (pc_size(zeta) + __builtin_sqrt(1 + zeta * zeta)), more = 1 / __builtin_sqrt(1 + tangent * tangent), less = more * tangent;
  /* The first column becomes the larger one. */
  pc_turn turn = {gap > 0 ? less : more, {gap > 0 ? more : -less, 0}};
  if (zeta < 0) turn.s.re = -turn.s.re;
  if (product != 0) pc_pencil_columns(of, k, k + 1, k + 1, turn);
  pc_pencil_clear_below(of, of->b, k, k, k);
  b[1] = 0;
}

/* Gives the block of rows k and k + 1 its normal form: triangular, or of a pair of matrices with a diagonal of b, and of a alone with equal
 * numbers on the diagonal. b is triangular. */
__attribute__((unused)) static void pc_pencil_pair(const pc_pencil *of, int64_t k) {
  const int64_t n = of->n;
  double *a = of->a + k * n + k, mean, root;
  if (of->b == NULL) {
    double m[4] = {a[0], a[1], a[n], a[n + 1]};
    pc_turn turn = {1, {0, 0}};
    pc_schur_normal(m, &turn.c, &turn.s.re);
    pc_pencil_rows(of, k, k, turn);
    pc_pencil_columns(of, k, k + 1, k + 1, turn);
    a[0] = m[0], a[1] = m[1], a[n] = m[2], a[n + 1] = m[3];
    return;
  }
  for (int turns = 0; turns < PC_PENCIL_TURNS; turns++) {
    if (pc_pencil_block(of, k, &mean, &root)) {
      if (!pc_pencil_split(of, k, mean < 0 ? mean - root : mean + root)) return;
      pc_pencil_clear_below(of, of->b, k, k, k);
    } else {
      pc_pencil_straighten(of, k);
      if (!pc_pencil_block(of, k, &mean, &root)) return;
    }
  }
  a[n] = 0;
}

/* Solves a system of n equations, whose right sides are column n of x, by elimination with complete pivoting. Pivots that are too small are
 * replaced. The solution becomes column n. */
__attribute__((unused)) static void pc_pencil_solve(int n, pc_c128 x[8][9]) {
  int order[8];
  double least = 0;
  for (int k = 0; k < n; k++) order[k] = k;
  for (int k = 0; k < n; k++) {
    int row = k, column = k;
    double largest = -1;
    for (int i = k; i < n; i++) {
      for (int j = k; j < n; j++) {
        if (pc_size_of(x[i][j]) > largest) largest = pc_size_of(x[i][j]), row = i, column = j;
      }
    }
    if (k == 0) least = largest * 0x1p-52 > 0x1p-900 ? largest * 0x1p-52 : 0x1p-900;
    for (int j = 0; j <= n; j++) {
      pc_c128 old = x[k][j];
      x[k][j] = x[row][j], x[row][j] = old;
    }
    for (int i = 0; i < n; i++) {
      pc_c128 old = x[i][k];
      x[i][k] = x[i][column], x[i][column] = old;
    }
    int old = order[k];
    order[k] = order[column], order[column] = old;
    if (pc_size_of(x[k][k]) < least) x[k][k] = pc_complex_f64(least, 0);
    for (int i = k + 1; i < n; i++) {
      const pc_c128 factor = pc_div_c128(x[i][k], x[k][k]);
      for (int j = k + 1; j <= n; j++) x[i][j] = pc_sub_c128(x[i][j], pc_mul_c128(factor, x[k][j]));
    }
  }
  pc_c128 found[8];
  for (int k = n - 1; k >= 0; k--) {
    pc_c128 sum = x[k][n];
    for (int j = k + 1; j < n; j++) sum = pc_sub_c128(sum, pc_mul_c128(x[k][j], found[order[j]]));
    found[order[k]] = pc_div_c128(sum, x[k][k]);
  }
  for (int k = 0; k < n; k++) x[k][n] = found[k];
}

/* The sum of the sizes of the numbers in `size` rows and columns from k on. */
__attribute__((unused)) static double pc_pencil_window(const pc_pencil *of, const double *x, int64_t k, int size) {
  double sum = 0;
  for (int i = 0; i < size; i++) {
    for (int j = 0; j < size; j++) sum += pc_size_of(pc_pencil_at(of, x, k + i, k + j));
  }
  return sum;
}

/* Adds the equations of one matrix to the system of an exchange: x[i,i]·X - Y·x[j,j] = x[i,j] for the blocks of p rows from k on
 * and of q rows after them. y: the index of the first number of Y. */
__attribute__((unused)) static void pc_pencil_equations(const pc_pencil *of, const double *x, int64_t k, int p, int q, int first, int y,
                                                        int count, pc_c128 system[8][9]) {
  const double sum = pc_pencil_window(of, x, k, p + q), by = sum > 0x1p-900 ? 1 / sum : 1;
  for (int i = 0; i < p; i++) {
    for (int j = 0; j < q; j++) {
      pc_c128 *equation = system[first + i * q + j];
      for (int l = 0; l < p; l++) equation[l * q + j] = pc_add_c128(equation[l * q + j], pc_scaled(pc_pencil_at(of, x, k + i, k + l), by));
      for (int l = 0; l < q; l++) {
        equation[y + i * q + l] = pc_sub_c128(equation[y + i * q + l], pc_scaled(pc_pencil_at(of, x, k + p + l, k + p + j), by));
      }
      equation[count] = pc_scaled(pc_pencil_at(of, x, k + i, k + p + j), by);
    }
  }
}

/* Rotates the rows or columns from k on, so that the rotations of p + q rows lead the basis (-x, 1) of q columns to a triangle. */
__attribute__((unused)) static void pc_pencil_lead(const pc_pencil *of, int64_t k, int p, int q, int rows, int columns, pc_c128 system[8][9],
                                                   int first, int count) {
  pc_c128 basis[4][2];
  for (int j = 0; j < q; j++) {
    for (int i = 0; i < p; i++) basis[i][j] = pc_negative(system[first + i * q + j][count]);
    for (int i = 0; i < q; i++) basis[p + i][j] = pc_complex_f64(i == j, 0);
  }
  for (int j = 0; j < q; j++) {
    for (int i = p + j; i > j; i--) {
      pc_turn turn = pc_turn_of(basis[i - 1][j], basis[i][j]), turned = {turn.c, pc_conj_c128(turn.s)};
      for (int l = j; l < q; l++) {
        const pc_c128 x = basis[i - 1][l], y = basis[i][l];
        basis[i - 1][l] = pc_add_c128(pc_scaled(x, turn.c), pc_mul_c128(turn.s, y));
        basis[i][l] = pc_sub_c128(pc_scaled(y, turn.c), pc_mul_c128(turned.s, x));
      }
      if (rows) pc_pencil_rows(of, k + i - 1, k, turn);
      if (columns) pc_pencil_columns(of, k + i - 1, k + i, k + p + q - 1, turned);
    }
  }
}

/* Makes the block of p rows and q columns at row k + q and column k of x 0. Returns whether its numbers are too large. */
__attribute__((unused)) static int pc_pencil_drop(const pc_pencil *of, double *x, int64_t k, int p, int q) {
  const double whole = pc_pencil_window(of, x, k, p + q);
  double dropped = 0;
  for (int i = q; i < p + q; i++) {
    for (int j = 0; j < q; j++) {
      dropped += pc_size_of(pc_pencil_at(of, x, k + i, k + j));
      pc_pencil_put(of, x, k + i, k + j, pc_zero());
    }
  }
  return !(dropped <= 0x14p-52 * whole);
}

/* Exchanges the block of p rows from k on and the block of q rows after it. Returns whether it fails. */
__attribute__((unused)) static int pc_pencil_swap(const pc_pencil *of, int64_t k, int p, int q) {
  const int single = p * q, count = of->b == NULL ? single : 2 * single;
  pc_c128 system[8][9] = {{{0, 0}}};
  pc_pencil_equations(of, of->a, k, p, q, 0, count - single, count, system);
  if (of->b != NULL) pc_pencil_equations(of, of->b, k, p, q, single, single, count, system);
  pc_pencil_solve(count, system);
  pc_pencil_lead(of, k, p, q, of->b == NULL, 1, system, 0, count);
  if (of->b != NULL) pc_pencil_lead(of, k, p, q, 1, 0, system, single, count);
  if (pc_pencil_drop(of, of->a, k, p, q) || (of->b != NULL && pc_pencil_drop(of, of->b, k, p, q))) return 1;
  for (int first = 0, size = q; first < p + q; first += size, size = p) {
    if (size == 1) continue;
    if (of->b != NULL) pc_pencil_clear_below(of, of->b, k + first, k + first, k + first);
    pc_pencil_pair(of, k + first);
  }
  return 0;
}

/* Moves the block of `size` rows from row k up to row `to`. If it becomes triangular, both of its rows move. Returns whether it fails. */
__attribute__((unused)) static int pc_pencil_move(const pc_pencil *of, int64_t k, int64_t to, int size) {
  while (k > to) {
    const int before = k >= to + 2 && pc_pencil_is_pair(of, k - 2) ? 2 : 1;
    if (pc_pencil_swap(of, k - before, before, size)) return 1;
    k -= before;
    if (size == 2 && !pc_pencil_is_pair(of, k)) {
      return pc_pencil_move(of, k, to, 1) || pc_pencil_move(of, k + 1, to + 1, 1);
    }
  }
  return 0;
}

/* Whether the eigenvalue alpha / beta comes first. of_pair: whether it is one of a pair of matrices. */
__attribute__((unused)) static int pc_pencil_is_first(int64_t sort, int of_pair, pc_c128 alpha, double beta) {
  if (beta == 0) return sort == PC_SORT_OUTSIDE && (alpha.re != 0 || alpha.im != 0);
  const double re = alpha.re / beta, size = pc_length(re, alpha.im / beta);
  if (sort == PC_SORT_LEFT) return re < 0;
  if (sort == PC_SORT_RIGHT) return of_pair ? re > 0 : re >= 0;
  if (sort == PC_SORT_INSIDE) return of_pair ? size < 1 : size <= 1;
  return size > 1;
}

/* The numerators and denominators of the eigenvalues of the block of row k, which has one or two rows. */
__attribute__((unused)) static void pc_pencil_values(const pc_pencil *of, int64_t k, pc_c128 *alpha, double *beta) {
  const int64_t n = of->n, at = k * n + k;
  const pc_c128 own = pc_pencil_at(of, of->a, k, k);
  alpha[0] = pc_complex_f64(own.re / of->of_a, own.im / of->of_a);
  beta[0] = of->b == NULL ? 1 : pc_pencil_at(of, of->b, k, k).re / of->of_b;
  if (!pc_pencil_is_pair(of, k)) return;
  double mean = own.re, root, length = 1;
  if (of->b == NULL) {
    root = __builtin_sqrt(pc_size(of->a[at + 1])) * __builtin_sqrt(pc_size(of->a[at + n]));
  } else {
    pc_pencil_block(of, k, &mean, &root);
    length = __builtin_sqrt(of->b[at]) * __builtin_sqrt(of->b[at + n + 1]);
    beta[0] = length / of->of_b;
  }
  beta[1] = beta[0];
  alpha[0] = pc_complex_f64(mean * length / of->of_a, root * length / of->of_a);
  alpha[1] = pc_conj_c128(alpha[0]);
}

/* Moves the blocks whose eigenvalues come first to the top; they keep their order. Returns whether it fails. */
__attribute__((unused)) static int pc_pencil_sort(const pc_pencil *of, int64_t sort) {
  for (int64_t k = 0, to = 0, size; k < of->n; k += size) {
    pc_c128 alpha[2];
    double beta[2];
    size = pc_pencil_is_pair(of, k) ? 2 : 1;
    pc_pencil_values(of, k, alpha, beta);
    if (!pc_pencil_is_first(sort, of->b != NULL, alpha[0], beta[0])) continue;
    if (pc_pencil_move(of, k, to, (int)size)) return 1;
    to += size;
  }
  return 0;
}

#endif
