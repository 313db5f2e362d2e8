/* precast/compat/line.h: shared parts of functions along an axis: the axis, the lines, the output. Not for op code. */
#ifndef PRECAST_COMPAT_LINE_H
#define PRECAST_COMPAT_LINE_H

#include <precast/compat/arith.h>
#include <precast/compat/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An array without one of its axes: `t` has the extents and strides of the remaining axes, and the first element of each line. */
typedef struct pc_compat_lines {
  pc_tensor t;
  int64_t shape[PC_MAX_NDIM], strides[PC_MAX_NDIM];
  int64_t length, step; /* elements of a line, bytes from one to the next */
} pc_compat_lines;

PC_COMPAT_SLOW void pc_compat_lines_of(pc_compat_lines *lines, const pc_tensor *a, int axis) {
  int ndim = 0;
  lines->t = *a;
  lines->length = a->shape[axis];
  lines->step = a->strides[axis];
  for (int d = 0; d < a->ndim; d++) {
    if (d == axis) continue;
    lines->shape[ndim] = a->shape[d];
    lines->strides[ndim++] = a->strides[d];
  }
  lines->t.ndim = ndim;
  lines->t.shape = lines->shape;
  lines->t.strides = lines->strides;
}

/* Returns a reference to `a`, or to it as one axis if NPY_RAVEL_AXIS (or NPY_MAXDIMS, its older spelling) asks for that or `a` has no axes.
 * Makes `axis` count from the front. Returns NULL with an error set. */
PC_COMPAT_SLOW PyArrayObject *pc_compat_along(PyArrayObject *a, int *axis) {
  int flat = *axis == NPY_RAVEL_AXIS || *axis == NPY_MAXDIMS || (a->ndim == 0 && (*axis == 0 || *axis == -1));
  if (flat) {
    *axis = 0;
    return (PyArrayObject *)PyArray_Ravel(a, NPY_CORDER);
  }
  return pc_compat_axis(axis, a->ndim) ? (PyArrayObject *)Py_NewRef(a) : NULL;
}

/* A reference to `a`, or to a copy if the memory of `out` is part of its own; NULL with an error set. Gives `a` back. */
PC_COMPAT_SLOW PyArrayObject *pc_compat_apart(PyArrayObject *a, const PyArrayObject *out) {
  if (a == NULL || out == NULL || !pc_compat_overlap(a, out)) return a;
  PyObject *copy = PyArray_NewCopy(a, NPY_CORDER);
  Py_DECREF(a);
  return (PyArrayObject *)copy;
}

/* A new array, or a new reference to `out` if that is one of the dtype and shape; else NULL with an error set. */
PC_COMPAT_SLOW PyArrayObject *pc_compat_output(PyArrayObject *out, int ndim, const int64_t *shape, int typenum) {
  if (out == NULL) return (PyArrayObject *)pc_compat_empty(ndim, (const npy_intp *)shape, typenum, 0);
  if (out->dtype != pc_compat_typenum(typenum) || out->ndim != ndim || !PyArray_CompareLists(PyArray_DIMS(out), (const npy_intp *)shape, ndim)) {
    PyErr_SetString(PyExc_ValueError, "output array does not match result: the dtype and shape of the result are expected");
    return NULL;
  }
  if (pc_compat_fail_unless_writeable(out, "output array") < 0) return NULL;
  return (PyArrayObject *)Py_NewRef(out);
}

/* A C-contiguous array of indices of an array, a number or a sequence of integers; one reference, NULL with an error set. */
PC_COMPAT_SLOW PyArrayObject *pc_compat_indices(PyObject *o) {
  PyArrayObject *a = (PyArrayObject *)PyArray_FROM_O(o);
  if (a == NULL) return NULL;
  PyArrayObject *indices = NULL;
  if (pc_compat_kind_letter(a->dtype) == 'f' && PyArray_SIZE(a) == 0) indices = (PyArrayObject *)pc_compat_copy_as(a, PC_I64, NPY_CORDER);
  else if (!PyTypeNum_ISINTEGER(a->dtype) && a->dtype != NPY_BOOL) PyErr_SetString(PyExc_TypeError, "indices must be integers");
  else indices = (PyArrayObject *)PyArray_FromArray(a, pc_compat_descr(PC_I64), NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
  Py_DECREF(a);
  return indices;
}

/* An index as `mode` wants it within `n`; 0 with an error set. */
PC_COMPAT_SLOW int pc_compat_index(int64_t *at, int64_t n, int axis, NPY_CLIPMODE mode) {
  int64_t i = *at;
  if (mode == NPY_RAISE) {
    if (i < -n || i >= n) {
      PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis %d with size %zd", (Py_ssize_t)i, axis, (Py_ssize_t)n);
      return 0;
    }
    *at = i < 0 ? i + n : i;
  } else if (mode == NPY_WRAP) {
    i %= n;
    *at = i < 0 ? i + n : i;
  } else {
    *at = i < 0 ? 0 : i >= n ? n - 1 : i;
  }
  return 1;
}

#ifdef __cplusplus
}
#endif
#endif
