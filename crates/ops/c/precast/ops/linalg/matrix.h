/* precast/ops/linalg/matrix.h: Cholesky and LU decompositions, and systems of linear equations, over stacks of matrices with any strides.
 *
 * The decompositions are LAPACK's potrf and getrf: a pivot is the first of the largest absolute values of its column, and of complex
 * numbers, of the largest |re| + |im|. `decompose.h` computes one matrix, and `small.h` several small ones at once.
 * This file walks through stacks. NaN propagates; a NaN in a column is its pivot.
 *
 * Source. G. H. Golub, C. F. Van Loan, Matrix Computations, 3.1, 3.4 and 4.2.
 */
#ifndef PRECAST_OPS_LINALG_MATRIX_H
#define PRECAST_OPS_LINALG_MATRIX_H

#include <precast/ops/linalg/stack.h>
#include <precast/ops/scalar.h>
#include <precast/ops/strided.h>

#if defined(__AVX512F__)
#define PC_MATRIX_BYTES 64
#elif defined(__AVX2__)
#define PC_MATRIX_BYTES 32
#else
#define PC_MATRIX_BYTES 16
#endif
#define PC_MATRIX_ROWS 4
#define PC_MATRIX_BLOCK 32
/* Columns that are eliminated one by one. */
#define PC_MATRIX_FEW 8
/* The most matrices that are computed at once, and the most rows of such matrices and columns of their right sides. */
#define PC_GROUP (PC_MATRIX_BYTES / 4)
#define PC_GROUP_ROWS 16

/* Computes one matrix. n: rows and columns of a; m: columns of the result; steps: of a, in bytes; out: contiguous, holds the right side of
 * a system. Returns whether the matrix has no result. */
typedef int (*pc_matrix_kernel)(const int64_t *props, int64_t n, int64_t m, const char *a, const int64_t *steps, char *out, char *room);

/* Matrices that are computed at once; steps in bytes. */
typedef struct pc_group {
  int64_t n, m, count;
  const char *a[PC_GROUP], *b[PC_GROUP];
  char *out[PC_GROUP], *pivots[PC_GROUP];
  const int64_t *a_steps, *b_steps, *out_steps;
  int64_t pivot_step;
  /* Vectors: n·n, n and n·m of them. */
  char *room;
} pc_group;

/* Computes a group. Matrices without a result become NaN. Returns whether there are any. */
typedef int (*pc_group_kernel)(const int64_t *props, const pc_group *group);

/* The shape of the solutions of stacks of systems; a value error if the stacks do not fit each other. */
__attribute__((unused, noinline)) static int pc_system_shape(pc_context *ctx, const pc_tensor *a, const pc_tensor *b, int64_t *shape) {
  char left[PC_TEXT_BYTES], right[PC_TEXT_BYTES];
  int32_t ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
  int fits = a->shape[a->ndim - 1] == b->shape[b->ndim - 2];
  for (int32_t d = 0; d < ndim - 2; d++) {
    int64_t m = d < ndim - a->ndim ? 1 : a->shape[d - (ndim - a->ndim)];
    int64_t n = d < ndim - b->ndim ? 1 : b->shape[d - (ndim - b->ndim)];
    fits = fits && (m == n || m == 1 || n == 1);
    shape[d] = m == 1 ? n : m;
  }
  shape[ndim - 2] = b->shape[b->ndim - 2];
  shape[ndim - 1] = b->shape[b->ndim - 1];
  if (fits) return ndim;
  pc_error_format(ctx, PC_ERROR_VALUE, "matrices of shape %s and right sides of shape %s do not fit each other",
                  pc_text_shape(ctx, left, a->ndim, a->shape), pc_text_shape(ctx, right, b->ndim, b->shape));
  return -1;
}

/* The offset in bytes of a matrix in a stack that is broadcast to the stack of `t`, by its position there in C order. */
static inline int64_t pc_stack_offset(const pc_tensor *in, const pc_tensor *t, int64_t position) {
  int64_t offset = 0;
  for (int32_t d = t->ndim - 3; d >= 0; d--) {
    const int32_t own = d - (t->ndim - in->ndim);
    /* Most stacks have one dimension, and a division takes long. */
    const int64_t rest = d == 0 ? 0 : position / t->shape[d];
    if (own >= 0 && in->shape[own] != 1) offset += (position - rest * t->shape[d]) * in->strides[own];
    position = rest;
  }
  return offset;
}

/* Fills a matrix of n elements with NaN. */
__attribute__((unused)) static void pc_matrix_nan(int32_t dtype, int64_t n, char *out) {
  const int is_single = dtype == PC_F32 || dtype == PC_C64;
  const int64_t count = pc_is_complex(dtype) ? 2 * n : n;
  for (int64_t i = 0; i < count && is_single; i++) ((float *)out)[i] = __builtin_nanf("");
  for (int64_t i = 0; i < count && !is_single; i++) ((double *)out)[i] = __builtin_nan("");
}

/* A function of stacks of matrices. */
typedef struct pc_matrices {
  pc_matrix_kernel kernel;
  /* NULL if matrices are computed one after another. */
  pc_group_kernel group;
  /* The message about a matrix without a result. */
  const char *problem;
} pc_matrices;

/* Computes groups of small matrices. `first`: the position of the first matrix. Returns how many have been computed, and sets `failed`. */
__attribute__((unused, noinline)) static int64_t pc_matrices_in_groups(const int64_t *props, const pc_tensor *a, const pc_tensor *b,
                                                                       const pc_tensor *t, const pc_tensor *pivots, int64_t count,
                                                                       pc_group_kernel kernel, char *room, int *failed) {
  const int64_t lanes = PC_MATRIX_BYTES / pc_dtype_bytes(t->dtype);
  pc_group group = {a->shape[a->ndim - 1], t->shape[t->ndim - 1], 0, {0}, {0}, {0}, {0}, a->strides + a->ndim - 2, NULL,
                    t->strides + t->ndim - 2, 0, room};
  int64_t done = 0;
  if (b != NULL) group.b_steps = b->strides + b->ndim - 2;
  if (pivots != NULL) group.pivot_step = pivots->strides[pivots->ndim - 1];
  for (; count - done > 1 && !(*failed && !props[0]); done += group.count) {
    group.count = count - done < lanes ? count - done : lanes;
    for (int64_t lane = 0; lane < group.count; lane++) {
      const int64_t i = done + lane;
      group.a[lane] = a->data + pc_stack_offset(a, t, i);
      if (b != NULL) group.b[lane] = b->data + pc_stack_offset(b, t, i);
      group.out[lane] = t->data + pc_stack_offset(t, t, i);
      if (pivots != NULL) group.pivots[lane] = pivots->data + pc_item_offset(pivots, 1, i);
    }
    *failed |= kernel(props, &group);
  }
  return done;
}

/* Computes a stack. props[0]: whether a matrix without a result gives NaN, or a value error. `b` is NULL without a right side. `pivots`
 * is NULL if they are not a result. The kernel's room: n integers, and copies of both matrices, whose rows are pc_matrix_row apart. */
__attribute__((unused, noinline)) static int pc_matrix_stack(pc_context *ctx, const int64_t *props, const pc_tensor *a, const pc_tensor *b,
                                                             const pc_tensor *t, const pc_tensor *pivots, const pc_matrices *made) {
  const int64_t n = a->shape[a->ndim - 1], m = t->shape[t->ndim - 1], item = pc_dtype_bytes(t->dtype), bytes = n * m * item;
  const int64_t own[2] = {m * item, item}, *steps = t->strides + t->ndim - 2, extents[2] = {n, m};
  const int whole = (n <= 1 || steps[0] == own[0]) && (m <= 1 || steps[1] == item);
  int64_t count = pc_tensor_size(t) == 0 ? 0 : 1;
  for (int32_t d = 0; d < t->ndim - 2; d++) count *= t->shape[d];
  if (count == 0) return 0;
  const int grouped = made->group != NULL && count > 1 && n <= PC_GROUP_ROWS && m <= PC_GROUP_ROWS;
  const int64_t vectors = n * n + n + n * m, of_kernel = n * 8 + n * pc_matrix_row(n, item) * item + n * pc_matrix_row(m, item) * item;
  const int64_t alone = of_kernel + (whole ? 0 : bytes);
  char *room = (char *)ctx->host->alloc(ctx, (size_t)(grouped && vectors * PC_MATRIX_BYTES > alone ? vectors * PC_MATRIX_BYTES : alone));
  if (room == NULL) return -1;
  int failed = 0;
  int64_t i = grouped ? pc_matrices_in_groups(props, a, b, t, pivots, count, made->group, room, &failed) : 0;
  if (props[0]) failed = 0;
  for (; i < count && !failed; i++) {
    char *place = t->data + pc_stack_offset(t, t, i), *out = whole ? place : room + of_kernel;
    if (b != NULL) pc_copy_nd((int32_t)item, 2, extents, out, own, b->data + pc_stack_offset(b, t, i), b->strides + b->ndim - 2);
    failed = made->kernel(props, n, m, a->data + pc_stack_offset(a, t, i), a->strides + a->ndim - 2, out, room);
    if (failed && props[0]) {
      pc_matrix_nan(t->dtype, n * m, out);
      failed = 0;
    }
    if (!whole) pc_copy_nd((int32_t)item, 2, extents, place, steps, out, own);
    if (pivots == NULL) continue;
    pc_copy_strided(8, n, pivots->data + pc_item_offset(pivots, 1, i), pivots->strides[pivots->ndim - 1], room, 8);
  }
  ctx->host->release(ctx, room);
  if (failed) pc_error_format(ctx, PC_ERROR_VALUE, "%s", made->problem);
  return failed ? -1 : 0;
}

/* The Cholesky factors of a. */
__attribute__((unused)) static int pc_cholesky_of(pc_context *ctx, const int64_t *props, const pc_tensor *a, pc_tensor **out,
                                                pc_matrix_kernel kernel, pc_group_kernel group) {
  const pc_matrices made = {kernel, group, "the matrix is not positive definite"};
  if (pc_matrix_square(ctx, a)) return -1;
  pc_tensor *t = pc_output_ready(ctx, out, a->dtype, a->ndim, a->shape);
  return t == NULL ? -1 : pc_matrix_stack(ctx, props, a, NULL, t, NULL, &made);
}

/* out: L and U of a in one matrix, pivots. */
__attribute__((unused)) static int pc_lu_of(pc_context *ctx, const int64_t *props, const pc_tensor *a, pc_tensor **out,
                                            pc_matrix_kernel kernel, pc_group_kernel group) {
  const pc_matrices made = {kernel, group, ""};
  if (pc_matrix_square(ctx, a)) return -1;
  pc_tensor *t = pc_output_ready(ctx, &out[0], a->dtype, a->ndim, a->shape);
  pc_tensor *pivots = t == NULL ? NULL : pc_output_ready(ctx, &out[1], PC_I64, a->ndim - 1, a->shape);
  return pivots == NULL ? -1 : pc_matrix_stack(ctx, props, a, NULL, t, pivots, &made);
}

/* in: a, right sides; out: solutions. */
__attribute__((unused)) static int pc_system_of(pc_context *ctx, const int64_t *props, pc_tensor *const *in, pc_tensor **out,
                                                pc_matrix_kernel kernel, pc_group_kernel group) {
  const pc_matrices made = {kernel, group, "singular matrix"};
  int64_t shape[PC_MAX_NDIM];
  if (pc_matrix_square(ctx, in[0])) return -1;
  int32_t ndim = pc_system_shape(ctx, in[0], in[1], shape);
  if (ndim < 0) return -1;
  pc_tensor *t = pc_output_ready(ctx, out, in[0]->dtype, ndim, shape);
  return t == NULL ? -1 : pc_matrix_stack(ctx, props, in[0], in[1], t, NULL, &made);
}

/* The function for groups, of real matrices. PC_BITS: an integer as wide as an element. */
#define PC_GROUP_KERNEL(name) PC_NAME(name)
#define PC_T float
#define PC_PART float
#define PC_BITS int32_t
#define PC_NAME(name) name##_f32
#define PC_PART_NAME(name) name##_f32
#include <precast/ops/linalg/real.h>
#include <precast/ops/linalg/small.h>
#include <precast/ops/linalg/decompose.h>
#undef PC_T
#undef PC_PART
#undef PC_NAME
#undef PC_PART_NAME
#undef PC_BITS
#define PC_T double
#define PC_PART double
#define PC_BITS int64_t
#define PC_NAME(name) name##_f64
#define PC_PART_NAME(name) name##_f64
#include <precast/ops/linalg/real.h>
#include <precast/ops/linalg/small.h>
#include <precast/ops/linalg/decompose.h>
#undef PC_T
#undef PC_PART
#undef PC_NAME
#undef PC_PART_NAME
#undef PC_BITS
#undef PC_GROUP_KERNEL
#define PC_GROUP_KERNEL(name) NULL
#define PC_T pc_c64
#define PC_PART float
#define PC_NAME(name) name##_c64
#define PC_PART_NAME(name) name##_f32
#include <precast/ops/linalg/complex.h>
#include <precast/ops/linalg/decompose.h>
#undef PC_T
#undef PC_PART
#undef PC_NAME
#undef PC_PART_NAME
#define PC_T pc_c128
#define PC_PART double
#define PC_NAME(name) name##_c128
#define PC_PART_NAME(name) name##_f64
#include <precast/ops/linalg/complex.h>
#include <precast/ops/linalg/decompose.h>
#undef PC_GROUP_KERNEL
#undef PC_T
#undef PC_PART
#undef PC_NAME
#undef PC_PART_NAME

#endif
