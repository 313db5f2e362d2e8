#section support_code_apply
int APPLY_SPECIFIC(twice)(PyArrayObject *x, PyArrayObject **y) {
  /* A new reference, and perhaps a copy. */
  PyArrayObject *dense = PyArray_GETCONTIGUOUS(x);
  npy_intp i, n;
  if (dense == NULL) return 1;
  n = PyArray_SIZE(dense);
  if (*y == NULL || PyArray_SIZE(*y) != n) {
    Py_XDECREF(*y);
    *y = (PyArrayObject *)PyArray_EMPTY(1, PyArray_DIMS(dense), TYPENUM_OUTPUT_0, 0);
    if (*y == NULL) {
      Py_DECREF(dense);
      return 1;
    }
  }
  for (i = 0; i < n; i++) {
    ((DTYPE_OUTPUT_0 *)PyArray_DATA(*y))[i] = 2 * ((DTYPE_INPUT_0 *)PyArray_DATA(dense))[i];
  }
  Py_DECREF(dense);
  if (n > 64) {
    PyErr_SetString(PyExc_ValueError, "twice: too long");
    return 1;
  }
  return 0;
}
