/* precast/module.h of host `cpython`: the words of generated code, over the objects of CPython and NumPy themselves.
 *
 * The text of a module is the same for every host. Here an object is a PyObject, a tensor an ndarray, the error slot is the
 * exception that is set, and Python.h is CPython's own, at the lowest version of its stable ABI, named below. With PRECAST_WHOLE_API
 * it is the whole API of the Python that provides the headers, and the module is for that Python alone.
 */
#ifndef PRECAST_MODULE_H
#define PRECAST_MODULE_H

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#ifndef PRECAST_WHOLE_API
#define Py_LIMITED_API 0x030a0000
#endif
#include <Python.h>
#include <assert.h>
#include <errno.h>
#include <numpy/arrayobject.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NumPy's macro has a `return`, which does not fit every function. The module calls _import_array when it is loaded. */
#undef import_array
#define import_array() ((void)0)

typedef PyObject pc_object;
typedef PyArrayObject pc_tensor;
typedef void pc_context;

typedef npy_bool pc_bool;
typedef npy_int8 pc_i8;
typedef npy_int16 pc_i16;
typedef npy_int32 pc_i32;
typedef npy_int64 pc_i64;
typedef npy_uint8 pc_u8;
typedef npy_uint16 pc_u16;
typedef npy_uint32 pc_u32;
typedef npy_uint64 pc_u64;
typedef float pc_f32;
typedef double pc_f64;
typedef struct { float re, im; } pc_c64;
typedef struct { double re, im; } pc_c128;
typedef struct { uint16_t bits; } pc_f16;

#define PC_ERROR_TYPE PyExc_TypeError
#define PC_ERROR_VALUE PyExc_ValueError
#define PC_ERROR_MEMORY PyExc_MemoryError
#define PC_ERROR_RUNTIME PyExc_RuntimeError
#define PC_ERROR_INDEX PyExc_IndexError
#define PC_ERROR_ASSERT PyExc_AssertionError
#define pc_error_set(ctx, kind, text) PyErr_SetString(kind, text)
#define pc_error_format(ctx, kind, ...) PyErr_Format(kind, __VA_ARGS__)
#define pc_error_is_set(ctx) (PyErr_Occurred() != NULL)
#define pc_incref(object) Py_INCREF((PyObject *)(object))
#define pc_xdecref(object) Py_XDECREF((PyObject *)(object))

/* The context of functions that name none is the interpreter. */
#define pc_compat_enter(ctx) (ctx)
#define pc_compat_leave(previous) ((void)(previous))

#endif
