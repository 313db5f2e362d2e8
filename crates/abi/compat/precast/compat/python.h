/* precast/compat/python.h: the rest of Python.h: queries of any object, threads, versions. */
#ifndef PRECAST_COMPAT_PYTHON_H
#define PRECAST_COMPAT_PYTHON_H

#include <precast/compat/capsule.h>
#include <precast/compat/sequence.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version that op code finds: the last Python 3 whose names are here. */
#define PY_MAJOR_VERSION 3
#define PY_MINOR_VERSION 11
#define PY_MICRO_VERSION 0
#define PY_VERSION "3.11.0"
#define PY_VERSION_HEX 0x030b00f0

#define Py_UNUSED(name) pc_compat_unused_##name __attribute__((unused))
#define Py_MIN(a, b) ((a) > (b) ? (b) : (a))
#define Py_MAX(a, b) ((a) > (b) ? (a) : (b))
#define Py_ABS(a) ((a) < 0 ? -(a) : (a))
#define Py_STRINGIFY(x) pc_compat_stringify(x)
#define pc_compat_stringify(x) #x
#define Py_ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define Py_NAN ((double)NAN)
#define Py_HUGE_VAL HUGE_VAL
#define Py_MATH_PI 3.14159265358979323846
#define Py_MATH_E 2.7182818284590452354
#define Py_IS_NAN(x) __builtin_isnan(x)
#define Py_IS_INFINITY(x) __builtin_isinf(x)
#define Py_IS_FINITE(x) __builtin_isfinite(x)

/* ---- questions ---- */

/* Whether an object is an instance: a number is one of its number type, of the type of its dtype, and of ndarray. */
PC_COMPAT_SLOW int PyObject_TypeCheck(const void *object, const PyTypeObject *type) {
  PyObject *o = (PyObject *)object;
  switch (type->kind) {
    case PC_COMPAT_FLOAT: return PyFloat_Check(o);
    case PC_COMPAT_LONG: return PyLong_Check(o);
    case PC_COMPAT_BOOL: return PyBool_Check(o);
    case PC_COMPAT_COMPLEX: return PyComplex_Check(o);
    case PC_COMPAT_SCALAR:
      return PyNumber_Check(o) && (type->typenum < 0 || pc_compat_typenum(type->typenum) == ((pc_tensor *)o)->dtype);
    default: return pc_compat_kind(o) == type->kind;
  }
}

/* 1, 0, or -1 with an error set if `type` is neither a type nor an exception class. */
PC_COMPAT_SLOW int PyObject_IsInstance(PyObject *o, PyObject *type) {
  if (type != NULL && pc_compat_kind(type) == PC_COMPAT_TYPE) return PyObject_TypeCheck(o, (PyTypeObject *)type);
  PyErr_SetString(PyExc_TypeError, "isinstance() arg 2 must be a type");
  return -1;
}

#define PyType_Check(o) (pc_compat_kind((PyObject *)(o)) == PC_COMPAT_TYPE || PyExceptionClass_Check(o))
#define PyObject_Type(o) ((PyObject *)Py_TYPE(o))
#define PyCallable_Check(o) ((void)(o), 0)

/* Python's truth; -1 with an error set for an array of several elements. */
PC_COMPAT_SLOW int PyObject_IsTrue(PyObject *o) {
  switch (pc_compat_kind(o)) {
    case PC_COMPAT_NONE: return 0;
    case PC_COMPAT_TUPLE:
    case PC_COMPAT_LIST:
    case PC_COMPAT_STR:
    case PC_COMPAT_BYTES: return PyObject_Size(o) != 0;
    case PC_COMPAT_ARRAY: {
      const pc_tensor *t = (const pc_tensor *)o;
      int64_t n = pc_tensor_size(t);
      if (n == 1) return pc_compat_is_true(pc_compat_get(t->dtype, t->data));
      if (n == 0) return 0;
      PyErr_SetString(PyExc_ValueError, "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()");
      return -1;
    }
    default: return 1;
  }
}

PC_COMPAT_FN int PyObject_Not(PyObject *o) {
  int truth = PyObject_IsTrue(o);
  return truth < 0 ? -1 : !truth;
}

/* Compares strings, bytes and numbers; anything else is equal to itself only. 1, 0, or -1 with an error set. */
PC_COMPAT_SLOW int PyObject_RichCompareBool(PyObject *a, PyObject *b, int op) {
  int known = 1, order = a != b, chars = pc_compat_kind(a) == PC_COMPAT_STR || pc_compat_kind(a) == PC_COMPAT_BYTES;
  if (chars && pc_compat_kind(a) == pc_compat_kind(b)) {
    pc_compat_chars *s = (pc_compat_chars *)a, *t = (pc_compat_chars *)b;
    order = pc_compat_chars_compare(s->text, s->length, t->text, t->length);
  } else if (PyNumber_Check(a) && PyNumber_Check(b)) {
    pc_compat_value v = pc_compat_value_of(a), w = pc_compat_value_of(b);
    double x = pc_compat_as_f64(v), y = pc_compat_as_f64(w);
    int whole = v.kind != 'f' && v.kind != 'c' && v.kind != 'u' && w.kind != 'f' && w.kind != 'c' && w.kind != 'u';
    if (whole) order = v.i < w.i ? -1 : v.i > w.i;
    else if (v.kind == 'u' && w.kind == 'u') order = v.u < w.u ? -1 : v.u > w.u;
    else if (x != x || y != y) return op == Py_NE;
    else order = x < y ? -1 : x > y ? 1 : v.im != w.im;
  } else {
    known = 0;
  }
  switch (op) {
    case Py_EQ: return order == 0;
    case Py_NE: return order != 0;
    case Py_LT: if (known) return order < 0; break;
    case Py_LE: if (known) return order <= 0; break;
    case Py_GT: if (known) return order > 0; break;
    case Py_GE: if (known) return order >= 0; break;
    default: break;
  }
  PyErr_Format(PyExc_TypeError, "no order between '%s' and '%s'", Py_TYPE(a)->tp_name, Py_TYPE(b)->tp_name);
  return -1;
}

PC_COMPAT_SLOW PyObject *PyObject_RichCompare(PyObject *a, PyObject *b, int op) {
  int result = PyObject_RichCompareBool(a, b, op);
  return result < 0 ? NULL : PyBool_FromLong(result);
}

/* ---- threads: modules run without an interpreter, hence without a lock ---- */

typedef int PyGILState_STATE;
typedef struct pc_compat_thread PyThreadState;
#define PyGILState_LOCKED 0
#define PyGILState_UNLOCKED 1
PC_COMPAT_FN PyGILState_STATE PyGILState_Ensure(void) { return PyGILState_LOCKED; }
PC_COMPAT_FN void PyGILState_Release(PyGILState_STATE state) { (void)state; }
PC_COMPAT_FN int PyGILState_Check(void) { return 1; }
PC_COMPAT_FN PyThreadState *PyEval_SaveThread(void) { return NULL; }
PC_COMPAT_FN void PyEval_RestoreThread(PyThreadState *state) { (void)state; }
#define Py_BEGIN_ALLOW_THREADS {
#define Py_END_ALLOW_THREADS }
#define Py_BLOCK_THREADS
#define Py_UNBLOCK_THREADS
#define Py_BEGIN_CRITICAL_SECTION(o) {
#define Py_END_CRITICAL_SECTION() }
PC_COMPAT_FN int Py_IsInitialized(void) { return 1; }
PC_COMPAT_FN int Py_EnterRecursiveCall(const char *where) { return (void)where, 0; }
PC_COMPAT_FN void Py_LeaveRecursiveCall(void) {}
PC_COMPAT_SLOW void Py_FatalError(const char *message) { (void)message, __builtin_trap(); }

#ifdef __cplusplus
}
#endif
#endif
