/* precast/compat/pick.h: elements by their place: PyArray_TakeFrom, _Choose, _Where, _Nonzero, _Concatenate. */
#ifndef PRECAST_COMPAT_PICK_H
#define PRECAST_COMPAT_PICK_H

#include <precast/compat/line.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies the items at the indices: `to` is [outer, indices, inner] of whole items, contiguous, and so is `from`. */
PC_COMPAT_SLOW int pc_compat_take_into(char *to, const char *from, const int64_t *at, int64_t count, const int64_t *extents,
                                       int axis, NPY_CLIPMODE mode) {
  int64_t outer = extents[0], n = extents[1], bytes = extents[2];
  for (int64_t k = 0; k < count; k++) { /* a bad index is found before anything is written */
    int64_t i = at[k];
    if (!pc_compat_index(&i, n, axis, mode)) return 0;
  }
  for (int64_t o = 0; o < outer; o++) {
    for (int64_t k = 0; k < count; k++) {
      int64_t i = at[k];
      pc_compat_index(&i, n, axis, mode);
      memcpy(to + (o * count + k) * bytes, from + (o * n + i) * bytes, (size_t)bytes);
    }
  }
  return 1;
}

/* `a[..., indices, ...]`: the axis is replaced by those of the indices. `out`, if not NULL, is C-contiguous. */
PC_COMPAT_SLOW PyObject *PyArray_TakeFrom(PyArrayObject *a, PyObject *indices, int axis, PyArrayObject *out, NPY_CLIPMODE mode) {
  int64_t shape[2 * PC_MAX_NDIM], extents[3] = {1, 0, 1};
  PyArrayObject *whole = NULL, *result = NULL, *at = NULL, *in = pc_compat_apart(pc_compat_along(a, &axis), out);
  int ndim = 0, done = 0;
  if (in == NULL || (whole = pc_compat_get_contiguous(in)) == NULL || (at = pc_compat_indices(indices)) == NULL) goto end;
  for (int d = 0; d < axis; d++) extents[0] *= shape[ndim++] = whole->shape[d];
  for (int d = 0; d < at->ndim; d++) shape[ndim++] = at->shape[d];
  extents[1] = whole->shape[axis];
  extents[2] = pc_compat_itemsize(whole->dtype);
  for (int d = axis + 1; d < whole->ndim; d++) extents[2] *= shape[ndim++] = whole->shape[d];
  if (extents[1] == 0 && PyArray_MultiplyList((npy_intp *)shape, ndim) != 0) {
    PyErr_SetString(PyExc_IndexError, "cannot do a non-empty take from an empty axes.");
    goto end;
  }
  if (ndim > PC_MAX_NDIM || (out != NULL && !PyArray_IS_C_CONTIGUOUS(out))) {
    PyErr_SetString(PyExc_ValueError, ndim > PC_MAX_NDIM ? "too many dimensions" : "an output of a take is C-contiguous here");
    goto end;
  }
  result = pc_compat_output(out, ndim, shape, whole->dtype);
  if (result == NULL) goto end;
  done = extents[1] == 0 || pc_compat_take_into(result->data, whole->data, (int64_t *)at->data, PyArray_SIZE(at), extents, axis, mode);
end:
  if (!done) Py_CLEAR(result);
  Py_XDECREF(in), Py_XDECREF(whole), Py_XDECREF(at);
  return (PyObject *)result;
}

/* References to the arrays of a sequence; their count, -1 with an error set. At most NPY_MAXARGS. */
PC_COMPAT_SLOW int pc_compat_arrays(PyObject *sequence, PyArrayObject **arrays) {
  int count = 0;
  if (sequence == NULL || !PySequence_Check(sequence) || PySequence_Fast_GET_SIZE(sequence) > NPY_MAXARGS) {
    PyErr_Format(PyExc_TypeError, "a tuple or list of at most %d arrays is expected here", NPY_MAXARGS);
    return -1;
  }
  for (; count < (int)PySequence_Fast_GET_SIZE(sequence); count++) {
    arrays[count] = (PyArrayObject *)PyArray_FROM_O(PySequence_Fast_GET_ITEM(sequence, count));
    if (arrays[count] != NULL) continue;
    while (count > 0) Py_DECREF(arrays[--count]);
    return -1;
  }
  return count;
}

/* The common dtype of some arrays. */
PC_COMPAT_SLOW int pc_compat_common(PyArrayObject *const *arrays, int count) {
  int dtype = arrays[0]->dtype;
  for (int i = 1; i < count; i++) dtype = pc_compat_promote(dtype, arrays[i]->dtype);
  return dtype;
}

/* Which of several arrays, for each element of `a`; all broadcast together. */
PC_COMPAT_SLOW PyObject *PyArray_Choose(PyArrayObject *a, PyObject *choices, PyArrayObject *out, NPY_CLIPMODE mode) {
  PyArrayObject *arrays[NPY_MAXARGS], *result = NULL, *at = pc_compat_indices((PyObject *)a);
  int ndim = 0, count = at == NULL ? 0 : pc_compat_arrays(choices, arrays), fine = count > 0;
  int64_t shape[PC_MAX_NDIM];
  if (at != NULL && count == 0) PyErr_SetString(PyExc_ValueError, "0-length sequence.");
  if (fine && !pc_compat_broadcast(&ndim, shape, at)) fine = 0;
  for (int i = 0; i < count && fine; i++) fine = pc_compat_broadcast(&ndim, shape, arrays[i]);
  if (count > 0 && !fine) PyErr_SetString(PyExc_ValueError, "shape mismatch: objects cannot be broadcast to a single shape");
  for (npy_intp k = 0; fine && mode == NPY_RAISE && k < PyArray_SIZE(at); k++) {
    fine = ((int64_t *)at->data)[k] >= 0 && ((int64_t *)at->data)[k] < count;
    if (!fine) PyErr_SetString(PyExc_ValueError, "invalid entry in choice array");
  }
  if (fine) result = pc_compat_output(out, ndim, shape, pc_compat_common(arrays, count));
  for (int i = 0; i < count && result != NULL; i++) {
    pc_compat_walk w;
    pc_compat_walk_start(&w, ndim, shape);
    pc_compat_walk_add(&w, result);
    pc_compat_walk_add(&w, at);
    pc_compat_walk_add(&w, arrays[i]);
    for (; w.left > 0; pc_compat_walk_next(&w)) {
      int64_t k = pc_compat_as_i64(pc_compat_get(PC_I64, w.at[1]));
      pc_compat_index(&k, count, 0, mode);
      if (k == i) pc_compat_set(result->dtype, w.at[0], pc_compat_get(arrays[i]->dtype, w.at[2]));
    }
  }
  while (count > 0) Py_DECREF(arrays[--count]);
  Py_XDECREF(at);
  return (PyObject *)result;
}

/* A tuple of the indices, one array for each axis, of the elements that are not zero. */
PC_COMPAT_SLOW PyObject *PyArray_Nonzero(PyArrayObject *a) {
  npy_intp count = 0;
  pc_compat_walk w;
  if (a->ndim == 0) {
    PyErr_SetString(PyExc_ValueError, "Calling nonzero on 0d arrays is not allowed.");
    return NULL;
  }
  pc_compat_walk_start(&w, a->ndim, a->shape);
  pc_compat_walk_add(&w, a);
  for (; w.left > 0; pc_compat_walk_next(&w)) count += pc_compat_is_true(pc_compat_get(a->dtype, w.at[0]));
  PyObject *tuple = PyTuple_New(a->ndim);
  for (int d = 0; d < a->ndim && tuple != NULL; d++) {
    PyObject *list = pc_compat_empty(1, &count, NPY_INTP, 0);
    npy_intp k = 0;
    if (list == NULL) Py_CLEAR(tuple);
    if (list == NULL) break;
    PyTuple_SET_ITEM(tuple, d, list);
    pc_compat_walk_start(&w, a->ndim, a->shape);
    pc_compat_walk_add(&w, a);
    for (; w.left > 0; pc_compat_walk_next(&w)) {
      if (pc_compat_is_true(pc_compat_get(a->dtype, w.at[0]))) ((npy_intp *)PyArray_DATA(list))[k++] = w.index[d];
    }
  }
  return tuple;
}

/* Elements of `x` where the condition is true, else of `y`; all broadcast. Without both: PyArray_Nonzero of the condition. */
PC_COMPAT_SLOW PyObject *PyArray_Where(PyObject *condition, PyObject *x, PyObject *y) {
  PyArrayObject *c = NULL, *p = NULL, *q = NULL, *result = NULL;
  PyObject *found = NULL;
  int ndim = 0;
  int64_t shape[PC_MAX_NDIM];
  if ((x == NULL) != (y == NULL)) {
    PyErr_SetString(PyExc_ValueError, "either both or neither of x and y should be given");
    return NULL;
  }
  if ((c = (PyArrayObject *)PyArray_FROM_O(condition)) == NULL) return NULL;
  if (x == NULL) {
    found = PyArray_Nonzero(c);
  } else if ((p = (PyArrayObject *)PyArray_FROM_O(x)) != NULL && (q = (PyArrayObject *)PyArray_FROM_O(y)) != NULL) {
    if (!pc_compat_broadcast(&ndim, shape, c) || !pc_compat_broadcast(&ndim, shape, p) || !pc_compat_broadcast(&ndim, shape, q)) {
      PyErr_SetString(PyExc_ValueError, "operands could not be broadcast together");
    } else if ((result = pc_compat_output(NULL, ndim, shape, pc_compat_promote(p->dtype, q->dtype))) != NULL) {
      pc_compat_copy(result, q);
      pc_compat_walk w;
      pc_compat_walk_start(&w, ndim, shape);
      pc_compat_walk_add(&w, result);
      pc_compat_walk_add(&w, c);
      pc_compat_walk_add(&w, p);
      for (; w.left > 0; pc_compat_walk_next(&w)) {
        if (pc_compat_is_true(pc_compat_get(c->dtype, w.at[1]))) pc_compat_set(result->dtype, w.at[0], pc_compat_get(p->dtype, w.at[2]));
      }
    }
    found = (PyObject *)result;
  }
  Py_XDECREF(c), Py_XDECREF(p), Py_XDECREF(q);
  return found;
}

/* Checks extents and gives that of the result along the axis; -1 with an error set. */
PC_COMPAT_SLOW int64_t pc_compat_joined(PyArrayObject *const *arrays, int count, int axis) {
  int64_t length = 0;
  for (int i = 0; i < count; i++) {
    int fits = arrays[i]->ndim == arrays[0]->ndim;
    for (int d = 0; d < arrays[0]->ndim && fits; d++) fits = d == axis || arrays[i]->shape[d] == arrays[0]->shape[d];
    if (!fits) {
      PyErr_SetString(PyExc_ValueError, arrays[i]->ndim == arrays[0]->ndim
                                            ? "all the input array dimensions except for the concatenation axis must match exactly"
                                            : "all the input arrays must have same number of dimensions");
      return -1;
    }
    length += arrays[i]->shape[axis];
  }
  return length;
}

/* The arrays of a tuple or list, one after the other along an axis; NPY_RAVEL_AXIS flattens each. */
PC_COMPAT_SLOW PyObject *PyArray_Concatenate(PyObject *sequence, int axis) {
  PyArrayObject *arrays[NPY_MAXARGS], *result = NULL;
  int64_t shape[PC_MAX_NDIM], length = -1;
  int count = pc_compat_arrays(sequence, arrays), flat = axis == NPY_RAVEL_AXIS || axis == NPY_MAXDIMS;
  if (count < 0) return NULL;
  if (count == 0) PyErr_SetString(PyExc_ValueError, "need at least one array to concatenate");
  for (int i = 0; i < count && flat; i++) {
    PyObject *line = PyArray_Ravel(arrays[i], NPY_CORDER);
    if (line == NULL) goto end;
    Py_SETREF(arrays[i], (PyArrayObject *)line);
  }
  if (flat) axis = 0;
  if (count > 0 && arrays[0]->ndim == 0) PyErr_SetString(PyExc_ValueError, "zero-dimensional arrays cannot be concatenated");
  else if (count > 0 && pc_compat_axis(&axis, arrays[0]->ndim)) length = pc_compat_joined(arrays, count, axis);
  if (length < 0) goto end;
  for (int d = 0; d < arrays[0]->ndim; d++) shape[d] = d == axis ? length : arrays[0]->shape[d];
  result = pc_compat_output(NULL, arrays[0]->ndim, shape, pc_compat_common(arrays, count));
  if (result != NULL) {
    PyArrayObject part = *result;
    part.shape = shape;
    for (int i = 0; i < count; i++) {
      shape[axis] = arrays[i]->shape[axis];
      pc_compat_copy(&part, arrays[i]);
      part.data += shape[axis] * result->strides[axis];
    }
  }
end:
  while (count > 0) Py_DECREF(arrays[--count]);
  return (PyObject *)result;
}

#ifdef __cplusplus
}
#endif
#endif
