/* precast/ops/linalg/rotate.h: plane rotations of rows.
 *
 * A sweep is a sequence of rotations of neighboring rows. Sweeps wait until there are several, and are then applied to one block of columns
 * after another, two at once: so a block is read once from the cache for two sweeps, and once from memory for all. For each element the
 * operations and their order are those of one sweep after the other, so the bits are the same.
 *
 * Source. F. G. Van Zee, R. A. van de Geijn, G. Quintana-Orti, Restructuring the tridiagonal and bidiagonal QR algorithms for performance,
 * 2014.
 */
#ifndef PRECAST_OPS_LINALG_ROTATE_H
#define PRECAST_OPS_LINALG_ROTATE_H

#include <precast/ops/linalg/reflect.h>

/* The sweeps that wait, at most, and the vectors of a block of columns: two sweeps at once need twice as many registers, and some more. */
#define PC_SWEEPS 8
#if defined(__AVX512F__)
#define PC_SWEEP_VECTORS 4
#else
#define PC_SWEEP_VECTORS 2
#endif

/* Sweeps that wait, and the rows that they rotate. */
typedef struct pc_sweeps {
  double *x;       /* rows of n numbers, padded with zeros to pc_row_of(n); NULL: there are none */
  int64_t n, step; /* 1: a sweep goes to later rows; -1: to earlier ones */
  double *c, *s;   /* PC_SWEEPS times `most` numbers: of each sweep */
  int64_t most;    /* rotations of a sweep, at most */
  int count;       /* sweeps that wait */
  int64_t first[PC_SWEEPS], length[PC_SWEEPS]; /* the first row of each, and its rotations */
} pc_sweeps;

/* The numbers of `c`, and of `s`, for sweeps of at most this many rotations: if there are no rows, no sweep waits. */
static inline int64_t pc_sweeps_room(int has_rows, int64_t most) { return has_rows ? PC_SWEEPS * most : most; }

/* Rotates rows by one sweep; x: some columns of the first row. */
static inline __attribute__((always_inline, unused)) void pc_rotate_once(const int vectors, double *x, int64_t row, int64_t length,
                                                                         const double *c, const double *s) {
  pc_line own[PC_SWEEP_VECTORS];
  #pragma GCC unroll 4
  for (int l = 0; l < vectors; l++) own[l] = *(const pc_line *)(x + l * PC_LINE);
  for (int64_t r = 0; r < length; r++, x += row) {
    #pragma GCC unroll 4
    for (int l = 0; l < vectors; l++) {
      const pc_line next = *(const pc_line *)(x + row + l * PC_LINE);
      *(pc_line *)(x + l * PC_LINE) = c[r] * own[l] + s[r] * next;
      own[l] = c[r] * next - s[r] * own[l];
    }
  }
  #pragma GCC unroll 4
  for (int l = 0; l < vectors; l++) *(pc_line *)(x + l * PC_LINE) = own[l];
}

/* Rotates rows by two sweeps that start at the same row. c and s have `most` numbers for the first one, then those for the second one, which
 * has 1 to `length` rotations and follows one row behind. Returns the rotations of the first one that are done: one more than the second one
 * has, or all. */
static inline __attribute__((always_inline, unused)) int64_t pc_rotate_twice(const int vectors, double *x, int64_t row, int64_t length,
                                                                          int64_t second, const double *c, const double *s, int64_t most) {
  pc_line own[PC_SWEEP_VECTORS], behind[PC_SWEEP_VECTORS];
  #pragma GCC unroll 4
  for (int l = 0; l < vectors; l++) {
    const pc_line start = *(const pc_line *)(x + l * PC_LINE), next = *(const pc_line *)(x + row + l * PC_LINE);
    behind[l] = c[0] * start + s[0] * next;
    own[l] = c[0] * next - s[0] * start;
  }
  int64_t r = 1, both = second < length ? second + 1 : length;
  for (; r < both; r++, x += row) {
    #pragma GCC unroll 4
    for (int l = 0; l < vectors; l++) {
      const pc_line next = *(const pc_line *)(x + 2 * row + l * PC_LINE), made = c[r] * own[l] + s[r] * next;
      own[l] = c[r] * next - s[r] * own[l];
      *(pc_line *)(x + l * PC_LINE) = c[most + r - 1] * behind[l] + s[most + r - 1] * made;
      behind[l] = c[most + r - 1] * made - s[most + r - 1] * behind[l];
    }
  }
  #pragma GCC unroll 4
  for (int l = 0; l < vectors; l++) {
    pc_line last = behind[l];
    if (second == length) {
      last = c[most + r - 1] * behind[l] + s[most + r - 1] * own[l];
      own[l] = c[most + r - 1] * own[l] - s[most + r - 1] * behind[l];
    }
    *(pc_line *)(x + l * PC_LINE) = last;
    *(pc_line *)(x + row + l * PC_LINE) = own[l];
  }
  return r;
}

/* Applies the sweeps to some columns. */
static inline __attribute__((always_inline, unused)) void pc_sweeps_block(const int vectors, const pc_sweeps *of, double *x) {
  const int64_t row = of->step * pc_row_of(of->n);
  for (int k = 0, used; k < of->count; k += used) {
    double *start = x + of->first[k] * pc_row_of(of->n);
    const double *c = of->c + k * of->most, *s = of->s + k * of->most;
    int64_t done = 0, length = of->length[k];
    used = 1;
    if (k + 1 < of->count && of->first[k + 1] == of->first[k] && of->length[k + 1] > 0 && of->length[k + 1] <= length) {
      done = pc_rotate_twice(vectors, start, row, length, of->length[k + 1], c, s, of->most);
      used = 2;
    }
    if (done < length) pc_rotate_once(vectors, start + done * row, row, length - done, c + done, s + done);
  }
}

/* Applies the sweeps that wait. */
__attribute__((unused, noinline)) static void pc_sweeps_apply(pc_sweeps *of) {
  const int64_t width = PC_SWEEP_VECTORS * PC_LINE, row = pc_row_of(of->n);
  int64_t j = 0;
  if (of->count == 0) return;
  for (; j < of->n && j + width <= row; j += width) pc_sweeps_block(PC_SWEEP_VECTORS, of, of->x + j);
  for (; j < of->n && width > 8; j += PC_LINE) pc_sweeps_block(1, of, of->x + j);
  of->count = 0;
}

/* Adds a sweep whose rotations are stored as those of sweep `count`. */
static inline void pc_sweeps_add(pc_sweeps *of, int64_t first, int64_t length) {
  if (of->x == NULL) return;
  of->first[of->count] = first;
  of->length[of->count++] = length;
  if (of->count == PC_SWEEPS) pc_sweeps_apply(of);
}

/* Pads rows of n numbers with zeros. */
__attribute__((unused)) static void pc_rows_pad(int64_t rows, int64_t n, double *x) {
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t j = n; j < pc_row_of(n); j++) x[r * pc_row_of(n) + j] = 0;
  }
}

/* A rotation that turns (x, y) into (length, 0); returns the length. */
static inline double pc_rotation(double x, double y, double *c, double *s) {
  double length = pc_length(x, y);
  *c = length == 0 ? 1 : x / length;
  *s = length == 0 ? 0 : y / length;
  return length;
}

/* Rotates two rows of n numbers. */
static inline void pc_rotate_pair(int64_t n, double *x, double *y, double c, double s) {
  for (int64_t i = 0; i < n; i++) {
    double old = x[i];
    x[i] = c * old + s * y[i];
    y[i] = c * y[i] - s * old;
  }
}

#endif
