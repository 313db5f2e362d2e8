/* A host for programs with compat headers: it counts what lives, and refuses the n-th request. */
#include <numpy/arrayobject.h>
#include <precast/host.h>
#include <precast/module.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct counted { pc_tensor tensor; int64_t extents[2 * PC_MAX_NDIM]; } counted;

static long live, requests, refuse_at;
static size_t current_case; /* for messages */

static int refused(pc_context *ctx) {
  if (++requests != refuse_at) return 0;
  pc_error_set(ctx, PC_ERROR_MEMORY, "refused");
  return 1;
}

static void tensor_dealloc(pc_object *o) {
  pc_tensor *t = (pc_tensor *)o;
  if (t->capacity_bytes > 0) free(t->data);
  pc_xdecref(t->owner);
  free(o);
  live--;
}

static const pc_type tensor_type = {"tensor", tensor_dealloc};

static pc_tensor *header(int32_t dtype, int32_t ndim, const int64_t *shape) {
  counted *c = (counted *)calloc(1, sizeof *c);
  c->tensor.object.refcount = 1;
  c->tensor.object.type = &tensor_type;
  c->tensor.dtype = dtype;
  c->tensor.ndim = ndim;
  for (int d = 0; d < ndim; d++) c->extents[d] = shape[d];
  c->tensor.shape = c->extents;
  c->tensor.strides = c->extents + PC_MAX_NDIM;
  live++;
  return &c->tensor;
}

static pc_tensor *tensor_new(pc_context *ctx, int32_t dtype, int32_t ndim, const int64_t *shape) {
  if (pc_compat_itemsize(dtype) == 0) {
    pc_error_set(ctx, PC_ERROR_TYPE, "no dtype has this number");
    return NULL;
  }
  if (refused(ctx)) return NULL;
  pc_tensor *t = header(dtype, ndim, shape);
  pc_compat_set_strides(t, 0);
  t->capacity_bytes = pc_tensor_size(t) * pc_compat_itemsize(dtype);
  if (t->capacity_bytes > 0) t->data = (char *)malloc((size_t)t->capacity_bytes);
  return t;
}

static pc_tensor *tensor_view(pc_context *ctx, pc_tensor *base, int32_t ndim, const int64_t *shape, const int64_t *strides,
                              char *data) {
  if (refused(ctx)) return NULL;
  pc_tensor *t = header(base->dtype, ndim, shape);
  for (int d = 0; d < ndim; d++) ((int64_t *)t->strides)[d] = strides[d];
  t->data = data;
  t->flags = base->flags;
  t->owner = &base->object;
  pc_incref(t->owner);
  return t;
}

static void *host_alloc(pc_context *ctx, size_t bytes) {
  if (refused(ctx)) return NULL;
  live++;
  return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void host_release(pc_context *ctx, void *memory) {
  (void)ctx;
  if (memory != NULL) live--;
  free(memory);
}

/* Not const: a program may give it services of its own. */
static pc_host host = {PC_ABI_VERSION, sizeof(pc_host), tensor_new, tensor_view, host_alloc, host_release, vsnprintf,
                             NULL,           NULL,            NULL,            NULL,        pc_host_error_format, pc_host_parallel,
                             pc_host_gemms, pc_host_frame, pc_host_cancelled};

#define CHECK(condition)                                                                       \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      fprintf(stderr, "line %d: %s (case %zu, refused request %ld)\n", __LINE__, #condition, current_case, refuse_at); \
      exit(1);                                                                                 \
    }                                                                                          \
  } while (0)
