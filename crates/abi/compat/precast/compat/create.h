/* precast/compat/create.h: new arrays: PyArray_EMPTY, _ZEROS, _SimpleNew, _New, _NewFromDescr, _Arange.
 *
 * Memory is the host's (`tensor_new`). An array over other memory is a tensor without memory of its own, whose header is
 * pointed at it; the object that keeps that memory alive is set with PyArray_SetBaseObject.
 */
#ifndef PRECAST_COMPAT_CREATE_H
#define PRECAST_COMPAT_CREATE_H

#include <precast/compat/walk.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the strides of a tensor made here to those of a contiguous one. */
PC_COMPAT_SLOW void pc_compat_set_strides(pc_tensor *t, int fortran) {
  int64_t step = pc_compat_itemsize(t->dtype), *strides = (int64_t *)t->strides;
  for (int i = 0; i < t->ndim; i++) {
    int d = fortran ? i : t->ndim - 1 - i;
    strides[d] = step;
    step *= t->shape[d] > 0 ? t->shape[d] : 1;
  }
}

PC_COMPAT_SLOW int pc_compat_check_extents(int ndim, const npy_intp *shape) {
  if (ndim < 0 || ndim > PC_MAX_NDIM) {
    PyErr_Format(PyExc_ValueError, "number of dimensions must be within [0, %d], found %d", PC_MAX_NDIM, ndim);
    return 0;
  }
  for (int d = 0; d < ndim; d++) {
    if (shape[d] < 0) {
      PyErr_SetString(PyExc_ValueError, "negative dimensions are not allowed");
      return 0;
    }
  }
  return 1;
}

/* A new array with uninitialised elements; NULL with an error set. */
PC_COMPAT_SLOW PyObject *pc_compat_empty(int ndim, const npy_intp *shape, int typenum, int fortran) {
  pc_context *ctx = pc_compat_current.ctx;
  typenum = pc_compat_typenum(typenum);
  if (ctx == NULL || !pc_compat_check_extents(ndim, shape)) return NULL;
  pc_tensor *t = ctx->host->tensor_new(ctx, typenum, ndim, (const int64_t *)shape);
  if (t == NULL) return NULL;
  if (fortran && ndim > 1) pc_compat_set_strides(t, 1);
  return &t->object;
}

PC_COMPAT_SLOW PyObject *pc_compat_zeros(int ndim, const npy_intp *shape, int typenum, int fortran) {
  PyObject *o = pc_compat_empty(ndim, shape, typenum, fortran);
  if (o != NULL && PyArray_NBYTES(o) > 0) memset(PyArray_DATA(o), 0, (size_t)PyArray_NBYTES(o));
  return o;
}

/* An array over memory of someone else's. `strides` may be NULL: contiguous then, by the flags' order. */
PC_COMPAT_SLOW PyObject *pc_compat_over(int ndim, const npy_intp *shape, const npy_intp *strides, int typenum, void *data,
                                        int flags) {
  static const npy_intp none[1] = {0};
  if (!pc_compat_check_extents(ndim, shape)) return NULL;
  pc_tensor *t = (pc_tensor *)pc_compat_empty(1, none, typenum, 0);
  if (t == NULL) return NULL;
  t->ndim = ndim;
  for (int d = 0; d < ndim; d++) {
    ((int64_t *)t->shape)[d] = shape[d];
    if (strides != NULL) ((int64_t *)t->strides)[d] = strides[d];
  }
  if (strides == NULL) pc_compat_set_strides(t, (flags & NPY_ARRAY_F_CONTIGUOUS) && !(flags & NPY_ARRAY_C_CONTIGUOUS));
  t->data = (char *)data;
  t->flags = flags & NPY_ARRAY_WRITEABLE ? 0 : PC_FLAG_READONLY;
  return &t->object;
}

/* A view of an array with other extents, strides, first element. */
PC_COMPAT_SLOW PyObject *pc_compat_view(PyArrayObject *base, int ndim, const int64_t *shape, const int64_t *strides, char *data) {
  pc_context *ctx = pc_compat_current.ctx;
  if (ctx == NULL) return NULL;
  pc_tensor *t = ctx->host->tensor_view(ctx, base, ndim, shape, strides, data);
  if (t == NULL) return NULL;
  t->flags |= base->flags & PC_FLAG_READONLY;
  return &t->object;
}

#define PyArray_EMPTY(nd, shape, typenum, fortran) pc_compat_empty(nd, shape, typenum, fortran)
#define PyArray_ZEROS(nd, shape, typenum, fortran) pc_compat_zeros(nd, shape, typenum, fortran)
#define PyArray_SimpleNew(nd, shape, typenum) pc_compat_empty(nd, shape, typenum, 0)
#define PyArray_SimpleNewFromData(nd, shape, typenum, data) \
  pc_compat_over(nd, shape, NULL, typenum, data, NPY_ARRAY_CARRAY)

/* Takes over the reference to `descr`, as does every function with a descriptor here but those that say otherwise. */
PC_COMPAT_FN PyObject *PyArray_Empty(int nd, const npy_intp *shape, PyArray_Descr *descr, int fortran) {
  return pc_compat_empty(nd, shape, descr != NULL ? descr->type_num : NPY_DOUBLE, fortran);
}

PC_COMPAT_FN PyObject *PyArray_Zeros(int nd, const npy_intp *shape, PyArray_Descr *descr, int fortran) {
  return pc_compat_zeros(nd, shape, descr != NULL ? descr->type_num : NPY_DOUBLE, fortran);
}

PC_COMPAT_FN PyObject *PyArray_SimpleNewFromDescr(int nd, const npy_intp *shape, PyArray_Descr *descr) {
  return PyArray_Empty(nd, shape, descr, 0);
}

/* With `data` NULL the array has memory of its own, in Fortran's order if `flags` are not 0, or with `strides`. */
PC_COMPAT_SLOW PyObject *PyArray_New(PyTypeObject *type, int nd, const npy_intp *shape, int typenum, const npy_intp *strides,
                                     void *data, int itemsize, int flags, PyObject *object) {
  (void)type, (void)itemsize, (void)object;
  if (data != NULL) return pc_compat_over(nd, shape, strides, typenum, data, flags);
  PyObject *o = pc_compat_empty(nd, shape, typenum, flags != 0);
  if (o != NULL && strides != NULL) {
    int64_t reach = PyArray_ITEMSIZE(o);
    for (int d = 0; d < nd; d++) {
      if (strides[d] < 0 && shape[d] > 1) reach = INT64_MAX / 2;
      reach += shape[d] > 1 ? (shape[d] - 1) * strides[d] : 0;
    }
    if (PyArray_SIZE(o) > 0 && reach > PyArray_NBYTES(o)) {
      Py_DECREF(o);
      PyErr_SetString(PyExc_ValueError, "strides is incompatible with shape of requested array and size of buffer");
      return NULL;
    }
    for (int d = 0; d < nd; d++) PyArray_STRIDES(o)[d] = strides[d];
  }
  return o;
}

PC_COMPAT_FN PyObject *PyArray_NewFromDescr(PyTypeObject *type, PyArray_Descr *descr, int nd, const npy_intp *shape,
                                            const npy_intp *strides, void *data, int flags, PyObject *object) {
  return PyArray_New(type, nd, shape, descr->type_num, strides, data, 0, flags, object);
}

/* A new array of the shape and dtype of another (of dtype `descr`, if that is not NULL). */
PC_COMPAT_SLOW PyObject *PyArray_NewLikeArray(PyArrayObject *like, NPY_ORDER order, PyArray_Descr *descr, int subok) {
  int f = PyArray_ISFORTRAN(like) && !PyArray_IS_C_CONTIGUOUS(like);
  int fortran = order == NPY_FORTRANORDER || ((order == NPY_ANYORDER || order == NPY_KEEPORDER) && f);
  (void)subok;
  return pc_compat_empty(like->ndim, PyArray_DIMS(like), descr != NULL ? descr->type_num : like->dtype, fortran);
}

/* Sets the object that keeps the memory of `a` alive; takes over the reference, also on failure. */
PC_COMPAT_SLOW int PyArray_SetBaseObject(PyArrayObject *a, PyObject *base) {
  if (base == NULL || a->owner != NULL || base == &a->object) {
    Py_XDECREF(base);
    PyErr_SetString(PyExc_ValueError, base == NULL ? "Cannot set the NumPy array 'base' dependency to NULL after initialization"
                                                   : "Cannot set the NumPy array 'base' dependency more than once");
    return -1;
  }
  a->owner = base;
  return 0;
}

PC_COMPAT_SLOW PyObject *PyArray_Arange(double start, double stop, double step, int typenum) {
  double count = (stop - start) / step;
  if (step == 0 || count != count || count >= 9.0e18) {
    PyErr_SetString(PyExc_ValueError, step == 0 ? "Maximum allowed size exceeded" : "arange: cannot compute length");
    return NULL;
  }
  npy_intp n = count > 0 ? (npy_intp)count : 0;
  if (count > 0 && (double)n < count) n++;
  PyObject *o = pc_compat_empty(1, &n, typenum, 0);
  if (o == NULL) return NULL;
  /* As in NumPy: the first two values are stored in the dtype, later values follow from their difference. */
  int dtype = PyArray_TYPE(o), bytes = pc_compat_itemsize(dtype);
  char *at = PyArray_BYTES(o);
  for (npy_intp i = 0; i < n && i < 2; i++) pc_compat_set(dtype, at + i * bytes, pc_compat_of_f64(start + (double)i * step));
  if (n > 2) {
    pc_compat_value first = pc_compat_get(dtype, at), second = pc_compat_get(dtype, at + bytes);
    int whole = first.kind == 'i' || first.kind == 'u';
    double from = pc_compat_as_f64(first), delta = pc_compat_as_f64(second) - from;
    int64_t whole_from = pc_compat_as_i64(first), whole_delta = pc_compat_as_i64(second) - whole_from;
    for (npy_intp i = 2; i < n; i++) {
      pc_compat_set(dtype, at + i * bytes, whole ? pc_compat_of_i64(whole_from + i * whole_delta)
                                                 : pc_compat_of_f64(from + (double)i * delta));
    }
  }
  return o;
}

#define PyArray_FILLWBYTE(a, byte) memset(PyArray_DATA(a), byte, (size_t)PyArray_NBYTES(a))
#define PyDataMem_NEW(bytes) ((char *)pc_compat_malloc(bytes))
#define PyDataMem_NEW_ZEROED(n, bytes) ((char *)pc_compat_calloc(n, bytes))
#define PyDataMem_RENEW(p, bytes) ((char *)pc_compat_realloc(p, bytes))
#define PyDataMem_FREE(p) pc_compat_free(p)
#define PyDimMem_NEW(n) ((npy_intp *)pc_compat_malloc((size_t)(n) * sizeof(npy_intp)))
#define PyDimMem_RENEW(p, n) ((npy_intp *)pc_compat_realloc(p, (size_t)(n) * sizeof(npy_intp)))
#define PyDimMem_FREE(p) pc_compat_free(p)
#define PyArray_malloc pc_compat_malloc
#define PyArray_calloc pc_compat_calloc
#define PyArray_realloc pc_compat_realloc
#define PyArray_free pc_compat_free

#ifdef __cplusplus
}
#endif
#endif
