/* precast/compat/sort.h: order: PyArray_Sort, _ArgSort, _SearchSorted. Every sort here is stable. */
#ifndef PRECAST_COMPAT_SORT_H
#define PRECAST_COMPAT_SORT_H

#include <precast/compat/line.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sorts `order`, the places of elements in a line, by merging from below; `spare` has room for as many. */
PC_COMPAT_SLOW void pc_compat_merge_sort(int64_t *order, int64_t *spare, int64_t n, int dtype, const char *line, int64_t step) {
  for (int64_t i = 0; i < n; i++) order[i] = i;
  for (int64_t width = 1; width < n; width *= 2) {
    for (int64_t low = 0; low < n; low += 2 * width) {
      int64_t middle = low + width < n ? low + width : n, high = middle + width < n ? middle + width : n;
      int64_t i = low, j = middle;
      for (int64_t k = low; k < high; k++) {
        int second = i == middle || (j < high && pc_compat_less(pc_compat_get(dtype, line + order[j] * step),
                                                                pc_compat_get(dtype, line + order[i] * step)));
        spare[k] = order[second ? j++ : i++];
      }
    }
    for (int64_t k = 0; k < n; k++) order[k] = spare[k];
  }
}

/* Sorts each line of `a`, and stores where its elements came from in `places` if that is not NULL, else themselves; 0 with an
 * error set. `a` and `places` have one shape. */
PC_COMPAT_SLOW int pc_compat_sort_lines(PyArrayObject *a, int axis, PyArrayObject *places) {
  pc_compat_lines from, to;
  pc_compat_walk w;
  pc_compat_lines_of(&from, a, axis);
  pc_compat_lines_of(&to, places != NULL ? places : a, axis);
  size_t n = (size_t)from.length, item = (size_t)pc_compat_itemsize(a->dtype);
  int64_t *order = (int64_t *)pc_compat_malloc(n * (2 * sizeof(int64_t) + item) + 1);
  if (order == NULL) return 0;
  char *elements = (char *)(order + 2 * n);
  pc_compat_walk_start(&w, from.t.ndim, from.shape);
  pc_compat_walk_add(&w, &from.t);
  pc_compat_walk_add(&w, &to.t);
  for (; w.left > 0; pc_compat_walk_next(&w)) {
    pc_compat_merge_sort(order, order + n, from.length, a->dtype, w.at[0], from.step);
    for (size_t i = 0; i < n && places == NULL; i++) memcpy(elements + i * item, w.at[0] + order[i] * from.step, item);
    for (int64_t i = 0; i < from.length; i++) {
      if (places != NULL) memcpy(w.at[1] + i * to.step, order + i, sizeof(int64_t));
      else memcpy(w.at[1] + i * to.step, elements + (size_t)i * item, item);
    }
  }
  pc_compat_free(order);
  return 1;
}

/* Sorts in place; 0, or -1 with an error set. */
PC_COMPAT_SLOW int PyArray_Sort(PyArrayObject *a, int axis, NPY_SORTKIND kind) {
  (void)kind;
  if (pc_compat_fail_unless_writeable(a, "sort array") < 0 || !pc_compat_axis(&axis, a->ndim)) return -1;
  return pc_compat_sort_lines(a, axis, NULL) ? 0 : -1;
}

/* A new array of the places that the sorted elements have in `a`. */
PC_COMPAT_SLOW PyObject *PyArray_ArgSort(PyArrayObject *a, int axis, NPY_SORTKIND kind) {
  (void)kind;
  PyArrayObject *places = NULL, *in = pc_compat_along(a, &axis);
  if (in == NULL) return NULL;
  places = pc_compat_output(NULL, in->ndim, in->shape, NPY_INTP);
  if (places != NULL && !pc_compat_sort_lines(in, axis, places)) Py_CLEAR(places);
  Py_DECREF(in);
  return (PyObject *)places;
}

/* The references to the arrays of a search; 0 with an error set. */
PC_COMPAT_SLOW int pc_compat_search_arrays(PyArrayObject *a, PyObject *keys, PyObject *sorter, PyArrayObject **made) {
  if (a->ndim != 1) {
    PyErr_SetString(PyExc_ValueError, a->ndim < 1 ? "object of too small depth for desired array" : "object too deep for desired array");
    return 0;
  }
  if ((made[0] = (PyArrayObject *)PyArray_FROM_O(keys)) == NULL) return 0;
  int dtype = pc_compat_promote(a->dtype, made[0]->dtype);
  if ((made[1] = (PyArrayObject *)PyArray_FromArray(a, pc_compat_descr(dtype), NPY_ARRAY_DEFAULT & ~NPY_ARRAY_WRITEABLE)) == NULL) return 0;
  Py_SETREF(made[0], (PyArrayObject *)pc_compat_copy_as(made[0], dtype, NPY_CORDER));
  if (made[0] == NULL) return 0;
  if (sorter == NULL) return 1;
  if ((made[2] = pc_compat_indices(sorter)) == NULL) return 0;
  int fits = made[2]->ndim == 1 && made[2]->shape[0] == a->shape[0];
  if (!fits) PyErr_SetString(PyExc_ValueError, "sorter.size must equal keys.size");
  for (npy_intp i = 0; fits && i < a->shape[0]; i++) {
    int64_t at = ((int64_t *)made[2]->data)[i];
    fits = at >= 0 && at < a->shape[0];
    if (!fits) PyErr_SetString(PyExc_ValueError, "Sorter index out of range.");
  }
  return fits;
}

/* For each key the place where it belongs in the sorted vector `a`, before or behind its equals. `sorter` sorts `a`, or is NULL. */
PC_COMPAT_SLOW PyObject *PyArray_SearchSorted(PyArrayObject *a, PyObject *keys, NPY_SEARCHSIDE side, PyObject *sorter) {
  PyArrayObject *made[3] = {NULL, NULL, NULL}, *result = NULL;
  if (pc_compat_search_arrays(a, keys, sorter, made)) {
    result = pc_compat_output(NULL, made[0]->ndim, made[0]->shape, NPY_INTP);
  }
  if (result != NULL) {
    int dtype = made[0]->dtype, bytes = pc_compat_itemsize(dtype);
    const int64_t *order = made[2] != NULL ? (const int64_t *)made[2]->data : NULL;
    for (npy_intp k = 0; k < PyArray_SIZE(result); k++) {
      pc_compat_value key = pc_compat_get(dtype, made[0]->data + k * bytes);
      int64_t low = 0, high = a->shape[0];
      while (low < high) {
        int64_t middle = low + (high - low) / 2, at = order != NULL ? order[middle] : middle;
        pc_compat_value x = pc_compat_get(dtype, made[1]->data + at * bytes);
        int before = side == NPY_SEARCHLEFT ? pc_compat_less(x, key) : !pc_compat_less(key, x);
        if (before) low = middle + 1;
        else high = middle;
      }
      ((npy_intp *)PyArray_DATA(result))[k] = low;
    }
  }
  for (int i = 0; i < 3; i++) Py_XDECREF(made[i]);
  return (PyObject *)result;
}

#ifdef __cplusplus
}
#endif
#endif
