#section support_code_apply

/* A copy of `yes` if the condition is true, else of `no`. */
int APPLY_SPECIFIC(pick)(PyArrayObject *condition, PyArrayObject *yes, PyArrayObject *no, PyArrayObject **out) {
  PyArrayObject *const taken = *(npy_bool *)PyArray_DATA(condition) ? yes : no;
  Py_XDECREF(*out);
  *out = (PyArrayObject *)PyArray_NewCopy(taken, NPY_CORDER);
  return *out == NULL;
}
