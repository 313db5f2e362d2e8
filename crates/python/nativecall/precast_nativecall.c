/* precast_nativecall: callables with the type slot of CEP 1000, and callers that use it.
 *
 *   Callable(function, address, signature)   calls `function`; callers that support the slot call `address` natively
 *   each(f, x, out)                          out[i] = f(x[i]): natively and without the GIL if `f` has the slot `d)d~`
 *
 * The slot extends the type object. Heap types have no room for it, and the limited API has only heap types. This module is therefore
 * compiled for each CPython. The package `precast` does not need it.
 */
#define PY_SSIZE_T_CLEAN
#include <precast/nativecall_python.h>

#define D_D_NOGIL PC_NATIVE_WORD('d', ')', 'd', '~', 0, 0, 0)

/* Room for the words of the longest signature, its function, and an end marker. */
#define MAX_ENTRIES ((PC_NATIVE_MAX_WORDS + 1) / 2 + 1)

typedef struct Callable {
  PyObject_HEAD
  pc_native_cell cell;
  PyObject *function; /* owned; Python calls it, and it keeps the library of `address` loaded. NULL after `tp_clear` */
  PyObject *signature; /* owned */
  pc_native_entry table[MAX_ENTRIES];
} Callable;

static PyUnofficialTypeObject CallableType = {.tp_main = {PyVarObject_HEAD_INIT(NULL, 0)}};

/* Fills the table of one function. Returns 0 with an exception set if the text is not a signature. */
static int fill(Callable *self, const char *text, size_t len, void *address) {
  pc_native_key key;
  size_t at = 0;
  if (pc_native_key_text(&key, text, len) != PC_NATIVE_FINE) {
    (void)pc_native_check(text, len, &at);
    PyErr_Format(PyExc_ValueError, "invalid CEP 1000 signature `%s` at byte %zu", text, at);
    return 0;
  }
  for (size_t word = 0; word < key.len; word++) {
    if (word % 2 == 0) {
      self->table[word / 2].signature = key.words[word];
    } else {
      self->table[word / 2].slot.word = key.words[word];
    }
  }
  /* The length is odd, so the function is in the entry of the last word. */
  *(void **)&self->table[key.len / 2].slot.function = address;
  return 1;
}

static PyObject *Callable_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char *names[] = {"function", "address", "signature", NULL};
  PyObject *function, *number;
  const char *text;
  Py_ssize_t len;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOs#:Callable", names, &function, &number, &text, &len)) {
    return NULL;
  }
  void *address = PyLong_AsVoidPtr(number);
  if (address == NULL) {
    if (!PyErr_Occurred()) {
      PyErr_SetString(PyExc_ValueError, "the address must not be 0");
    }
    return NULL;
  }
  if (!PyCallable_Check(function)) {
    PyErr_SetString(PyExc_TypeError, "`function` must be callable");
    return NULL;
  }
  Callable *self = (Callable *)type->tp_alloc(type, 0); /* zero-initialized, so the table is empty */
  if (self == NULL) {
    return NULL;
  }
  self->cell.table = self->table;
  self->function = Py_NewRef(function);
  self->signature = PyUnicode_FromStringAndSize(text, len);
  if (self->signature == NULL || !fill(self, text, (size_t)len, address)) {
    Py_DECREF(self);
    return NULL;
  }
  return (PyObject *)self;
}

static int Callable_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(((Callable *)object)->function);
  return 0;
}

static int Callable_clear(PyObject *object) {
  Py_CLEAR(((Callable *)object)->function);
  return 0;
}

static void Callable_dealloc(PyObject *object) {
  PyObject_GC_UnTrack(object);
  Callable_clear(object);
  Py_CLEAR(((Callable *)object)->signature);
  Py_TYPE(object)->tp_free(object);
}

static PyObject *Callable_call(PyObject *object, PyObject *args, PyObject *keywords) {
  PyObject *function = ((Callable *)object)->function;
  if (function == NULL) {
    PyErr_SetString(PyExc_RuntimeError, "the callable is being collected");
    return NULL;
  }
  return PyObject_Call(function, args, keywords);
}

static PyObject *Callable_repr(PyObject *object) {
  Callable *self = (Callable *)object;
  return PyUnicode_FromFormat("<precast_nativecall.Callable %R of %R>", self->signature, self->function);
}

static PyObject *Callable_signature(PyObject *object, void *closure) {
  (void)closure;
  return Py_NewRef(((Callable *)object)->signature);
}

static PyGetSetDef GETTERS[] = {{"signature", Callable_signature, NULL, "The arguments and the result: `d)d~`.", NULL},
                                {NULL, NULL, NULL, NULL, NULL}};

/* Computes one element with a Python call. */
static int boxed(PyObject *f, double x, double *out) {
  PyObject *result = PyObject_CallFunction(f, "d", x);
  if (result == NULL) {
    return 0;
  }
  *out = PyFloat_AsDouble(result);
  Py_DECREF(result);
  return !(*out == -1.0 && PyErr_Occurred());
}

/* Computes all elements. Returns 0 with an exception set on failure. */
static int map(PyObject *f, const double *x, double *out, Py_ssize_t n) {
  void (*found)(void) = PyNativeCall_Find(f, D_D_NOGIL);
  if (found == NULL) {
    Py_ssize_t i = 0;
    while (i < n && boxed(f, x[i], &out[i])) {
      i++;
    }
    return i == n;
  }
  double (*native)(double) = (double (*)(double))found;
  Py_BEGIN_ALLOW_THREADS
  for (Py_ssize_t i = 0; i < n; i++) {
    out[i] = native(x[i]);
  }
  Py_END_ALLOW_THREADS
  return 1;
}

static int is_doubles(const Py_buffer *view) {
  return view->format != NULL && strcmp(view->format, "d") == 0 && view->itemsize == sizeof(double);
}

static PyObject *each(PyObject *module, PyObject *args) {
  PyObject *f, *x, *out;
  Py_buffer from, to;
  (void)module;
  if (!PyArg_ParseTuple(args, "OOO:each", &f, &x, &out) ||
      PyObject_GetBuffer(x, &from, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
    return NULL;
  }
  if (PyObject_GetBuffer(out, &to, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE) < 0) {
    PyBuffer_Release(&from);
    return NULL;
  }
  int is_done = 0;
  if (!is_doubles(&from) || !is_doubles(&to) || from.len != to.len) {
    PyErr_SetString(PyExc_ValueError, "`x` and `out` must be contiguous arrays of doubles with the same length");
  } else {
    /* The caller's references keep `f` and the buffers alive. */
    is_done = map(f, from.buf, to.buf, from.len / (Py_ssize_t)sizeof(double));
  }
  PyBuffer_Release(&to);
  PyBuffer_Release(&from);
  return is_done ? Py_NewRef(out) : NULL;
}

static PyMethodDef METHODS[] = {
    {"each", each, METH_VARARGS,
     "each(f, x, out): computes out[i] = f(x[i]), natively and without the GIL if `f` has the slot `d)d~`."},
    {NULL, NULL, 0, NULL}};
static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "precast_nativecall", "Callables with the type slot of CEP 1000.", -1, METHODS, NULL, NULL, NULL,
    NULL};

PyMODINIT_FUNC PyInit_precast_nativecall(void) {
  PyTypeObject *type = &CallableType.tp_main;
  type->tp_name = "precast_nativecall.Callable";
  type->tp_doc = "Callable(function, address, signature): calls `function`; callers that support CEP 1000 call `address` natively.";
  type->tp_basicsize = sizeof(Callable);
  /* No base type: a subclass made in Python would not inherit the flag. */
  type->tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_UNOFFICIAL_EXTRAS;
  type->tp_new = Callable_new;
  type->tp_dealloc = Callable_dealloc;
  type->tp_traverse = Callable_traverse;
  type->tp_clear = Callable_clear;
  type->tp_call = Callable_call;
  type->tp_repr = Callable_repr;
  type->tp_getset = GETTERS;
  CallableType.tp_nativecall_offset = offsetof(Callable, cell);
  if (PyType_Ready(type) < 0) {
    return NULL;
  }
  PyObject *module = PyModule_Create(&MODULE);
  if (module != NULL && PyModule_AddObjectRef(module, "Callable", (PyObject *)type) < 0) {
    Py_CLEAR(module);
  }
  return module;
}
