#section support_code
/* Shared by all Applies. */
#define CHECK(condition, text)                    \
  if (!(condition)) {                             \
    pc_error_set(ctx, PC_ERROR_VALUE, text);      \
    FAIL                                          \
  }
static int64_t length(const pc_tensor *x) { return x->shape[0]; }

#section support_code_apply
static DTYPE_OUTPUT_0 APPLY_SPECIFIC(scale)(DTYPE_INPUT_0 x) { return (DTYPE_OUTPUT_0)(x * 2); }

#section support_code_struct
int64_t APPLY_SPECIFIC(calls);
void *APPLY_SPECIFIC(memory);

#section init_code_struct
self->APPLY_SPECIFIC(memory) = ctx->host->alloc(ctx, 8);
if (self->APPLY_SPECIFIC(memory) == NULL) {
  FAIL;
}
self->APPLY_SPECIFIC(calls) = 0;

#section cleanup_code_struct
ctx->host->release(ctx, self->APPLY_SPECIFIC(memory));

#section code
int64_t n = length(INPUT_0);
CHECK(n > 0, "levels: nothing to scale")
CHECK(n < 100, "levels: too much to scale")
if (OUTPUT_0 == NULL || length(OUTPUT_0) != n || OUTPUT_0->dtype != TYPENUM_OUTPUT_0) {
  pc_xdecref((pc_object *)OUTPUT_0);
  OUTPUT_0 = ctx->host->tensor_new(ctx, TYPENUM_OUTPUT_0, 1, &n);
  if (OUTPUT_0 == NULL) FAIL;
}
for (int64_t i = 0; i < n; i++) {
  const char *x = INPUT_0->data + i * INPUT_0->strides[0];
  char *z = OUTPUT_0->data + i * OUTPUT_0->strides[0];
  *(DTYPE_OUTPUT_0 *)z = APPLY_SPECIFIC(scale)(*(const DTYPE_INPUT_0 *)x) + (DTYPE_OUTPUT_0)self->APPLY_SPECIFIC(calls);
}
#section code_cleanup
if (n > 0) self->APPLY_SPECIFIC(calls)++;
