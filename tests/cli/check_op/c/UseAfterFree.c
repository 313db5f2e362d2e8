#section support_code
#include "fits.h"
int wrong(pc_context *ctx, pc_tensor *x, pc_tensor **z) {
  if (ready(ctx, x, z) == NULL) return 1;
  double *room = (double *)ctx->host->alloc(ctx, sizeof(double));
  if (room == NULL) return 1;
  *room = 1;
  ctx->host->release(ctx, room);
  for (int64_t i = 0; i < x->shape[0]; i++) *at(*z, i) = *at(x, i) * *(volatile double *)room;
  return 0;
}
