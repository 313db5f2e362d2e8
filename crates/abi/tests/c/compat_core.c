/* Objects, errors, arrays and iterators of the compat headers, with every request for memory refused in turn. */
#include "compat_host.h"

#define NEED(pointer) \
  if ((pointer) == NULL) goto fail

static void destroy(PyObject *capsule) { PyMem_Free(PyCapsule_GetPointer(capsule, "memory")); }

static int objects(void) {
  PyObject *list = NULL, *tuple = NULL, *x = NULL, *text = NULL, *capsule = NULL, *slice = NULL;
  void *memory = NULL;
  int done = 0;
  NEED(list = PyList_New(0));
  for (int i = 0; i < 3; i++) {
    NEED(x = PyLong_FromLong(i));
    if (PyList_Append(list, x) < 0) goto fail;
    Py_CLEAR(x);
  }
  CHECK(PyList_Reverse(list) == 0 && PyLong_AsLong(PyList_GetItem(list, 0)) == 2 && PyList_Size(list) == 3);
  CHECK(PyList_GetItem(list, 3) == NULL && PyErr_ExceptionMatches(PyExc_IndexError));
  PyErr_Clear();
  NEED(tuple = PyTuple_Pack(2, list, Py_None));
  NEED(text = PyUnicode_FromFormat("%R|%S|%.2s|%5d|%-4i|%zd|%U|%%", tuple, Py_True, "abc", 7, 8, (Py_ssize_t)-9, PyTuple_GET_ITEM(tuple, 1)));
  CHECK(strcmp(PyUnicode_AsUTF8(text), "([2, 1, 0], None)|True|ab|    7|8   |-9|None|%") == 0);
  NEED(memory = PyMem_Malloc(8));
  NEED(capsule = PyCapsule_New(memory, "memory", destroy));
  memory = NULL;
  CHECK(PyCapsule_IsValid(capsule, "memory") && !PyCapsule_IsValid(capsule, NULL));
  NEED(slice = PySlice_New(NULL, NULL, NULL));
  Py_ssize_t start, stop, step, count;
  CHECK(PySlice_GetIndicesEx(slice, 5, &start, &stop, &step, &count) == 0 && start == 0 && stop == 5 && step == 1 && count == 5);
  NEED(x = PyFloat_FromDouble(2.5));
  CHECK(PyFloat_Check(x) && PyFloat_AsDouble(x) == 2.5 && !PyLong_Check(x) && PyObject_IsTrue(x) == 1);
  CHECK(PyLong_AsLong(x) == -1 && PyErr_Occurred() == PyExc_TypeError);
  PyErr_Clear();
  PyErr_SetString(PyExc_NotImplementedError, "first");
  PyErr_Format(PyExc_ValueError, "second %i", (npy_intp)3);
  CHECK(PyErr_ExceptionMatches(PyExc_ValueError) && strcmp(pc_compat_current.ctx->error.message, "second 3") == 0);
  PyErr_Clear();
  done = 1;
fail:
  PyMem_Free(memory);
  Py_XDECREF(list), Py_XDECREF(tuple), Py_XDECREF(x), Py_XDECREF(text), Py_XDECREF(capsule), Py_XDECREF(slice);
  return done;
}

static double sum(PyArrayObject *a) {
  double total = 0;
  NpyIter *iter = NpyIter_New(a, NPY_ITER_READONLY | NPY_ITER_EXTERNAL_LOOP | NPY_ITER_REFS_OK, NPY_KEEPORDER, NPY_NO_CASTING, NULL);
  NpyIter_IterNextFunc *next = NpyIter_GetIterNext(iter, NULL);
  if (next == NULL) return -1;
  char **data = NpyIter_GetDataPtrArray(iter);
  npy_intp *stride = NpyIter_GetInnerStrideArray(iter), *inner = NpyIter_GetInnerLoopSizePtr(iter);
  do {
    for (npy_intp i = 0; i < *inner; i++) total += *(double *)(*data + i * *stride);
  } while (next(iter));
  NpyIter_Deallocate(iter);
  return total;
}

static int arrays(void) {
  npy_intp shape[2] = {3, 4}, flat[1] = {12};
  PyArray_Dims two = {shape, 2}, one = {flat, 1};
  PyObject *range = NULL, *a = NULL, *t = NULL, *b = NULL, *c = NULL, *none = NULL, *iter = NULL;
  double total;
  int done = 0;
  NEED(range = PyArray_Arange(0, 12, 1, NPY_DOUBLE));
  NEED(a = PyArray_Newshape((PyArrayObject *)range, &two, NPY_CORDER));
  CHECK(PyArray_BASE(a) == range && PyArray_CHKFLAGS(a, NPY_ARRAY_CARRAY) && !PyArray_CHKFLAGS(a, NPY_ARRAY_OWNDATA));
  CHECK(*(double *)PyArray_GETPTR2(a, 2, 1) == 9 && PyArray_NBYTES(a) == 96 && PyArray_DESCR(a)->elsize == 8);
  NEED(t = PyArray_Transpose((PyArrayObject *)a, NULL));
  CHECK(PyArray_DIM(t, 0) == 4 && PyArray_ISFORTRAN(t) && !PyArray_ISCONTIGUOUS(t) && PyArray_STRIDE(t, 0) == 8);
  NEED(b = PyArray_Newshape((PyArrayObject *)t, &one, NPY_CORDER));
  CHECK(((double *)PyArray_DATA(b))[1] == 4 && ((double *)PyArray_DATA(b))[11] == 11);
  NEED(c = PyArray_Cast(t, NPY_INT32));
  CHECK(((npy_int32 *)PyArray_DATA(c))[2] == 8 && PyArray_TYPE(c) == 5);
  total = sum((PyArrayObject *)t);
  if (total < 0) goto fail;
  CHECK(total == 66);
  NEED(iter = PyArray_IterNew(t));
  for (total = 0; PyArray_ITER_NOTDONE(iter); PyArray_ITER_NEXT(iter)) total = total * 0.5 + *(double *)PyArray_ITER_DATA(iter);
  CHECK(total > 15.5 && total < 18.0);
  Py_CLEAR(c);
  NEED(c = PyArray_ZEROS(2, shape, NPY_FLOAT32, 1));
  CHECK(PyArray_IS_F_CONTIGUOUS(c) && !PyArray_IS_C_CONTIGUOUS(c));
  if (PyArray_CopyInto((PyArrayObject *)c, (PyArrayObject *)a) < 0) goto fail;
  CHECK(*(float *)PyArray_GETPTR2(c, 1, 3) == 7.0f);
  flat[0] = 14;
  NEED(none = PyArray_Resize((PyArrayObject *)range, &one, 0, NPY_CORDER));
  CHECK(none == Py_None && PyArray_SIZE(range) == 14 && ((double *)PyArray_DATA(range))[11] == 11 && ((double *)PyArray_DATA(range))[13] == 0);
  CHECK(PyArray_Resize((PyArrayObject *)a, &one, 0, NPY_CORDER) == NULL && PyErr_ExceptionMatches(PyExc_ValueError));
  PyErr_Clear();
  done = 1;
fail:
  /* `a` and `t` look at memory that the resized array no longer has: they are given back unread. */
  Py_XDECREF(range), Py_XDECREF(a), Py_XDECREF(t), Py_XDECREF(b), Py_XDECREF(c), Py_XDECREF(none), Py_XDECREF(iter);
  return done;
}

static void each_refusal(int (*body)(void)) {
  for (refuse_at = 1;; refuse_at++) {
    pc_context ctx = {&host, {PC_ERROR_NONE, 0, {0}}};
    requests = 0;
    pc_context *before = pc_compat_enter(&ctx);
    int done = body();
    CHECK(done ? ctx.error.kind == PC_ERROR_NONE : ctx.error.kind == PC_ERROR_MEMORY);
    CHECK(live == 0);
    pc_compat_leave(before);
    if (done && requests < refuse_at) return;
  }
}

int main(void) {
  pc_context ctx = {&host, {PC_ERROR_NONE, 0, {0}}};
  pc_context *before = pc_compat_enter(&ctx);
  PyObject *late = PyCapsule_New(PyMem_Malloc(8), "memory", destroy);
  pc_compat_leave(before);
  Py_DECREF(late); /* outside of a call: all memory is given back */
  CHECK(before == NULL && live == 0 && PyFloat_FromDouble(1) == NULL && PyErr_Occurred() == NULL);
  each_refusal(objects);
  each_refusal(arrays);
  puts("done");
  return 0;
}
