/* precast/compat/scalar.h: NumPy's scalars, which are arrays without dimensions here, and single elements of arrays. */
#ifndef PRECAST_COMPAT_SCALAR_H
#define PRECAST_COMPAT_SCALAR_H

#include <precast/compat/copy.h>

#ifdef __cplusplus
extern "C" {
#endif

PC_COMPAT_TYPE_OBJECT(PyGenericArrType_Type, "numpy.generic", PC_COMPAT_SCALAR, -1)
PC_COMPAT_TYPE_OBJECT(PyBoolArrType_Type, "numpy.bool", PC_COMPAT_SCALAR, NPY_BOOL)
PC_COMPAT_TYPE_OBJECT(PyByteArrType_Type, "numpy.int8", PC_COMPAT_SCALAR, NPY_BYTE)
PC_COMPAT_TYPE_OBJECT(PyUByteArrType_Type, "numpy.uint8", PC_COMPAT_SCALAR, NPY_UBYTE)
PC_COMPAT_TYPE_OBJECT(PyShortArrType_Type, "numpy.int16", PC_COMPAT_SCALAR, NPY_SHORT)
PC_COMPAT_TYPE_OBJECT(PyUShortArrType_Type, "numpy.uint16", PC_COMPAT_SCALAR, NPY_USHORT)
PC_COMPAT_TYPE_OBJECT(PyIntArrType_Type, "numpy.int32", PC_COMPAT_SCALAR, NPY_INT)
PC_COMPAT_TYPE_OBJECT(PyUIntArrType_Type, "numpy.uint32", PC_COMPAT_SCALAR, NPY_UINT)
PC_COMPAT_TYPE_OBJECT(PyLongArrType_Type, "numpy.int64", PC_COMPAT_SCALAR, NPY_LONG)
PC_COMPAT_TYPE_OBJECT(PyULongArrType_Type, "numpy.uint64", PC_COMPAT_SCALAR, NPY_ULONG)
PC_COMPAT_TYPE_OBJECT(PyHalfArrType_Type, "numpy.float16", PC_COMPAT_SCALAR, NPY_HALF)
PC_COMPAT_TYPE_OBJECT(PyFloatArrType_Type, "numpy.float32", PC_COMPAT_SCALAR, NPY_FLOAT)
PC_COMPAT_TYPE_OBJECT(PyDoubleArrType_Type, "numpy.float64", PC_COMPAT_SCALAR, NPY_DOUBLE)
PC_COMPAT_TYPE_OBJECT(PyCFloatArrType_Type, "numpy.complex64", PC_COMPAT_SCALAR, NPY_CFLOAT)
PC_COMPAT_TYPE_OBJECT(PyCDoubleArrType_Type, "numpy.complex128", PC_COMPAT_SCALAR, NPY_CDOUBLE)

#define PyInt8ArrType_Type PyByteArrType_Type
#define PyUInt8ArrType_Type PyUByteArrType_Type
#define PyInt16ArrType_Type PyShortArrType_Type
#define PyUInt16ArrType_Type PyUShortArrType_Type
#define PyInt32ArrType_Type PyIntArrType_Type
#define PyUInt32ArrType_Type PyUIntArrType_Type
#define PyInt64ArrType_Type PyLongArrType_Type
#define PyUInt64ArrType_Type PyULongArrType_Type
#define PyFloat16ArrType_Type PyHalfArrType_Type
#define PyFloat32ArrType_Type PyFloatArrType_Type
#define PyFloat64ArrType_Type PyDoubleArrType_Type
#define PyComplex64ArrType_Type PyCFloatArrType_Type
#define PyComplex128ArrType_Type PyCDoubleArrType_Type

#define PyArray_IsScalar(o, name) PyObject_TypeCheck((PyObject *)(o), &Py##name##ArrType_Type)

/* A number with the bytes at `data`, read as an element of `descr`; keeps no reference to `descr`. */
PC_COMPAT_FN PyObject *PyArray_Scalar(void *data, PyArray_Descr *descr, PyObject *base) {
  (void)base;
  return pc_compat_number(descr->type_num, pc_compat_get(descr->type_num, (const char *)data));
}

/* Copies the element of a number. */
PC_COMPAT_SLOW void PyArray_ScalarAsCtype(PyObject *scalar, void *to) {
  if (!pc_compat_want(scalar, "biufc", "expected a number")) return;
  memcpy(to, PyArray_DATA(scalar), (size_t)PyArray_ITEMSIZE(scalar));
}

PC_COMPAT_SLOW int PyArray_CastScalarToCtype(PyObject *scalar, void *to, PyArray_Descr *descr) {
  if (!pc_compat_want(scalar, "biufc", "expected a number")) return -1;
  pc_compat_set(descr->type_num, (char *)to, pc_compat_value_of(scalar));
  return 0;
}

/* A new array without dimensions; of dtype `descr`, if that is not NULL. */
PC_COMPAT_SLOW PyObject *PyArray_FromScalar(PyObject *scalar, PyArray_Descr *descr) {
  if (!pc_compat_want(scalar, "biufc", "expected a number")) return NULL;
  return pc_compat_number(descr != NULL ? descr->type_num : PyArray_TYPE(scalar), pc_compat_value_of(scalar));
}

PC_COMPAT_FN PyArray_Descr *PyArray_DescrFromScalar(PyObject *scalar) { return PyArray_DESCR(scalar); }

/* The element at `p` as a number. */
PC_COMPAT_FN PyObject *PyArray_GETITEM(PyArrayObject *a, const char *p) {
  return pc_compat_number(a->dtype, pc_compat_get(a->dtype, p));
}

PC_COMPAT_FN PyObject *PyArray_ToScalar(void *p, PyArrayObject *a) { return PyArray_GETITEM(a, (const char *)p); }

/* Sets the element at `p`; returns -1 with an error set if `value` is not a number. */
PC_COMPAT_SLOW int PyArray_SETITEM(PyArrayObject *a, char *p, PyObject *value) {
  if (!pc_compat_want(value, "biufc", "must be a number")) return -1;
  pc_compat_set(a->dtype, p, pc_compat_value_of(value));
  return 0;
}

#ifdef __cplusplus
}
#endif
#endif
