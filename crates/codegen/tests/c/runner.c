/* Runs the entries of a unit, one after the other over shared registers, under a host that counts objects and refuses the
 * n-th request. Reads its program from standard input (run.rs writes it):
 *
 *   inputs N, tensors                tensor = typenum ndim extents bytes hex
 *   registers N                      the first are the inputs
 *   outputs N, register numbers
 *   entries N, each: position in the table, slots N, tensors, args N, register numbers
 *
 * First one undisturbed life, whose outputs are printed; then lives in which the n-th request is refused, for every n; then
 * lives in which one input or slot has another dtype. After each failure but one of a slot the same instances must work on,
 * and give the same outputs; how often a call then asks the host for something is printed. Nothing may be left over. */
#include <precast/host.h>
#include <precast/module.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const pc_module precast_module_v1;

enum { MANY = 64 };

typedef struct counted {
  pc_tensor tensor;
  int64_t shape[8], strides[8];
  size_t bytes;
} counted;

typedef struct unit {
  const pc_entry *entry;
  int n_slots, n_args;
  counted *slots[MANY];
  int args[MANY];
  void *self;
} unit;

static long live, requests, refuse_at;
static int n_inputs, n_registers, n_outputs, n_units;
static counted *inputs[MANY];
static int outputs[MANY];
static unit units[MANY];
/* Requests of the last call that could use what the one before left. */
static long steady;
/* Which Apply the last failing task named; the entry where there are several. */
static int failing;

#define CHECK(condition)                                                                       \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      fprintf(stderr, "line %d: %s (refused request %ld)\n", __LINE__, #condition, refuse_at); \
      exit(1);                                                                                 \
    }                                                                                          \
  } while (0)

static size_t item_bytes(int32_t typenum) {
  static const size_t sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 0, 0, 4, 8, 0, 8, 16};
  return typenum < 16 ? sizes[typenum] : 2;
}

static void tensor_dealloc(pc_object *o) {
  free(((pc_tensor *)o)->data);
  free(o);
  live--;
}

static const pc_type tensor_type = {"tensor", tensor_dealloc};

static counted *fresh(int32_t dtype, int32_t ndim, const int64_t *shape) {
  counted *c = calloc(1, sizeof *c);
  c->bytes = item_bytes(dtype);
  for (int i = ndim - 1; i >= 0; i--) {
    c->shape[i] = shape[i];
    c->strides[i] = (int64_t)c->bytes;
    c->bytes *= (size_t)shape[i];
  }
  c->tensor = (pc_tensor){{1, &tensor_type}, malloc(c->bytes + 1), dtype, ndim, c->shape, c->strides, 0, 0, NULL, (int64_t)c->bytes};
  live++;
  return c;
}

static int refused(pc_context *ctx) {
  if (++requests != refuse_at) return 0;
  pc_error_set(ctx, PC_ERROR_MEMORY, "refused");
  return 1;
}

static pc_tensor *tensor_new(pc_context *ctx, int32_t dtype, int32_t ndim, const int64_t *shape) {
  return refused(ctx) ? NULL : &fresh(dtype, ndim, shape)->tensor;
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

static pc_host host;

static counted *read_tensor(void) {
  int typenum, ndim;
  long long shape[8] = {0};
  size_t bytes;
  CHECK(scanf("%d %d", &typenum, &ndim) == 2 && ndim <= 8);
  int64_t extents[8];
  for (int i = 0; i < ndim; i++) {
    CHECK(scanf("%lld", &shape[i]) == 1);
    extents[i] = shape[i];
  }
  counted *c = fresh(typenum, ndim, extents);
  CHECK(scanf("%zu", &bytes) == 1 && bytes == c->bytes);
  for (size_t i = 0; i < bytes; i++) {
    unsigned byte;
    CHECK(scanf("%2x", &byte) == 1);
    c->tensor.data[i] = (char)byte;
  }
  c->tensor.flags = PC_FLAG_READONLY;
  return c;
}

static int read_count(const char *word) {
  char found[32];
  int n;
  CHECK(scanf("%31s %d", found, &n) == 2 && strcmp(found, word) == 0 && n < MANY);
  return n;
}

static void read_program(void) {
  n_inputs = read_count("inputs");
  for (int i = 0; i < n_inputs; i++) inputs[i] = read_tensor();
  n_registers = read_count("registers");
  n_outputs = read_count("outputs");
  for (int i = 0; i < n_outputs; i++) CHECK(scanf("%d", &outputs[i]) == 1);
  n_units = read_count("entries");
  for (int u = 0; u < n_units; u++) {
    int position;
    CHECK(scanf("%d", &position) == 1);
    units[u].entry = precast_module_v1.entries[position];
    units[u].n_slots = read_count("slots");
    for (int i = 0; i < units[u].n_slots; i++) units[u].slots[i] = read_tensor();
    units[u].n_args = read_count("args");
    for (int i = 0; i < units[u].n_args; i++) CHECK(scanf("%d", &units[u].args[i]) == 1);
    CHECK((int)units[u].entry->n_slots == units[u].n_slots);
    CHECK((int)(units[u].entry->n_inputs + units[u].entry->n_outputs) == units[u].n_args);
  }
}

/* Makes the instances; -1, or the position of the one that failed. */
static int make(pc_context *ctx) {
  for (int u = 0; u < n_units; u++) {
    pc_object *slots[MANY];
    for (int i = 0; i < units[u].n_slots; i++) slots[i] = (pc_object *)units[u].slots[i];
    units[u].self = calloc(1, units[u].entry->instance_bytes);
    int failure = units[u].entry->init(units[u].self, ctx, slots);
    CHECK((failure != 0) == (ctx->error.kind != PC_ERROR_NONE));
    if (failure != 0) {
      const pc_task task = units[u].entry->tasks[failure];
      CHECK(failure < (int)units[u].entry->n_tasks && task.kind == PC_TASK_STRUCT && task.apply >= 0);
      failing = n_units > 1 ? u : task.apply;
      free(units[u].self);
      units[u].self = NULL;
      return u;
    }
  }
  return -1;
}

static void drop(pc_context *ctx) {
  for (int u = 0; u < n_units; u++) {
    if (units[u].self != NULL) units[u].entry->cleanup(units[u].self, ctx);
    free(units[u].self);
    units[u].self = NULL;
  }
}

/* One call of all entries; gives the failing task, or none. */
static pc_task call(pc_context *ctx, pc_object **registers) {
  pc_task none = {PC_TASK_NONE, -1, -1};
  *ctx = (pc_context){&host, {0}};
  for (int i = 0; i < n_inputs; i++) registers[i] = (pc_object *)inputs[i];
  for (int u = 0; u < n_units; u++) {
    const unit *it = &units[u];
    pc_object *args[MANY];
    for (int i = 0; i < it->n_args; i++) args[i] = registers[it->args[i]];
    const int failure = it->entry->run(it->self, ctx, args);
    for (int i = (int)it->entry->n_inputs; i < it->n_args; i++) registers[it->args[i]] = args[i];
    CHECK((failure != 0) == (ctx->error.kind != PC_ERROR_NONE));
    if (failure != 0) {
      CHECK(failure < (int)it->entry->n_tasks);
      const pc_task task = it->entry->tasks[failure];
      failing = n_units > 1 ? u : task.apply;
      CHECK(task.kind == PC_TASK_CODE ? task.apply >= 0 && task.variable < 0 : task.variable >= 0 && task.apply < 0);
      return task;
    }
  }
  return none;
}

static void give_back(pc_object **registers) {
  for (int i = n_inputs; i < n_registers; i++) {
    pc_xdecref(registers[i]);
    registers[i] = NULL;
  }
  for (int i = 0; i < n_inputs; i++) CHECK(inputs[i]->tensor.object.refcount == 1);
  for (int u = 0; u < n_units; u++)
    for (int i = 0; i < units[u].n_slots; i++) CHECK(units[u].slots[i]->tensor.object.refcount == 1);
}

static counted *reference[MANY];

static void same_as_reference(pc_object **registers) {
  for (int i = 0; i < n_outputs; i++) {
    const counted *found = (const counted *)registers[outputs[i]];
    CHECK(found->tensor.dtype == reference[i]->tensor.dtype && found->bytes == reference[i]->bytes);
    CHECK(memcmp(found->tensor.data, reference[i]->tensor.data, found->bytes) == 0);
  }
}

/* A life with the n-th request refused; which kind of task failed, or none. */
static int life(long n, long before) {
  pc_context ctx = {&host, {0}};
  pc_object *registers[MANY] = {NULL};
  requests = 0;
  refuse_at = n;
  int kind = PC_TASK_STRUCT;
  if (make(&ctx) < 0) {
    kind = call(&ctx, registers).kind;
    if (kind != PC_TASK_NONE) printf("at %d %s\n", failing, ctx.error.message);
    refuse_at = 0;
    for (int again = 0; again < 2; again++) {
      requests = 0;
      CHECK(call(&ctx, registers).kind == PC_TASK_NONE);
      steady = requests;
      same_as_reference(registers);
    }
  } else {
    printf("at %d %s\n", failing, ctx.error.message);
  }
  drop(&ctx);
  give_back(registers);
  CHECK(live == before);
  return kind;
}

/* A life with one tensor of another dtype; which task failed, or none. */
static pc_task wrong(counted **place, int is_input, long before, pc_context *ctx) {
  *ctx = (pc_context){&host, {0}};
  pc_object *registers[MANY] = {NULL};
  counted *kept = *place;
  refuse_at = 0;
  *place = fresh(kept->tensor.dtype == PC_I8 ? PC_BOOL : PC_I8, kept->tensor.ndim, kept->shape);
  memset((*place)->tensor.data, 0, (*place)->bytes);
  pc_task task = {PC_TASK_STRUCT, -1, -1};
  const int failed = make(ctx);
  if (failed < 0) task = call(ctx, registers);
  pc_error error = ctx->error;
  CHECK((*place)->tensor.object.refcount == 1 || !is_input);
  if (is_input) {
    pc_xdecref((pc_object *)*place);
    *place = kept;
    if (failed < 0) {
      CHECK(call(ctx, registers).kind == PC_TASK_NONE);
      same_as_reference(registers);
    }
  }
  drop(ctx);
  ctx->error = error;
  give_back(registers);
  if (!is_input) pc_xdecref((pc_object *)*place);
  *place = kept;
  CHECK(live == before);
  return task;
}

int main(void) {
  host = (pc_host){.abi_version = PC_ABI_VERSION, .struct_bytes = sizeof(pc_host), .tensor_new = tensor_new,
                   .tensor_view = tensor_view, .alloc = host_alloc, .release = host_release, .format = vsnprintf,
                   .error_format = pc_host_error_format, .parallel = pc_host_parallel, .gemms = pc_host_gemms, .frame = pc_host_frame,
                   .cancelled = pc_host_cancelled};
  read_program();
  pc_context ctx = {&host, {0}};
  pc_object *registers[MANY] = {NULL};
  const long before = live;
  for (int u = 0; u < n_units; u++)
    if (units[u].entry->load != NULL) CHECK(units[u].entry->load(&ctx) == 0);
  int failed = make(&ctx);
  if (failed < 0 && call(&ctx, registers).kind == PC_TASK_NONE) {
    for (int i = 0; i < n_outputs; i++) {
      reference[i] = (counted *)registers[outputs[i]];
      printf("output %d %zu ", reference[i]->tensor.dtype, reference[i]->bytes);
      for (size_t b = 0; b < reference[i]->bytes; b++) printf("%02x", (unsigned char)reference[i]->tensor.data[b]);
      printf("\n");
      registers[outputs[i]] = NULL;
    }
  } else {
    printf("error %s\n", ctx.error.message);
  }
  drop(&ctx);
  give_back(registers);
  if (ctx.error.kind == PC_ERROR_NONE) {
    long kinds[5] = {0};
    for (long n = 1;; n++) {
      int kind = life(n, before + n_outputs);
      if (kind == PC_TASK_NONE) break;
      kinds[kind]++;
    }
    printf("steady %ld\n", steady);
    printf("refused extract %ld code %ld sync %ld struct %ld\n", kinds[1], kinds[2], kinds[3], kinds[4]);
    memset(kinds, 0, sizeof kinds);
    pc_task tasks[MANY];
    static pc_context reports[MANY];
    for (int i = 0; i < n_inputs; i++) {
      tasks[i] = wrong(&inputs[i], 1, before + n_outputs, &reports[i]);
      kinds[tasks[i].kind]++;
    }
    for (int u = 0; u < n_units; u++)
      for (int i = 0; i < units[u].n_slots; i++) kinds[wrong(&units[u].slots[i], 0, before + n_outputs, &ctx).kind]++;
    printf("wrong accepted %ld extract %ld code %ld sync %ld struct %ld\n", kinds[0], kinds[1], kinds[2], kinds[3], kinds[4]);
    for (int i = 0; i < n_inputs; i++)
      printf("input %d: task %d of V%d: %s\n", i, tasks[i].kind, tasks[i].variable, reports[i].error.message);
    for (int i = 0; i < n_outputs; i++) pc_xdecref((pc_object *)reference[i]);
  }
  for (int i = 0; i < n_inputs; i++) pc_xdecref((pc_object *)inputs[i]);
  for (int u = 0; u < n_units; u++)
    for (int i = 0; i < units[u].n_slots; i++) pc_xdecref((pc_object *)units[u].slots[i]);
  CHECK(live == 0);
  return 0;
}
