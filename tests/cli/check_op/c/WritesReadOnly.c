#section support_code
#include "fits.h"
int wrong(pc_context *ctx, pc_tensor *x, pc_tensor **z) {
  int fits = *z != NULL && (*z)->shape[0] == x->shape[0];
  if (!fits && ready(ctx, x, z) == NULL) return 1;
  for (int64_t i = 0; i < x->shape[0]; i++) *at(*z, i) = *at(x, i);
  return 0;
}
