#section support_code
#include "fits.h"
int wrong(pc_context *ctx, pc_tensor *x, pc_tensor **z) {
  (void)ctx;
  pc_incref((pc_object *)x);
  pc_xdecref((pc_object *)*z);
  *z = x;
  return 0;
}
