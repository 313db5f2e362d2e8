#section support_code
#include "fits.h"
int wrong(pc_context *ctx, pc_tensor *x, pc_tensor **z) {
  if (ready(ctx, x, z) == NULL) return 1;
  /* As if the output were always contiguous: it lands between the elements of a strided one. */
  for (int64_t i = 0; i < x->shape[0]; i++) ((double *)(*z)->data)[i] = *at(x, i);
  return 0;
}
