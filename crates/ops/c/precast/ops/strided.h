/* precast/ops/strided.h: elements moved between two layouts of one shape. Only bytes move, so one routine serves every
 * dtype: the dimension that is nearest in the target is walked last, neighbours that both sides walk through in one
 * stride are joined, and a run that is then contiguous on both sides is one memcpy.
 */
#ifndef PRECAST_OPS_STRIDED_H
#define PRECAST_OPS_STRIDED_H

#include <precast/output.h>
#include <precast/ops/text.h>

static inline int64_t pc_distance(int64_t stride) { return stride < 0 ? -stride : stride; }

/* Updates n elements of the target with n elements of the source, at steps in bytes. */
typedef void (*pc_row)(int64_t n, char *to, int64_t to_step, const char *from, int64_t from_step);

/* Walks through two layouts of one shape, a row at a time; strides in bytes, any sign, 0 too in `from`. `row` NULL: copies
 * elements of `item` bytes. The two do not overlap. */
__attribute__((unused, noinline)) static void pc_walk_nd(pc_row row, int32_t item, int32_t ndim, const int64_t *shape, char *to,
                                                         const int64_t *to_strides, const char *from, const int64_t *from_strides) {
  int64_t n[PC_MAX_NDIM], t[PC_MAX_NDIM], f[PC_MAX_NDIM], index[PC_MAX_NDIM];
  int32_t order[PC_MAX_NDIM], used = 0, last = -1;
  for (int32_t d = 0; d < ndim; d++) {
    if (shape[d] == 0) return;
    if (shape[d] == 1) continue;
    int32_t at = used++;
    for (; at > 0 && pc_distance(to_strides[order[at - 1]]) < pc_distance(to_strides[d]); at--) order[at] = order[at - 1];
    order[at] = d;
  }
  for (int32_t i = 0; i < used; i++) {
    int32_t d = order[i];
    if (last >= 0 && t[last] == to_strides[d] * shape[d] && f[last] == from_strides[d] * shape[d]) {
      n[last] *= shape[d];
    } else {
      n[++last] = shape[d];
    }
    t[last] = to_strides[d];
    f[last] = from_strides[d];
    index[last] = 0;
  }
  if (last < 0) {
    last = 0;
    n[0] = 1;
    t[0] = f[0] = item;
  }
  for (;;) {
    if (row != NULL) {
      row(n[last], to, t[last], from, f[last]);
    } else {
      pc_copy_strided(item, n[last], to, t[last], from, f[last]);
    }
    int32_t d = last - 1;
    for (; d >= 0; d--) {
      int64_t by = ++index[d] < n[d] ? 1 : 1 - n[d];
      to += by * t[d];
      from += by * f[d];
      if (by == 1) break;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

/* Copies the elements of one shape from one layout to another. */
__attribute__((unused, noinline)) static void pc_copy_nd(int32_t item, int32_t ndim, const int64_t *shape, char *to, const int64_t *to_strides,
                                               const char *from, const int64_t *from_strides) {
  pc_walk_nd(NULL, item, ndim, shape, to, to_strides, from, from_strides);
}

/* The bytes of a part that is one run of memory on both sides, else 0. */
__attribute__((unused, noinline)) static int64_t pc_run_bytes(int32_t item, int32_t ndim, const int64_t *shape, const int64_t *to_strides,
                                                              const int64_t *from_strides) {
  int64_t run = item;
  for (int32_t d = ndim - 1; d >= 0 && run > 0; d--) {
    run = (shape[d] == 1 || (to_strides[d] == run && from_strides[d] == run)) ? run * shape[d] : 0;
  }
  return run;
}

/* Copies one of many parts of one shape, of which `run` is what pc_run_bytes says. */
static inline void pc_copy_part(int64_t run, int32_t item, int32_t ndim, const int64_t *shape, char *to, const int64_t *to_strides,
                                const char *from, const int64_t *from_strides) {
  if (run == 8) {
    __builtin_memcpy(to, from, 8);
  } else if (run == 4) {
    __builtin_memcpy(to, from, 4);
  } else if (run > 0) {
    __builtin_memcpy(to, from, (size_t)run);
  } else {
    pc_copy_nd(item, ndim, shape, to, to_strides, from, from_strides);
  }
}

/* Strides of `in` broadcast to a shape of `ndim` dimensions, aligned right; a value error when it does not fit. */
__attribute__((unused, noinline)) static int pc_broadcast_strides(pc_context *ctx, const pc_tensor *in, int32_t ndim, const int64_t *shape, int64_t *strides) {
  char from[PC_TEXT_BYTES], to[PC_TEXT_BYTES];
  int32_t shift = ndim - in->ndim;
  int fits = shift >= 0;
  for (int32_t d = 0; fits && d < ndim; d++) {
    int64_t n = d < shift ? 1 : in->shape[d - shift];
    strides[d] = n == 1 ? 0 : in->strides[d - shift];
    fits = n == 1 || n == shape[d];
  }
  if (fits) return 0;
  pc_error_format(ctx, PC_ERROR_VALUE, "could not broadcast input array from shape %s into shape %s",
                  pc_text_shape(ctx, from, in->ndim, in->shape), pc_text_shape(ctx, to, ndim, shape));
  return -1;
}

/* The elements of `in` in `*out`, which is reused or replaced as pc_output_ready says. */
__attribute__((unused, noinline)) static int pc_copy_tensor(pc_context *ctx, const pc_tensor *in, pc_tensor **out) {
  pc_tensor *t = pc_output_ready(ctx, out, in->dtype, in->ndim, in->shape);
  if (t == NULL) return -1;
  pc_copy_nd(pc_dtype_bytes(t->dtype), t->ndim, t->shape, t->data, t->strides, in->data, in->strides);
  return 0;
}

/* Replaces the tensor in `*out` by `fresh`; takes the reference over. Returns -1 if `fresh` is NULL. */
__attribute__((unused, noinline)) static int pc_output_replace(pc_tensor **out, pc_tensor *fresh) {
  if (fresh == NULL) return -1;
  pc_xdecref((pc_object *)*out);
  *out = fresh;
  return 0;
}

/* Sets the result to a view of all of `in`. */
__attribute__((unused, noinline)) static int pc_output_view(pc_context *ctx, pc_tensor *in, pc_tensor **out) {
  return pc_output_replace(out, ctx->host->tensor_view(ctx, in, in->ndim, in->shape, in->strides, in->data));
}

/* The integer that a tensor of dtype i64 without dimensions holds. */
static inline int64_t pc_integer(const pc_tensor *t) { return *(const int64_t *)t->data; }

/* Element i of a vector of dtype i64. */
static inline int64_t pc_integer_at(const pc_tensor *t, int64_t i) { return *(const int64_t *)(t->data + i * t->strides[0]); }

#endif
