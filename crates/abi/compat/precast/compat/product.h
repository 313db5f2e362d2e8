/* precast/compat/product.h: PyArray_MatrixProduct, _MatrixProduct2, _InnerProduct, _Correlate, _Correlate2.
 *
 * Matrices of floats and complex numbers are multiplied by the host's `gemm`; everything else term by term, from the first to the last.
 */
#ifndef PRECAST_COMPAT_PRODUCT_H
#define PRECAST_COMPAT_PRODUCT_H

#include <precast/compat/line.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The sum of products of two lines, whose elements have one dtype, stored at `to`. */
PC_COMPAT_SLOW void pc_compat_dot(int dtype, char *to, const char *a, int64_t a_step, const char *b, int64_t b_step, int64_t n) {
  char x[16], sum[16];
  pc_compat_set(dtype, sum, pc_compat_of_i64(0));
  for (int64_t i = 0; i < n; i++) {
    pc_compat_set(dtype, x, pc_compat_arith('*', dtype, pc_compat_get(dtype, a + i * a_step), pc_compat_get(dtype, b + i * b_step)));
    pc_compat_set(dtype, sum, pc_compat_arith('+', dtype, pc_compat_get(dtype, sum), pc_compat_get(dtype, x)));
  }
  pc_compat_set(dtype, to, pc_compat_get(dtype, sum));
}

/* Fills a contiguous `out`: every line of `a` with every line of `b`. */
PC_COMPAT_SLOW int pc_compat_product_into(PyArrayObject *out, const pc_compat_lines *a, const pc_compat_lines *b) {
  pc_context *ctx = pc_compat_current.ctx;
  int dtype = out->dtype, bytes = pc_compat_itemsize(dtype);
  int multiplied = dtype == PC_F32 || dtype == PC_F64 || dtype == PC_C64 || dtype == PC_C128;
  if (multiplied && a->t.ndim <= 1 && b->t.ndim <= 1 && a->length > 0 && ctx->host->gemm != NULL) {
    int64_t m = a->t.ndim == 1 ? a->shape[0] : 1, n = b->t.ndim == 1 ? b->shape[0] : 1;
    return ctx->host->gemm(ctx, dtype, m, n, a->length, a->t.data, a->t.ndim == 1 ? a->strides[0] : 0, a->step, b->t.data, b->step,
                           b->t.ndim == 1 ? b->strides[0] : 0, out->data, n * bytes, bytes) == 0;
  }
  pc_compat_walk rows, columns;
  char *to = out->data;
  pc_compat_walk_start(&rows, a->t.ndim, a->shape);
  pc_compat_walk_add(&rows, &a->t);
  for (; rows.left > 0; pc_compat_walk_next(&rows)) {
    pc_compat_walk_start(&columns, b->t.ndim, b->shape);
    pc_compat_walk_add(&columns, &b->t);
    for (; columns.left > 0; pc_compat_walk_next(&columns), to += bytes) {
      pc_compat_dot(dtype, to, rows.at[0], a->step, columns.at[0], b->step, a->length);
    }
  }
  return 1;
}

PC_COMPAT_SLOW void pc_compat_not_aligned(const PyArrayObject *a, int i, const PyArrayObject *b, int j) {
  PyErr_Format(PyExc_ValueError, "shapes not aligned: %zd (dim %d) != %zd (dim %d)", (Py_ssize_t)a->shape[i], i, (Py_ssize_t)b->shape[j], j);
}

/* The product over the last axis of `a` and axis `from_end` from the end of `b` (the first, of a vector). */
PC_COMPAT_SLOW PyObject *pc_compat_product(PyObject *x, PyObject *y, int from_end, PyArrayObject *out) {
  PyArrayObject *a = (PyArrayObject *)PyArray_FROM_O(x), *b = NULL, *result = NULL;
  int64_t shape[2 * PC_MAX_NDIM];
  int dtype = 0, ndim = 0, fine = 0;
  if (a != NULL && (b = (PyArrayObject *)PyArray_FROM_O(y)) != NULL) {
    dtype = pc_compat_promote(a->dtype, b->dtype);
    PyArray_Descr *descr = pc_compat_descr(dtype);
    Py_SETREF(a, pc_compat_apart((PyArrayObject *)PyArray_FromArray(a, descr, NPY_ARRAY_FORCECAST), out));
    if (a != NULL) Py_SETREF(b, pc_compat_apart((PyArrayObject *)PyArray_FromArray(b, descr, NPY_ARRAY_FORCECAST), out));
  }
  if (a != NULL && b != NULL && (a->ndim == 0 || b->ndim == 0)) {
    PyArrayObject *shaped = a->ndim == 0 ? b : a;
    result = pc_compat_output(out, shaped->ndim, shaped->shape, dtype);
    if (result != NULL) pc_compat_arith_into('*', dtype, result, a, b);
  } else if (a != NULL && b != NULL) {
    int last = a->ndim - 1, axis = b->ndim > from_end ? b->ndim - 1 - from_end : 0;
    pc_compat_lines rows, columns;
    pc_compat_lines_of(&rows, a, last);
    pc_compat_lines_of(&columns, b, axis);
    for (int d = 0; d < rows.t.ndim; d++) shape[ndim++] = rows.shape[d];
    for (int d = 0; d < columns.t.ndim; d++) shape[ndim++] = columns.shape[d];
    if (rows.length != columns.length) pc_compat_not_aligned(a, last, b, axis);
    else if (ndim > PC_MAX_NDIM) PyErr_SetString(PyExc_ValueError, "dot: too many dimensions in result");
    else if (out != NULL && !PyArray_IS_C_CONTIGUOUS(out)) PyErr_SetString(PyExc_ValueError, "output array is not acceptable (must be a C-Array)");
    else result = pc_compat_output(out, ndim, shape, dtype);
    if (result != NULL) fine = PyArray_SIZE(result) == 0 || pc_compat_product_into(result, &rows, &columns);
    if (!fine) Py_CLEAR(result);
  }
  Py_XDECREF(a), Py_XDECREF(b);
  return (PyObject *)result;
}

PC_COMPAT_FN PyObject *PyArray_MatrixProduct2(PyObject *x, PyObject *y, PyArrayObject *out) { return pc_compat_product(x, y, 1, out); }
PC_COMPAT_FN PyObject *PyArray_MatrixProduct(PyObject *x, PyObject *y) { return pc_compat_product(x, y, 1, NULL); }
PC_COMPAT_FN PyObject *PyArray_InnerProduct(PyObject *x, PyObject *y) { return pc_compat_product(x, y, 0, NULL); }

/* ---- correlation ---- */

/* Slides the shorter vector `b` along `a`; `lead` elements of it hang over at the start. */
PC_COMPAT_SLOW void pc_compat_slide(PyArrayObject *to, const PyArrayObject *a, const PyArrayObject *b, int64_t lead, int backwards) {
  int64_t n = a->shape[0], k = b->shape[0], length = to->shape[0], bytes = pc_compat_itemsize(to->dtype);
  for (int64_t i = 0; i < length; i++) {
    int64_t first = i - lead, skip = first < 0 ? -first : 0, end = first + k > n ? n - first : k;
    char *at = to->data + (backwards ? length - 1 - i : i) * bytes;
    pc_compat_dot(to->dtype, at, a->data + (first + skip) * bytes, bytes, b->data + skip * bytes, bytes, end - skip);
  }
}

PC_COMPAT_SLOW PyObject *pc_compat_correlate(PyObject *x, PyObject *y, int mode, int turns) {
  PyArrayObject *a = (PyArrayObject *)PyArray_FROM_O(x), *b = NULL, *made[2] = {NULL, NULL}, *result = NULL;
  if (a == NULL || (b = (PyArrayObject *)PyArray_FROM_O(y)) == NULL) goto end;
  if (a->ndim != 1 || b->ndim != 1 || a->shape[0] == 0 || b->shape[0] == 0) {
    PyErr_SetString(PyExc_ValueError, a->ndim != 1 || b->ndim != 1 ? "the arrays of a correlation have one dimension"
                                                                   : "first or second argument cannot be empty");
    goto end;
  }
  {
    int dtype = pc_compat_promote(a->dtype, b->dtype), swapped = a->shape[0] < b->shape[0];
    made[0] = (PyArrayObject *)pc_compat_copy_as(swapped ? b : a, dtype, NPY_CORDER);
    made[1] = made[0] == NULL ? NULL : (PyArrayObject *)pc_compat_copy_as(swapped ? a : b, dtype, NPY_CORDER);
    if (made[1] == NULL) goto end;
    if (pc_compat_kind_letter(dtype) == 'c' && turns) { /* the second argument counts conjugated */
      PyArrayObject *second = made[swapped ? 0 : 1];
      for (npy_intp i = 0; i < second->shape[0]; i++) {
        char *at = second->data + i * PyArray_ITEMSIZE(second);
        pc_compat_value v = pc_compat_get(dtype, at);
        pc_compat_set(dtype, at, pc_compat_of_complex(v.re, -v.im));
      }
    }
    int64_t n = made[0]->shape[0], k = made[1]->shape[0], lead = mode == NPY_FULL ? k - 1 : mode == NPY_SAME ? k / 2 : 0;
    int64_t length = mode == NPY_FULL ? n + k - 1 : mode == NPY_SAME ? n : n - k + 1;
    if (mode < NPY_VALID || mode > NPY_FULL) PyErr_SetString(PyExc_ValueError, "mode must be 0, 1, or 2");
    else result = pc_compat_output(NULL, 1, &length, dtype);
    if (result != NULL) pc_compat_slide(result, made[0], made[1], lead, swapped && turns);
  }
end:
  Py_XDECREF(a), Py_XDECREF(b), Py_XDECREF(made[0]), Py_XDECREF(made[1]);
  return (PyObject *)result;
}

/* numpy.correlate: sums of x[n + k] * conj(y[n]). */
PC_COMPAT_FN PyObject *PyArray_Correlate2(PyObject *x, PyObject *y, int mode) { return pc_compat_correlate(x, y, mode, 1); }

/* NumPy's older rule: no conjugate, and the order of the arguments does not matter. */
PC_COMPAT_FN PyObject *PyArray_Correlate(PyObject *x, PyObject *y, int mode) { return pc_compat_correlate(x, y, mode, 0); }

#ifdef __cplusplus
}
#endif
#endif
