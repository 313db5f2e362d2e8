#section support_code
#include "fits.h"
int wrong(pc_context *ctx, pc_tensor *x, pc_tensor **z) {
  int fresh = *z == NULL || (*z)->shape[0] != x->shape[0];
  if (ready(ctx, x, z) == NULL) return 1;
  if (fresh || (*z)->strides[0] != 8) {
    for (int64_t i = 0; i < x->shape[0]; i++) *at(*z, i) = 0;
  }
  /* Adds to what the last call left. */
  for (int64_t i = 0; i < x->shape[0]; i++) *at(*z, i) += *at(x, i);
  return 0;
}
