/* precast/ops/index_add.h: adding to parts of a tensor; see index.h. */
#ifndef PRECAST_OPS_INDEX_ADD_H
#define PRECAST_OPS_INDEX_ADD_H

#include <precast/ops/index.h>
#include <precast/ops/scalar.h>

#define PC_INDEX_ADD(NAME, DTYPE, FUNCTION)                                                                              \
  static void NAME##_row(int64_t n, char *to, int64_t to_step, const char *from, int64_t from_step) {                    \
    for (; n > 0; n--, to += to_step, from += from_step)                                                                 \
      *(pc_##DTYPE *)to = pc_add_##DTYPE(*(const pc_##DTYPE *)to, *(const pc_##DTYPE *)from);                            \
  }                                                                                                                      \
  static int NAME(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {          \
    (void)n_in;                                                                                                          \
    return FUNCTION(ctx, props, in, out, NAME##_row);                                                                    \
  }

#endif
