/* precast/compat/number.h: PyFloat, PyLong, PyBool, PyComplex and PyNumber.
 *
 * A number is an array without dimensions: of float64, int64, bool or complex128 when it is made here. Code that reads one
 * takes any array without dimensions of a kind that fits, so the values of a graph are numbers without a conversion.
 */
#ifndef PRECAST_COMPAT_NUMBER_H
#define PRECAST_COMPAT_NUMBER_H

#include <precast/compat/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Py_complex {
  double real, imag;
} Py_complex;

#define PyFloat_Check(o) (pc_compat_is_number((PyObject *)(o), "f") && ((pc_tensor *)(o))->dtype == PC_F64)
#define PyFloat_CheckExact(o) PyFloat_Check(o)
#define PyLong_Check(o) pc_compat_is_number((PyObject *)(o), "iub")
#define PyLong_CheckExact(o) pc_compat_is_number((PyObject *)(o), "iu")
#define PyBool_Check(o) pc_compat_is_number((PyObject *)(o), "b")
#define PyComplex_Check(o) (pc_compat_is_number((PyObject *)(o), "c") && ((pc_tensor *)(o))->dtype == PC_C128)
#define PyComplex_CheckExact(o) PyComplex_Check(o)
#define PyNumber_Check(o) pc_compat_is_number((PyObject *)(o), "biufc")
#define PyIndex_Check(o) PyLong_Check(o)

/* Returns whether `o` is a number of these kinds; if not, sets a type error that begins with `what`. */
PC_COMPAT_SLOW int pc_compat_want(PyObject *o, const char *letters, const char *what) {
  if (pc_compat_is_number(o, letters)) return 1;
  PyErr_Format(PyExc_TypeError, "%s, not %s", what, o == NULL ? "NULL" : Py_TYPE(o)->tp_name);
  return 0;
}

/* ---- floats ---- */

PC_COMPAT_FN PyObject *PyFloat_FromDouble(double x) { return pc_compat_number(PC_F64, pc_compat_of_f64(x)); }

/* Returns the value of a real number; -1 with an error set if `o` is not a real number. */
PC_COMPAT_SLOW double PyFloat_AsDouble(PyObject *o) {
  return pc_compat_want(o, "fiub", "must be real number") ? pc_compat_as_f64(pc_compat_value_of(o)) : -1.0;
}

#define PyFloat_AS_DOUBLE(o) pc_compat_as_f64(pc_compat_value_of((PyObject *)(o)))
PC_COMPAT_FN double PyFloat_GetMax(void) { return 1.7976931348623157e308; }
PC_COMPAT_FN double PyFloat_GetMin(void) { return 2.2250738585072014e-308; }

/* ---- integers ---- */

PC_COMPAT_FN PyObject *PyLong_FromLongLong(long long i) { return pc_compat_number(PC_I64, pc_compat_of_i64(i)); }
PC_COMPAT_FN PyObject *PyLong_FromLong(long i) { return PyLong_FromLongLong(i); }
PC_COMPAT_FN PyObject *PyLong_FromSsize_t(Py_ssize_t i) { return PyLong_FromLongLong(i); }

PC_COMPAT_SLOW PyObject *PyLong_FromUnsignedLongLong(unsigned long long u) {
  return u > (unsigned long long)INT64_MAX ? pc_compat_number(PC_U64, pc_compat_of_u64(u)) : PyLong_FromLongLong((long long)u);
}

PC_COMPAT_FN PyObject *PyLong_FromUnsignedLong(unsigned long u) { return PyLong_FromUnsignedLongLong(u); }
PC_COMPAT_FN PyObject *PyLong_FromSize_t(size_t u) { return PyLong_FromUnsignedLongLong(u); }
PC_COMPAT_FN PyObject *PyLong_FromVoidPtr(void *p) { return PyLong_FromUnsignedLongLong((uintptr_t)p); }

PC_COMPAT_SLOW PyObject *PyLong_FromDouble(double x) {
  if (x != x || x - x != 0) {
    PyErr_SetString(x != x ? PyExc_ValueError : PyExc_OverflowError,
                    x != x ? "cannot convert float NaN to integer" : "cannot convert float infinity to integer");
    return NULL;
  }
  if (x >= 9223372036854775808.0 || x < -9223372036854775808.0) {
    PyErr_SetString(PyExc_OverflowError, "int too large for 64 bits");
    return NULL;
  }
  return PyLong_FromLongLong((long long)x);
}

/* An integer between two bounds; `*overflow` is -1, 0 or 1. -1 with an error set for anything else. */
PC_COMPAT_SLOW int64_t pc_compat_integer(PyObject *o, int64_t least, int64_t most, int *overflow) {
  *overflow = 0;
  if (!pc_compat_want(o, "iub", "an integer is required")) return -1;
  pc_compat_value v = pc_compat_value_of(o);
  if (v.kind == 'u' && v.u > (uint64_t)most) {
    *overflow = 1;
  } else if (v.kind != 'u' && v.i > most) {
    *overflow = 1;
  } else if (v.kind != 'u' && v.i < least) {
    *overflow = -1;
  }
  return *overflow != 0 ? -1 : pc_compat_as_i64(v);
}

PC_COMPAT_SLOW long long PyLong_AsLongLong(PyObject *o) {
  int overflow;
  long long i = pc_compat_integer(o, INT64_MIN, INT64_MAX, &overflow);
  if (overflow != 0) PyErr_SetString(PyExc_OverflowError, "int too large to convert");
  return i;
}

PC_COMPAT_SLOW long long PyLong_AsLongLongAndOverflow(PyObject *o, int *overflow) {
  return pc_compat_integer(o, INT64_MIN, INT64_MAX, overflow);
}

PC_COMPAT_FN long PyLong_AsLong(PyObject *o) { return (long)PyLong_AsLongLong(o); }
PC_COMPAT_FN Py_ssize_t PyLong_AsSsize_t(PyObject *o) { return (Py_ssize_t)PyLong_AsLongLong(o); }
PC_COMPAT_FN long PyLong_AsLongAndOverflow(PyObject *o, int *overflow) {
  return (long)PyLong_AsLongLongAndOverflow(o, overflow);
}

PC_COMPAT_SLOW int PyLong_AsInt(PyObject *o) {
  int overflow;
  int64_t i = pc_compat_integer(o, -2147483647 - 1, 2147483647, &overflow);
  if (overflow != 0) PyErr_SetString(PyExc_OverflowError, "int too large to convert to C int");
  return (int)i;
}

PC_COMPAT_SLOW unsigned long long PyLong_AsUnsignedLongLong(PyObject *o) {
  if (!pc_compat_want(o, "iub", "an integer is required")) return (unsigned long long)-1;
  pc_compat_value v = pc_compat_value_of(o);
  if (v.kind != 'u' && v.i < 0) {
    PyErr_SetString(PyExc_OverflowError, "can't convert negative value to unsigned int");
    return (unsigned long long)-1;
  }
  return pc_compat_as_u64(v);
}

PC_COMPAT_FN unsigned long PyLong_AsUnsignedLong(PyObject *o) { return (unsigned long)PyLong_AsUnsignedLongLong(o); }
PC_COMPAT_FN size_t PyLong_AsSize_t(PyObject *o) { return (size_t)PyLong_AsUnsignedLongLong(o); }
PC_COMPAT_FN void *PyLong_AsVoidPtr(PyObject *o) { return (void *)(uintptr_t)PyLong_AsUnsignedLongLong(o); }
PC_COMPAT_FN double PyLong_AsDouble(PyObject *o) { return PyFloat_AsDouble(o); }

/* ---- truth values ---- */

PC_COMPAT_FN PyObject *PyBool_FromLong(long i) { return i != 0 ? Py_True : Py_False; }

/* ---- complex numbers ---- */

PC_COMPAT_FN PyObject *PyComplex_FromDoubles(double real, double imag) {
  return pc_compat_number(PC_C128, pc_compat_of_complex(real, imag));
}

PC_COMPAT_FN PyObject *PyComplex_FromCComplex(Py_complex z) { return PyComplex_FromDoubles(z.real, z.imag); }

PC_COMPAT_SLOW Py_complex PyComplex_AsCComplex(PyObject *o) {
  Py_complex z = {-1.0, 0.0};
  if (pc_compat_want(o, "cfiub", "must be a number")) {
    pc_compat_value v = pc_compat_value_of(o);
    z.real = pc_compat_as_f64(v);
    z.imag = v.im;
  }
  return z;
}

PC_COMPAT_FN double PyComplex_RealAsDouble(PyObject *o) { return PyComplex_AsCComplex(o).real; }
PC_COMPAT_FN double PyComplex_ImagAsDouble(PyObject *o) { return PyComplex_AsCComplex(o).imag; }

/* ---- any number ---- */

PC_COMPAT_SLOW PyObject *PyNumber_Float(PyObject *o) {
  return pc_compat_want(o, "fiub", "float() argument must be a real number") ? PyFloat_FromDouble(PyFloat_AS_DOUBLE(o)) : NULL;
}

PC_COMPAT_SLOW PyObject *PyNumber_Long(PyObject *o) {
  if (!pc_compat_want(o, "fiub", "int() argument must be a real number")) return NULL;
  pc_compat_value v = pc_compat_value_of(o);
  return v.kind == 'f' ? PyLong_FromDouble(v.re) : v.kind == 'u' ? PyLong_FromUnsignedLongLong(v.u) : PyLong_FromLongLong(v.i);
}

PC_COMPAT_SLOW PyObject *PyNumber_Index(PyObject *o) {
  return pc_compat_want(o, "iub", "object cannot be interpreted as an integer") ? PyNumber_Long(o) : NULL;
}

/* An integer as a length; beyond 64 bits it is an error of class `exception`, or the nearest bound if that is NULL. */
PC_COMPAT_SLOW Py_ssize_t PyNumber_AsSsize_t(PyObject *o, PyObject *exception) {
  int overflow;
  int64_t i = pc_compat_integer(o, INT64_MIN, INT64_MAX, &overflow);
  if (overflow == 0) return (Py_ssize_t)i;
  if (exception == NULL) return overflow > 0 ? PY_SSIZE_T_MAX : PY_SSIZE_T_MIN;
  PyErr_SetString(exception, "cannot fit 'int' into an index-sized integer");
  return -1;
}

#ifdef __cplusplus
}
#endif
#endif
