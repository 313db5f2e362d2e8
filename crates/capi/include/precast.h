/* precast.h: calls numeric functions that were compiled ahead of time, from C or C++.
 *
 *   bundle ── entry by name ──▶ function ── arrays in ──▶ arrays out
 *                                        └─ signature ──▶ plain C function
 *
 * Status. A function that can fail returns a precast_status. It writes its result through its last argument, only on success.
 *   precast_last_error() describes the last failure on this thread.
 * Pointers. They must not be NULL unless their comment allows it; NULL is then an error with PRECAST_ERROR_ARGUMENT, not a crash.
 *   The comment of each function names the function that frees its result. Handles may be freed in any order: a function outlives
 *   its bundle, and results outlive both.
 * Threads. Any number of threads may use a bundle or a function at once. Do not free it while another thread uses it.
 * ABI. Within a PRECAST_ABI_VERSION, structs and numbers never change; functions and statuses may be added.
 */
#ifndef PRECAST_H
#define PRECAST_H

#include <stddef.h>
#include <stdint.h>

/* DLPack's structs: from its own header if the compiler finds it or if it was included before, otherwise the same definitions. */
#if !defined(DLPACK_DLPACK_H_) && defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The ABI version of this header; the shared library's name ends in it. */
#define PRECAST_ABI_VERSION 1

/* Returns the ABI version of the library. Compare it with PRECAST_ABI_VERSION. */
uint32_t precast_abi_version(void);

/* Returns the release of the library, "0.1.0"; a static string. */
const char *precast_version(void);

/* ---- Errors -------------------------------------------------------------------------------------------------------- */

typedef enum precast_status {
  PRECAST_OK = 0,
  PRECAST_ERROR_ARGUMENT = 1,  /* NULL, an index out of range, text that is not UTF-8 */
  PRECAST_ERROR_BUNDLE = 2,    /* a bundle cannot be read, is damaged or not signed, or other users can change it */
  PRECAST_ERROR_ENTRY = 3,     /* the bundle has no entry of this name */
  PRECAST_ERROR_LOAD = 4,      /* the entry's code is damaged, or was compiled for another host */
  PRECAST_ERROR_ARRAY = 5,     /* an unsupported array: misaligned, read-only, on another device */
  PRECAST_ERROR_MISMATCH = 6,  /* arrays that do not match the function: number, dtype, rank, extents */
  PRECAST_ERROR_OP = 7,        /* an op rejected its values, e.g. shapes that do not broadcast */
  PRECAST_ERROR_SIGNATURE = 8, /* the function has no plain C function of this signature */
  PRECAST_ERROR_INTERNAL = 9   /* a bug in precast: please report it */
} precast_status;

/* Returns the message of the last failure on this thread, with `hint:` lines if a remedy is known; "" if nothing has failed yet.
 * Valid until the next failure on this thread. */
const char *precast_last_error(void);

/* Returns the status of the last failure on this thread; PRECAST_OK if nothing has failed yet. */
precast_status precast_last_status(void);

/* Returns the name of a status, "PRECAST_ERROR_OP"; a static string. */
const char *precast_status_name(precast_status status);

/* ---- Bundles ------------------------------------------------------------------------------------------------------- */

/* An open bundle. */
typedef struct precast_bundle precast_bundle;

/* Opens a bundle file, which is read into memory and closed. Free the bundle with precast_bundle_free. If the environment variable
 * PRECAST_KEYRING names a keyring, this does the same as precast_bundle_open_signed with that keyring; an empty value is an
 * error. */
precast_status precast_bundle_open(const char *path, precast_bundle **bundle);

/* Opens a bundle file that enough keys of the keyring file `keyring` have signed, in "<path>.minisig". PRECAST_KEYRING does not
 * apply. Free the bundle with precast_bundle_free. */
precast_status precast_bundle_open_signed(const char *path, const char *keyring, precast_bundle **bundle);

/* Opens a copy of a bundle in memory, of `size` bytes, without checking signatures: PRECAST_KEYRING does not apply. Free the bundle
 * with precast_bundle_free. */
precast_status precast_bundle_from_bytes(const void *bytes, size_t size, precast_bundle **bundle);

/* Frees a bundle; `bundle` may be NULL. */
void precast_bundle_free(precast_bundle *bundle);

/* Loads modules from files in `directory` from now on, for all bundles of this process, so that profilers show the names of graphs
 * and ops: crates/cli/DEBUGGING.md. A missing directory is created; the files are kept. If `directory` is NULL, modules are loaded
 * from memory. Without a call, the environment variable PRECAST_PROFILING names the directory. Modules that are already loaded do
 * not change. */
precast_status precast_set_profiling(const char *directory);

/* Returns the number of entries; 0 if `bundle` is NULL. */
size_t precast_bundle_entry_count(const precast_bundle *bundle);

/* Returns the name of an entry, in sorted order; valid as long as the bundle. NULL if `bundle` is NULL or `index` is out of
 * range. */
const char *precast_bundle_entry_name(const precast_bundle *bundle, size_t index);

/* ---- Functions ----------------------------------------------------------------------------------------------------- */

/* A verified and loaded entry. */
typedef struct precast_function precast_function;

/* Returns the function of an entry. The first call for a name verifies and loads it; later calls only look it up. Free the function
 * with precast_function_free. */
precast_status precast_bundle_function(const precast_bundle *bundle, const char *name, precast_function **function);

/* Frees a function; `function` may be NULL. */
void precast_function_free(precast_function *function);

/* Element types; the numbers are NumPy's type numbers. */
typedef enum precast_dtype {
  PRECAST_BOOL = 0, /* one byte, 0 or 1 */
  PRECAST_I8 = 1,
  PRECAST_U8 = 2,
  PRECAST_I16 = 3,
  PRECAST_U16 = 4,
  PRECAST_I32 = 5,
  PRECAST_U32 = 6,
  PRECAST_I64 = 7,
  PRECAST_U64 = 8,
  PRECAST_F32 = 11,
  PRECAST_F64 = 12,
  PRECAST_C64 = 14,  /* two f32, real part first */
  PRECAST_C128 = 15, /* two f64, real part first */
  PRECAST_F16 = 23,  /* IEEE 754 binary16 */
  PRECAST_BF16 = 256 /* the upper half of a binary32 */
} precast_dtype;

/* An input or output of a function; its pointers are valid as long as the function. */
typedef struct precast_port {
  const char *name;
  const char *type;     /* in text form: "f64[?,3]", or "f64[n,3]" with the name of an extent; "f64" is a C scalar, called with an array of rank 0 */
  const int64_t *shape; /* `ndim` extents, in elements; -1 if the extent may vary */
  int32_t ndim;
  int32_t dtype; /* precast_dtype */
} precast_port;

/* Return the number of inputs and outputs; 0 if `function` is NULL. */
size_t precast_function_input_count(const precast_function *function);
size_t precast_function_output_count(const precast_function *function);

/* Describe an input or output. */
precast_status precast_function_input(const precast_function *function, size_t index, precast_port *port);
precast_status precast_function_output(const precast_function *function, size_t index, precast_port *port);

/* ---- Calls --------------------------------------------------------------------------------------------------------- */

/* The maximum number of dimensions of an array. */
#define PRECAST_MAX_NDIM 32

/* Bits of precast_array.flags. */
#define PRECAST_READ_ONLY UINT64_C(1) /* the array must not be written to; DLPack's flag has the same bit */

/* A description of an array of the caller. */
typedef struct precast_array {
  void *data;             /* the first element, aligned for its dtype; may be NULL if there are no elements */
  const int64_t *shape;   /* `ndim` extents, in elements; may be NULL if `ndim` is 0 */
  const int64_t *strides; /* `ndim` steps, in ELEMENTS, may be 0 or negative; NULL for contiguous C order */
  int32_t ndim;           /* 0 to PRECAST_MAX_NDIM */
  int32_t dtype;          /* precast_dtype */
  uint64_t flags;         /* PRECAST_READ_ONLY or 0; other bits are ignored */
} precast_array;

/* Calls a function and writes its results to `outputs`, which must have the shapes of the results. An output may overlap inputs and
 * other outputs: all results are then computed before they are written. `inputs` and `outputs` may be NULL if their counts are 0.
 * After an error the outputs may be partly written. */
precast_status precast_call(const precast_function *function, const precast_array *inputs, size_t input_count,
                            const precast_array *outputs, size_t output_count);

#ifndef DLPACK_DLPACK_H_
typedef enum { kDLCPU = 1 } DLDeviceType;

typedef enum {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6
} DLDataTypeCode;

typedef struct {
  uint32_t major;
  uint32_t minor;
} DLPackVersion;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;

typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} DLTensor;

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
};
#endif

struct DLManagedTensorVersioned; /* since DLPack 1.0 */

/* Calls a function and creates a new array for each of its outputs, in `outputs`. Free each array with its own `deleter`, at any
 * time and on any thread. After an error `outputs` is unchanged. `inputs` and `outputs` may be NULL if their counts are 0. */
precast_status precast_call_new(const precast_function *function, const precast_array *inputs, size_t input_count,
                                struct DLManagedTensorVersioned **outputs, size_t output_count);

/* Describes a DLPack tensor in CPU memory, without a copy; `array` uses the tensor's shape and strides. Pass the `flags` of the
 * DLManagedTensorVersioned that contains the tensor, or 0. */
precast_status precast_array_from_dlpack(const DLTensor *tensor, uint64_t flags, precast_array *array);

/* ---- Plain C functions --------------------------------------------------------------------------------------------- */

/* A C function of any type: cast it to the type of its signature. */
typedef void (*precast_native)(void);

/* Returns the CEP 1000 signature of the plain C function that computes a graph of C scalars: "dd)d~" for
 * double (*)(double, double). Valid as long as the function; NULL if the graph has none, or if `function` is NULL. */
const char *precast_function_signature(const precast_function *function);

/* Returns the plain C function, if it has this signature. `signature` may omit the `~`, which means that no GIL is needed. The C
 * function is valid as long as `function`, has no state, and may be called by any thread. If the signature has "!c", it takes a
 * pc_context after its arguments: precast/context.h. */
precast_status precast_function_native(const precast_function *function, const char *signature, precast_native *native);

/* Returns the services of this library, for the `host` of a pc_context; a static object. */
const struct pc_host *precast_host(void);

#ifdef __cplusplus
}
#endif
#endif
