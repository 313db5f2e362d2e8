/* What every op here does right before it does one thing wrong. */
#ifndef FITS_H
#define FITS_H

/* The tensor to write to, as long as the input: the one in the cell if it fits, else a new one. */
static pc_tensor *ready(pc_context *ctx, const pc_tensor *x, pc_tensor **z) {
  if (*z != NULL && (*z)->shape[0] == x->shape[0] && ((*z)->flags & PC_FLAG_READONLY) == 0) return *z;
  pc_tensor *fresh = ctx->host->tensor_new(ctx, x->dtype, 1, x->shape);
  if (fresh != NULL) {
    pc_xdecref((pc_object *)*z);
    *z = fresh;
  }
  return fresh;
}

static double *at(const pc_tensor *t, int64_t i) { return (double *)(t->data + i * t->strides[0]); }

#endif
