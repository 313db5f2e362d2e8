#section support_code_apply

/* The x of a·x = b, from the first row on, where `a` is lower triangular: nothing above its diagonal is read. A zero on the diagonal
 * gives NaN everywhere, as PyTensor has it. */
int APPLY_SPECIFIC(solve_lower)(PyArrayObject *a, PyArrayObject *b, PyArrayObject **out) {
  const npy_intp n = PyArray_DIMS(a)[0], m = PyArray_DIMS(b)[1];
  if (PyArray_DIMS(a)[1] != n || PyArray_DIMS(b)[0] != n) {
    PyErr_SetString(PyExc_ValueError, "expected a square matrix and as many rows on the right");
    return 1;
  }
  Py_XDECREF(*out);
  *out = (PyArrayObject *)PyArray_EMPTY(2, PyArray_DIMS(b), TYPENUM_INPUT_0, 0);
  if (*out == NULL) {
    return 1;
  }
  DTYPE_INPUT_0 *x = (DTYPE_INPUT_0 *)PyArray_DATA(*out);
  int is_regular = 1;
  for (npy_intp i = 0; i < n; i++) {
    const DTYPE_INPUT_0 diagonal = *(DTYPE_INPUT_0 *)PyArray_GETPTR2(a, i, i);
    is_regular = is_regular && diagonal != 0;
    for (npy_intp j = 0; j < m; j++) {
      x[i * m + j] = *(DTYPE_INPUT_0 *)PyArray_GETPTR2(b, i, j);
    }
    for (npy_intp k = 0; k < i; k++) {
      const DTYPE_INPUT_0 factor = *(DTYPE_INPUT_0 *)PyArray_GETPTR2(a, i, k);
      for (npy_intp j = 0; j < m; j++) {
        x[i * m + j] -= factor * x[k * m + j];
      }
    }
    for (npy_intp j = 0; j < m; j++) {
      x[i * m + j] /= diagonal;
    }
  }
  for (npy_intp i = 0; i < n * m && !is_regular; i++) {
    x[i] = (DTYPE_INPUT_0)NAN;
  }
  return 0;
}
