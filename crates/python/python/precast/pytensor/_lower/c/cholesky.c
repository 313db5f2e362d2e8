#section support_code_apply

/* The lower triangle L of a = L·Lᵀ, row by row (Cholesky and Banachiewicz), of which the lower triangle alone is read. A matrix that is
 * not positive definite gives NaN everywhere, as PyTensor has it; NaN below the diagonal stays where it comes to. */
int APPLY_SPECIFIC(cholesky)(PyArrayObject *a, PyArrayObject **out) {
  const npy_intp n = PyArray_DIMS(a)[0];
  if (PyArray_DIMS(a)[1] != n) {
    PyErr_SetString(PyExc_ValueError, "expected a square matrix");
    return 1;
  }
  Py_XDECREF(*out);
  *out = (PyArrayObject *)PyArray_EMPTY(2, PyArray_DIMS(a), TYPENUM_INPUT_0, 0);
  if (*out == NULL) {
    return 1;
  }
  DTYPE_INPUT_0 *l = (DTYPE_INPUT_0 *)PyArray_DATA(*out);
  int is_definite = 1;
  for (npy_intp i = 0; i < n; i++) {
    for (npy_intp j = 0; j < n; j++) {
      DTYPE_INPUT_0 rest = j > i ? 0 : *(DTYPE_INPUT_0 *)PyArray_GETPTR2(a, i, j);
      for (npy_intp k = 0; k < j && j <= i; k++) {
        rest -= l[i * n + k] * l[j * n + k];
      }
      is_definite = is_definite && (i != j || !(rest <= 0));
      l[i * n + j] = j < i ? rest / l[j * n + j] : j == i ? (DTYPE_INPUT_0)sqrt(rest) : 0;
    }
  }
  for (npy_intp i = 0; i < n * n && !is_definite; i++) {
    l[i] = (DTYPE_INPUT_0)NAN;
  }
  return 0;
}
