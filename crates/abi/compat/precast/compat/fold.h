/* precast/compat/fold.h: along an axis: PyArray_Sum, _Prod, _Max, _Min, _Any, _All, _ArgMax, _ArgMin, _CumSum, _CumProd.
 *
 * Sums and products go through a line from its start to its end, where NumPy adds pairwise: the last bits of a PyArray_Sum of
 * floats differ, those of a PyArray_CumSum do not.
 */
#ifndef PRECAST_COMPAT_FOLD_H
#define PRECAST_COMPAT_FOLD_H

#include <precast/compat/line.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The dtype of a sum: NumPy's choice where none is asked for. */
PC_COMPAT_SLOW int pc_compat_fold_dtype(int dtype, int wanted) {
  char kind = pc_compat_kind_letter(dtype);
  if (wanted >= 0 && wanted != NPY_NOTYPE) return pc_compat_typenum(wanted);
  return kind == 'b' || kind == 'i' ? PC_I64 : kind == 'u' ? PC_U64 : dtype;
}

/* Runs over the lines of `a` at op '+', '*' and stores each partial result; one reference to the output, or NULL. */
PC_COMPAT_SLOW PyObject *pc_compat_scan(char op, PyArrayObject *a, int axis, int typenum, PyArrayObject *out) {
  pc_compat_lines from, to;
  pc_compat_walk w;
  PyArrayObject *in = pc_compat_apart(pc_compat_along(a, &axis), out);
  if (in == NULL) return NULL;
  int dtype = pc_compat_fold_dtype(in->dtype, typenum);
  PyArrayObject *result = pc_compat_output(out, in->ndim, in->shape, dtype);
  if (result != NULL) {
    pc_compat_lines_of(&from, in, axis);
    pc_compat_lines_of(&to, result, axis);
    pc_compat_walk_start(&w, from.t.ndim, from.shape);
    pc_compat_walk_add(&w, &from.t);
    pc_compat_walk_add(&w, &to.t);
    for (; w.left > 0; pc_compat_walk_next(&w)) {
      char x[16];
      for (int64_t i = 0; i < from.length; i++) {
        char *at = w.at[1] + i * to.step;
        pc_compat_set(dtype, x, pc_compat_get(in->dtype, w.at[0] + i * from.step));
        if (i > 0) pc_compat_set(dtype, x, pc_compat_arith(op, dtype, pc_compat_get(dtype, at - to.step), pc_compat_get(dtype, x)));
        pc_compat_set(dtype, at, pc_compat_get(dtype, x));
      }
    }
  }
  Py_DECREF(in);
  return (PyObject *)result;
}

PC_COMPAT_FN PyObject *PyArray_CumSum(PyArrayObject *a, int axis, int typenum, PyArrayObject *out) {
  return pc_compat_scan('+', a, axis, typenum, out);
}

PC_COMPAT_FN PyObject *PyArray_CumProd(PyArrayObject *a, int axis, int typenum, PyArrayObject *out) {
  return pc_compat_scan('*', a, axis, typenum, out);
}

/* Which of a line is the first of its greatest ('>') or least ('<') elements; a NaN wins. */
PC_COMPAT_SLOW int64_t pc_compat_extreme(char op, int dtype, const char *at, int64_t length, int64_t step) {
  int64_t best = 0;
  pc_compat_value most = pc_compat_get(dtype, at);
  for (int64_t i = 1; i < length && !pc_compat_is_nan(most); i++) {
    pc_compat_value x = pc_compat_get(dtype, at + i * step);
    if (pc_compat_is_nan(x) || (op == '>' ? pc_compat_less(most, x) : pc_compat_less(x, most))) best = i, most = x;
  }
  return best;
}

/* One element for a line: op '+', '*', '>', '<' (extremes), 'G', 'L' (where they are), '&', '|'. */
PC_COMPAT_SLOW pc_compat_value pc_compat_fold_line(char op, int from, int dtype, const char *at, int64_t length, int64_t step) {
  char x[16];
  int64_t i = 0;
  switch (op) {
    case '+':
    case '*':
      pc_compat_set(dtype, x, pc_compat_of_i64(op == '*'));
      for (; i < length; i++) {
        char y[16];
        pc_compat_set(dtype, y, pc_compat_get(from, at + i * step));
        pc_compat_set(dtype, x, pc_compat_arith(op, dtype, pc_compat_get(dtype, x), pc_compat_get(dtype, y)));
      }
      return pc_compat_get(dtype, x);
    case '&':
    case '|':
      while (i < length && pc_compat_is_true(pc_compat_get(from, at + i * step)) == (op == '&')) i++;
      return pc_compat_of_i64(op == '&' ? i == length : i < length);
    case 'G':
    case 'L': return pc_compat_of_i64(pc_compat_extreme(op == 'G' ? '>' : '<', from, at, length, step));
    default: return pc_compat_get(from, at + step * pc_compat_extreme(op, from, at, length, step));
  }
}

PC_COMPAT_SLOW PyObject *pc_compat_fold(char op, PyArrayObject *a, int axis, int dtype, PyArrayObject *out) {
  pc_compat_lines from;
  pc_compat_walk w;
  PyArrayObject *result = NULL, *in = pc_compat_apart(pc_compat_along(a, &axis), out);
  if (in == NULL) return NULL;
  pc_compat_lines_of(&from, in, axis);
  int needs_one = op == '>' || op == '<' || op == 'G' || op == 'L';
  if (needs_one && from.length == 0) {
    PyErr_SetString(PyExc_ValueError, op == 'G'   ? "attempt to get argmax of an empty sequence"
                                      : op == 'L' ? "attempt to get argmin of an empty sequence"
                                                  : "zero-size array to reduction operation which has no identity");
  } else {
    result = pc_compat_output(out, from.t.ndim, from.shape, dtype);
  }
  if (result != NULL) {
    pc_compat_walk_start(&w, from.t.ndim, from.shape);
    pc_compat_walk_add(&w, &from.t);
    pc_compat_walk_add(&w, result);
    for (; w.left > 0; pc_compat_walk_next(&w)) {
      pc_compat_set(dtype, w.at[1], pc_compat_fold_line(op, in->dtype, dtype, w.at[0], from.length, from.step));
    }
  }
  Py_DECREF(in);
  return (PyObject *)result;
}

PC_COMPAT_FN PyObject *PyArray_Sum(PyArrayObject *a, int axis, int typenum, PyArrayObject *out) {
  return pc_compat_fold('+', a, axis, pc_compat_fold_dtype(a->dtype, typenum), out);
}

PC_COMPAT_FN PyObject *PyArray_Prod(PyArrayObject *a, int axis, int typenum, PyArrayObject *out) {
  return pc_compat_fold('*', a, axis, pc_compat_fold_dtype(a->dtype, typenum), out);
}

PC_COMPAT_FN PyObject *PyArray_Max(PyArrayObject *a, int axis, PyArrayObject *out) { return pc_compat_fold('>', a, axis, a->dtype, out); }
PC_COMPAT_FN PyObject *PyArray_Min(PyArrayObject *a, int axis, PyArrayObject *out) { return pc_compat_fold('<', a, axis, a->dtype, out); }
PC_COMPAT_FN PyObject *PyArray_Any(PyArrayObject *a, int axis, PyArrayObject *out) { return pc_compat_fold('|', a, axis, NPY_BOOL, out); }
PC_COMPAT_FN PyObject *PyArray_All(PyArrayObject *a, int axis, PyArrayObject *out) { return pc_compat_fold('&', a, axis, NPY_BOOL, out); }
PC_COMPAT_FN PyObject *PyArray_ArgMax(PyArrayObject *a, int axis, PyArrayObject *out) { return pc_compat_fold('G', a, axis, NPY_INTP, out); }
PC_COMPAT_FN PyObject *PyArray_ArgMin(PyArrayObject *a, int axis, PyArrayObject *out) { return pc_compat_fold('L', a, axis, NPY_INTP, out); }

#ifdef __cplusplus
}
#endif
#endif
