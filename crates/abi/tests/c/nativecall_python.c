/* An extension of CPython with callables that have native functions, and with callers that look for them. It is compiled
 * twice, as `one` and as `two`: parties that know nothing of each other. */
#include <precast/nativecall_python.h>

/* Each party's registry; what it does with signatures is tested elsewhere. */
static const char *no_text(const char *text, size_t len) { return (void)len, text; }
static void no_release(const char *interned) { (void)interned; }
static uint64_t no_id(const char *text, size_t len) { return (void)text, (uint64_t)len; }
static const char *no_text_of(uint64_t id) { return (void)id, NULL; }
static const pc_native_registry MINE = {PC_NATIVE_REGISTRY_VERSION, sizeof(pc_native_registry), no_text, no_release, no_id,
                                        no_text_of};

typedef void (*any)(void);

static double twice(double x) { return 2 * x; }
static float half(float x) { return x / 2; }
/* Needs the GIL. */
static double loud(double x) { return PyGILState_Check() ? x + 1 : -1; }

typedef struct Callable {
  PyObject_HEAD
  pc_native_cell cell;
} Callable;

#define D_D PC_NATIVE_WORD('d', ')', 'd', 0, 0, 0, 0)
#define D_D_NOGIL PC_NATIVE_WORD('d', ')', 'd', '~', 0, 0, 0)
#define F_F_NOGIL PC_NATIVE_WORD('f', ')', 'f', '~', 0, 0, 0)

static const pc_native_entry DOUBLE[] = {{D_D_NOGIL, {(any)twice}}, {0, {0}}};
static const pc_native_entry FLOAT[] = {{F_F_NOGIL, {(any)half}}, {0, {0}}};
static const pc_native_entry LOUD[] = {{D_D, {(any)loud}}, {0, {0}}};
static const pc_native_entry NONE[] = {{0, {0}}};

static PyObject *Callable_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  const char *kind;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "s", &kind)) {
    return NULL;
  }
  Callable *self = (Callable *)type->tp_alloc(type, 0);
  if (self != NULL) {
    self->cell.table = kind[0] == 'd' ? DOUBLE : kind[0] == 'f' ? FLOAT : kind[0] == 'l' ? LOUD : NONE;
  }
  return (PyObject *)self;
}

/* The boxed call, so that a test can tell it from native ones. */
static PyObject *Callable_call(PyObject *self, PyObject *args, PyObject *keywords) {
  double x;
  (void)self, (void)keywords;
  return PyArg_ParseTuple(args, "d", &x) ? PyFloat_FromDouble(1000 + x) : NULL;
}

static PyUnofficialTypeObject CallableType = {.tp_main = {PyVarObject_HEAD_INIT(NULL, 0)}};

/* exact, promoted, needing the GIL, boxed */
static PyObject *call(PyObject *module, PyObject *args) {
  PyObject *callable;
  double x, result;
  any f;
  (void)module;
  if (!PyArg_ParseTuple(args, "Od", &callable, &x)) {
    return NULL;
  }
  if ((f = PyNativeCall_Find(callable, D_D_NOGIL)) != NULL) {
    Py_BEGIN_ALLOW_THREADS
    result = ((double (*)(double))f)(x);
    Py_END_ALLOW_THREADS
  } else if ((f = PyNativeCall_Find(callable, D_D)) != NULL) {
    result = ((double (*)(double))f)(x);
  } else if ((f = PyNativeCall_Find(callable, F_F_NOGIL)) != NULL) {
    result = (double)((float (*)(float))f)((float)x);
  } else {
    return PyObject_CallFunction(callable, "d", x);
  }
  return PyFloat_FromDouble(result);
}

static PyObject *registry(PyObject *module, PyObject *none) {
  (void)module, (void)none;
  const pc_native_registry *found = PyNativeCall_Registry(&MINE);
  return found == NULL ? NULL : PyLong_FromVoidPtr((void *)(uintptr_t)found);
}

/* What the headers of this Python use of tp_flags, made by the test from the headers themselves. */
static const unsigned long USED[] = {
#include "flags.inc"
    0};

static PyMethodDef METHODS[] = {{"call", call, METH_VARARGS, NULL}, {"registry", registry, METH_NOARGS, NULL},
                                {NULL, NULL, 0, NULL}};
static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "party", NULL, -1, METHODS, NULL, NULL, NULL, NULL};

#define NAME_(party) PyInit_##party
#define NAME(party) NAME_(party)
PyMODINIT_FUNC NAME(PARTY)(void) {
  PyTypeObject *type = &CallableType.tp_main;
  for (size_t at = 0; at < sizeof USED / sizeof USED[0]; at++) {
    if (USED[at] & Py_TPFLAGS_UNOFFICIAL_EXTRAS) {
      PyErr_SetString(PyExc_ImportError, "the bit of tp_flags is in use");
      return NULL;
    }
  }
  type->tp_name = "party.Callable";
  type->tp_basicsize = sizeof(Callable);
  type->tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_UNOFFICIAL_EXTRAS;
  type->tp_new = Callable_new;
  type->tp_call = Callable_call;
  CallableType.tp_nativecall_offset = offsetof(Callable, cell);
  PyObject *module = PyModule_Create(&MODULE);
  if (module == NULL || PyType_Ready(type) < 0 || PyModule_AddObject(module, "Callable", (PyObject *)type) < 0) {
    return NULL;
  }
  Py_INCREF(type);
  return module;
}
