/* precast/compat/copy.h: copies and casts: PyArray_CopyInto, _NewCopy, _Cast, _FromArray, _FromAny and functions made of them. */
#ifndef PRECAST_COMPAT_COPY_H
#define PRECAST_COMPAT_COPY_H

#include <precast/compat/create.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies elements, cast to the dtype of `to`; the shapes broadcast, the memory does not overlap. */
PC_COMPAT_SLOW void pc_compat_copy(pc_tensor *to, const pc_tensor *from) {
  if (to->dtype == from->dtype && to->ndim == from->ndim &&
      PyArray_CompareLists(PyArray_DIMS(to), PyArray_DIMS(from), to->ndim) &&
      ((pc_compat_contiguous(to, 0) && pc_compat_contiguous(from, 0)) ||
       (pc_compat_contiguous(to, 1) && pc_compat_contiguous(from, 1)))) {
    if (PyArray_NBYTES(to) > 0) memcpy(to->data, from->data, (size_t)PyArray_NBYTES(to));
    return;
  }
  pc_compat_walk w;
  pc_compat_walk_start(&w, to->ndim, to->shape);
  pc_compat_walk_add(&w, to);
  pc_compat_walk_add(&w, from);
  size_t bytes = (size_t)pc_compat_itemsize(to->dtype);
  if (to->dtype == from->dtype) {
    for (; w.left > 0; pc_compat_walk_next(&w)) memcpy(w.at[0], w.at[1], bytes);
  } else {
    for (; w.left > 0; pc_compat_walk_next(&w)) pc_compat_set(to->dtype, w.at[0], pc_compat_get(from->dtype, w.at[1]));
  }
}

/* A copy in an order, cast to a dtype. */
PC_COMPAT_SLOW PyObject *pc_compat_copy_as(PyArrayObject *a, int typenum, NPY_ORDER order) {
  PyArray_Descr *descr = PyArray_DescrFromType(typenum);
  PyObject *o = descr == NULL ? NULL : PyArray_NewLikeArray(a, order, descr, 0);
  if (o != NULL) pc_compat_copy((pc_tensor *)o, a);
  return o;
}

PC_COMPAT_FN PyObject *PyArray_NewCopy(PyArrayObject *a, NPY_ORDER order) { return pc_compat_copy_as(a, a->dtype, order); }

#define PyArray_Copy(a) PyArray_NewCopy(PC_COMPAT_ARRAY_OF(a), NPY_CORDER)

/* Copies `from`, broadcast and cast, into `to`; they may overlap. */
PC_COMPAT_SLOW int PyArray_CopyInto(PyArrayObject *to, PyArrayObject *from) {
  int ndim = to->ndim;
  int64_t shape[PC_MAX_NDIM];
  for (int d = 0; d < ndim; d++) shape[d] = to->shape[d];
  /* Leading extents of 1 may be dropped, as NumPy does. */
  PyArrayObject lean = *from;
  while (lean.ndim > ndim && lean.shape[0] == 1) lean.shape++, lean.strides++, lean.ndim--;
  if (pc_compat_fail_unless_writeable(to, "assignment destination") < 0) return -1;
  if (!pc_compat_broadcast(&ndim, shape, &lean) || ndim != to->ndim ||
      !PyArray_CompareLists((npy_intp *)shape, PyArray_DIMS(to), ndim)) {
    PyErr_SetString(PyExc_ValueError, "could not broadcast input array into the shape of the output");
    return -1;
  }
  if (!pc_compat_overlap(to, &lean)) {
    pc_compat_copy(to, &lean);
    return 0;
  }
  PyObject *copy = PyArray_NewCopy(&lean, NPY_CORDER);
  if (copy == NULL) return -1;
  pc_compat_copy(to, (pc_tensor *)copy);
  Py_DECREF(copy);
  return 0;
}

#define PyArray_MoveInto(to, from) PyArray_CopyInto(PC_COMPAT_ARRAY_OF(to), PC_COMPAT_ARRAY_OF(from))
#define PyArray_AssignArray(to, from) PyArray_CopyInto(PC_COMPAT_ARRAY_OF(to), PC_COMPAT_ARRAY_OF(from))

/* Copies as many elements, in C order, whatever the shapes. */
PC_COMPAT_SLOW int PyArray_CopyAnyInto(PyArrayObject *to, PyArrayObject *from) {
  if (PyArray_SIZE(to) != PyArray_SIZE(from)) {
    PyErr_Format(PyExc_ValueError, "cannot copy from array of size %zd into an array of size %zd", PyArray_SIZE(from), PyArray_SIZE(to));
    return -1;
  }
  PyObject *copy = PyArray_NewCopy(from, NPY_CORDER);
  if (copy == NULL) return -1;
  PyArrayObject flat = *(pc_tensor *)copy;
  flat.ndim = to->ndim;
  flat.shape = to->shape;
  int64_t strides[PC_MAX_NDIM];
  flat.strides = strides;
  pc_compat_set_strides(&flat, 0);
  int result = PyArray_CopyInto(to, &flat);
  Py_DECREF(copy);
  return result;
}

PC_COMPAT_FN int PyArray_FillWithScalar(PyArrayObject *a, PyObject *value) {
  return pc_compat_want(value, "biufc", "must be a number") ? PyArray_CopyInto(a, (PyArrayObject *)value) : -1;
}

/* ---- casts ---- */

PC_COMPAT_FN PyObject *PyArray_CastToType(PyArrayObject *a, PyArray_Descr *descr, int fortran) {
  return pc_compat_copy_as(a, descr != NULL ? descr->type_num : a->dtype, fortran ? NPY_FORTRANORDER : NPY_CORDER);
}

#define PyArray_Cast(a, typenum) pc_compat_copy_as(PC_COMPAT_ARRAY_OF(a), typenum, NPY_CORDER)
#define PyArray_CastTo(to, from) PyArray_CopyInto(PC_COMPAT_ARRAY_OF(to), PC_COMPAT_ARRAY_OF(from))

/* The array itself if it is as `flags` and `descr` want it, else a copy that is. */
PC_COMPAT_SLOW PyObject *PyArray_FromArray(PyArrayObject *a, PyArray_Descr *descr, int flags) {
  int typenum = descr != NULL ? descr->type_num : a->dtype;
  if ((flags & NPY_ARRAY_WRITEBACKIFCOPY) != 0) {
    PyErr_SetString(PyExc_ValueError, "copies are not written back here: use PyArray_CopyInto");
    return NULL;
  }
  if ((flags & NPY_ARRAY_FORCECAST) == 0 && !PyArray_CanCastSafely(a->dtype, typenum)) {
    PyErr_Format(PyExc_TypeError, "Cannot cast array data from dtype('%s') to dtype('%s') according to the rule 'safe'",
                 pc_compat_dtype_name(a->dtype), pc_compat_dtype_name(typenum));
    return NULL;
  }
  int wanted = flags & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE);
  if (a->dtype == typenum && (flags & NPY_ARRAY_ENSURECOPY) == 0 && PyArray_CHKFLAGS(a, wanted)) {
    return Py_NewRef(a);
  }
  int fortran = (flags & NPY_ARRAY_F_CONTIGUOUS) != 0 && (flags & NPY_ARRAY_C_CONTIGUOUS) == 0;
  int c = (flags & NPY_ARRAY_C_CONTIGUOUS) != 0;
  return pc_compat_copy_as(a, typenum, fortran ? NPY_FORTRANORDER : c ? NPY_CORDER : NPY_KEEPORDER);
}

/* The shape of nested tuples and lists of numbers, and the dtype that holds them all; 0 with an error set. */
PC_COMPAT_SLOW int pc_compat_discover(PyObject *o, int depth, int *ndim, npy_intp *shape, int *typenum) {
  if (o != NULL && PySequence_Check(o) && depth < PC_MAX_NDIM) {
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    if (*ndim == depth) shape[(*ndim)++] = n;
    if (depth < *ndim && shape[depth] == n) {
      for (Py_ssize_t i = 0; i < n; i++) {
        if (!pc_compat_discover(PySequence_Fast_GET_ITEM(o, i), depth + 1, ndim, shape, typenum)) return 0;
      }
      return 1;
    }
  } else if (o != NULL && PyNumber_Check(o) && depth >= *ndim) {
    int found = PyArray_TYPE(o);
    *typenum = *typenum < 0 ? found : pc_compat_promote(*typenum, found);
    return 1;
  }
  PyErr_SetString(PyExc_ValueError, "setting an array element with a sequence: expected numbers in nested sequences of equal lengths");
  return 0;
}

PC_COMPAT_SLOW void pc_compat_fill(PyObject *o, int dtype, char **at) {
  if (PySequence_Check(o)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++) pc_compat_fill(PySequence_Fast_GET_ITEM(o, i), dtype, at);
  } else {
    pc_compat_set(dtype, *at, pc_compat_value_of(o));
    *at += pc_compat_itemsize(dtype);
  }
}

/* An array of an array, a number, or numbers in nested tuples and lists. */
PC_COMPAT_SLOW PyObject *PyArray_FromAny(PyObject *o, PyArray_Descr *descr, int min_depth, int max_depth, int flags,
                                         PyObject *context) {
  (void)context;
  PyObject *made = NULL;
  if (o == NULL || !PyArray_Check(o)) {
    int ndim = 0, typenum = -1;
    npy_intp shape[PC_MAX_NDIM];
    if (!pc_compat_discover(o, 0, &ndim, shape, &typenum)) return NULL;
    made = pc_compat_empty(ndim, shape, typenum < 0 ? NPY_DOUBLE : typenum, 0);
    if (made == NULL) return NULL;
    char *at = PyArray_BYTES(made);
    pc_compat_fill(o, PyArray_TYPE(made), &at);
    o = made;
  }
  int ndim = PyArray_NDIM(o);
  PyObject *result = NULL;
  if (min_depth != 0 && ndim < min_depth) {
    PyErr_SetString(PyExc_ValueError, "object of too small depth for desired array");
  } else if (max_depth != 0 && ndim > max_depth) {
    PyErr_SetString(PyExc_ValueError, "object too deep for desired array");
  } else {
    result = PyArray_FromArray((PyArrayObject *)o, descr, flags);
  }
  Py_XDECREF(made);
  return result;
}

#define PyArray_CheckFromAny(o, descr, min_depth, max_depth, flags, context) \
  PyArray_FromAny(o, descr, min_depth, max_depth, flags, context)
#define PyArray_FROM_OF(o, flags) PyArray_FromAny((PyObject *)(o), NULL, 0, 0, flags, NULL)
#define PyArray_FROM_O(o) PyArray_FROM_OF(o, 0)
#define PyArray_FROM_OTF(o, typenum, flags) \
  PyArray_FROMANY(o, typenum, 0, 0, ((flags) & NPY_ARRAY_ENSURECOPY) ? ((flags) | NPY_ARRAY_DEFAULT) : (flags))
#define PyArray_FROM_OT(o, typenum) PyArray_FROM_OTF(o, typenum, 0)
#define PyArray_FROMANY(o, typenum, min_depth, max_depth, flags) \
  pc_compat_from_any((PyObject *)(o), typenum, min_depth, max_depth, flags)
#define PyArray_ContiguousFromAny(o, typenum, min_depth, max_depth) \
  PyArray_FROMANY(o, typenum, min_depth, max_depth, NPY_ARRAY_DEFAULT)
#define PyArray_ContiguousFromObject(o, typenum, min_depth, max_depth) PyArray_ContiguousFromAny(o, typenum, min_depth, max_depth)
#define PyArray_CopyFromObject(o, typenum, min_depth, max_depth) \
  PyArray_FROMANY(o, typenum, min_depth, max_depth, NPY_ARRAY_ENSURECOPY | NPY_ARRAY_DEFAULT)

PC_COMPAT_SLOW PyObject *pc_compat_from_any(PyObject *o, int typenum, int min_depth, int max_depth, int flags) {
  PyArray_Descr *descr = PyArray_DescrFromType(typenum);
  return descr == NULL ? NULL : PyArray_FromAny(o, descr, min_depth, max_depth, flags, NULL);
}

/* The array itself if it is C-contiguous, else a copy that is; one reference. */
PC_COMPAT_SLOW PyArrayObject *pc_compat_get_contiguous(PyArrayObject *a) {
  if (!PyArray_IS_C_CONTIGUOUS(a)) return (PyArrayObject *)PyArray_NewCopy(a, NPY_CORDER);
  Py_INCREF(a);
  return a;
}

#define PyArray_GETCONTIGUOUS(a) pc_compat_get_contiguous(PC_COMPAT_ARRAY_OF(a))
#define PyArray_EnsureArray(o) pc_compat_ensure((PyObject *)(o))
#define PyArray_EnsureAnyArray(o) pc_compat_ensure((PyObject *)(o))

/* Takes over the reference to `o`. */
PC_COMPAT_SLOW PyObject *pc_compat_ensure(PyObject *o) {
  if (o == NULL || PyArray_Check(o)) return o;
  PyObject *a = PyArray_FROM_OF(o, NPY_ARRAY_ENSUREARRAY);
  Py_DECREF(o);
  return a;
}

/* Returns `a` itself: a number here stands for an array scalar of NumPy's C API. */
#define PyArray_Return(a) ((PyObject *)(a))
#define PyArray_ResolveWritebackIfCopy(a) ((void)(a), 0)
#define PyArray_DiscardWritebackIfCopy(a) ((void)(a))

#ifdef __cplusplus
}
#endif
#endif
