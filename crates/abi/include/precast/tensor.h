/* precast/tensor.h: objects, dtypes and tensors, the data that crosses between host and module.
 *
 * Plain C11 that is also valid C++; no Python, no libc beyond <stdint.h> and <stddef.h>.
 *
 *   pc_object   reference count and type; first member of everything that a py_<name> can point to
 *     pc_tensor   a strided array; strides are in BYTES and may be 0 (broadcast) or negative (reversed)
 *
 * Reference counts are not atomic: an object belongs to one frame (one call on one thread) at a time.
 */
#ifndef PRECAST_TENSOR_H
#define PRECAST_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most dimensions a tensor may have. */
#define PC_MAX_NDIM 32

/* Element types. The numbers are NumPy's type numbers, because op code bakes them in as literals. */
typedef enum pc_dtype {
  PC_BOOL = 0, /* one byte, 0 or 1 */
  PC_I8 = 1,
  PC_U8 = 2,
  PC_I16 = 3,
  PC_U16 = 4,
  PC_I32 = 5,
  PC_U32 = 6,
  PC_I64 = 7,
  PC_U64 = 8,
  PC_F32 = 11,
  PC_F64 = 12,
  PC_C64 = 14,
  PC_C128 = 15,
  PC_F16 = 23,
  PC_BF16 = 256 /* not a NumPy number: the first number of additional types */
} pc_dtype;

typedef uint8_t pc_bool;
typedef int8_t pc_i8;
typedef uint8_t pc_u8;
typedef int16_t pc_i16;
typedef uint16_t pc_u16;
typedef int32_t pc_i32;
typedef uint32_t pc_u32;
typedef int64_t pc_i64;
typedef uint64_t pc_u64;
typedef float pc_f32;
typedef double pc_f64;
/* Stored only: no arithmetic in C, so that none happens unrounded. precast/ops/half.h converts. */
typedef struct pc_f16 { uint16_t bits; } pc_f16;   /* IEEE 754 binary16 */
typedef struct pc_bf16 { uint16_t bits; } pc_bf16; /* the upper half of a binary32 */
/* Complex numbers, laid out as C's and NumPy's; no <complex.h>, whose meaning flags can change. */
typedef struct pc_c64 { pc_f32 re, im; } pc_c64;
typedef struct pc_c128 { pc_f64 re, im; } pc_c128;

typedef struct pc_object pc_object;

/* The type of an object, and its destructor. Static: never freed. */
typedef struct pc_type {
  const char *name;             /* never NULL; for messages */
  void (*dealloc)(pc_object *); /* never NULL; called once, when the count falls to 0 */
} pc_type;

struct pc_object {
  int64_t refcount;    /* number of owners; not atomic */
  const pc_type *type; /* never NULL */
};

/* Bits of pc_tensor.flags. */
#define PC_FLAG_READONLY 1u /* op code must not write through `data` */

/* A strided array. */
typedef struct pc_tensor {
  pc_object object;
  char *data;             /* first element; may be NULL only when the tensor has no elements */
  int32_t dtype;          /* pc_dtype */
  int32_t ndim;           /* 0 ..= PC_MAX_NDIM */
  const int64_t *shape;   /* ndim extents, in elements, each >= 0; owned by the tensor */
  const int64_t *strides; /* ndim steps, in BYTES, may be 0 or negative; owned by the tensor */
  uint32_t flags;         /* PC_FLAG_* */
  uint32_t reserved;      /* 0 */
  pc_object *owner;       /* nullable; keeps `data` alive if this tensor is a view (one reference) */
  int64_t capacity_bytes; /* bytes behind `data` that this tensor owns; 0 for views and borrowed data */
} pc_tensor;

/* Takes one more reference; `o` not NULL. */
static inline void pc_incref(pc_object *o) { o->refcount++; }

/* Releases one reference; NULL is allowed. */
static inline void pc_xdecref(pc_object *o) {
  if (o != NULL && --o->refcount == 0) {
    o->type->dealloc(o);
  }
}

/* Takes one more reference; NULL is allowed. */
static inline void pc_xincref(pc_object *o) {
  if (o != NULL) {
    o->refcount++;
  }
}

/* Returns the number of elements: the product of the extents, 1 for a scalar. */
static inline int64_t pc_tensor_size(const pc_tensor *t) {
  int64_t n = 1;
  for (int32_t i = 0; i < t->ndim; i++) {
    n *= t->shape[i];
  }
  return n;
}

#ifdef __cplusplus
}
#endif
#endif
