/* Calls the ops of PyTensor's tutorials, one after the other for each pair of dtypes, over strides, shapes, outputs, refused requests. */
static pc_tensor *vector(int dtype, int64_t n, int64_t step, double first) {
  int64_t memory_elements = n * (step < 0 ? -step : step);
  pc_context ctx = {&host, {PC_ERROR_NONE, 0, {0}}};
  long kept = refuse_at;
  refuse_at = 0;
  pc_tensor *t = tensor_new(&ctx, dtype, 1, &memory_elements), *view;
  int64_t bytes = pc_compat_itemsize(dtype), stride = step * bytes;
  if (memory_elements > 0) memset(t->data, 0, (size_t)t->capacity_bytes);
  view = tensor_view(&ctx, t, 1, &n, &stride, t->data + (step < 0 ? (n - 1) * -stride : 0));
  for (int64_t i = 0; i < n; i++) pc_compat_set(dtype, view->data + i * stride, pc_compat_of_f64(first + (double)i));
  pc_xdecref(&t->object);
  refuse_at = kept;
  return view;
}

static int call(op_function *op, pc_context *ctx, pc_tensor *x, pc_tensor *y, pc_tensor **z) {
  ctx->host = &host;
  ctx->error.kind = PC_ERROR_NONE;
  pc_context *before = pc_compat_enter(ctx);
  int failed = op(x, y, z);
  pc_compat_leave(before);
  CHECK((failed != 0) == (ctx->error.kind != PC_ERROR_NONE));
  CHECK(x->object.refcount == 1 && y->object.refcount == 1);
  return failed;
}

static void check_values(const pc_tensor *z, int dtype, int64_t n, int scalar) {
  CHECK(z->dtype == dtype && z->ndim == 1 && z->shape[0] == n && z->object.refcount == 1);
  for (int64_t i = 0; i < n; i++) {
    double want = (3.0 + (double)i) * (scalar ? 2.0 : 2.0 + (double)i);
    CHECK(pc_compat_as_f64(pc_compat_get(dtype, z->data + i * z->strides[0])) == want);
  }
}

static void check(const op_case *c) {
  pc_context ctx;
  const int64_t steps[] = {1, 2, -1};
  for (int k = 0; k < 9; k++) {
    pc_tensor *x = vector(c->x, 5, steps[k % 3], 3.0), *y = vector(c->y, 5, steps[k / 3], 2.0), *z = NULL;
    if (c->scalar) y->ndim = 0;
    refuse_at = 0;
    CHECK(call(c->op, &ctx, x, y, &z) == 0);
    check_values(z, c->z, 5, c->scalar);
    pc_tensor *first = z;
    requests = 0;
    CHECK(call(c->op, &ctx, x, y, &z) == 0 && z == first && requests == 0); /* the output is used again */
    pc_tensor *short_x = vector(c->x, 0, 1, 3.0);
    if (!c->scalar) {
      CHECK(call(c->op, &ctx, short_x, y, &z) != 0 && ctx.error.kind == PC_ERROR_VALUE && z == first);
      CHECK(strcmp(ctx.error.message, c->mismatch) == 0);
    }
    pc_xdecref(&z->object);
    z = vector(c->z, 3, 1, 0.0); /* an output of another shape is replaced */
    CHECK(call(c->op, &ctx, x, y, &z) == 0);
    check_values(z, c->z, 5, c->scalar);
    pc_xdecref(&z->object);
    z = NULL;
    requests = 0, refuse_at = 1;
    CHECK(call(c->op, &ctx, x, y, &z) != 0 && z == NULL);
    CHECK(c->refusal == NULL ? ctx.error.kind == PC_ERROR_MEMORY : strcmp(ctx.error.message, c->refusal) == 0);
    pc_xdecref(&x->object), pc_xdecref(&y->object), pc_xdecref(&short_x->object);
    CHECK(live == 0);
  }
}

int main(void) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check(&cases[i]);
  puts("done");
  return 0;
}
