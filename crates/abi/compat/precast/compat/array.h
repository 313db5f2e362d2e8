/* precast/compat/array.h: queries an array: PyArray_NDIM, _DIMS, _FLAGS, _GETPTR1 and similar functions.
 *
 * An array is a pc_tensor. Its flags are computed when they are asked for, but for `writeable`, which is stored.
 */
#ifndef PRECAST_COMPAT_ARRAY_H
#define PRECAST_COMPAT_ARRAY_H

#include <precast/compat/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef pc_tensor PyArrayObject;

/* A pc_tensor with NumPy's names of the fields; `flags` is not one of them, see PyArray_FLAGS. */
typedef struct pc_compat_fields {
  pc_object ob_base;
  char *data;
  int32_t typenum;
  int32_t nd;
  npy_intp *dimensions;
  npy_intp *strides;
  uint32_t host_flags;
  uint32_t reserved;
  PyObject *base;
  int64_t capacity_bytes;
} __attribute__((may_alias)) PyArrayObject_fields;

PC_COMPAT_ASSERT(sizeof(PyArrayObject_fields) == sizeof(pc_tensor), "the same size");
PC_COMPAT_ASSERT(offsetof(PyArrayObject_fields, data) == offsetof(pc_tensor, data), "the same data");
PC_COMPAT_ASSERT(offsetof(PyArrayObject_fields, nd) == offsetof(pc_tensor, ndim), "the same rank");
PC_COMPAT_ASSERT(offsetof(PyArrayObject_fields, dimensions) == offsetof(pc_tensor, shape), "the same extents");
PC_COMPAT_ASSERT(offsetof(PyArrayObject_fields, strides) == offsetof(pc_tensor, strides), "the same strides");
PC_COMPAT_ASSERT(offsetof(PyArrayObject_fields, base) == offsetof(pc_tensor, owner), "the same owner");

typedef struct PyArray_Dims {
  npy_intp *ptr;
  int len;
} PyArray_Dims;

#define PC_COMPAT_ARRAY_OF(a) ((PyArrayObject *)(a))

#define PyArray_Check(o) ((o) != NULL && pc_compat_kind((PyObject *)(o)) == PC_COMPAT_ARRAY)
#define PyArray_CheckExact(o) PyArray_Check(o)
#define PyArray_NDIM(a) ((int)PC_COMPAT_ARRAY_OF(a)->ndim)
#define PyArray_DATA(a) ((void *)PC_COMPAT_ARRAY_OF(a)->data)
#define PyArray_BYTES(a) (PC_COMPAT_ARRAY_OF(a)->data)
#define PyArray_DIMS(a) ((npy_intp *)PC_COMPAT_ARRAY_OF(a)->shape)
#define PyArray_SHAPE(a) PyArray_DIMS(a)
#define PyArray_STRIDES(a) ((npy_intp *)PC_COMPAT_ARRAY_OF(a)->strides)
#define PyArray_DIM(a, i) (PyArray_DIMS(a)[i])
#define PyArray_STRIDE(a, i) (PyArray_STRIDES(a)[i])
#define PyArray_TYPE(a) ((int)PC_COMPAT_ARRAY_OF(a)->dtype)
#define PyArray_DESCR(a) pc_compat_descr(PyArray_TYPE(a))
#define PyArray_DTYPE(a) PyArray_DESCR(a)
#define PyArray_ITEMSIZE(a) ((npy_intp)pc_compat_itemsize(PyArray_TYPE(a)))
#define PyArray_BASE(a) (PC_COMPAT_ARRAY_OF(a)->owner)
#define PyArray_SIZE(a) ((npy_intp)pc_tensor_size(PC_COMPAT_ARRAY_OF(a)))
#define PyArray_Size(o) (PyArray_Check(o) ? PyArray_SIZE(o) : 0)
#define PyArray_NBYTES(a) (PyArray_SIZE(a) * PyArray_ITEMSIZE(a))

#define PyArray_GETPTR1(a, i) ((void *)(PyArray_BYTES(a) + (i) * PyArray_STRIDES(a)[0]))
#define PyArray_GETPTR2(a, i, j) ((void *)(PyArray_BYTES(a) + (i) * PyArray_STRIDES(a)[0] + (j) * PyArray_STRIDES(a)[1]))
#define PyArray_GETPTR3(a, i, j, k)                                                              \
  ((void *)(PyArray_BYTES(a) + (i) * PyArray_STRIDES(a)[0] + (j) * PyArray_STRIDES(a)[1] +       \
            (k) * PyArray_STRIDES(a)[2]))
#define PyArray_GETPTR4(a, i, j, k, l)                                                           \
  ((void *)(PyArray_BYTES(a) + (i) * PyArray_STRIDES(a)[0] + (j) * PyArray_STRIDES(a)[1] +       \
            (k) * PyArray_STRIDES(a)[2] + (l) * PyArray_STRIDES(a)[3]))

PC_COMPAT_FN void *PyArray_GetPtr(PyArrayObject *a, const npy_intp *at) {
  char *p = a->data;
  for (int32_t d = 0; d < a->ndim; d++) p += at[d] * a->strides[d];
  return p;
}

/* ---- lists of extents ---- */

PC_COMPAT_FN npy_intp PyArray_MultiplyList(const npy_intp *list, int n) {
  npy_intp product = 1;
  for (int i = 0; i < n; i++) product *= list[i];
  return product;
}

PC_COMPAT_FN int PyArray_MultiplyIntList(const int *list, int n) {
  int product = 1;
  for (int i = 0; i < n; i++) product *= list[i];
  return product;
}

/* -1 if the product does not fit. */
PC_COMPAT_FN npy_intp PyArray_OverflowMultiplyList(const npy_intp *list, int n) {
  npy_intp product = 1;
  int fits = 1;
  for (int i = 0; i < n; i++) {
    if (list[i] == 0) return 0;
    if (__builtin_mul_overflow(product, list[i], &product)) fits = 0;
  }
  return fits ? product : -1;
}

PC_COMPAT_FN int PyArray_CompareLists(const npy_intp *a, const npy_intp *b, int n) {
  for (int i = 0; i < n; i++) {
    if (a[i] != b[i]) return 0;
  }
  return 1;
}

#define PyArray_SAMESHAPE(a, b) \
  (PyArray_NDIM(a) == PyArray_NDIM(b) && PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a)))

/* ---- flags ---- */

/* Whether elements lie one after the other; the last axis fastest, or the first. */
PC_COMPAT_SLOW int pc_compat_contiguous(const pc_tensor *t, int fortran) {
  int64_t step = pc_compat_itemsize(t->dtype);
  for (int32_t d = 0; d < t->ndim; d++) {
    if (t->shape[d] == 0) return 1;
  }
  for (int32_t i = 0; i < t->ndim; i++) {
    int32_t d = fortran ? i : t->ndim - 1 - i;
    if (t->shape[d] != 1 && t->strides[d] != step) return 0;
    step *= t->shape[d];
  }
  return 1;
}

PC_COMPAT_SLOW int pc_compat_aligned(const pc_tensor *t) {
  PyArray_Descr *descr = pc_compat_descr(t->dtype);
  uint64_t bits = (uint64_t)(uintptr_t)t->data;
  for (int32_t d = 0; d < t->ndim; d++) {
    if (t->shape[d] == 0) return 1;
    if (t->shape[d] > 1) bits |= (uint64_t)t->strides[d];
  }
  return descr == NULL || bits % (uint64_t)descr->alignment == 0;
}

PC_COMPAT_SLOW int pc_compat_flags(const pc_tensor *t) {
  int flags = pc_compat_contiguous(t, 0) ? NPY_ARRAY_C_CONTIGUOUS : 0;
  if (pc_compat_contiguous(t, 1)) flags |= NPY_ARRAY_F_CONTIGUOUS;
  if (pc_compat_aligned(t)) flags |= NPY_ARRAY_ALIGNED;
  if ((t->flags & PC_FLAG_READONLY) == 0) flags |= NPY_ARRAY_WRITEABLE;
  if (t->owner == NULL && (t->capacity_bytes > 0 || t->data == NULL)) flags |= NPY_ARRAY_OWNDATA;
  return flags | NPY_ARRAY_NOTSWAPPED;
}

PC_COMPAT_SLOW void pc_compat_set_writeable(pc_tensor *t, int flags, int writeable) {
  if ((flags & NPY_ARRAY_WRITEABLE) == 0) return;
  t->flags = writeable ? t->flags & ~PC_FLAG_READONLY : t->flags | PC_FLAG_READONLY;
}

#define PyArray_FLAGS(a) (pc_compat_flags(PC_COMPAT_ARRAY_OF(a)) & ~NPY_ARRAY_NOTSWAPPED)
#define PyArray_CHKFLAGS(a, f) ((pc_compat_flags(PC_COMPAT_ARRAY_OF(a)) & (f)) == (f))
#define PyArray_ENABLEFLAGS(a, f) pc_compat_set_writeable(PC_COMPAT_ARRAY_OF(a), f, 1)
#define PyArray_CLEARFLAGS(a, f) pc_compat_set_writeable(PC_COMPAT_ARRAY_OF(a), f, 0)
#define PyArray_UpdateFlags(a, mask) ((void)(a), (void)(mask))
#define PyArray_FailUnlessWriteable(a, name) pc_compat_fail_unless_writeable(PC_COMPAT_ARRAY_OF(a), name)
#define PyArray_ISCONTIGUOUS(a) pc_compat_contiguous(PC_COMPAT_ARRAY_OF(a), 0)
#define PyArray_IS_C_CONTIGUOUS(a) pc_compat_contiguous(PC_COMPAT_ARRAY_OF(a), 0)
#define PyArray_IS_F_CONTIGUOUS(a) pc_compat_contiguous(PC_COMPAT_ARRAY_OF(a), 1)
#define PyArray_ISFORTRAN(a) (PyArray_IS_F_CONTIGUOUS(a) && PyArray_NDIM(a) > 1)
#define PyArray_FORTRAN_IF(a) (PyArray_ISFORTRAN(a) ? NPY_ARRAY_F_CONTIGUOUS : 0)
#define PyArray_ISONESEGMENT(a) (PyArray_IS_C_CONTIGUOUS(a) || PyArray_IS_F_CONTIGUOUS(a))
#define PyArray_ISALIGNED(a) pc_compat_aligned(PC_COMPAT_ARRAY_OF(a))
#define PyArray_ISWRITEABLE(a) ((PC_COMPAT_ARRAY_OF(a)->flags & PC_FLAG_READONLY) == 0)
#define PyArray_ISNOTSWAPPED(a) ((void)(a), 1)
#define PyArray_ISBYTESWAPPED(a) ((void)(a), 0)
#define PyArray_ISBEHAVED(a) (PyArray_ISALIGNED(a) && PyArray_ISWRITEABLE(a))
#define PyArray_ISBEHAVED_RO(a) PyArray_ISALIGNED(a)
#define PyArray_ISCARRAY(a) (PyArray_ISBEHAVED(a) && PyArray_IS_C_CONTIGUOUS(a))
#define PyArray_ISCARRAY_RO(a) (PyArray_ISALIGNED(a) && PyArray_IS_C_CONTIGUOUS(a))
#define PyArray_ISFARRAY(a) (PyArray_ISBEHAVED(a) && PyArray_ISFORTRAN(a))
#define PyArray_ISFARRAY_RO(a) (PyArray_ISALIGNED(a) && PyArray_ISFORTRAN(a))
#define PyArray_IsZeroDim(o) (PyArray_Check(o) && PyArray_NDIM(o) == 0)
#define PyArray_CheckScalar(o) PyArray_IsZeroDim(o)
#define PyArray_IsPythonNumber(o) PyNumber_Check(o)
#define PyArray_IsPythonScalar(o) (PyNumber_Check(o) || PyBytes_Check(o) || PyUnicode_Check(o))
#define PyArray_IsAnyScalar(o) PyArray_IsPythonScalar(o)
#define PyArray_CheckAnyScalar(o) PyArray_IsAnyScalar(o)
#define PyArray_ISBOOL(a) PyTypeNum_ISBOOL(PyArray_TYPE(a))
#define PyArray_ISINTEGER(a) PyTypeNum_ISINTEGER(PyArray_TYPE(a))
#define PyArray_ISUNSIGNED(a) PyTypeNum_ISUNSIGNED(PyArray_TYPE(a))
#define PyArray_ISSIGNED(a) PyTypeNum_ISSIGNED(PyArray_TYPE(a))
#define PyArray_ISFLOAT(a) PyTypeNum_ISFLOAT(PyArray_TYPE(a))
#define PyArray_ISCOMPLEX(a) PyTypeNum_ISCOMPLEX(PyArray_TYPE(a))
#define PyArray_ISNUMBER(a) PyTypeNum_ISNUMBER(PyArray_TYPE(a))
#define PyArray_ISOBJECT(a) ((void)(a), 0)
#define PyArray_EquivArrTypes(a, b) PyArray_EquivTypenums(PyArray_TYPE(a), PyArray_TYPE(b))

PC_COMPAT_SLOW int pc_compat_fail_unless_writeable(const pc_tensor *t, const char *name) {
  if ((t->flags & PC_FLAG_READONLY) == 0) return 0;
  PyErr_Format(PyExc_ValueError, "%s is read-only", name);
  return -1;
}

#ifdef __cplusplus
}
#endif
#endif
