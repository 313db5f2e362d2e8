/* Runs one entry under a host that counts objects and refuses the n-th request; built with sanitizers by failure.rs. */
#include <precast/module.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const pc_module precast_module_v1;

static long live, requests, refuse_at;

typedef struct counted { pc_tensor tensor; int64_t shape[1], strides[1]; } counted;

static void tensor_dealloc(pc_object *o) {
  free(((pc_tensor *)o)->data);
  free(o);
  live--;
}

static const pc_type tensor_type = {"tensor", tensor_dealloc};

static int refused(pc_context *ctx) {
  if (++requests != refuse_at) return 0;
  pc_error_set(ctx, PC_ERROR_MEMORY, "refused");
  return 1;
}

static pc_tensor *tensor_new(pc_context *ctx, int32_t dtype, int32_t ndim, const int64_t *shape) {
  if (refused(ctx) || ndim != 1) return NULL;
  counted *c = calloc(1, sizeof *c);
  c->shape[0] = shape[0];
  c->strides[0] = 8;
  c->tensor = (pc_tensor){{1, &tensor_type}, malloc((size_t)shape[0] * 8), dtype, 1, c->shape, c->strides, 0, 0, NULL, 0};
  live++;
  return &c->tensor;
}

static pc_tensor *tensor_view(pc_context *ctx, pc_tensor *b, int32_t n, const int64_t *s, const int64_t *t, char *d) {
  (void)ctx, (void)b, (void)n, (void)s, (void)t, (void)d;
  return NULL;
}

static void *host_alloc(pc_context *ctx, size_t bytes) {
  if (refused(ctx)) return NULL;
  live++;
  return malloc(bytes);
}

static void host_release(pc_context *ctx, void *memory) {
  (void)ctx;
  if (memory != NULL) live--;
  free(memory);
}

static int gemm(pc_context *ctx, int32_t dtype, int64_t m, int64_t n, int64_t k, const char *a, int64_t ar, int64_t ac,
                const char *b, int64_t br, int64_t bc, char *c, int64_t cr, int64_t cc) {
  (void)ctx, (void)dtype, (void)m, (void)n, (void)k, (void)a, (void)ar, (void)ac, (void)b, (void)br, (void)bc, (void)c;
  (void)cr, (void)cc;
  return -1;
}

static const pc_host host = {PC_ABI_VERSION, sizeof(pc_host), tensor_new, tensor_view, host_alloc, host_release, vsnprintf, gemm, NULL, NULL};

#define CHECK(condition)                                                                       \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      fprintf(stderr, "line %d: %s (refused request %ld)\n", __LINE__, #condition, refuse_at); \
      exit(1);                                                                                 \
    }                                                                                          \
  } while (0)

static pc_tensor *vector(int64_t n, double value) {
  pc_context ctx = {&host, {0}};
  long keep = refuse_at;
  refuse_at = 0;
  pc_tensor *t = tensor_new(&ctx, PC_F64, 1, &n);
  for (int64_t i = 0; i < n; i++) ((double *)t->data)[i] = value;
  refuse_at = keep;
  return t;
}

/* One call; gives the failure id. */
static int call(const pc_entry *entry, void *self, pc_tensor *x, pc_object **out, pc_context *ctx) {
  pc_object *args[2] = {(pc_object *)x, *out};
  *ctx = (pc_context){&host, {0}};
  int failure = entry->run(self, ctx, args);
  *out = args[1];
  CHECK((failure != 0) == (ctx->error.kind != PC_ERROR_NONE));
  CHECK(x->object.refcount == 1);
  return failure;
}

/* Life of an instance whose n-th request is refused; whether any request was. */
static int life(const pc_entry *entry, long n) {
  pc_context ctx = {&host, {0}};
  pc_tensor *x = vector(3, 2.0), *wrong = vector(4, 2.0), *one = vector(3, 1.0);
  pc_object *slots[1] = {(pc_object *)one}, *out = NULL;
  long before = live;
  requests = 0;
  refuse_at = n;
  void *self = calloc(1, entry->instance_bytes);
  int failure = entry->init(self, &ctx, slots);
  if (failure != 0) {
    CHECK(failure < (int)entry->n_tasks && entry->tasks[failure].kind == PC_TASK_STRUCT);
    CHECK(live == before && one->object.refcount == 1);
  } else {
    failure = call(entry, self, x, &out, &ctx);
    if (failure != 0) CHECK(failure < (int)entry->n_tasks && entry->tasks[failure].kind == PC_TASK_CODE && entry->tasks[failure].apply >= 0);
    int refused_any = failure != 0;
    refuse_at = 0;
    CHECK(call(entry, self, wrong, &out, &ctx) != 0 && strstr(ctx.error.message, "shape mismatch") != NULL);
    CHECK(call(entry, self, x, &out, &ctx) == 0); /* the instance works on after failures */
    double first = ((double *)((pc_tensor *)out)->data)[0];
    pc_object *again = out;
    long now = requests;
    CHECK(call(entry, self, x, &out, &ctx) == 0 && out == again && requests == now); /* steady calls ask for nothing */
    CHECK(((double *)((pc_tensor *)out)->data)[2] == first);
    entry->cleanup(self, &ctx);
    pc_xdecref(out);
    failure = refused_any;
    CHECK(live == before && one->object.refcount == 1);
  }
  free(self);
  pc_xdecref((pc_object *)x);
  pc_xdecref((pc_object *)wrong);
  pc_xdecref((pc_object *)one);
  CHECK(live == 0);
  return failure != 0;
}

int main(void) {
  const pc_entry *entry = precast_module_v1.entries[0];
  pc_context ctx = {&host, {0}};
  if (entry->load != NULL) CHECK(entry->load(&ctx) == 0);
  CHECK(life(entry, 0) == 0);
  long n = 1;
  while (life(entry, n)) n++;
  printf("%ld failures survived\n", n - 1);
  return 0;
}
