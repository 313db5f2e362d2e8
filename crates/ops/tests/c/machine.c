/* A small host: reads calls from a file, runs the entries of the linked module, writes results and how many objects
 * were left over. Integers are 64-bit in the machine's byte order.
 *
 *   call    slot, constants, inputs, outputs; each tensor; for each output 0, or 1 and a tensor to reuse
 *   tensor  type number, ndim, shape, strides (bytes), offset of the first element, bytes of memory, the memory
 *   result  failure id; message (length, text) if it is not 0, else for each output type number, ndim, shape, elements
 *           in C order; 1 if a second call kept every output where it was, else 0; objects not given back
 */
#include <precast/module.h>
#include "drivers.c"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const pc_module precast_module_v1;

typedef struct tensor {
  pc_tensor t;
  int64_t extents[2 * PC_MAX_NDIM];
  void *memory;
} tensor;

static int64_t live;

static void tensor_free(pc_object *o) {
  tensor *t = (tensor *)o;
  live--;
  pc_xdecref(t->t.owner);
  free(t->memory);
  free(t);
}

static const pc_type tensor_type = {"tensor", tensor_free};

static tensor *tensor_make(int32_t dtype, int32_t ndim, const int64_t *shape, const int64_t *strides) {
  tensor *t = (tensor *)calloc(1, sizeof *t);
  live++;
  t->t.object.refcount = 1;
  t->t.object.type = &tensor_type;
  t->t.dtype = dtype;
  t->t.ndim = ndim;
  t->t.shape = t->extents;
  t->t.strides = t->extents + PC_MAX_NDIM;
  for (int32_t d = 0; d < ndim; d++) {
    t->extents[d] = shape[d];
    t->extents[PC_MAX_NDIM + d] = strides[d];
  }
  return t;
}

static pc_tensor *tensor_new(pc_context *ctx, int32_t dtype, int32_t ndim, const int64_t *shape) {
  int64_t strides[PC_MAX_NDIM], bytes = pc_dtype_bytes(dtype);
  (void)ctx;
  for (int32_t d = ndim - 1; d >= 0; d--) {
    strides[d] = bytes;
    bytes *= shape[d];
  }
  tensor *t = tensor_make(dtype, ndim, shape, strides);
  t->memory = malloc((size_t)bytes + 1);
  t->t.data = (char *)t->memory;
  t->t.capacity_bytes = bytes;
  return &t->t;
}

static pc_tensor *tensor_view(pc_context *ctx, pc_tensor *base, int32_t ndim, const int64_t *shape, const int64_t *strides,
                              char *data) {
  (void)ctx;
  tensor *t = tensor_make(base->dtype, ndim, shape, strides);
  t->t.data = data;
  t->t.owner = &base->object;
  pc_incref(&base->object);
  return &t->t;
}

static void *host_alloc(pc_context *ctx, size_t bytes) { (void)ctx; return malloc(bytes); }
static void host_release(pc_context *ctx, void *memory) { (void)ctx; free(memory); }

#define GEMM(T)                                                                                                        \
  for (int64_t i = 0; i < m; i++)                                                                                      \
    for (int64_t j = 0; j < n; j++) {                                                                                  \
      T sum = 0;                                                                                                       \
      for (int64_t l = 0; l < k; l++) sum += *(const T *)(a + i * a_row + l * a_col) * *(const T *)(b + l * b_row + j * b_col); \
      *(T *)(c + i * c_row + j * c_col) = sum;                                                                         \
    }

/* The sums of the real host, in its order: lanes for a vector, else a chain that rounds once where the CPU has the instruction. */
static int rounds_once(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return 1;
#endif
}

#define GEMM_REAL(T, FMA)                                                                                              \
  for (int64_t i = 0; i < m; i++)                                                                                      \
    for (int64_t j = 0; j < n; j++) {                                                                                  \
      T s[8] = {0};                                                                                                    \
      for (int64_t l = 0; l < k; l++) {                                                                                \
        const T x = *(const T *)(a + i * a_row + l * a_col), y = *(const T *)(b + l * b_row + j * b_col);              \
        if (m == 1 || n == 1) {                                                                                        \
          s[l % 8] += x * y;                                                                                           \
        } else {                                                                                                       \
          s[0] = rounds_once() ? FMA(x, y, s[0]) : s[0] + x * y;                                                       \
        }                                                                                                              \
      }                                                                                                                \
      *(T *)(c + i * c_row + j * c_col) = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));           \
    }

static int gemm(pc_context *ctx, int32_t dtype, int64_t m, int64_t n, int64_t k, const char *a, int64_t a_row, int64_t a_col,
                const char *b, int64_t b_row, int64_t b_col, char *c, int64_t c_row, int64_t c_col) {
  (void)ctx;
  switch (dtype) {
  case PC_F32:
    GEMM_REAL(float, fmaf)
    break;
  case PC_F64:
    GEMM_REAL(double, fma)
    break;
  case PC_C64:
    GEMM(__complex__ float)
    break;
  default:
    GEMM(__complex__ double)
  }
  return 0;
}

static const pc_host host = {PC_ABI_VERSION, sizeof(pc_host), tensor_new, tensor_view, host_alloc, host_release, vsnprintf, gemm,
                             pc_driver_elemwise, pc_driver_reduce, pc_driver_rows, pc_host_error_format, pc_host_parallel,
                             pc_host_gemms, pc_host_frame, pc_host_cancelled};

static FILE *in, *out;

static int64_t get(void) {
  int64_t x;
  if (fread(&x, sizeof x, 1, in) != 1) exit(4);
  return x;
}

static void put(int64_t x) { fwrite(&x, sizeof x, 1, out); }

static pc_object *tensor_read(void) {
  int64_t dtype = get(), ndim = get(), shape[PC_MAX_NDIM], strides[PC_MAX_NDIM];
  for (int64_t d = 0; d < ndim; d++) shape[d] = get();
  for (int64_t d = 0; d < ndim; d++) strides[d] = get();
  int64_t offset = get(), bytes = get();
  tensor *t = tensor_make((int32_t)dtype, (int32_t)ndim, shape, strides);
  t->memory = malloc((size_t)bytes + 1);
  if (fread(t->memory, 1, (size_t)bytes, in) != (size_t)bytes) exit(5);
  t->t.data = (char *)t->memory + offset;
  return &t->t.object;
}

static void elements_put(const pc_tensor *t, int32_t d, const char *at) {
  if (d == t->ndim) {
    fwrite(at, 1, (size_t)pc_dtype_bytes(t->dtype), out);
    return;
  }
  for (int64_t i = 0; i < t->shape[d]; i++) elements_put(t, d + 1, at + i * t->strides[d]);
}

static void tensor_put(const pc_tensor *t) {
  put(t->dtype);
  put(t->ndim);
  for (int32_t d = 0; d < t->ndim; d++) put(t->shape[d]);
  elements_put(t, 0, t->data);
}

static void call(void) {
  const pc_entry *entry = precast_module_v1.entries[get()];
  int64_t n_slots = get(), n_in = get(), n_out = get();
  pc_object *slots[64], *args[80];
  for (int64_t i = 0; i < n_slots; i++) slots[i] = tensor_read();
  for (int64_t i = 0; i < n_in; i++) args[i] = tensor_read();
  for (int64_t i = n_in; i < n_in + n_out; i++) args[i] = get() ? tensor_read() : NULL;
  pc_context ctx = {&host, {0, 0, {0}}};
  void *self = aligned_alloc(64, (entry->instance_bytes + 127) / 64 * 64);
  memset(self, 0, entry->instance_bytes);
  int failure = entry->init(self, &ctx, slots);
  int ready = failure == 0;
  if (ready) failure = entry->run(self, &ctx, args);
  put(failure);
  if (failure != 0) {
    put((int64_t)strlen(ctx.error.message));
    fwrite(ctx.error.message, 1, strlen(ctx.error.message), out);
  } else {
    const pc_object *before[80];
    memcpy(before, args, sizeof args);
    for (int64_t i = n_in; i < n_in + n_out; i++) tensor_put((pc_tensor *)args[i]);
    int kept = entry->run(self, &ctx, args) == 0;
    for (int64_t i = n_in; i < n_in + n_out; i++) kept &= before[i] == args[i];
    put(kept);
  }
  if (ready) entry->cleanup(self, &ctx);
  for (int64_t i = 0; i < n_slots; i++) pc_xdecref(slots[i]);
  for (int64_t i = 0; i < n_in + n_out; i++) pc_xdecref(args[i]);
  put(live);
  free(self);
}

static void *calls(void *none) {
  for (int64_t n = get(); n > 0; n--) call();
  return none;
}

/* The calls run on a stack of 128 KiB, as in threads of musl. */
int main(int argc, char **argv) {
  if (argc != 3 || (in = fopen(argv[1], "rb")) == NULL || (out = fopen(argv[2], "wb")) == NULL) return 2;
  pthread_attr_t small;
  pthread_t thread;
#if defined(__AVX512F__)
  pc_driver_use_level(2);
#elif defined(__AVX2__)
  pc_driver_use_level(1);
#endif
  if (pthread_attr_init(&small) != 0 || pthread_attr_setstacksize(&small, 128 << 10) != 0) return 6;
  if (pthread_create(&thread, &small, calls, NULL) != 0 || pthread_join(thread, NULL) != 0) return 6;
  return fclose(out) == 0 ? 0 : 3;
}
