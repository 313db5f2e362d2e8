/* precast.h: numeric functions that were compiled ahead of time, called from C or C++.
 *
 *   bundle ── entry by name ──▶ function ── arrays in ──▶ arrays out
 *                                        └─ signature ──▶ plain C function
 *
 * Statuses. What can fail returns a precast_status and writes its result through the last argument, only where it succeeds.
 *   precast_last_error() says in words what went wrong, on this thread.
 * Pointers are not NULL unless their comment says that they may be; NULL is then an error with PRECAST_ERROR_ARGUMENT, not a
 *   crash. What this library allocates is freed by the function that is named beside it, in any order: a function outlives its
 *   bundle, and results outlive both.
 * Threads. A bundle and a function may be used by any number of threads at once; only freeing them may not happen meanwhile.
 * ABI. Structs and numbers here never change within a PRECAST_ABI_VERSION; functions and statuses are added.
 */
#ifndef PRECAST_H
#define PRECAST_H

#include <stddef.h>
#include <stdint.h>

/* DLPack's structs: those of its own header where that is found, or was included before, else the same here. */
#if !defined(DLPACK_DLPACK_H_) && defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version that this header describes; the shared library's name ends in it. */
#define PRECAST_ABI_VERSION 1

/* The version that the library has: compare it with PRECAST_ABI_VERSION. */
uint32_t precast_abi_version(void);

/* The release of the library, "0.1.0"; lives for ever. */
const char *precast_version(void);

/* ---- Errors -------------------------------------------------------------------------------------------------------- */

typedef enum precast_status {
  PRECAST_OK = 0,
  PRECAST_ERROR_ARGUMENT = 1,  /* NULL, an index out of range, text that is not UTF-8 */
  PRECAST_ERROR_BUNDLE = 2,    /* a bundle cannot be read, is damaged or not signed, or others can change it */
  PRECAST_ERROR_ENTRY = 3,     /* the bundle has no entry of this name */
  PRECAST_ERROR_LOAD = 4,      /* the entry's code is damaged, or made for another host */
  PRECAST_ERROR_ARRAY = 5,     /* what is described is no array: misaligned, read-only, another device */
  PRECAST_ERROR_MISMATCH = 6,  /* the function takes or gives other arrays: number, dtype, rank, extents */
  PRECAST_ERROR_OP = 7,        /* an op refused its values, as shapes that do not broadcast */
  PRECAST_ERROR_SIGNATURE = 8, /* there is no plain C function of this signature */
  PRECAST_ERROR_INTERNAL = 9   /* a defect of precast: please report it */
} precast_status;

/* The last failure of this thread in words, with `hint:` lines where there is a remedy; "" if nothing failed yet. Lives until
 * the next failure on this thread. */
const char *precast_last_error(void);

/* Its status; PRECAST_OK if nothing failed yet. */
precast_status precast_last_status(void);

/* The name of a status, "PRECAST_ERROR_OP"; lives for ever. */
const char *precast_status_name(precast_status status);

/* ---- Bundles ------------------------------------------------------------------------------------------------------- */

/* An open bundle. */
typedef struct precast_bundle precast_bundle;

/* Opens a bundle file, which is read into memory and closed. Free it with precast_bundle_free. If the environment variable
 * PRECAST_KEYRING names a keyring, this does the same as precast_bundle_open_signed with that keyring; an empty value is an
 * error. */
precast_status precast_bundle_open(const char *path, precast_bundle **bundle);

/* Opens a bundle file that enough keys of the keyring file `keyring` have signed, in "<path>.minisig"; PRECAST_KEYRING does not
 * apply. Free it with precast_bundle_free. */
precast_status precast_bundle_open_signed(const char *path, const char *keyring, precast_bundle **bundle);

/* Opens a copy of the `size` bytes of a bundle in memory, without a check of signatures: PRECAST_KEYRING does not apply. Free it with precast_bundle_free. */
precast_status precast_bundle_from_bytes(const void *bytes, size_t size, precast_bundle **bundle);

/* `bundle` may be NULL. */
void precast_bundle_free(precast_bundle *bundle);

/* Loads modules from files in `directory` from now on, for all bundles of this process, so that profilers name graphs and ops:
 * crates/cli/DEBUGGING.md. The directory is created where it is missing; the files stay. NULL loads modules from memory. Without a call
 * the environment variable PRECAST_PROFILING names the directory. Modules that were loaded before stay as they are. */
precast_status precast_set_profiling(const char *directory);

/* How many entries it has; 0 if `bundle` is NULL. */
size_t precast_bundle_entry_count(const precast_bundle *bundle);

/* The name of an entry, in sorted order; lives as long as the bundle. NULL if `bundle` is, or there are fewer entries. */
const char *precast_bundle_entry_name(const precast_bundle *bundle, size_t index);

/* ---- Functions ----------------------------------------------------------------------------------------------------- */

/* An entry that was verified and loaded. */
typedef struct precast_function precast_function;

/* The function of an entry: verified and loaded the first time, found by its name after that. Free it with
 * precast_function_free. */
precast_status precast_bundle_function(const precast_bundle *bundle, const char *name, precast_function **function);

/* `function` may be NULL. */
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

/* An input or output of a function; what it points to lives as long as the function. */
typedef struct precast_port {
  const char *name;
  const char *type;     /* in words: "f64[?,3]"; "f64" is a C scalar, called with an array of rank 0 */
  const int64_t *shape; /* `ndim` extents, -1 for those that any array may have */
  int32_t ndim;
  int32_t dtype; /* precast_dtype */
} precast_port;

/* 0 if `function` is NULL. */
size_t precast_function_input_count(const precast_function *function);
size_t precast_function_output_count(const precast_function *function);

precast_status precast_function_input(const precast_function *function, size_t index, precast_port *port);
precast_status precast_function_output(const precast_function *function, size_t index, precast_port *port);

/* ---- Calls --------------------------------------------------------------------------------------------------------- */

/* Most dimensions that an array may have. */
#define PRECAST_MAX_NDIM 32

/* Bits of precast_array.flags. */
#define PRECAST_READ_ONLY UINT64_C(1) /* not to be written to; DLPack's flag has the same bit */

/* An array of the caller, described. */
typedef struct precast_array {
  void *data;             /* the first element, aligned for its dtype; may be NULL if there are no elements */
  const int64_t *shape;   /* `ndim` extents, in elements; may be NULL if `ndim` is 0 */
  const int64_t *strides; /* `ndim` steps, in ELEMENTS, may be 0 or negative; NULL for C order without gaps */
  int32_t ndim;           /* 0 to PRECAST_MAX_NDIM */
  int32_t dtype;          /* precast_dtype */
  uint64_t flags;         /* PRECAST_READ_ONLY or 0; other bits are passed over */
} precast_array;

/* Calls a function; its results are written to `outputs`, which have the shapes of the results. An output may overlap inputs
 * and other outputs: everything is computed before it is written then. `inputs` and `outputs` may be NULL if their counts are
 * 0. After an error the outputs may be partly written. */
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

struct DLManagedTensorVersioned; /* DLPack has it since 1.0 */

/* Calls a function; `outputs`, as many as it has, become new arrays. Each is freed by its own `deleter`, whenever and on whatever
 * thread. After an error `outputs` is as it was. */
precast_status precast_call_new(const precast_function *function, const precast_array *inputs, size_t input_count,
                                struct DLManagedTensorVersioned **outputs, size_t output_count);

/* Describes a tensor of DLPack in the memory of the CPU, without a copy; `array` uses the tensor's shape and strides. `flags` are
 * those of the DLManagedTensorVersioned that it is part of, else 0. */
precast_status precast_array_from_dlpack(const DLTensor *tensor, uint64_t flags, precast_array *array);

/* ---- Plain C functions --------------------------------------------------------------------------------------------- */

/* A C function of whatever type: cast it to that of its signature. */
typedef void (*precast_native)(void);

/* The CEP 1000 signature of the plain C function that computes a graph of C scalars: "dd)d~" for double (*)(double, double). Lives
 * as long as the function; NULL if there is none, or `function` is NULL. */
const char *precast_function_signature(const precast_function *function);

/* The plain C function, if it has this signature; the `~`, which says that no GIL is needed, may be left out. It lives as long as
 * `function`, has no state, and may be called by any thread. One whose signature has "!c" takes a pc_context behind its arguments:
 * precast/context.h. */
precast_status precast_function_native(const precast_function *function, const char *signature, precast_native *native);

/* The services of this library for the `host` of a pc_context; lives for ever. */
const struct pc_host *precast_host(void);

#ifdef __cplusplus
}
#endif
#endif
