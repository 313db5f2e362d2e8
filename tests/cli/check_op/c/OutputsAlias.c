#section support_code
#include "fits.h"
int wrong(pc_context *ctx, pc_tensor *x, pc_tensor **y, pc_tensor **z) {
  if (ready(ctx, x, y) == NULL) return 1;
  for (int64_t i = 0; i < x->shape[0]; i++) *at(*y, i) = *at(x, i);
  pc_incref((pc_object *)*y);
  pc_xdecref((pc_object *)*z);
  *z = *y;
  return 0;
}
