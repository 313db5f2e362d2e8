#section support_code
#include "fits.h"
int wrong(pc_context *ctx, pc_tensor *x, pc_tensor **z) {
  if (ready(ctx, x, z) == NULL) return 1;
  /* The last element is where the first is, whatever the strides say. */
  int64_t back = x->strides[0] < 0 ? -1 : 1;
  for (int64_t i = 0; i < x->shape[0]; i++) *at(*z, i) = back * 2 * *at(x, i);
  return 0;
}
