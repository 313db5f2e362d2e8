/* Calls the functions of the compat headers on the cases of compat_numpy.inc, with every request for memory refused in turn. */
#include "compat_host.h"

typedef struct numpy_array {
  int dtype, ndim;
  int64_t shape[4], strides[4], first, count; /* strides, first and count in elements */
  const double *values;                       /* two of a complex number */
} numpy_array;

typedef struct numpy_case {
  const char *what;
  int n;
  numpy_array in[3];
  int args[4];
  PyObject *error; /* the exception that is set, or NULL */
  int outs;
  numpy_array out[3];
} numpy_case;

static pc_compat_value value_of(const numpy_array *a, int64_t i) {
  char kind = pc_compat_kind_letter(a->dtype);
  if (kind == 'c') return pc_compat_of_complex(a->values[2 * i], a->values[2 * i + 1]);
  return kind == 'f' ? pc_compat_of_f64(a->values[i]) : pc_compat_of_i64((int64_t)a->values[i]);
}

/* The array of a case: a view into a buffer with what lies between its elements. Nothing is refused here. */
static pc_tensor *array_of(const numpy_array *a) {
  pc_context ctx = {&host, {PC_ERROR_NONE, 0, {0}}};
  long kept = refuse_at, made = requests;
  refuse_at = 0;
  int64_t bytes = pc_compat_itemsize(a->dtype), strides[4];
  pc_tensor *all = tensor_new(&ctx, a->dtype, 1, &a->count);
  for (int64_t i = 0; i < a->count; i++) pc_compat_set(a->dtype, all->data + i * bytes, value_of(a, i));
  for (int d = 0; d < a->ndim; d++) strides[d] = a->strides[d] * bytes;
  pc_tensor *view = tensor_view(&ctx, all, a->ndim, a->shape, strides, all->data + a->first * bytes);
  pc_xdecref(&all->object);
  refuse_at = kept, requests = made;
  return view;
}

static int same_values(const pc_tensor *t, const numpy_array *want) {
  if (t->dtype != want->dtype || t->ndim != want->ndim) return 0;
  pc_tensor *w = array_of(want);
  int same = PyArray_CompareLists(PyArray_DIMS(t), PyArray_DIMS(w), t->ndim);
  pc_compat_walk walk;
  pc_compat_walk_start(&walk, t->ndim, w->shape);
  pc_compat_walk_add(&walk, w);
  pc_compat_walk_add(&walk, t);
  for (; same && walk.left > 0; pc_compat_walk_next(&walk)) {
    pc_compat_value a = pc_compat_get(t->dtype, walk.at[0]), b = pc_compat_get(t->dtype, walk.at[1]);
    int re = a.re == b.re || (a.re != a.re && b.re != b.re), im = a.im == b.im || (a.im != a.im && b.im != b.im);
    same = a.i == b.i && a.u == b.u && re && im;
  }
  pc_xdecref(&w->object);
  return same;
}

static PyObject *tuple_of(pc_tensor *const *arrays, int n) {
  PyObject *tuple = PyTuple_New(n);
  for (int i = 0; i < n && tuple != NULL; i++) PyTuple_SET_ITEM(tuple, i, Py_NewRef(arrays[i]));
  return tuple;
}

/* Rows of a multi-index and the element there, in the order of iteration, which is walked, jumped through by number and by index. */
static PyObject *multi_index(pc_tensor *a, NPY_ORDER order) {
  npy_intp shape[2] = {PyArray_SIZE(a), a->ndim + 1}, row = 0;
  PyObject *out = PyArray_EMPTY(2, shape, NPY_DOUBLE, 0);
  NpyIter *iter = NpyIter_New(a, NPY_ITER_READONLY | NPY_ITER_MULTI_INDEX, order, NPY_NO_CASTING, NULL);
  if (out == NULL || iter == NULL) {
    NpyIter_Deallocate(iter);
    Py_XDECREF(out);
    return NULL;
  }
  NpyIter_IterNextFunc *next = NpyIter_GetIterNext(iter, NULL);
  NpyIter_GetMultiIndexFunc *get = NpyIter_GetGetMultiIndex(iter, NULL);
  char **data = NpyIter_GetDataPtrArray(iter);
  do {
    npy_intp index[PC_MAX_NDIM];
    double *to = (double *)PyArray_GETPTR2(out, row, 0), here;
    get(iter, index);
    for (int d = 0; d < a->ndim; d++) to[d] = (double)index[d];
    memcpy(&here, *data, sizeof here);
    to[a->ndim] = here;
    CHECK(NpyIter_GetIterIndex(iter) == row && *data == (char *)PyArray_GetPtr(a, index));
    CHECK(NpyIter_GotoIterIndex(iter, row) && *data == (char *)PyArray_GetPtr(a, index));
    CHECK(NpyIter_GotoMultiIndex(iter, index) && NpyIter_GetIterIndex(iter) == row);
    row++;
  } while (next(iter));
  CHECK(row == shape[0]);
  NpyIter_Deallocate(iter);
  return out;
}

/* Sums along an axis into an array that the iterator makes. */
static PyObject *reduction(pc_tensor *a, int axis, int external) {
  int all[2] = {0, 1}, kept[2] = {axis == 0 ? -1 : 0, axis == 0 ? 0 : -1}, *axes[2] = {all, kept};
  PyArrayObject *operands[2] = {a, NULL};
  npy_uint32 op_flags[2] = {NPY_ITER_READONLY, NPY_ITER_READWRITE | NPY_ITER_ALLOCATE};
  npy_uint32 flags = NPY_ITER_REDUCE_OK | (external ? NPY_ITER_EXTERNAL_LOOP : 0);
  NpyIter *iter = NpyIter_AdvancedNew(2, operands, flags, NPY_KEEPORDER, NPY_NO_CASTING, op_flags, NULL, 2, axes, NULL, 0);
  if (iter == NULL) return NULL;
  NpyIter_IterNextFunc *next = NpyIter_GetIterNext(iter, NULL);
  char **data = NpyIter_GetDataPtrArray(iter);
  npy_intp *strides = NpyIter_GetInnerStrideArray(iter), *inner = NpyIter_GetInnerLoopSizePtr(iter);
  PyArrayObject *out = NpyIter_GetOperandArray(iter)[1];
  if (external) memset(PyArray_DATA(out), 0, (size_t)PyArray_NBYTES(out));
  do {
    if (!external && NpyIter_IsFirstVisit(iter, 1)) *(double *)(void *)data[1] = 0;
    for (npy_intp i = 0; i < *inner; i++) {
      *(double *)(void *)(data[1] + i * strides[1]) += *(double *)(void *)(data[0] + i * strides[0]);
    }
  } while (next(iter));
  Py_INCREF(out);
  NpyIter_Deallocate(iter);
  return (PyObject *)out;
}

static PyObject *sorted(pc_tensor *a, int axis) {
  PyObject *copy = PyArray_NewCopy(a, NPY_KEEPORDER);
  if (copy != NULL && PyArray_Sort((PyArrayObject *)copy, axis, NPY_QUICKSORT) < 0) Py_CLEAR(copy);
  return copy;
}

static PyObject *resized(pc_tensor *a, PyArray_Dims *shape) {
  PyObject *copy = PyArray_NewCopy(a, NPY_CORDER), *none;
  if (copy == NULL) return NULL;
  none = PyArray_Resize((PyArrayObject *)copy, shape, 0, NPY_CORDER);
  if (none == NULL) Py_CLEAR(copy);
  Py_XDECREF(none);
  return copy;
}

/* In place on a copy; the reference that comes back is to the same array. */
static PyObject *in_place(PyObject *(*op)(PyObject *, PyObject *), pc_tensor *a, pc_tensor *b) {
  PyObject *copy = PyArray_NewCopy(a, NPY_CORDER), *back;
  if (copy == NULL) return NULL;
  back = op(copy, &b->object);
  CHECK(back == NULL || back == copy);
  Py_DECREF(copy);
  return back;
}

/* 0 if a case is none of these. */
static int call_numbers(const numpy_case *c, pc_tensor **in, PyObject **made) {
  static const struct {
    const char *name;
    PyObject *(*op)(PyObject *, PyObject *), *(*in_place)(PyObject *, PyObject *);
  } ops[] = {{"Add", PyNumber_Add, PyNumber_InPlaceAdd},
             {"Subtract", PyNumber_Subtract, PyNumber_InPlaceSubtract},
             {"Multiply", PyNumber_Multiply, PyNumber_InPlaceMultiply},
             {"TrueDivide", PyNumber_TrueDivide, PyNumber_InPlaceTrueDivide}};
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    if (strcmp(c->what, ops[i].name) == 0) return *made = ops[i].op(&in[0]->object, &in[1]->object), 1;
    if (strncmp(c->what, "InPlace", 7) == 0 && strcmp(c->what + 7, ops[i].name) == 0) {
      return *made = in_place(ops[i].in_place, in[0], in[1]), 1;
    }
  }
  return 0;
}

#define IS(name) (strcmp(c->what, name) == 0)

static PyObject *call(const numpy_case *c, pc_tensor **in, PyArrayObject *out) {
  PyObject *made = NULL, *x = c->n > 0 ? &in[0]->object : NULL, *y = c->n > 1 ? &in[1]->object : NULL;
  PyObject *z = c->n > 2 ? &in[2]->object : NULL;
  int i = c->args[0], k = c->args[1];
  NPY_CLIPMODE modes[] = {NPY_CLIP, NPY_WRAP, NPY_RAISE};
  if (call_numbers(c, in, &made)) return made;
  if (IS("ArgMax")) return PyArray_ArgMax(in[0], i, out);
  if (IS("ArgMin")) return PyArray_ArgMin(in[0], i, out);
  if (IS("Max")) return PyArray_Max(in[0], i, out);
  if (IS("Min")) return PyArray_Min(in[0], i, out);
  if (IS("Any")) return PyArray_Any(in[0], i, out);
  if (IS("All")) return PyArray_All(in[0], i, out);
  if (IS("Sum")) return PyArray_Sum(in[0], i, k, out);
  if (IS("Prod")) return PyArray_Prod(in[0], i, k, out);
  if (IS("CumSum")) return PyArray_CumSum(in[0], i, k, out);
  if (IS("CumProd")) return PyArray_CumProd(in[0], i, k, out);
  if (IS("TakeFrom")) return PyArray_TakeFrom(in[0], y, i, out, modes[k]);
  if (IS("Where")) return PyArray_Where(x, y, z);
  if (IS("Sort")) return sorted(in[0], i);
  if (IS("ArgSort")) return PyArray_ArgSort(in[0], i, NPY_QUICKSORT);
  if (IS("SearchSorted")) return PyArray_SearchSorted(in[0], y, i ? NPY_SEARCHRIGHT : NPY_SEARCHLEFT, z);
  if (IS("MatrixProduct")) return out != NULL ? PyArray_MatrixProduct2(x, y, out) : PyArray_MatrixProduct(x, y);
  if (IS("InnerProduct")) return PyArray_InnerProduct(x, y);
  if (IS("Correlate2")) return PyArray_Correlate2(x, y, i);
  if (IS("MultiIndex")) return multi_index(in[0], (NPY_ORDER)i);
  if (IS("Reduction")) return reduction(in[0], i, k);
  if (IS("Arange")) {
    const double *range = (const double *)(void *)in[0]->data;
    return PyArray_Arange(range[0], range[1], range[2], i);
  }
  PyArray_Dims shape = {c->n > 1 ? (npy_intp *)PyArray_DATA(in[1]) : NULL, c->n > 1 && in[1]->ndim > 0 ? (int)in[1]->shape[0] : 0};
  if (IS("Newshape")) return PyArray_Newshape(in[0], &shape, (NPY_ORDER)i);
  if (IS("Resize")) return resized(in[0], &shape);
  int choose = IS("Choose");
  CHECK(choose || IS("Concatenate"));
  PyObject *tuple = tuple_of(in + choose, c->n - choose);
  if (tuple == NULL) return NULL;
  made = choose ? PyArray_Choose(in[0], tuple, out, modes[i]) : PyArray_Concatenate(tuple, i);
  Py_DECREF(tuple);
  return made;
}

/* One call; whether nothing was refused. `given` asks for a result in an array that is there already. */
static int check(const numpy_case *c, int given) {
  pc_context ctx = {&host, {PC_ERROR_NONE, 0, {0}}};
  pc_tensor *in[3], *out = NULL;
  requests = 0;
  for (int i = 0; i < c->n; i++) in[i] = array_of(&c->in[i]);
  if (given) out = array_of(&c->out[0]);
  if (given && PyArray_NBYTES(out) > 0) memset(out->data, 0x55, (size_t)PyArray_NBYTES(out));
  pc_compat_enter(&ctx);
  PyObject *made = call(c, in, out);
  int refused = ctx.error.kind == PC_ERROR_MEMORY;
  if (refused) {
    CHECK(made == NULL && refuse_at > 0);
  } else if (c->error != NULL) {
    CHECK(made == NULL && PyErr_ExceptionMatches(c->error));
  } else {
    if (made == NULL) fprintf(stderr, "%s\n", ctx.error.message);
    CHECK(made != NULL && ctx.error.kind == PC_ERROR_NONE && (!given || made == &out->object));
    for (int i = 0; i < c->outs; i++) {
      PyObject *found = PyTuple_Check(made) ? PyTuple_GET_ITEM(made, i) : made;
      CHECK(PyTuple_Check(made) ? PyTuple_GET_SIZE(made) == c->outs : c->outs == 1);
      CHECK(same_values((pc_tensor *)found, &c->out[i]));
    }
  }
  Py_XDECREF(made);
  for (int i = 0; i < c->n; i++) {
    CHECK(same_values(in[i], &c->in[i]) && in[i]->object.refcount == 1);
    pc_xdecref(&in[i]->object);
  }
  if (given) pc_xdecref(&out->object);
  pc_compat_leave(NULL);
  CHECK(live == 0);
  return !refused;
}

static int takes_output(const numpy_case *c) {
  static const char *const names[] = {"ArgMax", "ArgMin", "Max",     "Min",      "Any",    "All",
                                      "Sum",    "Prod",   "CumSum",  "CumProd",  "Choose", "TakeFrom",
                                      "MatrixProduct"};
  for (size_t i = 0; i < sizeof names / sizeof names[0] && c->error == NULL; i++) {
    if (IS(names[i])) return 1;
  }
  return 0;
}

/* As the host's `gemm`, term by term. */
static int plain_gemm(pc_context *ctx, int32_t dtype, int64_t m, int64_t n, int64_t k, const char *a, int64_t a_row, int64_t a_col,
                      const char *b, int64_t b_row, int64_t b_col, char *c, int64_t c_row, int64_t c_col) {
  (void)ctx;
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) pc_compat_dot(dtype, c + i * c_row + j * c_col, a + i * a_row, a_col, b + j * b_col, b_row, k);
  }
  return 0;
}

/* A case without arrays. */
#define NONE {0, 0, {0}, {0}, 0, 0, NULL}
#include "compat_numpy.inc"

int main(void) {
  for (size_t i = 0; i < sizeof numpy_cases / sizeof numpy_cases[0]; i++) {
    const numpy_case *c = &numpy_cases[i];
    current_case = i;
    host.gemm = i % 2 == 0 ? plain_gemm : NULL;
    for (int given = 0; given <= takes_output(c); given++) {
      refuse_at = 0;
      CHECK(check(c, given));
      for (refuse_at = 1; !check(c, given); refuse_at++) continue;
    }
  }
  puts("done");
  return 0;
}
