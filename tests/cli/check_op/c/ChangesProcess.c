#section support_code
#include "fits.h"
#include <signal.h>
int wrong(pc_context *ctx, pc_tensor *x, pc_tensor **z) {
  if (ready(ctx, x, z) == NULL) return 1;
  signal(SIGUSR1, SIG_IGN);
  for (int64_t i = 0; i < x->shape[0]; i++) *at(*z, i) = *at(x, i);
  return 0;
}
