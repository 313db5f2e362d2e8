/* driver/reduce_few.h: reductions of at most 512 contiguous elements (flat.h), by one call of the map (see reduce.h). */
#ifndef PRECAST_DRIVER_REDUCE_FEW_H
#define PRECAST_DRIVER_REDUCE_FEW_H

#include "flat.h"
#include "reduce_tiles.h"
#include <precast/output.h>

/* Returns whether all of `ndim` axes are reduced. */
static int pc_reduce_takes_all(const pc_reduce *op, int32_t ndim) {
  uint32_t all = ndim < 32 ? (1u << ndim) - 1 : ~0u;
  return op->axes == PC_REDUCE_ALL || (op->axes & all) == all;
}

/* The ways to reduce few contiguous elements. */
typedef enum pc_reduce_flat_way { PC_REDUCE_LOOP, PC_REDUCE_WHOLE, PC_REDUCE_LAST, PC_REDUCE_FIRST } pc_reduce_flat_way;

/* Adds the operands to `f`. Returns PC_REDUCE_LOOP if they are many or a loop is needed, else whether all axes are reduced, or the last
 * ones, or the first ones. Sets `count` to the number of elements behind an output, unless all axes are reduced. */
static pc_reduce_flat_way pc_reduce_flatten(const pc_reduce *op, pc_tensor *const *in, const pc_tensor *out, pc_flat *f, int64_t *count) {
  for (int32_t k = 0; k < op->n_in; k++) {
    if (!op->scalar[k] && !pc_flat_add(f, k, in[k])) return PC_REDUCE_LOOP;
  }
  if (f->lead == NULL || f->n == 0 || f->n > PC_LOOP_BLOCK || !pc_flat_is_little(f)) return PC_REDUCE_LOOP;
  if (op->monoid->lanes * op->monoid->item > PC_REDUCE_FLAT_LANES_BYTES) return PC_REDUCE_LOOP;
  int32_t ndim = f->lead->ndim, edge = 0;
  if (pc_reduce_takes_all(op, ndim)) return PC_REDUCE_WHOLE;
  if (out != NULL && !pc_flat_fits(out, out)) return PC_REDUCE_LOOP;
  const uint32_t first = op->axes & 1u;
  while (edge < ndim && (op->axes >> edge & 1u) == first) edge++;
  for (int32_t d = edge; d < ndim; d++) {
    if ((op->axes >> d & 1u) == first) return PC_REDUCE_LOOP;
  }
  *count = 1;
  for (int32_t d = first ? 0 : edge; d < (first ? edge : ndim); d++) *count *= f->lead->shape[d];
  if (edge == ndim) return PC_REDUCE_LOOP;
  if (!first) return PC_REDUCE_LAST;
  return pc_short_is_few(op->monoid, *count) ? PC_REDUCE_FIRST : PC_REDUCE_LOOP;
}

/* Readies the output of few elements, which is contiguous. */
static pc_tensor *pc_reduce_flat_output(pc_context *ctx, const pc_reduce *op, const pc_flat *f, pc_reduce_flat_way way, pc_tensor **out) {
  int64_t shape[PC_MAX_NDIM];
  int32_t ndim = 0;
  for (int32_t d = 0; way != PC_REDUCE_WHOLE && d < f->lead->ndim; d++) {
    if (!(op->axes >> d & 1u)) shape[ndim++] = f->lead->shape[d];
  }
  return pc_output_ready(ctx, out, op->dtype, ndim, shape);
}

/* Computes the outputs of `rows` rows of `count` elements each, or with `by_columns` of `rows` columns; they have few elements in all. */
static __attribute__((noinline)) void pc_reduce_flat_rows(const pc_reduce *op, const char *x, int64_t count, int64_t rows, int by_columns, char *out) {
  char scratch[3 * PC_SHORT_TURNED_BYTES] __attribute__((aligned(64))), total[16] __attribute__((aligned(16)));
  const pc_monoid *m = op->monoid;
  int32_t item = pc_dtype_bytes(op->dtype);
  if (by_columns) {
    __builtin_memcpy(scratch, x, (size_t)(count * rows * m->item));
    m->few_columns(scratch, count, rows);
    __builtin_memcpy(out, scratch, (size_t)(rows * m->item));
  } else if (pc_short_pays(count, rows)) {
    pc_short_fold(m, x, count, rows, scratch, out, item);
  } else {
    for (; rows > 0; rows--, x += count * m->item, out += item) {
      m->clear(scratch, m->lanes);
      m->fold(scratch, x, count, 0);
      m->close(scratch, 1, total, 1);
      m->finish(total, 1, count, out, 0);
    }
  }
}

/* Reduces few elements, by the way that pc_reduce_flatten chose. */
static __attribute__((noinline)) int pc_reduce_flat(pc_context *ctx, const pc_reduce *op, const pc_flat *f, pc_reduce_flat_way way, int64_t count, pc_tensor *const *in, pc_tensor **out) {
  char scratch[PC_FLAT_SPREAD_BYTES] __attribute__((aligned(64))), mapped[PC_LOOP_BLOCK * 16] __attribute__((aligned(64)));
  char lanes[PC_REDUCE_FLAT_LANES_BYTES] __attribute__((aligned(64))), total[16] __attribute__((aligned(16)));
  char *data[PC_LOOP_OPERANDS];
  const pc_monoid *m = op->monoid;
  pc_flat_spread(f, op->n_in, in, op->scalar, scratch, data);
  pc_tensor *t = pc_reduce_flat_output(ctx, op, f, way, out);
  if (t == NULL) return -1;
  const char *x = data[0];
  if (pc_plan_is_asked()) pc_plan_tell("few elements", way == PC_REDUCE_WHOLE ? 1 : f->n / count, way == PC_REDUCE_WHOLE ? f->n : count, f->n);
  if (op->map != NULL) {
    x = data[op->n_in] = mapped;
    int failure = op->map(ctx, f->n, data);
    if (failure != 0) return failure;
  }
  if (way != PC_REDUCE_WHOLE) {
    pc_reduce_flat_rows(op, x, count, f->n / count, way == PC_REDUCE_FIRST, t->data);
    return 0;
  }
  m->clear(lanes, m->lanes);
  m->fold(lanes, x, f->n, 0);
  m->close(lanes, 1, total, 1);
  m->finish(total, 1, f->n, t->data, 0);
  return 0;
}

#endif
