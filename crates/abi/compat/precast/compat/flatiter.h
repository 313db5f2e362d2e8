/* precast/compat/flatiter.h: PyArray_IterNew and PyArray_MultiIterNew, NumPy's older iterators, in C order. */
#ifndef PRECAST_COMPAT_FLATITER_H
#define PRECAST_COMPAT_FLATITER_H

#include <precast/compat/copy.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PyArrayIterObject {
  pc_compat_head head;
  int nd_m1; /* the number of axes less one */
  npy_intp index, size;
  npy_intp coordinates[PC_MAX_NDIM];
  npy_intp dims_m1[PC_MAX_NDIM], strides[PC_MAX_NDIM], backstrides[PC_MAX_NDIM];
  PyArrayObject *ao; /* one reference */
  char *dataptr;
} PyArrayIterObject;

typedef struct PyArrayMultiIterObject {
  pc_compat_head head;
  int numiter, nd;
  npy_intp size, index;
  npy_intp dimensions[PC_MAX_NDIM];
  PyArrayIterObject *iters[PC_COMPAT_WALKERS * 4]; /* one reference each */
} PyArrayMultiIterObject;

PC_COMPAT_SLOW void pc_compat_flat_dealloc(PyObject *o) {
  Py_XDECREF(((PyArrayIterObject *)o)->ao);
  pc_compat_delete(o);
}

PC_COMPAT_SLOW void pc_compat_multi_dealloc(PyObject *o) {
  PyArrayMultiIterObject *multi = (PyArrayMultiIterObject *)o;
  for (int i = 0; i < multi->numiter; i++) Py_XDECREF(multi->iters[i]);
  pc_compat_delete(o);
}

PC_COMPAT_DATA const pc_type pc_compat_flat_type = {"numpy.flatiter", pc_compat_flat_dealloc};
PC_COMPAT_DATA const pc_type pc_compat_multi_type = {"numpy.broadcast", pc_compat_multi_dealloc};

#define PyArrayIter_Check(o) (pc_compat_kind((PyObject *)(o)) == PC_COMPAT_ITER)

/* An iterator over `a` broadcast to a shape; NULL with an error set. */
PC_COMPAT_SLOW PyObject *PyArray_BroadcastToShape(PyObject *o, npy_intp *shape, int ndim) {
  PyArrayObject *a = (PyArrayObject *)o;
  int skip = ndim - a->ndim, fits = skip >= 0;
  for (int d = 0; d < a->ndim && fits; d++) fits = a->shape[d] == 1 || a->shape[d] == shape[skip + d];
  if (!fits) {
    PyErr_SetString(PyExc_ValueError, "array is not broadcastable to correct shape");
    return NULL;
  }
  PyArrayIterObject *iter = (PyArrayIterObject *)pc_compat_new(PC_COMPAT_ITER, &pc_compat_flat_type, sizeof(PyArrayIterObject));
  if (iter == NULL) return NULL;
  iter->nd_m1 = ndim - 1;
  iter->size = PyArray_MultiplyList(shape, ndim);
  for (int d = 0; d < ndim; d++) {
    iter->dims_m1[d] = shape[d] - 1;
    iter->strides[d] = d < skip || a->shape[d - skip] == 1 ? 0 : a->strides[d - skip];
    iter->backstrides[d] = iter->strides[d] * iter->dims_m1[d];
  }
  iter->ao = (PyArrayObject *)Py_NewRef(a);
  iter->dataptr = a->data;
  return (PyObject *)iter;
}

PC_COMPAT_FN PyObject *PyArray_IterNew(PyObject *o) {
  return PyArray_BroadcastToShape(o, PyArray_DIMS(o), PyArray_NDIM(o));
}

/* An iterator that is walked along all axes but one, which is the caller's. A negative axis is the shortest step's. */
PC_COMPAT_SLOW PyObject *PyArray_IterAllButAxis(PyObject *o, int *axis) {
  PyArrayIterObject *iter = (PyArrayIterObject *)PyArray_IterNew(o);
  if (iter == NULL || PyArray_NDIM(o) == 0) return (PyObject *)iter;
  if (*axis < 0) {
    *axis = 0;
    for (int d = 1; d <= iter->nd_m1; d++) {
      npy_intp best = PyArray_STRIDE(o, *axis), other = PyArray_STRIDE(o, d);
      if ((other < 0 ? -other : other) < (best < 0 ? -best : best)) *axis = d;
    }
  }
  npy_intp extent = iter->dims_m1[*axis] + 1;
  iter->size = extent == 0 ? 0 : iter->size / extent;
  iter->dims_m1[*axis] = 0;
  iter->backstrides[*axis] = 0;
  return (PyObject *)iter;
}

PC_COMPAT_SLOW void pc_compat_flat_next(PyArrayIterObject *iter) {
  iter->index++;
  for (int d = iter->nd_m1; d >= 0; d--) {
    if (iter->coordinates[d] < iter->dims_m1[d]) {
      iter->coordinates[d]++;
      iter->dataptr += iter->strides[d];
      return;
    }
    iter->coordinates[d] = 0;
    iter->dataptr -= iter->backstrides[d];
  }
}

PC_COMPAT_SLOW void pc_compat_flat_goto(PyArrayIterObject *iter, npy_intp index) {
  if (index < 0) index += iter->size;
  iter->index = index;
  iter->dataptr = iter->ao->data;
  for (int d = iter->nd_m1; d >= 0; d--) {
    npy_intp extent = iter->dims_m1[d] + 1;
    iter->coordinates[d] = extent > 0 ? index % extent : 0;
    index = extent > 0 ? index / extent : 0;
    iter->dataptr += iter->coordinates[d] * iter->strides[d];
  }
}

#define PyArray_ITER_DATA(iter) ((void *)((PyArrayIterObject *)(iter))->dataptr)
#define PyArray_ITER_NOTDONE(iter) (((PyArrayIterObject *)(iter))->index < ((PyArrayIterObject *)(iter))->size)
#define PyArray_ITER_NEXT(iter) pc_compat_flat_next((PyArrayIterObject *)(iter))
#define PyArray_ITER_RESET(iter) pc_compat_flat_goto((PyArrayIterObject *)(iter), 0)
#define PyArray_ITER_GOTO1D(iter, index) pc_compat_flat_goto((PyArrayIterObject *)(iter), index)

/* An iterator over so many arrays, at most 12, broadcast together. */
PC_COMPAT_SLOW PyObject *PyArray_MultiIterNew(int count, ...) {
  PyArrayMultiIterObject *multi;
  int64_t shape[PC_MAX_NDIM];
  PyObject *arrays[PC_COMPAT_WALKERS * 4];
  int ndim = 0, fits = 1;
  if (count < 1 || count > PC_COMPAT_WALKERS * 4) {
    PyErr_SetString(PyExc_ValueError, "an iterator of this kind has 1 to 12 arrays here");
    return NULL;
  }
  va_list args;
  va_start(args, count);
  for (int i = 0; i < count; i++) {
    arrays[i] = va_arg(args, PyObject *);
    fits = fits && arrays[i] != NULL && PyArray_Check(arrays[i]) && pc_compat_broadcast(&ndim, shape, (PyArrayObject *)arrays[i]);
  }
  va_end(args);
  if (!fits) {
    PyErr_SetString(PyExc_ValueError, "shape mismatch: objects cannot be broadcast to a single shape");
    return NULL;
  }
  multi = (PyArrayMultiIterObject *)pc_compat_new(PC_COMPAT_MULTI_ITER, &pc_compat_multi_type, sizeof(PyArrayMultiIterObject));
  if (multi == NULL) return NULL;
  multi->nd = ndim;
  multi->size = PyArray_MultiplyList((npy_intp *)shape, ndim);
  for (int d = 0; d < ndim; d++) multi->dimensions[d] = shape[d];
  for (multi->numiter = 0; multi->numiter < count; multi->numiter++) {
    PyObject *iter = PyArray_BroadcastToShape(arrays[multi->numiter], multi->dimensions, ndim);
    if (iter == NULL) {
      Py_DECREF(multi);
      return NULL;
    }
    multi->iters[multi->numiter] = (PyArrayIterObject *)iter;
  }
  return (PyObject *)multi;
}

PC_COMPAT_SLOW void pc_compat_multi_next(PyArrayMultiIterObject *multi) {
  multi->index++;
  for (int i = 0; i < multi->numiter; i++) pc_compat_flat_next(multi->iters[i]);
}

PC_COMPAT_SLOW void pc_compat_multi_reset(PyArrayMultiIterObject *multi) {
  multi->index = 0;
  for (int i = 0; i < multi->numiter; i++) pc_compat_flat_goto(multi->iters[i], 0);
}

#define PyArray_MultiIter_DATA(multi, i) ((void *)((PyArrayMultiIterObject *)(multi))->iters[i]->dataptr)
#define PyArray_MultiIter_NOTDONE(multi) \
  (((PyArrayMultiIterObject *)(multi))->index < ((PyArrayMultiIterObject *)(multi))->size)
#define PyArray_MultiIter_NEXT(multi) pc_compat_multi_next((PyArrayMultiIterObject *)(multi))
#define PyArray_MultiIter_NEXTi(multi, i) pc_compat_flat_next(((PyArrayMultiIterObject *)(multi))->iters[i])
#define PyArray_MultiIter_RESET(multi) pc_compat_multi_reset((PyArrayMultiIterObject *)(multi))
#define PyArray_MultiIter_SIZE(multi) (((PyArrayMultiIterObject *)(multi))->size)
#define PyArray_MultiIter_NDIM(multi) (((PyArrayMultiIterObject *)(multi))->nd)
#define PyArray_MultiIter_DIMS(multi) (((PyArrayMultiIterObject *)(multi))->dimensions)

#ifdef __cplusplus
}
#endif
#endif
