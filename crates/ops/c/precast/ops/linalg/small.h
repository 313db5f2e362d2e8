/* precast/ops/linalg/small.h: the decompositions of decompose.h for several small matrices at once. A part of matrix.h, which defines PC_T,
 * PC_BITS and PC_NAME.
 *
 * Each lane of a vector has a matrix of its own: lane l of element e of an array of vectors is element e of matrix l. A lane has the operations
 * of decompose.h in the same order, so the bits are the same. Lanes without a matrix repeat the first one.
 */
#ifndef PC_T
#include <precast/ops/linalg/matrix.h>
#else

#define PC_LANES ((int64_t)(PC_MATRIX_BYTES / sizeof(PC_T)))

typedef PC_NAME(pc_vector_at) PC_NAME(pc_lanes);
/* All bits of a lane are set, or none. */
typedef PC_BITS PC_NAME(pc_mask) __attribute__((vector_size(PC_MATRIX_BYTES)));

static inline PC_NAME(pc_vector) PC_NAME(pc_blend)(PC_NAME(pc_mask) mask, PC_NAME(pc_vector) x, PC_NAME(pc_vector) y) {
  return (PC_NAME(pc_vector))((mask & (PC_NAME(pc_mask))x) | (~mask & (PC_NAME(pc_mask))y));
}

/* Bit l: lane l of the mask. */
static inline int PC_NAME(pc_mask_bits)(PC_NAME(pc_mask) mask) {
  int bits = 0;
  for (int lane = 0; lane < PC_LANES; lane++) bits |= (mask[lane] != 0) << lane;
  return bits;
}

/* Reads matrices of n rows and m columns. */
__attribute__((unused, noinline)) static void PC_NAME(pc_lanes_read)(int64_t count, int64_t n, int64_t m, PC_NAME(pc_lanes) *to,
                                                                     const char *const *from, const int64_t *steps) {
  const int64_t row = steps[0], column = steps[1];
  for (int64_t lane = 0; lane < PC_LANES; lane++) {
    PC_T *own = (PC_T *)to + lane;
    for (int64_t i = 0; i < n; i++) {
      const char *at = from[lane < count ? lane : 0] + i * row;
      for (int64_t j = 0; j < m; j++, own += PC_LANES, at += column) *own = *(const PC_T *)at;
    }
  }
}

/* Writes results of m columns, and NaN for failed ones. Returns whether any failed. */
__attribute__((unused, noinline)) static int PC_NAME(pc_lanes_write)(const pc_group *group, int64_t m, const PC_NAME(pc_lanes) *from,
                                                                     PC_NAME(pc_mask) failed) {
  const int64_t row = group->out_steps[0], column = group->out_steps[1];
  int any = 0;
  for (int64_t lane = 0; lane < group->count; lane++) {
    const PC_T *own = (const PC_T *)from + lane;
    const int is_nan = failed[lane] != 0;
    any |= is_nan;
    for (int64_t i = 0; i < group->n; i++) {
      char *at = group->out[lane] + i * row;
      for (int64_t j = 0; j < m; j++, own += PC_LANES, at += column) *(PC_T *)at = is_nan ? (PC_T)__builtin_nan("") : *own;
    }
  }
  return any;
}

/* pc_triangular_solve. Returns the failed lanes. */
__attribute__((unused, noinline)) static PC_NAME(pc_mask) PC_NAME(pc_lanes_solve)(int upper, int unit, int64_t n, int64_t m,
                                                                                  const PC_NAME(pc_lanes) *a, PC_NAME(pc_lanes) *x) {
  const int64_t first = upper ? n - 1 : 0, step = upper ? -1 : 1;
  PC_NAME(pc_mask) failed = {0};
  for (int64_t i = 0; i < n && !unit; i++) failed |= a[i * n + i] == 0;
  for (int64_t row = 0; row < n; row++) {
    const int64_t i = first + row * step;
    for (int64_t before = 0; before < row; before++) {
      const int64_t k = first + before * step;
      const PC_NAME(pc_vector) factor = a[i * n + k];
      for (int64_t j = 0; j < m; j++) x[i * m + j] -= factor * x[k * m + j];
    }
    if (unit) continue;
    const PC_NAME(pc_vector) diagonal = a[i * n + i];
    for (int64_t j = 0; j < m; j++) x[i * m + j] /= diagonal;
  }
  return failed;
}

/* Exchanges row k of x[n,m] with the row that each lane names. */
static inline void PC_NAME(pc_lanes_exchange)(int64_t n, int64_t m, PC_NAME(pc_lanes) *x, int64_t k, PC_NAME(pc_vector) named) {
  for (int64_t i = k + 1; i < n; i++) {
    const PC_NAME(pc_mask) here = named == (PC_T)i;
    if (PC_NAME(pc_mask_bits)(here) == 0) continue;
    for (int64_t j = 0; j < m; j++) {
      const PC_NAME(pc_vector) above = x[k * m + j], below = x[i * m + j];
      x[k * m + j] = PC_NAME(pc_blend)(here, below, above);
      x[i * m + j] = PC_NAME(pc_blend)(here, above, below);
    }
  }
}

static inline PC_NAME(pc_vector) PC_NAME(pc_lanes_size)(PC_NAME(pc_vector) x) { return PC_NAME(pc_blend)(x < 0, -x, x); }

/* pc_lu. */
__attribute__((unused, noinline)) static void PC_NAME(pc_lanes_lu)(int64_t n, PC_NAME(pc_lanes) *u, PC_NAME(pc_lanes) *pivots) {
  for (int64_t k = 0; k < n; k++) {
    PC_NAME(pc_vector) best = PC_NAME(pc_lanes_size)(u[k * n + k]), pivot = (PC_NAME(pc_vector)){0} + (PC_T)k;
    for (int64_t i = k + 1; i < n; i++) {
      const PC_NAME(pc_vector) size = PC_NAME(pc_lanes_size)(u[i * n + k]);
      const PC_NAME(pc_mask) better = (best == best) & ~(size <= best);
      best = PC_NAME(pc_blend)(better, size, best);
      pivot = PC_NAME(pc_blend)(better, (PC_NAME(pc_vector)){0} + (PC_T)i, pivot);
    }
    pivots[k] = pivot;
    PC_NAME(pc_lanes_exchange)(n, n, u, k, pivot);
    const PC_NAME(pc_vector) diagonal = u[k * n + k];
    const PC_NAME(pc_mask) is_left = diagonal == 0;
    const int any_is_left = PC_NAME(pc_mask_bits)(is_left);
    for (int64_t i = k + 1; i < n; i++) {
      PC_NAME(pc_lanes) *row = u + i * n, *of = u + k * n;
      const PC_NAME(pc_vector) factor = row[k] / diagonal;
      row[k] = any_is_left ? PC_NAME(pc_blend)(is_left, row[k], factor) : factor;
      for (int64_t j = k + 1; j < n && !any_is_left; j++) row[j] -= factor * of[j];
      for (int64_t j = k + 1; j < n && any_is_left; j++) row[j] = PC_NAME(pc_blend)(is_left, row[j], row[j] - factor * of[j]);
    }
  }
}

/* pc_cholesky_one for a group. */
__attribute__((unused, noinline)) static int PC_NAME(pc_cholesky_group)(const int64_t *props, const pc_group *group) {
  const int64_t n = group->n;
  PC_NAME(pc_lanes) *l = (PC_NAME(pc_lanes) *)group->room;
  PC_NAME(pc_mask) failed = {0};
  (void)props;
  PC_NAME(pc_lanes_read)(group->count, n, n, l, group->a, group->a_steps);
  for (int64_t k = 0; k < n; k++) {
    PC_T *square = (PC_T *)&l[k * n + k];
    failed |= l[k * n + k] <= 0;
    #pragma GCC unroll 1
    for (int lane = 0; lane < PC_LANES; lane++) square[lane] = PC_NAME(pc_sqrt)(square[lane]);
    const PC_NAME(pc_vector) diagonal = l[k * n + k];
    for (int64_t j = k + 1; j < n; j++) l[j * n + k] /= diagonal;
    for (int64_t i = k + 1; i < n; i++) {
      const PC_NAME(pc_vector) factor = l[i * n + k];
      for (int64_t j = i; j < n; j++) l[j * n + i] -= factor * l[j * n + k];
    }
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = i + 1; j < n; j++) l[i * n + j] = (PC_NAME(pc_vector)){0};
  }
  return PC_NAME(pc_lanes_write)(group, n, l, failed);
}

/* pc_lu_one for a group. */
__attribute__((unused, noinline)) static int PC_NAME(pc_lu_group)(const int64_t *props, const pc_group *group) {
  const int64_t n = group->n;
  PC_NAME(pc_lanes) *u = (PC_NAME(pc_lanes) *)group->room, *pivots = u + n * n;
  (void)props;
  PC_NAME(pc_lanes_read)(group->count, n, n, u, group->a, group->a_steps);
  PC_NAME(pc_lanes_lu)(n, u, pivots);
  for (int64_t lane = 0; lane < group->count; lane++) {
    for (int64_t k = 0; k < n; k++) *(int64_t *)(group->pivots[lane] + k * group->pivot_step) = (int64_t)pivots[k][lane];
  }
  return PC_NAME(pc_lanes_write)(group, n, u, (PC_NAME(pc_mask)){0});
}

/* pc_solve_one for a group. */
__attribute__((unused, noinline)) static int PC_NAME(pc_solve_group)(const int64_t *props, const pc_group *group) {
  const int64_t n = group->n, m = group->m;
  PC_NAME(pc_lanes) *u = (PC_NAME(pc_lanes) *)group->room, *pivots = u + n * n, *x = pivots + n;
  (void)props;
  PC_NAME(pc_lanes_read)(group->count, n, n, u, group->a, group->a_steps);
  PC_NAME(pc_lanes_read)(group->count, n, m, x, group->b, group->b_steps);
  PC_NAME(pc_lanes_lu)(n, u, pivots);
  for (int64_t k = 0; k < n; k++) PC_NAME(pc_lanes_exchange)(n, m, x, k, pivots[k]);
  PC_NAME(pc_lanes_solve)(0, 1, n, m, u, x);
  return PC_NAME(pc_lanes_write)(group, m, x, PC_NAME(pc_lanes_solve)(1, 0, n, m, u, x));
}

/* pc_triangular_one for a group. */
__attribute__((unused, noinline)) static int PC_NAME(pc_triangular_group)(const int64_t *props, const pc_group *group) {
  const int64_t n = group->n, m = group->m;
  PC_NAME(pc_lanes) *a = (PC_NAME(pc_lanes) *)group->room, *x = a + n * n + n;
  PC_NAME(pc_lanes_read)(group->count, n, n, a, group->a, group->a_steps);
  PC_NAME(pc_lanes_read)(group->count, n, m, x, group->b, group->b_steps);
  return PC_NAME(pc_lanes_write)(group, m, x, PC_NAME(pc_lanes_solve)(props[1] != 0, props[2] != 0, n, m, a, x));
}

#undef PC_LANES

#endif
