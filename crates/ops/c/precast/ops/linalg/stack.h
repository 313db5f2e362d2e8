/* precast/ops/linalg/stack.h: stacks of matrices with any strides, whose results are written line by line.
 *
 * Decompositions with reflections and rotations compute in f64. Elements of f32 are converted when they are read, and results are rounded
 * once when they are written. A row of n complex numbers is its n real parts, then its n imaginary parts.
 */
#ifndef PRECAST_OPS_LINALG_STACK_H
#define PRECAST_OPS_LINALG_STACK_H

#include <precast/ops/strided.h>
#include <precast/ops/text.h>
#include <precast/output.h>

/* The most results of a decomposition. */
#define PC_FACTORS 3

/* Elements from a row of n to the next, where a kernel copies a matrix: not a multiple of 1024 bytes, as such rows share few sets of the
 * caches. */
static inline int64_t pc_matrix_row(int64_t n, int64_t item) { return n * item >= 2048 && n * item % 1024 == 0 ? n + 64 / item : n; }

/* A value error unless the last two dimensions have the same extent. */
__attribute__((unused, noinline)) static int pc_matrix_square(pc_context *ctx, const pc_tensor *a) {
  char text[PC_TEXT_BYTES];
  if (a->shape[a->ndim - 2] == a->shape[a->ndim - 1]) return 0;
  pc_error_format(ctx, PC_ERROR_VALUE, "expected square matrices in the last two dimensions, found the shape %s",
                  pc_text_shape(ctx, text, a->ndim, a->shape));
  return -1;
}

/* The offset in bytes of an item of a stack, by its position in C order. `core`: the dimensions of an item. */
static inline int64_t pc_item_offset(const pc_tensor *t, int32_t core, int64_t position) {
  int64_t offset = 0;
  for (int32_t d = t->ndim - core - 1; d >= 0; d--) {
    /* Most stacks have one dimension, and a division takes long. */
    const int64_t rest = d == 0 ? 0 : position / t->shape[d];
    offset += (position - rest * t->shape[d]) * t->strides[d];
    position = rest;
  }
  return offset;
}

/* A matrix or a vector that is written; steps in bytes. The step from row to row of a vector is 0. */
typedef struct pc_lines {
  char *data;
  int64_t row, column;
  int32_t dtype;
} pc_lines;

static inline int pc_is_complex(int32_t dtype) { return dtype == PC_C64 || dtype == PC_C128; }

/* Writes one part of n numbers, or its negative, at a step in bytes. */
__attribute__((unused)) static void pc_write_part(int is_single, int64_t n, char *to, int64_t step, const double *x, int negative) {
  if (is_single) {
    for (int64_t i = 0; i < n; i++) *(float *)(to + i * step) = (float)(negative ? -x[i] : x[i]);
  } else if (negative) {
    for (int64_t i = 0; i < n; i++) *(double *)(to + i * step) = -x[i];
  } else {
    for (int64_t i = 0; i < n; i++) *(double *)(to + i * step) = x[i];
  }
}

/* Writes n numbers, or their negatives, at a step in bytes. */
__attribute__((unused)) static void pc_write_line(int32_t dtype, int64_t n, char *to, int64_t step, const double *x, int negative) {
  const int is_single = dtype == PC_F32 || dtype == PC_C64;
  pc_write_part(is_single, n, to, step, x, negative);
  if (pc_is_complex(dtype)) pc_write_part(is_single, n, to + (is_single ? 4 : 8), step, x + n, negative);
}

static inline void pc_write_row(const pc_lines *to, int64_t i, int64_t n, const double *x, int negative) {
  pc_write_line(to->dtype, n, to->data + i * to->row, to->column, x, negative);
}

static inline void pc_write_column(const pc_lines *to, int64_t j, int64_t n, const double *x, int negative) {
  pc_write_line(to->dtype, n, to->data + j * to->column, to->row, x, negative);
}

/* Reads one part of a row at a step in bytes. */
static inline void pc_read_part(int is_single, int64_t n, double *to, const char *from, int64_t step) {
  if (is_single) {
    for (int64_t i = 0; i < n; i++) to[i] = (double)*(const float *)(from + i * step);
  } else {
    for (int64_t i = 0; i < n; i++) to[i] = *(const double *)(from + i * step);
  }
}

/* Reads a matrix into contiguous rows; steps in bytes. */
__attribute__((unused)) static void pc_read_matrix(int32_t dtype, int64_t rows, int64_t columns, double *to, const char *from, int64_t row,
                                                   int64_t column) {
  const int is_single = dtype == PC_F32 || dtype == PC_C64;
  for (int64_t i = 0; i < rows; i++, from += row, to += columns) {
    pc_read_part(is_single, columns, to, from, column);
    if (!pc_is_complex(dtype)) continue;
    to += columns;
    pc_read_part(is_single, columns, to, from + (is_single ? 4 : 8), column);
  }
}

/* Decomposes one matrix. props: of the op; rows, columns: of the contiguous matrix a, which may be overwritten. */
typedef void (*pc_factor_kernel)(const int64_t *props, int64_t rows, int64_t columns, double *a, const pc_lines *results, double *room);

/* A decomposition of a stack. */
typedef struct pc_factors {
  pc_factor_kernel kernel;
  /* Whether the kernel gets the transposes of the matrices. */
  int turned;
  /* The elements of the kernel's room. */
  int64_t room;
  /* The results. A vector has one row and a `rank` of 1. */
  int n_results;
  int64_t shape[PC_FACTORS][2];
  int32_t rank[PC_FACTORS];
  int32_t dtype[PC_FACTORS];
} pc_factors;

/* The dtype of the parts of complex numbers, and the complex dtype with such parts. */
static inline int32_t pc_part_dtype(int32_t dtype) { return dtype == PC_C64 ? PC_F32 : dtype == PC_C128 ? PC_F64 : dtype; }
static inline int32_t pc_whole_dtype(int32_t dtype) { return dtype == PC_F32 ? PC_C64 : dtype == PC_F64 ? PC_C128 : dtype; }

__attribute__((unused, noinline)) static int pc_factor_stack(pc_context *ctx, const int64_t *props, const pc_tensor *a, pc_tensor **out,
                                                             const pc_factors *made) {
  const int32_t stack = a->ndim - 2;
  const int64_t rows = a->shape[stack + made->turned], columns = a->shape[stack + 1 - made->turned];
  const int64_t row = a->strides[stack + made->turned], column = a->strides[stack + 1 - made->turned];
  pc_lines results[PC_FACTORS];
  pc_tensor *t[PC_FACTORS];
  int64_t shape[PC_MAX_NDIM], count = 1;
  for (int32_t d = 0; d < stack; d++) count *= shape[d] = a->shape[d];
  for (int r = 0; r < made->n_results; r++) {
    int32_t rank = made->rank[r];
    shape[stack] = made->shape[r][2 - rank];
    if (rank == 2) shape[stack + 1] = made->shape[r][1];
    t[r] = pc_output_ready(ctx, &out[r], made->dtype[r], stack + rank, shape);
    if (t[r] == NULL) return -1;
    results[r].dtype = made->dtype[r];
    results[r].row = rank == 2 ? t[r]->strides[stack] : 0;
    results[r].column = t[r]->strides[stack + rank - 1];
  }
  if (count == 0) return 0;
  const int64_t size = rows * columns * (pc_is_complex(a->dtype) ? 2 : 1);
  double *room = (double *)ctx->host->alloc(ctx, (size_t)(size + made->room + 1) * sizeof(double));
  if (room == NULL) return -1;
  for (int64_t i = 0; i < count; i++) {
    for (int r = 0; r < made->n_results; r++) results[r].data = t[r]->data + pc_item_offset(t[r], made->rank[r], i);
    pc_read_matrix(a->dtype, rows, columns, room, a->data + pc_item_offset(a, 2, i), row, column);
    made->kernel(props, rows, columns, room, results, room + size);
  }
  ctx->host->release(ctx, room);
  return 0;
}

#endif
