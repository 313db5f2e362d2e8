/* precast/compat/npy.h: NumPy's types and numbers: npy_*, NPY_*. The numbers are those of NumPy's headers. */
#ifndef PRECAST_COMPAT_NPY_H
#define PRECAST_COMPAT_NPY_H

#include <precast/compat/python.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned char npy_bool;
typedef signed char npy_byte;
typedef unsigned char npy_ubyte;
typedef short npy_short;
typedef unsigned short npy_ushort;
typedef int npy_int;
typedef unsigned int npy_uint;
typedef long npy_long;
typedef unsigned long npy_ulong;
typedef long long npy_longlong;
typedef unsigned long long npy_ulonglong;
typedef float npy_float;
typedef double npy_double;
typedef int8_t npy_int8;
typedef int16_t npy_int16;
typedef int32_t npy_int32;
typedef int64_t npy_int64;
typedef uint8_t npy_uint8;
typedef uint16_t npy_uint16;
typedef uint32_t npy_uint32;
typedef uint64_t npy_uint64;
typedef uint16_t npy_half, npy_float16;
typedef float npy_float32;
typedef double npy_float64;
typedef intptr_t npy_intp;
typedef uintptr_t npy_uintp;
typedef Py_hash_t npy_hash_t;
typedef char npy_char;
typedef uint32_t npy_ucs4;

/* NumPy 1's structures, in C and in C++ (NumPy 2 has C99's complex types in C). Read and written with the functions and
 * macros of npy_math.h, text serves both. */
typedef struct npy_cfloat {
  float real, imag;
} npy_cfloat;
typedef struct npy_cdouble {
  double real, imag;
} npy_cdouble;
typedef long double npy_longdouble; /* for text that names it: no array has such elements */
typedef struct npy_clongdouble {
  npy_longdouble real, imag;
} npy_clongdouble;
typedef npy_cfloat npy_complex64;
typedef npy_cdouble npy_complex128;

PC_COMPAT_ASSERT(sizeof(npy_intp) == sizeof(int64_t), "extents and strides are 64 bits wide");
PC_COMPAT_ASSERT(sizeof(npy_long) == 8, "the type numbers are those of a platform with a 64-bit long");

enum NPY_TYPES {
  NPY_BOOL = 0,
  NPY_BYTE = 1,
  NPY_UBYTE = 2,
  NPY_SHORT = 3,
  NPY_USHORT = 4,
  NPY_INT = 5,
  NPY_UINT = 6,
  NPY_LONG = 7,
  NPY_ULONG = 8,
  NPY_LONGLONG = 9, /* the dtype int64 is made of it */
  NPY_ULONGLONG = 10,
  NPY_FLOAT = 11,
  NPY_DOUBLE = 12,
  NPY_LONGDOUBLE = 13, /* the numbers from here on that no array has serve comparisons only */
  NPY_CFLOAT = 14,
  NPY_CDOUBLE = 15,
  NPY_CLONGDOUBLE = 16,
  NPY_OBJECT = 17,
  NPY_STRING = 18,
  NPY_UNICODE = 19,
  NPY_VOID = 20,
  NPY_DATETIME = 21,
  NPY_TIMEDELTA = 22,
  NPY_HALF = 23,
  NPY_NOTYPE = 25,
  NPY_USERDEF = 256 /* bfloat16 has this number here */
};

#define NPY_INT8 NPY_BYTE
#define NPY_UINT8 NPY_UBYTE
#define NPY_INT16 NPY_SHORT
#define NPY_UINT16 NPY_USHORT
#define NPY_INT32 NPY_INT
#define NPY_UINT32 NPY_UINT
#define NPY_INT64 NPY_LONG
#define NPY_UINT64 NPY_ULONG
#define NPY_INTP NPY_LONG
#define NPY_UINTP NPY_ULONG
#define NPY_FLOAT16 NPY_HALF
#define NPY_FLOAT32 NPY_FLOAT
#define NPY_FLOAT64 NPY_DOUBLE
#define NPY_COMPLEX64 NPY_CFLOAT
#define NPY_COMPLEX128 NPY_CDOUBLE

typedef enum { NPY_ANYORDER = -1, NPY_CORDER = 0, NPY_FORTRANORDER = 1, NPY_KEEPORDER = 2 } NPY_ORDER;
typedef enum {
  NPY_NO_CASTING = 0,
  NPY_EQUIV_CASTING = 1,
  NPY_SAFE_CASTING = 2,
  NPY_SAME_KIND_CASTING = 3,
  NPY_UNSAFE_CASTING = 4
} NPY_CASTING;
typedef enum { NPY_CLIP = 0, NPY_WRAP = 1, NPY_RAISE = 2 } NPY_CLIPMODE;
typedef enum { NPY_SEARCHLEFT = 0, NPY_SEARCHRIGHT = 1 } NPY_SEARCHSIDE;
typedef enum { NPY_QUICKSORT = 0, NPY_HEAPSORT = 1, NPY_MERGESORT = 2, NPY_STABLESORT = 2 } NPY_SORTKIND;
enum { NPY_FAIL = 0, NPY_SUCCEED = 1 };
enum { NPY_FALSE = 0, NPY_TRUE = 1 };
typedef enum { NPY_VALID = 0, NPY_SAME = 1, NPY_FULL = 2 } NPY_CORRELATEMODE;

#define NPY_ARRAY_C_CONTIGUOUS 0x0001
#define NPY_ARRAY_F_CONTIGUOUS 0x0002
#define NPY_ARRAY_OWNDATA 0x0004
#define NPY_ARRAY_FORCECAST 0x0010
#define NPY_ARRAY_ENSURECOPY 0x0020
#define NPY_ARRAY_ENSUREARRAY 0x0040
#define NPY_ARRAY_ELEMENTSTRIDES 0x0080
#define NPY_ARRAY_ALIGNED 0x0100
#define NPY_ARRAY_NOTSWAPPED 0x0200
#define NPY_ARRAY_WRITEABLE 0x0400
#define NPY_ARRAY_WRITEBACKIFCOPY 0x2000
#define NPY_ARRAY_BEHAVED (NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE)
#define NPY_ARRAY_BEHAVED_NS (NPY_ARRAY_BEHAVED | NPY_ARRAY_NOTSWAPPED)
#define NPY_ARRAY_CARRAY (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_BEHAVED)
#define NPY_ARRAY_CARRAY_RO (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED)
#define NPY_ARRAY_FARRAY (NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_BEHAVED)
#define NPY_ARRAY_FARRAY_RO (NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_ALIGNED)
#define NPY_ARRAY_DEFAULT NPY_ARRAY_CARRAY
#define NPY_ARRAY_IN_ARRAY NPY_ARRAY_CARRAY_RO
#define NPY_ARRAY_OUT_ARRAY NPY_ARRAY_CARRAY
#define NPY_ARRAY_INOUT_ARRAY NPY_ARRAY_CARRAY
#define NPY_ARRAY_IN_FARRAY NPY_ARRAY_FARRAY_RO
#define NPY_ARRAY_OUT_FARRAY NPY_ARRAY_FARRAY
#define NPY_ARRAY_INOUT_FARRAY NPY_ARRAY_FARRAY
#define NPY_ARRAY_UPDATE_ALL (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_ALIGNED)

#define NPY_MAXDIMS PC_MAX_NDIM
#define NPY_MAXARGS 64
#define NPY_RAVEL_AXIS (-2147483647 - 1)

#define NPY_MAX_INT8 127
#define NPY_MIN_INT8 (-128)
#define NPY_MAX_UINT8 255
#define NPY_MAX_INT16 32767
#define NPY_MIN_INT16 (-32768)
#define NPY_MAX_UINT16 65535
#define NPY_MAX_INT32 2147483647
#define NPY_MIN_INT32 (-NPY_MAX_INT32 - 1)
#define NPY_MAX_UINT32 4294967295u
#define NPY_MAX_INT64 INT64_MAX
#define NPY_MIN_INT64 INT64_MIN
#define NPY_MAX_UINT64 UINT64_MAX
#define NPY_MAX_INTP INTPTR_MAX
#define NPY_MIN_INTP INTPTR_MIN
#define NPY_MAX_UINTP UINTPTR_MAX
#define NPY_SIZEOF_SHORT 2
#define NPY_SIZEOF_INT 4
#define NPY_SIZEOF_LONG 8
#define NPY_SIZEOF_LONGLONG 8
#define NPY_SIZEOF_FLOAT 4
#define NPY_SIZEOF_DOUBLE 8
#define NPY_SIZEOF_INTP 8
#define NPY_SIZEOF_PY_INTPTR_T 8
#define NPY_INTP_FMT "ld"
#define NPY_INT64_FMT "ld"
#define NPY_UINT64_FMT "lu"
#define NPY_INLINE inline
#define NPY_UNUSED(name) pc_compat_unused_##name __attribute__((unused))
#define NPY_LIKELY(x) __builtin_expect(!!(x), 1)
#define NPY_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The version of NumPy that op code finds when it is compiled. */
#define NPY_ABI_VERSION 0x02000000
#define NPY_API_VERSION 0x00000012
#define NPY_FEATURE_VERSION NPY_API_VERSION
#define NPY_VERSION NPY_ABI_VERSION
#define NPY_1_7_API_VERSION 0x00000007
#define NPY_1_8_API_VERSION 0x00000008
#define NPY_2_0_API_VERSION 0x00000012

#define NPY_BEGIN_THREADS_DEF
#define NPY_BEGIN_THREADS
#define NPY_END_THREADS
#define NPY_BEGIN_ALLOW_THREADS Py_BEGIN_ALLOW_THREADS
#define NPY_END_ALLOW_THREADS Py_END_ALLOW_THREADS

#ifdef __cplusplus
}
#endif
#endif
