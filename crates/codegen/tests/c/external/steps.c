#section support_code
static int64_t extent(const pc_tensor *x) { return x->ndim == 1 ? x->shape[0] : -1; }

#section support_code_apply
/* y = x * alpha + w[0], by way of scratch memory. */
static int APPLY_SPECIFIC(affine)(pc_context *ctx, const pc_tensor *x, pc_tensor *y, double *scratch,
                                  const PARAMS_TYPE *params) {
  if (extent(x) > 64) {
    pc_error_set(ctx, PC_ERROR_VALUE, "affine: too long");
    return 1;
  }
  for (int64_t i = 0; i < extent(x); i++) scratch[i] = *(const DTYPE_INPUT_0 *)(x->data + i * x->strides[0]);
  for (int64_t i = 0; i < extent(x); i++) {
    ((DTYPE_OUTPUT_0 *)y->data)[i] = scratch[i] * params->alpha + ((const double *)params->w->data)[0];
  }
  return 0;
}

#section support_code_struct
double *APPLY_SPECIFIC(kept);

#section init_code_struct
self->APPLY_SPECIFIC(kept) = (double *)ctx->host->alloc(ctx, 64 * sizeof(double));
if (self->APPLY_SPECIFIC(kept) == NULL) {
  FAIL;
}
self->APPLY_SPECIFIC(kept)[0] = PARAMS->alpha;

#section cleanup_code_struct
ctx->host->release(ctx, self->APPLY_SPECIFIC(kept));

#section code
void *scratch = NULL;
const int64_t n = extent(INPUT_0);
scratch = ctx->host->alloc(ctx, 64 * sizeof(double));
if (scratch == NULL) {
  FAIL;
}
if (OUTPUT_0 == NULL || extent(OUTPUT_0) != n) {
  pc_xdecref((pc_object *)OUTPUT_0);
  OUTPUT_0 = ctx->host->tensor_new(ctx, TYPENUM_OUTPUT_0, 1, &n);
  if (OUTPUT_0 == NULL) {
    FAIL;
  }
}
if (APPLY_SPECIFIC(affine)(ctx, INPUT_0, OUTPUT_0, (double *)scratch, PARAMS) != 0 ||
    self->APPLY_SPECIFIC(kept)[0] != PARAMS->alpha) {
  FAIL;
}

#section code_cleanup
ctx->host->release(ctx, scratch);
