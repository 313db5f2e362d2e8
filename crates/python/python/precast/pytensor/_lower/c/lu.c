#section support_code_apply

/* P·a = L·U with the largest pivot of each column, as LAPACK's getrf chooses it: L and U in one matrix, without the ones of L, and
 * in `rows` the row of `a` that each row is of, behind it the sign of that permutation. A pivot of zero stays one: nothing is
 * divided by it. */
int APPLY_SPECIFIC(lu)(PyArrayObject *a, PyArrayObject **out, PyArrayObject **rows) {
  const npy_intp n = PyArray_DIMS(a)[0], count = n + 1;
  if (PyArray_DIMS(a)[1] != n) {
    PyErr_SetString(PyExc_ValueError, "expected a square matrix");
    return 1;
  }
  Py_XDECREF(*out);
  *out = (PyArrayObject *)PyArray_NewCopy(a, NPY_CORDER);
  Py_XDECREF(*rows);
  *rows = (PyArrayObject *)PyArray_EMPTY(1, &count, NPY_INT64, 0);
  if (*out == NULL || *rows == NULL) {
    return 1;
  }
  DTYPE_INPUT_0 *u = (DTYPE_INPUT_0 *)PyArray_DATA(*out);
  npy_int64 *row = (npy_int64 *)PyArray_DATA(*rows);
  for (npy_intp i = 0; i < n; i++) {
    row[i] = i;
  }
  row[n] = 1;
  for (npy_intp k = 0; k < n; k++) {
    npy_intp pivot = k;
    for (npy_intp i = k + 1; i < n; i++) {
      pivot = fabs((double)u[i * n + k]) > fabs((double)u[pivot * n + k]) ? i : pivot;
    }
    for (npy_intp j = 0; j < n && pivot != k; j++) {
      const DTYPE_INPUT_0 other = u[k * n + j];
      u[k * n + j] = u[pivot * n + j];
      u[pivot * n + j] = other;
    }
    if (pivot != k) {
      const npy_int64 other = row[k];
      row[k] = row[pivot];
      row[pivot] = other;
      row[n] = -row[n];
    }
    for (npy_intp i = k + 1; i < n && u[k * n + k] != 0; i++) {
      const DTYPE_INPUT_0 factor = u[i * n + k] /= u[k * n + k];
      for (npy_intp j = k + 1; j < n; j++) {
        u[i * n + j] -= factor * u[k * n + j];
      }
    }
  }
  return 0;
}
