/* precast/ops/search.h: positions of elements in a sorted vector, in the order of order.h: by halving, on keys. Several elements are
 * searched at once, so that one search does not wait for the reads of another. */
#ifndef PRECAST_OPS_SEARCH_H
#define PRECAST_OPS_SEARCH_H

#include <precast/ops/order.h>
#include <precast/output.h>

/* The most elements that are searched at once. */
#define PC_SEARCH_GROUP 16

/* The positions of some elements: before those that are equal, or behind them. */
typedef void (*pc_search)(int32_t behind, int64_t n, const char *sorted, int64_t step, int64_t count, const char *const *elements,
                          int64_t *positions);

/* in: sorted vector, elements; props: whether behind equals. */
__attribute__((unused, noinline)) static int pc_searchsorted(pc_context *ctx, const int64_t *props, pc_tensor *const *in, pc_tensor **out, pc_search search) {
  const pc_tensor *sorted = in[0], *x = in[1];
  int64_t index[PC_MAX_NDIM] = {0}, positions[PC_SEARCH_GROUP], count = 0;
  const char *elements[PC_SEARCH_GROUP];
  char *places[PC_SEARCH_GROUP];
  pc_tensor *t = pc_output_ready(ctx, out, PC_I64, x->ndim, x->shape);
  if (t == NULL) return -1;
  const char *from = x->data;
  char *to = t->data;
  for (int64_t left = pc_tensor_size(x); left > 0; left--) {
    elements[count] = from;
    places[count++] = to;
    if (count == PC_SEARCH_GROUP || left == 1) {
      search(props[0] != 0, sorted->shape[0], sorted->data, sorted->strides[0], count, elements, positions);
      for (int64_t i = 0; i < count; i++) *(int64_t *)places[i] = positions[i];
      count = 0;
    }
    for (int32_t d = x->ndim - 1; d >= 0; d--) {
      int64_t by = ++index[d] < x->shape[d] ? 1 : 1 - x->shape[d];
      from += by * x->strides[d];
      to += by * t->strides[d];
      if (by == 1) break;
      index[d] = 0;
    }
  }
  return 0;
}

/* Real numbers, whose order is that of one key. Each search of a group takes as many steps as the longest one. */
#define PC_SEARCH_1(NAME, D)                                                                                            \
  static void NAME##_search(int32_t behind, int64_t n, const char *sorted, int64_t step, int64_t count,                 \
                            const char *const *elements, int64_t *positions) {                                          \
    uint64_t mine[PC_SEARCH_GROUP];                                                                                     \
    int64_t size[PC_SEARCH_GROUP], low[PC_SEARCH_GROUP];                                                                \
    for (int64_t i = 0; i < PC_SEARCH_GROUP; i++) {                                                                     \
      mine[i] = pc_order_##D(*(const pc_##D *)elements[i < count ? i : 0], 0);                                          \
      size[i] = n;                                                                                                      \
      low[i] = 0;                                                                                                       \
    }                                                                                                                   \
    for (int64_t left = n; left > 0; left /= 2) {                                                                       \
      pc_##D read[PC_SEARCH_GROUP];                                                                                     \
      for (int64_t i = 0; i < PC_SEARCH_GROUP; i++) {                                                                   \
        int64_t middle = low[i] + size[i] / 2;                                                                          \
        read[i] = *(const pc_##D *)(sorted + (middle < n ? middle : n - 1) * step);                                     \
      }                                                                                                                 \
      for (int64_t i = 0; i < PC_SEARCH_GROUP; i++) {                                                                   \
        int64_t half = size[i] / 2, middle = low[i] + half;                                                             \
        uint64_t its = pc_order_##D(read[i], 0);                                                                        \
        int64_t above = (size[i] > 0) & ((its < mine[i]) | ((behind != 0) & (its == mine[i])));                         \
        low[i] = above ? middle + 1 : low[i];                                                                           \
        size[i] = above ? size[i] - half - 1 : half;                                                                    \
      }                                                                                                                 \
    }                                                                                                                   \
    for (int64_t i = 0; i < count; i++) positions[i] = low[i];                                                          \
  }

/* Complex numbers, whose order is that of three keys. */
#define PC_SEARCH_3(NAME, D)                                                                                            \
  static void NAME##_search(int32_t behind, int64_t n, const char *sorted, int64_t step, int64_t count,                 \
                            const char *const *elements, int64_t *positions) {                                          \
    for (int64_t i = 0; i < count; i++) {                                                                               \
      pc_##D x = *(const pc_##D *)elements[i];                                                                          \
      int64_t low = 0, high = n;                                                                                        \
      while (low < high) {                                                                                              \
        int64_t middle = low + (high - low) / 2;                                                                        \
        pc_##D y = *(const pc_##D *)(sorted + middle * step);                                                           \
        int32_t stage = 2;                                                                                              \
        while (stage > 0 && pc_order_##D(y, stage) == pc_order_##D(x, stage)) stage--;                                  \
        uint64_t its = pc_order_##D(y, stage), mine = pc_order_##D(x, stage);                                           \
        if (its < mine || (behind && its == mine)) {                                                                    \
          low = middle + 1;                                                                                             \
        } else {                                                                                                        \
          high = middle;                                                                                                \
        }                                                                                                               \
      }                                                                                                                 \
      positions[i] = low;                                                                                               \
    }                                                                                                                   \
  }

#define PC_SEARCHSORTED(NAME, D, STAGES)                                                                                \
  PC_SEARCH_##STAGES(NAME, D)                                                                                           \
  static int NAME(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {         \
    (void)n_in;                                                                                                         \
    return pc_searchsorted(ctx, props, in, &out[0], NAME##_search);                                                     \
  }

#endif
