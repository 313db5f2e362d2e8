#section support_code
#include "fits.h"
int wrong(pc_context *ctx, pc_tensor *x, pc_tensor **z) {
  if (ready(ctx, x, z) == NULL) return 1;
  for (int64_t i = x->shape[0]; i >= 0; i--) {
    double here = *(volatile double *)at(x, i);
    if (i < x->shape[0]) *at(*z, i) = here;
  }
  return 0;
}
