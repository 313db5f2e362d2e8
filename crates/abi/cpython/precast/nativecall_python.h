/* precast/nativecall_python.h: CEP 1000 for CPython, for native callables and their callers.
 *
 *   type  ── tp_flags has Py_TPFLAGS_UNOFFICIAL_EXTRAS ──▶ it is a PyUnofficialTypeObject
 *   (char *)obj + tp_nativecall_offset ──▶ pc_native_cell ──▶ table of text, precast/nativecall.h
 *
 * For static types: a type that is made from a spec has no room behind the PyTypeObject. A subclass made in Python does not
 * inherit the flag, so its objects are called like ordinary objects.
 *
 * Libraries that compare interned signatures share one registry: the capsule `registry` of `sys.modules["_nativecall"]`. The
 * first library stores it there, under the GIL.
 */
#ifndef PRECAST_NATIVECALL_PYTHON_H
#define PRECAST_NATIVECALL_PYTHON_H

#include <Python.h>
#include <precast/nativecall.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A bit of tp_flags that no CPython from 3.6 to 3.13 uses. (CEP 1000's first implementations took 22, which is
 * _Py_TPFLAGS_MATCH_SELF since 3.10.) */
#define Py_TPFLAGS_UNOFFICIAL_EXTRAS (1UL << 21)

typedef struct PyUnofficialTypeObject {
  PyTypeObject tp_main;
  size_t tp_unofficial_flags;  /* 0 */
  size_t tp_nativecall_offset; /* of the pc_native_cell in each object, in bytes; 0: no cell */
} PyUnofficialTypeObject;

/* Returns the cell of a callable; NULL if it has none. Needs no GIL, only a live `callable`. */
static inline const pc_native_cell *PyNativeCall_Cell(PyObject *callable) {
  PyTypeObject *type = Py_TYPE(callable);
  if (!(type->tp_flags & Py_TPFLAGS_UNOFFICIAL_EXTRAS)) {
    return NULL;
  }
  size_t offset = ((PyUnofficialTypeObject *)type)->tp_nativecall_offset;
  return offset == 0 ? NULL : (const pc_native_cell *)((char *)callable + offset);
}

/* Returns the function of a callable for a signature of 1 to 7 characters (PC_NATIVE_WORD); NULL if not found. With the GIL
 * held, look up the signature with `~` first, then without; without the GIL only with `~`. */
static inline void (*PyNativeCall_Find(PyObject *callable, uint64_t word))(void) {
  const pc_native_cell *cell = PyNativeCall_Cell(callable);
  return cell == NULL ? NULL : pc_native_find_word(pc_native_table(cell), word);
}

#define PC_NATIVE_MODULE "_nativecall"
#define PC_NATIVE_CAPSULE "_nativecall.registry"

/* Returns the registry in sys.modules["_nativecall"]; stores `mine` there if it is missing. Returns NULL with a Python error
 * set on failure. Call it with the GIL held. */
static inline const pc_native_registry *PyNativeCall_Registry(const pc_native_registry *mine) {
  PyObject *module = PyImport_AddModule(PC_NATIVE_MODULE); /* borrowed */
  if (module == NULL) {
    return NULL;
  }
  PyObject *capsule = PyObject_GetAttrString(module, "registry");
  if (capsule == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
    PyErr_Clear();
    capsule = PyCapsule_New((void *)(uintptr_t)mine, PC_NATIVE_CAPSULE, NULL);
    if (capsule != NULL && PyObject_SetAttrString(module, "registry", capsule) < 0) {
      Py_CLEAR(capsule);
    }
  }
  if (capsule == NULL) {
    return NULL;
  }
  const pc_native_registry *found = (const pc_native_registry *)PyCapsule_GetPointer(capsule, PC_NATIVE_CAPSULE);
  Py_DECREF(capsule);
  if (found != NULL && (found->version != PC_NATIVE_REGISTRY_VERSION || found->struct_bytes < sizeof *found)) {
    PyErr_SetString(PyExc_ImportError, "another version of the registry of signatures is in use");
    return NULL;
  }
  return found;
}

#ifdef __cplusplus
}
#endif
#endif
