/* precast/ops/cumulative.h: running sums and products along an axis, or of all elements in C order. One element after the
 * other, each rounded to its dtype: the order is part of the result. */
#ifndef PRECAST_OPS_CUMULATIVE_H
#define PRECAST_OPS_CUMULATIVE_H

#include <precast/output.h>
#include <precast/ops/scalar.h>

#define PC_CUMULATIVE_TILE 64

/* `lines` neighbouring lines of n elements; steps in bytes along a line and from line to line. `acc` has room for a tile of
 * elements, `goes_on` says that it holds the elements before. */
typedef void (*pc_cumulative_lines)(int64_t n, int64_t lines, char *to, int64_t to_step, int64_t to_line, const char *from, int64_t from_step,
                                    int64_t from_line, void *acc, int goes_on);

static inline int64_t pc_cumulative_distance(int64_t stride) { return stride < 0 ? -stride : stride; }

/* All lines along `axis`, in tiles over the nearest other dimension when that is nearer than the axis. */
__attribute__((unused, noinline)) static void pc_cumulative_axis(const pc_tensor *in, const pc_tensor *out, int32_t axis, pc_cumulative_lines lines) {
  int64_t index[PC_MAX_NDIM] = {0};
  char acc[PC_CUMULATIVE_TILE * 16] __attribute__((aligned(16))) = {0};
  int32_t near = -1;
  for (int32_t d = 0; d < out->ndim; d++) {
    int64_t best = pc_cumulative_distance(out->strides[near < 0 ? axis : near]);
    if (d != axis && out->shape[d] > 1 && pc_cumulative_distance(out->strides[d]) < best) near = d;
  }
  int64_t width = near < 0 ? 1 : out->shape[near], to_line = near < 0 ? 0 : out->strides[near], from_line = near < 0 ? 0 : in->strides[near];
  const char *from = in->data;
  char *to = out->data;
  for (;;) {
    for (int64_t c = 0; c < width; c += PC_CUMULATIVE_TILE) {
      int64_t m = width - c < PC_CUMULATIVE_TILE ? width - c : PC_CUMULATIVE_TILE;
      lines(out->shape[axis], m, to + c * to_line, out->strides[axis], to_line, from + c * from_line, in->strides[axis], from_line, acc, 0);
    }
    int32_t d = out->ndim - 1;
    for (; d >= 0; d--) {
      if (d == axis || d == near) continue;
      int64_t by = ++index[d] < out->shape[d] ? 1 : 1 - out->shape[d];
      to += by * out->strides[d];
      from += by * in->strides[d];
      if (by == 1) break;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

/* All elements in C order as one line. */
__attribute__((unused, noinline)) static void pc_cumulative_all(const pc_tensor *in, const pc_tensor *out, pc_cumulative_lines lines) {
  int64_t index[PC_MAX_NDIM] = {0}, n = in->ndim > 0 ? in->shape[in->ndim - 1] : 1, step = in->ndim > 0 ? in->strides[in->ndim - 1] : 0;
  char acc[PC_CUMULATIVE_TILE * 16] __attribute__((aligned(16))) = {0};
  const char *from = in->data;
  char *to = out->data;
  for (int goes_on = 0;; goes_on = 1) {
    lines(n, 1, to, out->strides[0], 0, from, step, 0, acc, goes_on);
    to += n * out->strides[0];
    int32_t d = in->ndim - 2;
    for (; d >= 0; d--) {
      int64_t by = ++index[d] < in->shape[d] ? 1 : 1 - in->shape[d];
      from += by * in->strides[d];
      if (by == 1) break;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

/* props: axis, -1 for all elements. */
__attribute__((unused, noinline)) static int pc_cumulative(pc_context *ctx, int32_t axis, const pc_tensor *in, pc_tensor **out,
                                                           pc_cumulative_lines lines) {
  int64_t size = pc_tensor_size(in);
  pc_tensor *t = pc_output_ready(ctx, out, in->dtype, axis < 0 ? 1 : in->ndim, axis < 0 ? &size : in->shape);
  if (t == NULL) return -1;
  if (size == 0) return 0;
  if (axis < 0) {
    pc_cumulative_all(in, t, lines);
  } else {
    pc_cumulative_axis(in, t, axis, lines);
  }
  return 0;
}

#define PC_CUMULATIVE(NAME, DTYPE, ADD)                                                                                  \
  static void NAME##_lines(int64_t n, int64_t lines, char *to, int64_t to_step, int64_t to_line, const char *from,       \
                           int64_t from_step, int64_t from_line, void *room, int goes_on) {                              \
    pc_##DTYPE *acc = (pc_##DTYPE *)room;                                                                                \
    if (lines == 1) { /* in a register; a choice in the loop would take as long as the sum */                            \
      pc_##DTYPE sum = *(const pc_##DTYPE *)from;                                                                        \
      if (goes_on) sum = ADD(acc[0], sum);                                                                               \
      *(pc_##DTYPE *)to = sum;                                                                                           \
      for (int64_t i = 1; i < n; i++) {                                                                                  \
        sum = ADD(sum, *(const pc_##DTYPE *)(from + i * from_step));                                                     \
        *(pc_##DTYPE *)(to + i * to_step) = sum;                                                                         \
      }                                                                                                                  \
      acc[0] = sum;                                                                                                      \
      return;                                                                                                            \
    }                                                                                                                    \
    for (int64_t i = 0; i < n; i++, to += to_step, from += from_step) {                                                  \
      for (int64_t j = 0; j < lines; j++) {                                                                              \
        pc_##DTYPE x = *(const pc_##DTYPE *)(from + j * from_line);                                                      \
        acc[j] = i > 0 || goes_on ? ADD(acc[j], x) : x;                                                                  \
        *(pc_##DTYPE *)(to + j * to_line) = acc[j];                                                                      \
      }                                                                                                                  \
    }                                                                                                                    \
  }                                                                                                                      \
  static int NAME(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {          \
    (void)n_in;                                                                                                          \
    return pc_cumulative(ctx, (int32_t)props[0], in[0], &out[0], NAME##_lines);                                          \
  }

#endif
