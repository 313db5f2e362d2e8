/* precast/compat/shape.h: other shapes of an array: PyArray_Newshape, _Transpose, _Squeeze, _Ravel, _Diagonal, _Resize. */
#ifndef PRECAST_COMPAT_SHAPE_H
#define PRECAST_COMPAT_SHAPE_H

#include <precast/compat/copy.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Turns a negative axis into one from the front; returns 0 with an error set if the axis is out of bounds. */
PC_COMPAT_SLOW int pc_compat_axis(int *axis, int ndim) {
  if (*axis >= -ndim && *axis < ndim) {
    if (*axis < 0) *axis += ndim;
    return 1;
  }
  PyErr_Format(PyExc_ValueError, "axis %d is out of bounds for array of dimension %d", *axis, ndim);
  return 0;
}

/* Strides of a view of `a` with another shape of as many elements; 0 if elements would have to move. */
PC_COMPAT_SLOW int pc_compat_reshape_strides(const pc_tensor *a, int ndim, const npy_intp *shape, int fortran, int64_t *strides) {
  int64_t old_shape[PC_MAX_NDIM], old_strides[PC_MAX_NDIM], item = pc_compat_itemsize(a->dtype);
  int old = 0;
  for (int d = 0; d < a->ndim; d++) {
    if (a->shape[d] == 1) continue;
    old_shape[old] = a->shape[d];
    old_strides[old++] = a->strides[d];
  }
  /* Runs of old axes against runs of new axes with as many elements. */
  int i = 0, k = 0;
  while (k < ndim) {
    int k_end = k + 1, i_end = i;
    int64_t have = 1, want = shape[k];
    while (have != want) {
      if (have < want && i_end < old) have *= old_shape[i_end++];
      else if (have > want && k_end < ndim) want *= shape[k_end++];
      else return 0;
    }
    for (int j = i; j + 1 < i_end; j++) { /* the run is one piece, in the order that is asked for */
      int64_t outer = fortran ? old_strides[j + 1] : old_strides[j], inner = fortran ? old_strides[j] : old_strides[j + 1];
      if (outer != inner * (fortran ? old_shape[j] : old_shape[j + 1])) return 0;
    }
    int64_t step = i_end > i ? old_strides[fortran ? i : i_end - 1] : item;
    for (int j = 0; j < k_end - k; j++) {
      int d = fortran ? k + j : k_end - 1 - j;
      strides[d] = step;
      step *= shape[d];
    }
    i = i_end;
    k = k_end;
  }
  return i == old;
}

/* A view where that is possible, else a copy. One extent may be -1. */
PC_COMPAT_SLOW PyObject *PyArray_Newshape(PyArrayObject *a, PyArray_Dims *wanted, NPY_ORDER order) {
  npy_intp shape[PC_MAX_NDIM], size = PyArray_SIZE(a), known = 1;
  int open = -1, ndim = wanted->len;
  int fortran = order == NPY_FORTRANORDER || (order == NPY_ANYORDER && PyArray_ISFORTRAN(a));
  if (ndim < 0 || ndim > PC_MAX_NDIM) return pc_compat_check_extents(ndim, NULL), (PyObject *)NULL;
  for (int d = 0; d < ndim; d++) {
    shape[d] = wanted->ptr[d];
    if (shape[d] < 0 && open >= 0) {
      PyErr_SetString(PyExc_ValueError, "can only specify one unknown dimension");
      return NULL;
    }
    if (shape[d] < 0) open = d;
    else if (__builtin_mul_overflow(known, shape[d], &known)) known = -1;
  }
  if (open >= 0 && known > 0 && size % known == 0) shape[open] = size / known, known = size;
  if (known != size || (open >= 0 && shape[open] < 0)) {
    PyErr_Format(PyExc_ValueError, "cannot reshape array of size %zd into the shape that is asked for", size);
    return NULL;
  }
  int64_t strides[PC_MAX_NDIM + 1];
  if (size == 0 || !pc_compat_reshape_strides(a, ndim, shape, fortran, strides)) {
    PyObject *copy = PyArray_NewCopy(a, fortran ? NPY_FORTRANORDER : NPY_CORDER);
    if (copy == NULL) return NULL;
    PyArrayObject flat = *(PyArrayObject *)copy;
    flat.ndim = ndim;
    flat.shape = (const int64_t *)shape;
    flat.strides = strides;
    pc_compat_set_strides(&flat, fortran);
    PyObject *view = pc_compat_view((PyArrayObject *)copy, ndim, (const int64_t *)shape, strides, PyArray_BYTES(copy));
    Py_DECREF(copy);
    return view;
  }
  return pc_compat_view(a, ndim, (const int64_t *)shape, strides, a->data);
}

/* Reshapes to the integers of a tuple or list, or to one integer. */
PC_COMPAT_SLOW PyObject *PyArray_Reshape(PyArrayObject *a, PyObject *shape) {
  npy_intp extents[PC_MAX_NDIM];
  PyArray_Dims wanted = {extents, 1};
  int sequence = shape != NULL && PySequence_Check(shape);
  if (sequence) {
    if (PySequence_Fast_GET_SIZE(shape) > PC_MAX_NDIM) return pc_compat_check_extents(PC_MAX_NDIM + 1, NULL), (PyObject *)NULL;
    wanted.len = (int)PySequence_Fast_GET_SIZE(shape);
  }
  for (int d = 0; d < wanted.len; d++) {
    extents[d] = PyNumber_AsSsize_t(sequence ? PySequence_Fast_GET_ITEM(shape, d) : shape, PyExc_IndexError);
    if (PyErr_Occurred()) return NULL;
  }
  return PyArray_Newshape(a, &wanted, NPY_CORDER);
}

/* A view with its axes in another order; NULL reverses them. */
PC_COMPAT_SLOW PyObject *PyArray_Transpose(PyArrayObject *a, PyArray_Dims *order) {
  int64_t shape[PC_MAX_NDIM], strides[PC_MAX_NDIM];
  uint64_t seen = 0;
  if (order != NULL && order->len != a->ndim) {
    PyErr_SetString(PyExc_ValueError, "axes don't match array");
    return NULL;
  }
  for (int d = 0; d < a->ndim; d++) {
    int from = order == NULL ? a->ndim - 1 - d : (int)order->ptr[d];
    if (!pc_compat_axis(&from, a->ndim)) return NULL;
    if (seen >> from & 1) {
      PyErr_SetString(PyExc_ValueError, "repeated axis in transpose");
      return NULL;
    }
    seen |= (uint64_t)1 << from;
    shape[d] = a->shape[from];
    strides[d] = a->strides[from];
  }
  return pc_compat_view(a, a->ndim, shape, strides, a->data);
}

PC_COMPAT_SLOW PyObject *PyArray_SwapAxes(PyArrayObject *a, int x, int y) {
  npy_intp order[PC_MAX_NDIM];
  PyArray_Dims axes = {order, a->ndim};
  if (!pc_compat_axis(&x, a->ndim) || !pc_compat_axis(&y, a->ndim)) return NULL;
  for (int d = 0; d < a->ndim; d++) order[d] = d == x ? y : d == y ? x : d;
  return PyArray_Transpose(a, &axes);
}

PC_COMPAT_SLOW PyObject *PyArray_Squeeze(PyArrayObject *a) {
  int64_t shape[PC_MAX_NDIM], strides[PC_MAX_NDIM];
  int ndim = 0;
  for (int d = 0; d < a->ndim; d++) {
    if (a->shape[d] == 1) continue;
    shape[ndim] = a->shape[d];
    strides[ndim++] = a->strides[d];
  }
  return ndim == a->ndim ? Py_NewRef(a) : pc_compat_view(a, ndim, shape, strides, a->data);
}

PC_COMPAT_SLOW PyObject *PyArray_Ravel(PyArrayObject *a, NPY_ORDER order) {
  npy_intp size = PyArray_SIZE(a);
  PyArray_Dims flat = {&size, 1};
  if (order == NPY_KEEPORDER) order = PyArray_ISFORTRAN(a) ? NPY_FORTRANORDER : NPY_CORDER;
  return PyArray_Newshape(a, &flat, order);
}

/* Always a copy. */
PC_COMPAT_SLOW PyObject *PyArray_Flatten(PyArrayObject *a, NPY_ORDER order) {
  int fortran = order == NPY_FORTRANORDER || ((order == NPY_ANYORDER || order == NPY_KEEPORDER) && PyArray_ISFORTRAN(a));
  PyObject *copy = PyArray_NewCopy(a, fortran ? NPY_FORTRANORDER : NPY_CORDER);
  if (copy == NULL) return NULL;
  PyObject *flat = PyArray_Ravel((PyArrayObject *)copy, fortran ? NPY_FORTRANORDER : NPY_CORDER);
  Py_DECREF(copy);
  return flat;
}

/* A view; with another dtype of as many bytes the bytes are read as that. */
PC_COMPAT_SLOW PyObject *PyArray_View(PyArrayObject *a, PyArray_Descr *descr, PyTypeObject *type) {
  (void)type;
  if (descr != NULL && descr->elsize != pc_compat_itemsize(a->dtype)) {
    PyErr_SetString(PyExc_ValueError, "a view here has elements of as many bytes as the array");
    return NULL;
  }
  PyObject *view = pc_compat_view(a, a->ndim, a->shape, a->strides, a->data);
  if (view != NULL && descr != NULL) ((pc_tensor *)view)->dtype = descr->type_num;
  return view;
}

/* A read-only view of a diagonal of two axes, which becomes the last axis. */
PC_COMPAT_SLOW PyObject *PyArray_Diagonal(PyArrayObject *a, int offset, int axis1, int axis2) {
  int64_t shape[PC_MAX_NDIM], strides[PC_MAX_NDIM];
  int ndim = 0;
  if (a->ndim < 2) {
    PyErr_SetString(PyExc_ValueError, "diag requires an array of at least two dimensions");
    return NULL;
  }
  if (!pc_compat_axis(&axis1, a->ndim) || !pc_compat_axis(&axis2, a->ndim)) return NULL;
  if (axis1 == axis2) {
    PyErr_SetString(PyExc_ValueError, "axis1 and axis2 cannot be the same");
    return NULL;
  }
  int64_t rows = a->shape[axis1], columns = a->shape[axis2];
  char *data = a->data;
  if (offset >= 0) columns -= offset;
  else rows += offset;
  int64_t length = rows < columns ? rows : columns;
  if (length > 0) data += offset >= 0 ? offset * a->strides[axis2] : -offset * a->strides[axis1];
  for (int d = 0; d < a->ndim; d++) {
    if (d == axis1 || d == axis2) continue;
    shape[ndim] = a->shape[d];
    strides[ndim++] = a->strides[d];
  }
  shape[ndim] = length > 0 ? length : 0;
  strides[ndim++] = a->strides[axis1] + a->strides[axis2];
  PyObject *view = pc_compat_view(a, ndim, shape, strides, data);
  if (view != NULL) ((pc_tensor *)view)->flags |= PC_FLAG_READONLY;
  return view;
}

/* Gives an array other extents in place: elements keep their place in memory order, new ones are zero. A new reference to
 * None, or NULL with an error set. */
PC_COMPAT_SLOW PyObject *PyArray_Resize(PyArrayObject *a, PyArray_Dims *wanted, int refcheck, NPY_ORDER order) {
  int fortran = order == NPY_FORTRANORDER;
  if (a->owner != NULL || (a->capacity_bytes == 0 && a->data != NULL)) {
    PyErr_SetString(PyExc_ValueError, "cannot resize this array: it does not own its data");
    return NULL;
  }
  if (!PyArray_ISONESEGMENT(a) || (a->flags & PC_FLAG_READONLY) != 0 || (refcheck && Py_REFCNT(a) > 1)) {
    PyErr_SetString(PyExc_ValueError, refcheck && Py_REFCNT(a) > 1
                                          ? "cannot resize an array that references or is referenced by another array"
                                          : "resize only works on single-segment arrays");
    return NULL;
  }
  PyArrayObject *fresh = (PyArrayObject *)pc_compat_zeros(wanted->len, wanted->ptr, a->dtype, fortran);
  if (fresh == NULL) return NULL;
  npy_intp old = PyArray_NBYTES(a), bytes = PyArray_NBYTES(fresh);
  if (old > 0 && bytes > 0) memcpy(fresh->data, a->data, (size_t)(old < bytes ? old : bytes));
  /* The headers change their memory; extents and strides are copied, their places belong to the headers. */
  PyArrayObject was = *a;
  a->data = fresh->data;
  a->capacity_bytes = fresh->capacity_bytes;
  a->ndim = fresh->ndim;
  for (int d = 0; d < fresh->ndim; d++) {
    PyArray_DIMS(a)[d] = fresh->shape[d];
    PyArray_STRIDES(a)[d] = fresh->strides[d];
  }
  fresh->data = was.data;
  fresh->capacity_bytes = was.capacity_bytes;
  Py_DECREF(fresh);
  return Py_NewRef(Py_None);
}

#ifdef __cplusplus
}
#endif
#endif
