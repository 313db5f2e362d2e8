/* Tests misuse of the API and the resulting errors, then correct uses that look wrong.
 * ./misuse BUNDLE prints "ok" or the first failed expectation. */
#define _XOPEN_SOURCE 700
#include <precast.h>
#include <precast/context.h>
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(int line, precast_status found, precast_status wanted, const char *words) {
  if (found != wanted) {
    printf("line %d: %s, expected %s: %s\n", line, precast_status_name(found), precast_status_name(wanted), precast_last_error());
    exit(1);
  }
  if (wanted != PRECAST_OK && (precast_last_status() != wanted || strstr(precast_last_error(), words) == NULL)) {
    printf("line %d: `%s`, expected `%s`\n", line, precast_last_error(), words);
    exit(1);
  }
}
#define FAILS(call_, wanted_, words_) expect(__LINE__, call_, wanted_, words_)
#define FINE(call_) expect(__LINE__, call_, PRECAST_OK, "")
#define TRUE(fact_)                                      \
  do {                                                   \
    if (!(fact_)) {                                      \
      printf("line %d: not so: %s\n", __LINE__, #fact_); \
      exit(1);                                           \
    }                                                    \
  } while (0)

static const int64_t three[] = {3};

static precast_array f64s(double *data, const int64_t *shape) {
  precast_array array = {data, shape, NULL, 1, PRECAST_F64, 0};
  return array;
}

static precast_array bools(uint8_t *data, const int64_t *shape) {
  precast_array array = {data, shape, NULL, 1, PRECAST_BOOL, 0};
  return array;
}

static precast_function *find(const precast_bundle *bundle, const char *name) {
  precast_function *function = NULL;
  FINE(precast_bundle_function(bundle, name, &function));
  return function;
}

/* ---- Bundles ------------------------------------------------------------------------------------------------------- */

/* Returns whether a line of this process's memory map contains the text. */
static int is_mapped(const char *name) {
  char line[4096];
  int found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    found |= strstr(line, name) != NULL;
  }
  if (maps != NULL) {
    fclose(maps);
  }
  return found;
}

/* Checks that modules are loaded from the directory for profilers while it is set. */
static void profiling(const char *path) {
  precast_bundle *bundle = NULL;
  precast_function *function = NULL;
  char directory[2048], file[4096];
  snprintf(directory, sizeof directory, "%s.profiled-XXXXXX", path);
  TRUE(mkdtemp(directory) != NULL);
  FINE(precast_set_profiling(directory));
  FAILS(precast_set_profiling("\xff"), PRECAST_ERROR_ARGUMENT, "`directory` is not UTF-8");
  FINE(precast_bundle_open(path, &bundle));
  FINE(precast_bundle_function(bundle, "both", &function));
  snprintf(file, sizeof file, "%s/precast-both-", directory);
  TRUE(is_mapped(file));
  precast_function_free(function);
  precast_bundle_free(bundle);
  FINE(precast_set_profiling(NULL));
  FINE(precast_bundle_open(path, &bundle));
  FINE(precast_bundle_function(bundle, "both", &function));
  TRUE(!is_mapped(file));
  precast_function_free(function);
  precast_bundle_free(bundle);
}

static void bundles(const char *path, const precast_bundle *bundle) {
  precast_bundle *other = NULL;
  precast_function *function = NULL;
  FAILS(precast_bundle_open(NULL, &other), PRECAST_ERROR_ARGUMENT, "`path` is NULL");
  FAILS(precast_bundle_open(path, NULL), PRECAST_ERROR_ARGUMENT, "`bundle` is NULL");
  FAILS(precast_bundle_open("\xff", &other), PRECAST_ERROR_ARGUMENT, "`path` is not UTF-8");
  FAILS(precast_bundle_open("absent.precast", &other), PRECAST_ERROR_BUNDLE, "bundle `absent.precast` not found");
  FAILS(precast_bundle_open("/", &other), PRECAST_ERROR_BUNDLE, "cannot read bundle `/`");
  FAILS(precast_bundle_open_signed(NULL, "keyring", &other), PRECAST_ERROR_ARGUMENT, "`path` is NULL");
  FAILS(precast_bundle_open_signed(path, NULL, &other), PRECAST_ERROR_ARGUMENT, "`keyring` is NULL");
  FAILS(precast_bundle_open_signed(path, "keyring", NULL), PRECAST_ERROR_ARGUMENT, "`bundle` is NULL");
  FAILS(precast_bundle_open_signed(path, "\xff", &other), PRECAST_ERROR_ARGUMENT, "`keyring` is not UTF-8");
  FAILS(precast_bundle_open_signed(path, "", &other), PRECAST_ERROR_BUNDLE, "the keyring name is empty");
  FAILS(precast_bundle_open_signed(path, "absent.keyring", &other), PRECAST_ERROR_BUNDLE, "keyring `absent.keyring` not found");
  FAILS(precast_bundle_from_bytes(NULL, 5, &other), PRECAST_ERROR_ARGUMENT, "`bytes` is NULL");
  FAILS(precast_bundle_from_bytes("bytes", SIZE_MAX, &other), PRECAST_ERROR_ARGUMENT, "exceeds the address space");
  FAILS(precast_bundle_from_bytes(NULL, 0, &other), PRECAST_ERROR_BUNDLE, "is not a bundle");
  FAILS(precast_bundle_from_bytes("bytes", 5, &other), PRECAST_ERROR_BUNDLE, "the in-memory bundle is not a bundle");
  FAILS(precast_bundle_function(NULL, "both", &function), PRECAST_ERROR_ARGUMENT, "`bundle` is NULL");
  FAILS(precast_bundle_function(bundle, NULL, &function), PRECAST_ERROR_ARGUMENT, "`name` is NULL");
  FAILS(precast_bundle_function(bundle, "both", NULL), PRECAST_ERROR_ARGUMENT, "`function` is NULL");
  FAILS(precast_bundle_function(bundle, "bot", &function), PRECAST_ERROR_ENTRY, "available: both, gauss, power, rows, same");
  FAILS(precast_bundle_function(bundle, "", &function), PRECAST_ERROR_ENTRY, "has no entry ``");
  TRUE(other == NULL && function == NULL);
  TRUE(precast_bundle_entry_count(bundle) == 5 && precast_bundle_entry_count(NULL) == 0);
  TRUE(strcmp(precast_bundle_entry_name(bundle, 3), "rows") == 0);
  TRUE(precast_bundle_entry_name(bundle, 5) == NULL && precast_bundle_entry_name(NULL, 0) == NULL);
  precast_bundle_free(NULL);
  precast_function_free(NULL);
}

/* Opens a damaged bundle and looks up every function; returns the number of functions found. */
static int survivors(const unsigned char *bytes, size_t size) {
  static const char *const names[] = {"both", "rows", "gauss", "power"};
  precast_bundle *bundle = NULL;
  int found = 0;
  precast_status status = precast_bundle_from_bytes(bytes, size, &bundle);
  if (status != PRECAST_OK) {
    FAILS(status, PRECAST_ERROR_BUNDLE, "");
    return 0;
  }
  for (size_t i = 0; i < precast_bundle_entry_count(bundle); i++) {
    TRUE(precast_bundle_entry_name(bundle, i) != NULL);
  }
  for (int i = 0; i < 4; i++) {
    precast_function *function = NULL;
    status = precast_bundle_function(bundle, names[i], &function);
    TRUE(status == PRECAST_OK || status == PRECAST_ERROR_ENTRY || status == PRECAST_ERROR_LOAD);
    TRUE((status == PRECAST_OK) == (function != NULL));
    found += status == PRECAST_OK;
    precast_function_free(function);
  }
  precast_bundle_free(bundle);
  return found;
}

static void damage(const char *path) {
  FILE *file = fopen(path, "rb");
  TRUE(file != NULL && fseek(file, 0, SEEK_END) == 0);
  size_t size = (size_t)ftell(file);
  unsigned char *bytes = (unsigned char *)malloc(size);
  rewind(file);
  TRUE(bytes != NULL && fread(bytes, 1, size, file) == size);
  fclose(file);
  TRUE(survivors(bytes, size) == 4);
  int lost = 0;
  for (size_t i = 0; i < 60; i++) {
    size_t at = i < 20 ? i * 7 : size / 60 * i;
    bytes[at] ^= 0x41;
    lost += survivors(bytes, size) < 4;
    bytes[at] ^= 0x41;
    TRUE(survivors(bytes, size / 61 * i) == 0);
  }
  TRUE(lost > 20);
  free(bytes);
}

/* ---- Calls --------------------------------------------------------------------------------------------------------- */

static void ports(const precast_function *both, const precast_function *rows) {
  precast_port port;
  TRUE(precast_function_input_count(both) == 2 && precast_function_output_count(both) == 2);
  TRUE(precast_function_input_count(NULL) == 0 && precast_function_output_count(NULL) == 0);
  FINE(precast_function_output(both, 1, &port));
  TRUE(strcmp(port.name, "less") == 0 && port.dtype == PRECAST_BOOL && port.ndim == 1 && port.shape[0] == -1);
  FINE(precast_function_input(rows, 0, &port));
  TRUE(strcmp(port.type, "f32[?,3]") == 0 && port.dtype == PRECAST_F32 && port.ndim == 2);
  TRUE(port.shape[0] == -1 && port.shape[1] == 3);
  FAILS(precast_function_input(both, 2, &port), PRECAST_ERROR_ARGUMENT, "invalid input 2: the function has 2");
  FAILS(precast_function_output(both, SIZE_MAX, &port), PRECAST_ERROR_ARGUMENT, "invalid output");
  FAILS(precast_function_input(NULL, 0, &port), PRECAST_ERROR_ARGUMENT, "`function` is NULL");
  FAILS(precast_function_output(both, 0, NULL), PRECAST_ERROR_ARGUMENT, "`port` is NULL");
}

static void arguments(const precast_function *both, const precast_function *rows) {
  double x[4] = {1, 2, 3, 4}, y[4] = {3, 2, 1, 0}, sum[4];
  uint8_t less[4];
  precast_array in[3] = {f64s(x, three), f64s(y, three), f64s(y, three)};
  precast_array out[2] = {f64s(sum, three), bools(less, three)};
  FINE(precast_call(both, in, 2, out, 2));
  TRUE(sum[0] == 4 && sum[2] == 4 && less[0] == 1 && less[2] == 0);

  FAILS(precast_call(NULL, in, 2, out, 2), PRECAST_ERROR_ARGUMENT, "`function` is NULL");
  FAILS(precast_call(both, NULL, 2, out, 2), PRECAST_ERROR_ARGUMENT, "`inputs` is NULL");
  FAILS(precast_call(both, in, 2, NULL, 2), PRECAST_ERROR_ARGUMENT, "`outputs` is NULL");
  FAILS(precast_call(both, in, SIZE_MAX, out, 2), PRECAST_ERROR_ARGUMENT, "exceeds the address space");
  FAILS(precast_call(both, NULL, 0, out, 2), PRECAST_ERROR_MISMATCH, "expected 2 input(s), found 0");
  FAILS(precast_call(both, in, 3, out, 2), PRECAST_ERROR_MISMATCH, "expected 2 input(s), found 3");
  FAILS(precast_call(both, in, 2, out, 1), PRECAST_ERROR_MISMATCH, "expected 2 output array(s)");
  FAILS(precast_call(both, in, 2, NULL, 0), PRECAST_ERROR_MISMATCH, "expected 2 output array(s)");

#define INPUT(field_, value_, status_, words_)                \
  do {                                                        \
    in[1].field_ = value_;                                    \
    FAILS(precast_call(both, in, 2, out, 2), status_, words_); \
    in[1] = f64s(y, three);                                   \
  } while (0)
#define OUTPUT(field_, value_, status_, words_)               \
  do {                                                        \
    out[0].field_ = value_;                                   \
    FAILS(precast_call(both, in, 2, out, 2), status_, words_); \
    out[0] = f64s(sum, three);                                \
  } while (0)
  static const int64_t negative[] = {-1}, huge[] = {INT64_MAX}, far[] = {INT64_MAX / 4}, none[] = {0}, four[] = {4}, still[] = {0};
  INPUT(data, NULL, PRECAST_ERROR_ARRAY, "input `y`: null data pointer for an array of shape [3]");
  INPUT(data, (char *)y + 1, PRECAST_ERROR_ARRAY, "hint: pass a copy");
  INPUT(dtype, 9999, PRECAST_ERROR_ARRAY, "input `y`: invalid precast_dtype 9999");
  INPUT(dtype, PRECAST_I64, PRECAST_ERROR_MISMATCH, "input `y` is `i64[3]`, expected `f64[?]`");
  INPUT(ndim, 0, PRECAST_ERROR_MISMATCH, "input `y` is `f64[]`");
  INPUT(ndim, -1, PRECAST_ERROR_ARRAY, "input `y`: found -1 dimensions");
  INPUT(ndim, PRECAST_MAX_NDIM + 1, PRECAST_ERROR_ARRAY, "input `y`: found 33 dimensions, expected 0 to 32");
  INPUT(shape, NULL, PRECAST_ERROR_ARRAY, "input `y`: `shape` is NULL");
  INPUT(shape, negative, PRECAST_ERROR_ARRAY, "input `y`: axis 0 has -1 elements");
  INPUT(shape, huge, PRECAST_ERROR_ARRAY, "exceeds the address space");
  INPUT(shape, four, PRECAST_ERROR_OP, "");
  INPUT(strides, huge, PRECAST_ERROR_ARRAY, "exceeds the address space");
  INPUT(strides, far, PRECAST_ERROR_ARRAY, "exceeds the address space");
  OUTPUT(flags, PRECAST_READ_ONLY, PRECAST_ERROR_ARRAY, "output `sum`: cannot write a result to a read-only array");
  OUTPUT(strides, still, PRECAST_ERROR_ARRAY, "output `sum`");
  OUTPUT(data, (char *)sum + 4, PRECAST_ERROR_ARRAY, "output `sum`");
  OUTPUT(data, NULL, PRECAST_ERROR_ARRAY, "output `sum`");
  OUTPUT(dtype, PRECAST_F32, PRECAST_ERROR_MISMATCH, "output `sum`");
  OUTPUT(ndim, 0, PRECAST_ERROR_MISMATCH, "output `sum`");
  OUTPUT(shape, four, PRECAST_ERROR_MISMATCH, "output `sum`");

  /* Extents that are fixed by the type. */
  float matrix[8] = {0};
  int64_t wrong[] = {2, 4};
  precast_array table = {matrix, wrong, NULL, 2, PRECAST_F32, 0};
  FAILS(precast_call(rows, &table, 1, &table, 1), PRECAST_ERROR_MISMATCH, "input `x` is `f32[2,4]`, expected `f32[?,3]`");

  /* Correct uses: read-only inputs, empty arrays, strides of 0 or less, results that overlap inputs, NULL strides. */
  in[0].flags = PRECAST_READ_ONLY;
  in[0].strides = still;
  FINE(precast_call(both, in, 2, out, 2));
  TRUE(sum[0] == 4 && sum[1] == 3 && sum[2] == 2);
  static const int64_t back[] = {-1};
  in[0] = f64s(x + 2, three);
  in[0].strides = back;
  FINE(precast_call(both, in, 2, out, 2));
  TRUE(sum[0] == 6 && sum[1] == 4 && sum[2] == 2);
  in[0] = in[1] = f64s(NULL, none);
  precast_array empty[2] = {f64s(NULL, none), bools(NULL, none)};
  FINE(precast_call(both, in, 2, empty, 2));
  in[0] = f64s(x, three);
  in[1] = f64s(y, three);
  out[0] = f64s(x + 1, three); /* overlaps its input, shifted by one element */
  FINE(precast_call(both, in, 2, out, 2));
  TRUE(x[0] == 1 && x[1] == 4 && x[2] == 4 && x[3] == 4);
}

/* ---- Extents of one name ------------------------------------------------------------------------------------------- */

static void names(const precast_bundle *bundle) {
  static const int64_t one[] = {1};
  precast_function *same = find(bundle, "same");
  precast_port port;
  FINE(precast_function_input(same, 1, &port));
  TRUE(!strcmp(port.type, "f64[n]") && port.ndim == 1 && port.shape[0] == -1);
  double x[] = {1, 2, 3}, sum[3];
  precast_array in[] = {f64s(x, three), f64s(x, three)}, out = f64s(sum, three);
  struct DLManagedTensorVersioned *made = NULL;
  FINE(precast_call(same, in, 2, &out, 1));
  TRUE(sum[2] == 6);
  in[1].shape = one;
  FAILS(precast_call(same, in, 2, &out, 1), PRECAST_ERROR_MISMATCH, "input `y` has extent 1 on axis 0, but `n` is 3 (axis 0 of input `x`)");
  FAILS(precast_call_new(same, in, 2, &made, 1), PRECAST_ERROR_MISMATCH, "input `y` has extent 1 on axis 0");
  precast_function_free(same);
}

/* ---- New results, DLPack ------------------------------------------------------------------------------------------- */

static void results(const precast_bundle *bundle) {
  precast_function *both = find(bundle, "both");
  double x[] = {1, 2, 3};
  precast_array in[] = {f64s(x, three), f64s(x, three)};
  struct DLManagedTensorVersioned *out[2] = {NULL, NULL};
  FAILS(precast_call_new(NULL, in, 2, out, 2), PRECAST_ERROR_ARGUMENT, "`function` is NULL");
  FAILS(precast_call_new(both, in, 2, NULL, 2), PRECAST_ERROR_ARGUMENT, "`outputs` is NULL");
  FAILS(precast_call_new(both, in, 2, out, 1), PRECAST_ERROR_MISMATCH, "expected 2 output array(s), found 1");
  FAILS(precast_call_new(both, in, 1, out, 2), PRECAST_ERROR_MISMATCH, "expected 2 input(s)");
  TRUE(out[0] == NULL && out[1] == NULL);
  FINE(precast_call_new(both, in, 2, out, 2));
  precast_function_free(both); /* results outlive the function */
  DLTensor *sum = &out[0]->dl_tensor, *less = &out[1]->dl_tensor;
  TRUE(out[0]->version.major == 1 && out[0]->flags == 0 && sum->device.device_type == kDLCPU && sum->byte_offset == 0);
  TRUE(sum->ndim == 1 && sum->shape[0] == 3 && sum->strides[0] == 1 && ((double *)sum->data)[2] == 6);
  TRUE(sum->dtype.code == kDLFloat && sum->dtype.bits == 64 && sum->dtype.lanes == 1);
  TRUE(less->dtype.code == kDLBool && less->dtype.bits == 8 && ((uint8_t *)less->data)[0] == 0);

  /* Pass a result to the next call, without a copy. */
  both = find(bundle, "both");
  precast_array from;
  FINE(precast_array_from_dlpack(sum, out[0]->flags, &from));
  TRUE(from.data == sum->data && from.dtype == PRECAST_F64 && from.ndim == 1 && from.flags == 0);
  in[0] = from;
  struct DLManagedTensorVersioned *next[2];
  FINE(precast_call_new(both, in, 2, next, 2));
  out[0]->deleter(out[0]);
  TRUE(((double *)next[0]->dl_tensor.data)[2] == 9);

  DLTensor tensor = next[0]->dl_tensor;
  int64_t two = 2;
  tensor.byte_offset = 8;
  tensor.shape = &two;
  FINE(precast_array_from_dlpack(&tensor, PRECAST_READ_ONLY, &from));
  TRUE(*(double *)from.data == 6 && from.flags == PRECAST_READ_ONLY);
  FAILS(precast_array_from_dlpack(NULL, 0, &from), PRECAST_ERROR_ARGUMENT, "`tensor` is NULL");
  FAILS(precast_array_from_dlpack(&tensor, 0, NULL), PRECAST_ERROR_ARGUMENT, "`array` is NULL");
  tensor.dtype.lanes = 4;
  FAILS(precast_array_from_dlpack(&tensor, 0, &from), PRECAST_ERROR_ARRAY, "64 bits, 4 lane(s)");
  tensor.dtype.lanes = 1;
  tensor.dtype.bits = 4;
  FAILS(precast_array_from_dlpack(&tensor, 0, &from), PRECAST_ERROR_ARRAY, "unsupported DLPack elements");
  int32_t cuda = 2;
  memcpy(&tensor.device.device_type, &cuda, sizeof cuda);
  FAILS(precast_array_from_dlpack(&tensor, 0, &from), PRECAST_ERROR_ARRAY, "hint: copy it to the CPU");
  precast_function_free(both);
  next[1]->deleter(next[1]);
  next[0]->deleter(next[0]);
  out[1]->deleter(out[1]);

  /* Without elements, data may be NULL. */
  both = find(bundle, "both");
  static const int64_t none[] = {0};
  in[0] = in[1] = f64s(NULL, none);
  FINE(precast_call_new(both, in, 2, out, 2));
  TRUE(out[0]->dl_tensor.shape[0] == 0);
  out[0]->deleter(out[0]);
  out[1]->deleter(out[1]);
  precast_function_free(both);
}

/* ---- Plain C functions --------------------------------------------------------------------------------------------- */

static void natives(const precast_function *both, const precast_function *gauss, const precast_function *power) {
  precast_native native = NULL;
  TRUE(strcmp(precast_function_signature(gauss), "d)d~") == 0);
  TRUE(precast_function_signature(both) == NULL && precast_function_signature(NULL) == NULL);
  FAILS(precast_function_native(gauss, "f)d", &native), PRECAST_ERROR_SIGNATURE, "signature `d)d~`, expected `f)d`");
  FAILS(precast_function_native(gauss, "d)d!c~", &native), PRECAST_ERROR_SIGNATURE, "signature `d)d~`, expected `d)d!c~`");
  FAILS(precast_function_native(gauss, "", &native), PRECAST_ERROR_SIGNATURE, "expected ``");
  FAILS(precast_function_native(gauss, "d)\xff", &native), PRECAST_ERROR_ARGUMENT, "not UTF-8");
  FAILS(precast_function_native(gauss, NULL, &native), PRECAST_ERROR_ARGUMENT, "`signature` is NULL");
  FAILS(precast_function_native(gauss, "d)d", NULL), PRECAST_ERROR_ARGUMENT, "`native` is NULL");
  FAILS(precast_function_native(NULL, "d)d", &native), PRECAST_ERROR_ARGUMENT, "`function` is NULL");
  FAILS(precast_function_native(both, "dd)d", &native), PRECAST_ERROR_SIGNATURE, "hint: call it with arrays");
  FAILS(precast_function_native(power, "qq)q", &native), PRECAST_ERROR_SIGNATURE, "hint: call it with a pc_context");
  TRUE(native == NULL);
  FINE(precast_function_native(gauss, "d)d~", &native));
  TRUE(((double (*)(double))native)(0.0) == 0.5);

  /* A function that may fail reports the error in its context, and can be called again. */
  FINE(precast_function_native(power, "qq)q!c~", &native));
  int64_t (*raise)(int64_t, int64_t, pc_context *) = (int64_t (*)(int64_t, int64_t, pc_context *))native;
  pc_context context = {precast_host(), {PC_ERROR_NONE, 0, ""}};
  TRUE(raise(3, 4, &context) == 81 && !pc_error_is_set(&context));
  raise(3, -1, &context);
  TRUE(pc_error_is_set(&context) && strstr(context.error.message, "negative") != NULL);

  /* A call with arrays returns the same message of the op. */
  int64_t x = 3, y = -1, out;
  precast_array in[] = {{&x, NULL, NULL, 0, PRECAST_I64, 0}, {&y, NULL, NULL, 0, PRECAST_I64, 0}};
  precast_array result = {&out, NULL, NULL, 0, PRECAST_I64, 0};
  FAILS(precast_call(power, in, 2, &result, 1), PRECAST_ERROR_OP, "negative");
}

/* ---- Threads ------------------------------------------------------------------------------------------------------- */

typedef struct job {
  const precast_bundle *bundle;
  const precast_function *both;
  double scale;
  int fine;
} job;

/* Calls and looks up the same functions as the other threads, and causes errors of its own. */
static void *work(void *argument) {
  job *own = (job *)argument;
  char name[64];
  own->fine = precast_last_status() == PRECAST_OK && precast_last_error()[0] == '\0';
  for (int i = 0; i < 300 && own->fine; i++) {
    double x[] = {own->scale * i, 1, 2}, sum[3] = {0};
    uint8_t less[3];
    precast_array in[] = {f64s(x, three), f64s(x, three)};
    precast_array out[] = {f64s(sum, three), bools(less, three)};
    precast_function *found = NULL;
    snprintf(name, sizeof name, "thread %g", own->scale);
    own->fine = precast_call(own->both, in, 2, out, 2) == PRECAST_OK && sum[0] == 2 * own->scale * i &&
                precast_bundle_function(own->bundle, name, &found) == PRECAST_ERROR_ENTRY && found == NULL &&
                strstr(precast_last_error(), name) != NULL &&
                precast_bundle_function(own->bundle, i % 2 ? "gauss" : "both", &found) == PRECAST_OK;
    precast_function_free(found);
  }
  return NULL;
}

static void threads(const precast_bundle *bundle, const precast_function *both) {
  pthread_t running[4];
  job jobs[4];
  for (int i = 0; i < 4; i++) {
    jobs[i] = (job){bundle, both, i + 1.5, 0};
    TRUE(pthread_create(&running[i], NULL, work, &jobs[i]) == 0);
  }
  for (int i = 0; i < 4; i++) {
    TRUE(pthread_join(running[i], NULL) == 0 && jobs[i].fine);
  }
}

/* ---- The environment of floats ------------------------------------------------------------------------------------- */

/* A thread with another rounding mode gets the same numbers, and has the same mode after the call. */
static void rounding(const precast_function *both, const precast_function *gauss) {
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  double x[3] = {0.1, 1e16, -1.0 / 3}, y[3] = {0.2, 1.0, 1e-20}, sum[3], exact[3], values[3];
  uint8_t less[3];
  precast_array in[2] = {f64s(x, three), f64s(y, three)}, out[2] = {f64s(exact, three), bools(less, three)};
  precast_native native = NULL;
  FINE(precast_function_native(gauss, "d)d~", &native));
  double (*const of)(double) = (double (*)(double))native;
  FINE(precast_call(both, in, 2, out, 2));
  for (int i = 0; i < 3; i++) {
    values[i] = of(y[i]);
  }
  out[0] = f64s(sum, three);
  for (int mode = 0; mode < 3; mode++) {
    fesetround(modes[mode]);
    FINE(precast_call(both, in, 2, out, 2));
    TRUE(memcmp(sum, exact, sizeof sum) == 0);
    for (int i = 0; i < 3; i++) {
      TRUE(of(y[i]) == values[i]);
    }
    TRUE(fegetround() == modes[mode]);
  }
  fesetround(FE_TONEAREST);
}

int main(int argc, char **argv) {
  TRUE(argc == 2 && precast_abi_version() == PRECAST_ABI_VERSION && strchr(precast_version(), '.') != NULL);
  TRUE(precast_last_status() == PRECAST_OK && precast_last_error()[0] == '\0');
  TRUE(strcmp(precast_status_name(PRECAST_ERROR_OP), "PRECAST_ERROR_OP") == 0);
  TRUE(strcmp(precast_status_name((precast_status)77), "unknown precast_status") == 0);
  precast_bundle *bundle = NULL;
  FINE(precast_bundle_open(argv[1], &bundle));
  bundles(argv[1], bundle);
  profiling(argv[1]);
  damage(argv[1]);
  precast_function *both = find(bundle, "both"), *rows = find(bundle, "rows"), *again = find(bundle, "both");
  precast_function *gauss = find(bundle, "gauss"), *power = find(bundle, "power");
  ports(both, rows);
  arguments(both, rows);
  names(bundle);
  results(bundle);
  natives(both, gauss, power);
  rounding(both, gauss);
  threads(bundle, both);

  /* Frees the bundle and one of two handles to a function, then calls and frees the other handle. */
  precast_bundle_free(bundle);
  precast_function_free(both);
  arguments(again, rows);
  natives(again, gauss, power);
  precast_function_free(gauss);
  precast_function_free(rows);
  precast_function_free(again);
  precast_function_free(power);
  puts("ok");
  return 0;
}
