/* precast/ops/branch.h: calls the C function of one of several graphs. */
#ifndef PRECAST_OPS_BRANCH_H
#define PRECAST_OPS_BRANCH_H

#include <precast/ops/body.h>

/* Calls the function that `in[0]` selects. The inputs of function i are in[1 + offsets[i]] .. in[1 + offsets[i + 1]]; `args` has
 * room for them and for the outputs. Returns 0, or another number with the error slot set. */
__attribute__((unused)) static int pc_branch_run(pc_context *ctx, const pc_body *bodies, const int32_t *offsets, int32_t count, void *self,
                                                 pc_object **args, pc_tensor *const *in, int32_t n_out, pc_tensor **out) {
  const int64_t given = *(const int64_t *)in[0]->data;
  const int32_t selected = given < 0 ? 0 : given >= count ? count - 1 : (int32_t)given;
  const int32_t n_in = offsets[selected + 1] - offsets[selected];
  for (int32_t i = 0; i < n_in; i++) args[i] = (pc_object *)in[1 + offsets[selected] + i];
  for (int32_t j = 0; j < n_out; j++) {
    args[n_in + j] = (pc_object *)out[j];
    out[j] = NULL;
  }
  const int failed = bodies[selected](self, ctx, args);
  for (int32_t j = 0; j < n_out; j++) out[j] = (pc_tensor *)args[n_in + j];
  return failed;
}

#endif
