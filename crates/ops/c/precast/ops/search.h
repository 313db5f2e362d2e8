/* precast/ops/search.h: where elements belong in a sorted vector, in the order of order.h: by halving, on keys. */
#ifndef PRECAST_OPS_SEARCH_H
#define PRECAST_OPS_SEARCH_H

#include <precast/ops/order.h>
#include <precast/output.h>

/* The position of one element: before those that are equal, or behind them. */
typedef int64_t (*pc_search)(int32_t behind, int64_t n, const char *sorted, int64_t step, const char *element);

/* in: sorted vector, elements; props: whether behind equals. */
__attribute__((unused, noinline)) static int pc_searchsorted(pc_context *ctx, const int64_t *props, pc_tensor *const *in, pc_tensor **out, pc_search search) {
  const pc_tensor *sorted = in[0], *x = in[1];
  int64_t index[PC_MAX_NDIM] = {0};
  pc_tensor *t = pc_output_ready(ctx, out, PC_I64, x->ndim, x->shape);
  if (t == NULL) return -1;
  if (pc_tensor_size(x) == 0) return 0;
  const char *from = x->data;
  char *to = t->data;
  for (;;) {
    *(int64_t *)to = search(props[0] != 0, sorted->shape[0], sorted->data, sorted->strides[0], from);
    int32_t d = x->ndim - 1;
    for (; d >= 0; d--) {
      int64_t by = ++index[d] < x->shape[d] ? 1 : 1 - x->shape[d];
      from += by * x->strides[d];
      to += by * t->strides[d];
      if (by == 1) break;
      index[d] = 0;
    }
    if (d < 0) return 0;
  }
}

#define PC_SEARCHSORTED(NAME, D, STAGES)                                                                                \
  static int64_t NAME##_search(int32_t behind, int64_t n, const char *sorted, int64_t step, const char *element) {      \
    pc_##D x = *(const pc_##D *)element;                                                                                \
    int64_t low = 0;                                                                                                    \
    while (low < n) {                                                                                                   \
      int64_t middle = low + (n - low) / 2;                                                                             \
      pc_##D y = *(const pc_##D *)(sorted + middle * step);                                                             \
      int32_t stage = STAGES - 1;                                                                                       \
      while (stage > 0 && pc_order_##D(y, stage) == pc_order_##D(x, stage)) stage--;                                    \
      uint64_t its = pc_order_##D(y, stage), mine = pc_order_##D(x, stage);                                             \
      if (its < mine || (behind && its == mine)) {                                                                      \
        low = middle + 1;                                                                                               \
      } else {                                                                                                          \
        n = middle;                                                                                                     \
      }                                                                                                                 \
    }                                                                                                                   \
    return low;                                                                                                         \
  }                                                                                                                     \
  static int NAME(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {         \
    (void)n_in;                                                                                                         \
    return pc_searchsorted(ctx, props, in, &out[0], NAME##_search);                                                     \
  }

#endif
