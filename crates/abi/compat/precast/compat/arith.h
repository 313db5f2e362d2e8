/* precast/compat/arith.h: sums, products and comparisons of single elements, and PyNumber_Add and its like on whole arrays.
 *
 * Elements are computed with in their own dtype: integers wrap around, halves and floats round after each operation, parts of
 * a complex64 are floats. Comparisons sort as NumPy does: NaN behind everything, complex numbers by real part first.
 */
#ifndef PRECAST_COMPAT_ARITH_H
#define PRECAST_COMPAT_ARITH_H

#include <precast/compat/copy.h>

#ifdef __cplusplus
extern "C" {
#endif

PC_COMPAT_SLOW pc_compat_value pc_compat_arith_complex(char op, int dtype, pc_compat_value a, pc_compat_value b) {
  if (op == '+') return pc_compat_of_complex(a.re + b.re, a.im + b.im);
  if (op == '-') return pc_compat_of_complex(a.re - b.re, a.im - b.im);
  if (op == '/') {
    double size = b.re * b.re + b.im * b.im;
    return pc_compat_of_complex((a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size);
  }
  if (dtype == PC_C128) return pc_compat_of_complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
  float ar = (float)a.re, ai = (float)a.im, br = (float)b.re, bi = (float)b.im;
  float rr = ar * br, ii = ai * bi, ri = ar * bi, ir = ai * br;
  return pc_compat_of_complex((double)(rr - ii), (double)(ri + ir));
}

/* `a op b` for op in "+-*" (and "/" for floats); both were read from elements of `dtype`, and the result is to be stored in one. */
PC_COMPAT_SLOW pc_compat_value pc_compat_arith(char op, int dtype, pc_compat_value a, pc_compat_value b) {
  switch (a.kind) {
    case 'b': a.i = op == '*' ? a.i & b.i : a.i | b.i; return a;
    case 'i': {
      uint64_t x = (uint64_t)a.i, y = (uint64_t)b.i;
      a.i = (int64_t)(op == '+' ? x + y : op == '-' ? x - y : x * y);
      return a;
    }
    case 'u': a.u = op == '+' ? a.u + b.u : op == '-' ? a.u - b.u : a.u * b.u; return a;
    case 'f': a.re = op == '+' ? a.re + b.re : op == '-' ? a.re - b.re : op == '*' ? a.re * b.re : a.re / b.re; return a;
    default: return pc_compat_arith_complex(op, dtype, a, b);
  }
}

PC_COMPAT_FN int pc_compat_is_nan(pc_compat_value v) {
  return v.kind == 'f' || v.kind == 'c' ? v.re != v.re || v.im != v.im : 0;
}

PC_COMPAT_FN int pc_compat_less_f64(double a, double b) { return a < b || (b != b && a == a); }

/* Whether `a` comes before `b`; both are of one dtype. */
PC_COMPAT_SLOW int pc_compat_less(pc_compat_value a, pc_compat_value b) {
  switch (a.kind) {
    case 'u': return a.u < b.u;
    case 'f': return pc_compat_less_f64(a.re, b.re);
    case 'c':
      if (a.re < b.re) return a.im == a.im || b.im != b.im;
      if (a.re > b.re) return b.im != b.im && a.im == a.im;
      if (a.re == b.re || (a.re != a.re && b.re != b.re)) return pc_compat_less_f64(a.im, b.im);
      return b.re != b.re;
    default: return a.i < b.i;
  }
}

/* ---- whole arrays ---- */

/* `to = x op y`, both broadcast to `to` and cast to `dtype` first; no memory is shared, or all three are one. */
PC_COMPAT_SLOW void pc_compat_arith_into(char op, int dtype, pc_tensor *to, const pc_tensor *x, const pc_tensor *y) {
  char a[16], b[16];
  pc_compat_walk w;
  pc_compat_walk_start(&w, to->ndim, to->shape);
  pc_compat_walk_add(&w, to);
  pc_compat_walk_add(&w, x);
  pc_compat_walk_add(&w, y);
  for (; w.left > 0; pc_compat_walk_next(&w)) {
    pc_compat_set(dtype, a, pc_compat_get(x->dtype, w.at[1]));
    pc_compat_set(dtype, b, pc_compat_get(y->dtype, w.at[2]));
    pc_compat_set(dtype, a, pc_compat_arith(op, dtype, pc_compat_get(dtype, a), pc_compat_get(dtype, b)));
    pc_compat_set(to->dtype, w.at[0], pc_compat_get(dtype, a));
  }
}

/* The dtype that `x op y` is computed in; -1 with an error set. */
PC_COMPAT_SLOW int pc_compat_arith_dtype(char op, PyObject *x, PyObject *y) {
  if (x == NULL || y == NULL || !PyArray_Check(x) || !PyArray_Check(y)) {
    PyErr_SetString(PyExc_TypeError, "unsupported operand types: arithmetic here takes arrays and numbers");
    return -1;
  }
  int dtype = pc_compat_promote(PyArray_TYPE(x), PyArray_TYPE(y));
  if (op == '-' && dtype == PC_BOOL) {
    PyErr_SetString(PyExc_TypeError, "numpy boolean subtract, the `-` operator, is not supported");
    return -1;
  }
  return op == '/' && pc_compat_kind_letter(dtype) != 'f' && pc_compat_kind_letter(dtype) != 'c' ? PC_F64 : dtype;
}

PC_COMPAT_SLOW PyObject *pc_compat_number_op(char op, PyObject *x, PyObject *y) {
  int ndim = 0, dtype = pc_compat_arith_dtype(op, x, y);
  int64_t shape[PC_MAX_NDIM];
  if (dtype < 0) return NULL;
  if (!pc_compat_broadcast(&ndim, shape, (pc_tensor *)x) || !pc_compat_broadcast(&ndim, shape, (pc_tensor *)y)) {
    PyErr_SetString(PyExc_ValueError, "operands could not be broadcast together");
    return NULL;
  }
  PyObject *made = pc_compat_empty(ndim, (npy_intp *)shape, dtype, 0);
  if (made != NULL) pc_compat_arith_into(op, dtype, (pc_tensor *)made, (pc_tensor *)x, (pc_tensor *)y);
  return made;
}

/* A new reference to `x`, which holds the result; NULL with an error set. */
PC_COMPAT_SLOW PyObject *pc_compat_inplace_op(char op, PyObject *x, PyObject *y) {
  int dtype = pc_compat_arith_dtype(op, x, y), ndim;
  int64_t shape[PC_MAX_NDIM];
  if (dtype < 0 || pc_compat_fail_unless_writeable((pc_tensor *)x, "output array") < 0) return NULL;
  if (!PyArray_CanCastTypeTo(pc_compat_descr(dtype), PyArray_DESCR(x), NPY_SAME_KIND_CASTING)) {
    PyErr_Format(PyExc_TypeError, "Cannot cast output from dtype('%s') to dtype('%s') with casting rule 'same_kind'",
                 pc_compat_dtype_name(dtype), pc_compat_dtype_name(PyArray_TYPE(x)));
    return NULL;
  }
  ndim = PyArray_NDIM(x);
  for (int d = 0; d < ndim; d++) shape[d] = PyArray_DIM(x, d);
  if (!pc_compat_broadcast(&ndim, shape, (pc_tensor *)y) || ndim != PyArray_NDIM(x) ||
      !PyArray_CompareLists((npy_intp *)shape, PyArray_DIMS(x), ndim)) {
    PyErr_SetString(PyExc_ValueError, "non-broadcastable output operand doesn't match the broadcast shape");
    return NULL;
  }
  PyObject *apart = x != y && pc_compat_overlap((pc_tensor *)x, (pc_tensor *)y) ? PyArray_NewCopy((PyArrayObject *)y, NPY_CORDER)
                                                                                : Py_NewRef(y);
  if (apart == NULL) return NULL;
  pc_compat_arith_into(op, dtype, (pc_tensor *)x, (pc_tensor *)x, (pc_tensor *)apart);
  Py_DECREF(apart);
  return Py_NewRef(x);
}

PC_COMPAT_FN PyObject *PyNumber_Add(PyObject *x, PyObject *y) { return pc_compat_number_op('+', x, y); }
PC_COMPAT_FN PyObject *PyNumber_Subtract(PyObject *x, PyObject *y) { return pc_compat_number_op('-', x, y); }
PC_COMPAT_FN PyObject *PyNumber_Multiply(PyObject *x, PyObject *y) { return pc_compat_number_op('*', x, y); }
PC_COMPAT_FN PyObject *PyNumber_TrueDivide(PyObject *x, PyObject *y) { return pc_compat_number_op('/', x, y); }
PC_COMPAT_FN PyObject *PyNumber_InPlaceAdd(PyObject *x, PyObject *y) { return pc_compat_inplace_op('+', x, y); }
PC_COMPAT_FN PyObject *PyNumber_InPlaceSubtract(PyObject *x, PyObject *y) { return pc_compat_inplace_op('-', x, y); }
PC_COMPAT_FN PyObject *PyNumber_InPlaceMultiply(PyObject *x, PyObject *y) { return pc_compat_inplace_op('*', x, y); }
PC_COMPAT_FN PyObject *PyNumber_InPlaceTrueDivide(PyObject *x, PyObject *y) { return pc_compat_inplace_op('/', x, y); }

#ifdef __cplusplus
}
#endif
#endif
