/* precast/ops/body.h: the C function of a graph that an op calls. */
#ifndef PRECAST_OPS_BODY_H
#define PRECAST_OPS_BODY_H

#include <precast/context.h>

/* The contract is that of pc_entry.run; `self` is the instance of the module. */
typedef int (*pc_body)(void *self, pc_context *ctx, pc_object **args);

/* Checks extents that the function relies on, since types may have lost them: for each input from `first` on, its rank and its
 * extents, -1 for any. Returns 0, or -1 with the error slot set. */
__attribute__((unused)) static int pc_body_check(pc_context *ctx, const char *op, int32_t n, const int64_t *extents, int32_t first,
                                                 pc_tensor *const *in) {
  for (int32_t k = 0, input = first; k < n; input++) {
    const int32_t ndim = (int32_t)extents[k++];
    for (int32_t d = 0; d < ndim; d++, k++) {
      if (extents[k] >= 0 && in[input]->shape[d] != extents[k]) {
        pc_error_format(ctx, PC_ERROR_VALUE, "%s: dimension %d of input %d has extent %lld, expected %lld", op, (int)d, (int)input,
                        (long long)in[input]->shape[d], (long long)extents[k]);
        return -1;
      }
    }
  }
  return 0;
}

#endif
