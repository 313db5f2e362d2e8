/* precast/ops/index.h: parts of a tensor by indices and slices (views), by a vector of indices (copies), and writing to
 * such parts. Python's and NumPy's rules: negative indices count from the end, slices are cut to the extent.
 *
 * How a tensor is indexed is a list of codes, one for each of its first dimensions:
 *   PC_INDEX               one index, taken from the next integer: the dimension goes
 *   bits of PC_SLICE_*     a slice; for each bit, in the order of the bits, the next integer; a part without a bit is open
 * Dimensions without a code are kept whole. Integers are tensors of i64 without dimensions.
 */
#ifndef PRECAST_OPS_INDEX_H
#define PRECAST_OPS_INDEX_H

#include <precast/ops/strided.h>

#define PC_INDEX (-1)
#define PC_SLICE_START 1
#define PC_SLICE_STOP 2
#define PC_SLICE_STEP 4

/* A part of a tensor. */
typedef struct pc_part {
  int32_t ndim;
  int64_t shape[PC_MAX_NDIM];
  int64_t strides[PC_MAX_NDIM]; /* bytes */
  char *data;
} pc_part;

/* The index as a position, or -1 with an index error. */
static inline int64_t pc_index_check(pc_context *ctx, int64_t index, int32_t axis, int64_t extent) {
  int64_t at = index < 0 ? index + extent : index;
  if (at >= 0 && at < extent) return at;
  pc_error_format(ctx, PC_ERROR_INDEX, "index %lld is out of bounds for axis %d with size %lld", (long long)index, (int)axis, (long long)extent);
  return -1;
}

/* A bound of a slice, cut to where a walk by `step` may begin or end. */
static inline int64_t pc_slice_bound(int64_t bound, int64_t step, int64_t extent) {
  if (bound < 0) bound += extent;
  if (bound < 0) return step < 0 ? -1 : 0;
  if (bound >= extent) return step < 0 ? extent - 1 : extent;
  return bound;
}

/* The part of `t` that `n` codes say; `in` are the integers. */
__attribute__((unused, noinline)) static int pc_part_of(pc_context *ctx, const pc_tensor *t, int64_t n, const int64_t *codes, pc_tensor *const *in, pc_part *part) {
  part->ndim = 0;
  part->data = t->data;
  for (int32_t d = 0; d < t->ndim; d++) {
    int64_t extent = t->shape[d], stride = t->strides[d], code = d < n ? codes[d] : 0;
    if (code == PC_INDEX) {
      int64_t at = pc_index_check(ctx, pc_integer(*in++), d, extent);
      if (at < 0) return -1;
      part->data += at * stride;
      continue;
    }
    int64_t start = code & PC_SLICE_START ? pc_integer(*in++) : 0, stop = code & PC_SLICE_STOP ? pc_integer(*in++) : 0;
    int64_t step = code & PC_SLICE_STEP ? pc_integer(*in++) : 1, count = 0;
    if (step == 0) {
      pc_error_set(ctx, PC_ERROR_VALUE, "slice step cannot be zero");
      return -1;
    }
    if (step == INT64_MIN) step = -INT64_MAX;
    start = code & PC_SLICE_START ? pc_slice_bound(start, step, extent) : step < 0 ? extent - 1 : 0;
    stop = code & PC_SLICE_STOP ? pc_slice_bound(stop, step, extent) : step < 0 ? -1 : extent;
    if (step < 0 && stop < start) count = (start - stop - 1) / -step + 1;
    if (step > 0 && start < stop) count = (stop - start - 1) / step + 1;
    if (count > 0) part->data += start * stride;
    part->shape[part->ndim] = count;
    part->strides[part->ndim++] = count > 1 ? stride * step : stride;
  }
  return 0;
}

/* in: tensor, integers; props: number of codes, codes. */
__attribute__((unused, noinline)) static int pc_subtensor(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  pc_part part;
  (void)n_in;
  if (pc_part_of(ctx, in[0], props[0], props + 1, in + 1, &part) != 0) return -1;
  return pc_output_replace(&out[0], ctx->host->tensor_view(ctx, in[0], part.ndim, part.shape, part.strides, part.data));
}

/* The tensor that is written to: a copy of `in`, or `in` itself. */
__attribute__((unused, noinline)) static int pc_index_target(pc_context *ctx, pc_tensor *in, int64_t in_place, pc_tensor **out) {
  if (!in_place) return pc_copy_tensor(ctx, in, out);
  if (*out == in) return 0;
  pc_incref((pc_object *)in);
  return pc_output_replace(out, in);
}

/* in: tensor, values, integers; props: in place, number of codes, codes. `row` adds; NULL sets. The check comes before
 * anything is written. */
__attribute__((unused, noinline)) static int pc_inc_subtensor(pc_context *ctx, const int64_t *props, pc_tensor *const *in, pc_tensor **out, pc_row row) {
  pc_part part;
  int64_t strides[PC_MAX_NDIM];
  if (pc_part_of(ctx, in[0], props[1], props + 2, in + 2, &part) != 0) return -1;
  if (pc_broadcast_strides(ctx, in[1], part.ndim, part.shape, strides) != 0) return -1;
  if (pc_index_target(ctx, in[0], props[0], &out[0]) != 0) return -1;
  if (pc_part_of(ctx, out[0], props[1], props + 2, in + 2, &part) != 0) return -1;
  pc_walk_nd(row, pc_dtype_bytes(in[0]->dtype), part.ndim, part.shape, part.data, part.strides, in[1]->data, strides);
  return 0;
}

__attribute__((unused, noinline)) static int pc_set_subtensor(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  (void)n_in;
  return pc_inc_subtensor(ctx, props, in, out, NULL);
}

#define PC_TAKE_BLOCK 512
/* From so many bytes on the first line of each row of a block is asked for before it is read: a CPU waits for fewer of them at once
 * than the second cache can. */
#define PC_TAKE_FAR_BYTES (1 << 20)

/* Writes the positions of a block of `n` indices, counted from 0. Returns -1 with an index error for the first index out of range. It does not
 * branch on an index, so it runs at vector speed. */
static inline int pc_take_positions(pc_context *ctx, const pc_tensor *indices, int64_t from, int64_t n, int64_t extent, int64_t *at) {
  uint64_t outside = 0; /* the sign: before the first, or past the last */
  if (indices->strides[0] == 8) {
    const int64_t *index = (const int64_t *)indices->data + from;
    for (int64_t i = 0; i < n; i++) {
      at[i] = index[i] + (index[i] >> 63 & extent);
      outside |= (uint64_t)at[i] | ((uint64_t)extent - 1 - (uint64_t)at[i]);
    }
  } else {
    for (int64_t i = 0; i < n; i++) {
      int64_t index = pc_integer_at(indices, from + i);
      at[i] = index + (index >> 63 & extent);
      outside |= (uint64_t)at[i] | ((uint64_t)extent - 1 - (uint64_t)at[i]);
    }
  }
  for (int64_t i = 0; outside >> 63 && i < n; i++) {
    if (pc_index_check(ctx, pc_integer_at(indices, from + i), 0, extent) < 0) return -1;
  }
  return 0;
}

/* One row of `out` for each index: in: tensor, vector of indices (i64). */
__attribute__((unused, noinline)) static int pc_take(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  int64_t shape[PC_MAX_NDIM], n = in[1]->shape[0], extent = in[0]->shape[0], first = in[0]->strides[0];
  int32_t ndim = in[0]->ndim, item = pc_dtype_bytes(in[0]->dtype);
  (void)props, (void)n_in;
  shape[0] = n;
  for (int32_t d = 1; d < ndim; d++) shape[d] = in[0]->shape[d];
  pc_tensor *t = pc_output_ready(ctx, &out[0], in[0]->dtype, ndim, shape);
  if (t == NULL) return -1;
  int64_t run = pc_run_bytes(item, ndim - 1, shape + 1, t->strides + 1, in[0]->strides + 1), to_step = t->strides[0], at[PC_TAKE_BLOCK];
  int is_far = extent * (first < 0 ? -first : first) >= PC_TAKE_FAR_BYTES;
  for (int64_t from = 0; from < n; from += PC_TAKE_BLOCK) {
    int64_t m = n - from < PC_TAKE_BLOCK ? n - from : PC_TAKE_BLOCK;
    char *to = t->data + from * to_step;
    if (pc_take_positions(ctx, in[1], from, m, extent, at) != 0) return -1;
    for (int64_t i = 0; is_far && i < m; i++) __builtin_prefetch(in[0]->data + at[i] * first, 0, 2);
    if (run == 8 && to_step == 8 && first == 8) {
      const char *data = in[0]->data;
      for (int64_t i = 0; i < m; i++) __builtin_memcpy(to + i * 8, data + at[i] * 8, 8);
      continue;
    }
    for (int64_t i = 0; i < m; i++) {
      pc_copy_part(run, item, ndim - 1, shape + 1, to + i * to_step, t->strides + 1, in[0]->data + at[i] * first, in[0]->strides + 1);
    }
  }
  return 0;
}

/* in: tensor, values, vector of indices (i64); props: in place. Indices in their order, so of equal ones the last sets and
 * all add. The check comes before anything is written. */
__attribute__((unused, noinline)) static int pc_inc_take(pc_context *ctx, const int64_t *props, pc_tensor *const *in, pc_tensor **out, pc_row row) {
  int64_t shape[PC_MAX_NDIM], strides[PC_MAX_NDIM], n = in[2]->shape[0], extent = in[0]->shape[0];
  int32_t ndim = in[0]->ndim, item = pc_dtype_bytes(in[0]->dtype);
  shape[0] = n;
  for (int32_t d = 1; d < ndim; d++) shape[d] = in[0]->shape[d];
  for (int64_t i = 0; i < n; i++) {
    if (pc_index_check(ctx, pc_integer_at(in[2], i), 0, extent) < 0) return -1;
  }
  if (pc_broadcast_strides(ctx, in[1], ndim, shape, strides) != 0) return -1;
  if (pc_index_target(ctx, in[0], props[0], &out[0]) != 0) return -1;
  for (int64_t i = 0; i < n; i++) {
    int64_t index = pc_integer_at(in[2], i), at = index < 0 ? index + extent : index;
    pc_walk_nd(row, item, ndim - 1, shape + 1, out[0]->data + at * out[0]->strides[0], out[0]->strides + 1, in[1]->data + i * strides[0],
               strides + 1);
  }
  return 0;
}

__attribute__((unused, noinline)) static int pc_set_take(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  (void)n_in;
  return pc_inc_take(ctx, props, in, out, NULL);
}

#endif
