/* precast/link.h of host `cpython`: functions that the code of the built-in types calls. */
#ifndef PRECAST_LINK_H
#define PRECAST_LINK_H

#include <precast/module.h>

/* Returns whether `object` is an array of NumPy's dtype number `dtype`, aligned and in this machine's byte order; else raises. */
__attribute__((unused)) static int pc_extract_check(pc_context *ctx, const char *name, int dtype, pc_object *object) {
  PyArrayObject *const array = (PyArrayObject *)object;
  (void)ctx;
  if (object == NULL || !PyArray_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s: expected an array of dtype number %d, found another object", name, dtype);
    return 0;
  }
  if (!PyArray_EquivTypenums(PyArray_TYPE(array), dtype)) {
    PyErr_Format(PyExc_TypeError, "%s: expected an array of dtype number %d, found dtype number %d", name, dtype, (int)PyArray_TYPE(array));
    return 0;
  }
  if (!PyArray_ISALIGNED(array) || !PyArray_ISNOTSWAPPED(array)) {
    PyErr_Format(PyExc_TypeError, "%s: expected aligned elements in this machine's byte order", name);
    return 0;
  }
  return 1;
}

/* Returns whether `object` is a number of the dtype: one of NumPy's, an array without dimensions, or Python's float, int or bool; else
 * raises. */
__attribute__((unused)) static int pc_extract_check_scalar(pc_context *ctx, const char *name, int dtype, pc_object *object) {
  if (object != NULL && PyArray_IsScalar(object, Generic)) {
    PyArray_Descr *const descr = PyArray_DescrFromScalar(object);
    const int is = descr != NULL && PyArray_EquivTypenums(descr->type_num, dtype);
    Py_XDECREF((PyObject *)descr);
    if (is) return 1;
  } else if (object != NULL && PyArray_Check(object)) {
    if (!pc_extract_check(ctx, name, dtype, object)) return 0;
    if (PyArray_NDIM((PyArrayObject *)object) == 0) return 1;
  } else if (object != NULL) {
    if (PyFloat_Check(object) && dtype == NPY_FLOAT64) return 1;
    if (PyBool_Check(object) && dtype == NPY_BOOL) return 1;
    if (PyLong_Check(object) && !PyBool_Check(object) && PyArray_EquivTypenums(dtype, NPY_INT64)) {
      (void)PyLong_AsLongLong(object);
      return !PyErr_Occurred();
    }
  }
  PyErr_Format(PyExc_TypeError, "%s: expected a number of dtype number %d", name, dtype);
  return 0;
}

/* Returns the address of an array's elements, or of a copy of a number. The copy is valid until the thread's next call. */
__attribute__((unused)) static char *pc_data(pc_object *object) {
  static __thread union {
    double floats[2];
    long long integer;
    char bytes[16];
  } number;
  if (PyArray_Check(object)) return PyArray_BYTES((PyArrayObject *)object);
  if (PyArray_IsScalar(object, Generic)) {
    PyArray_ScalarAsCtype(object, &number);
  } else if (PyFloat_Check(object)) {
    number.floats[0] = PyFloat_AsDouble(object);
  } else if (PyBool_Check(object)) {
    number.bytes[0] = object == Py_True;
  } else {
    number.integer = PyLong_AsLongLong(object);
  }
  return number.bytes;
}

/* Puts a new array without dimensions into the cell and returns it. Returns NULL with an exception if memory is refused; the cell then
 * keeps its object. */
__attribute__((unused)) static pc_tensor *pc_scalar_out(pc_context *ctx, int dtype, pc_object **cell) {
  PyObject *const fresh = PyArray_SimpleNew(0, NULL, dtype);
  (void)ctx;
  if (fresh != NULL) {
    Py_XDECREF(*cell);
    *cell = fresh;
  }
  return (pc_tensor *)fresh;
}

#endif
