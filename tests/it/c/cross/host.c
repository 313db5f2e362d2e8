/* Runs a program of modules on whatever machine this is compiled for: the least that a host of precast/module.h is, with the
 * drivers that every host has. cross/wire.rs writes the program and reads the results.
 *
 *   host PROGRAM UNIT.so... > results
 *
 * Numbers are little-endian int64_t. A tensor is: dtype, ndim, extents, bytes, the bytes.
 *
 *   program   registers N; given N, each: register, tensor; steps N, each: unit, entry, slots N, tensors, args N, registers;
 *             outputs N, registers
 *   results   for each output its tensor; or, instead of all, the number -1, and a message
 */
#include <precast/host.h>
#include <precast/module.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pc_driver_elemwise(pc_context *ctx, const struct pc_elemwise *op, pc_tensor *const *in, pc_tensor **out);
int pc_driver_reduce(pc_context *ctx, const struct pc_reduce *op, pc_tensor *const *in, pc_tensor **out);
int pc_driver_rows(pc_context *ctx, const struct pc_rows *op, pc_tensor *const *in, pc_tensor **out);

static void die(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

/* Memory. */

static void *host_alloc(pc_context *ctx, size_t bytes) {
  void *memory = aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (memory == NULL) pc_error_set(ctx, PC_ERROR_MEMORY, "no memory");
  return memory;
}

static void host_release(pc_context *ctx, void *memory) {
  (void)ctx;
  free(memory);
}

/* A tensor with room for what its maker may rewrite. */
typedef struct room {
  pc_tensor tensor;
  int64_t shape[PC_MAX_NDIM], strides[PC_MAX_NDIM];
} room;

static void tensor_dealloc(pc_object *object) {
  pc_tensor *tensor = (pc_tensor *)object;
  if (tensor->capacity_bytes > 0) free(tensor->data);
  pc_xdecref(tensor->owner);
  free(tensor);
}

static const pc_type tensor_type = {"tensor", tensor_dealloc};

static int64_t item_bytes(int32_t dtype) {
  static const int64_t bytes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 0, 0, 4, 8, 0, 8, 16};
  return dtype < 16 ? bytes[dtype] : 2;
}

static room *new_room(int32_t dtype, int32_t ndim, const int64_t *shape) {
  room *made = calloc(1, sizeof *made);
  if (made == NULL) die("tensor", "no memory");
  for (int32_t axis = 0; axis < ndim; axis++) made->shape[axis] = shape[axis];
  made->tensor = (pc_tensor){{1, &tensor_type}, NULL, dtype, ndim, made->shape, made->strides, 0, 0, NULL, 0};
  return made;
}

static pc_tensor *tensor_new(pc_context *ctx, int32_t dtype, int32_t ndim, const int64_t *shape) {
  room *made = new_room(dtype, ndim, shape);
  int64_t bytes = item_bytes(dtype);
  for (int32_t axis = ndim - 1; axis >= 0; axis--) {
    made->strides[axis] = bytes;
    bytes *= shape[axis];
  }
  made->tensor.data = host_alloc(ctx, (size_t)bytes);
  made->tensor.capacity_bytes = bytes > 0 ? bytes : 1;
  return &made->tensor;
}

static pc_tensor *tensor_view(pc_context *ctx, pc_tensor *base, int32_t ndim, const int64_t *shape,
                              const int64_t *strides, char *data) {
  (void)ctx;
  room *made = new_room(base->dtype, ndim, shape);
  for (int32_t axis = 0; axis < ndim; axis++) made->strides[axis] = strides[axis];
  made->tensor.data = data;
  made->tensor.owner = &base->object;
  pc_incref(&base->object);
  return &made->tensor;
}

static int gemm(pc_context *ctx, int32_t dtype, int64_t m, int64_t n, int64_t k, const char *a, int64_t a_row,
                int64_t a_col, const char *b, int64_t b_row, int64_t b_col, char *c, int64_t c_row, int64_t c_col) {
  (void)dtype, (void)m, (void)n, (void)k, (void)a, (void)a_row, (void)a_col, (void)b, (void)b_row, (void)b_col;
  (void)c, (void)c_row, (void)c_col;
  pc_error_set(ctx, PC_ERROR_RUNTIME, "this host multiplies no matrices");
  return -1;
}

static const pc_host host = {PC_ABI_VERSION, sizeof(pc_host), tensor_new, tensor_view, host_alloc, host_release, vsnprintf, gemm,
                             pc_driver_elemwise, pc_driver_reduce, pc_driver_rows, pc_host_error_format, pc_host_parallel, pc_host_gemms, pc_host_frame,
                             pc_host_cancelled};

/* What is read and written. */

static FILE *program;

static int64_t number(void) {
  int64_t value;
  if (fread(&value, sizeof value, 1, program) != 1) die("program", "it ends too early");
  return value;
}

static pc_tensor *tensor(pc_context *ctx) {
  const int32_t dtype = (int32_t)number(), ndim = (int32_t)number();
  int64_t shape[PC_MAX_NDIM];
  for (int32_t axis = 0; axis < ndim; axis++) shape[axis] = number();
  pc_tensor *made = tensor_new(ctx, dtype, ndim, shape);
  const size_t bytes = (size_t)number();
  if (fread(made->data, 1, bytes, program) != bytes) die("program", "it ends in a tensor");
  made->flags = PC_FLAG_READONLY;
  return made;
}

static void put(int64_t value) { fwrite(&value, sizeof value, 1, stdout); }

static void put_elements(const pc_tensor *tensor, int32_t axis, const char *data) {
  if (axis == tensor->ndim) {
    fwrite(data, 1, (size_t)item_bytes(tensor->dtype), stdout);
    return;
  }
  for (int64_t i = 0; i < tensor->shape[axis]; i++)
    put_elements(tensor, axis + 1, data + i * tensor->strides[axis]);
}

static void put_tensor(const pc_tensor *tensor) {
  put(tensor->dtype);
  put(tensor->ndim);
  for (int32_t axis = 0; axis < tensor->ndim; axis++) put(tensor->shape[axis]);
  put(pc_tensor_size(tensor) * item_bytes(tensor->dtype));
  put_elements(tensor, 0, tensor->data);
}

static int refused(const pc_context *ctx) {
  put(-1);
  puts(ctx->error.message);
  return 0;
}

/* A unit's table of entries, after the handshake. */
static const pc_module *load(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) die(path, dlerror());
  const pc_module *module = dlsym(library, "precast_module_v1");
  if (module == NULL) die(path, "it is no module");
  if (module->magic != PC_MODULE_MAGIC || module->abi_version != PC_ABI_VERSION ||
      module->module_bytes != sizeof(pc_module) || module->entry_bytes != sizeof(pc_entry) ||
      module->tensor_bytes != sizeof(pc_tensor) || module->host_bytes != sizeof(pc_host) ||
      module->context_bytes != sizeof(pc_context))
    die(path, "it is of another ABI");
  return module;
}

enum { MANY = 512 };

/* Runs the next step of the program; whether it did what it should. */
static int step(pc_context *ctx, char **units, pc_object **registers) {
  const pc_module *module = load(units[number()]);
  const pc_entry *entry = module->entries[number()];
  pc_object *slots[MANY], *args[MANY];
  int64_t places[MANY];
  const int64_t n_slots = number();
  for (int64_t i = 0; i < n_slots; i++) slots[i] = &tensor(ctx)->object;
  const int64_t n_args = number();
  for (int64_t i = 0; i < n_args; i++) args[i] = registers[places[i] = number()];
  if (n_slots != entry->n_slots || n_args != entry->n_inputs + entry->n_outputs) die("entry", "it takes something else");
  if (entry->load != NULL && entry->load(ctx) != 0) return 0;
  void *self = host_alloc(ctx, entry->instance_bytes);
  memset(self, 0, entry->instance_bytes);
  if (entry->init(self, ctx, slots) != 0) return 0;
  const int failure = entry->run(self, ctx, args);
  entry->cleanup(self, ctx);
  for (int64_t i = entry->n_inputs; i < n_args; i++) registers[places[i]] = args[i];
  for (int64_t i = 0; i < n_slots; i++) pc_xdecref(slots[i]);
  free(self);
  return failure == 0;
}

int main(int argc, char **argv) {
  if (argc < 2 || (program = fopen(argv[1], "rb")) == NULL) die("usage", "host PROGRAM UNIT.so...");
  pc_context ctx = {&host, {0}};
  pc_object *registers[MANY] = {NULL};
  if (number() > MANY) die("program", "it has too many registers");
  for (int64_t given = number(); given > 0; given--) {
    const int64_t place = number();
    registers[place] = &tensor(&ctx)->object;
  }
  for (int64_t steps = number(); steps > 0; steps--)
    if (!step(&ctx, argv + 2, registers)) return refused(&ctx);
  for (int64_t outputs = number(); outputs > 0; outputs--) put_tensor((const pc_tensor *)registers[number()]);
  return 0;
}
