/* precast/compat/capsule.h: PyCapsule: an address with a name, a context and a destructor. */
#ifndef PRECAST_COMPAT_CAPSULE_H
#define PRECAST_COMPAT_CAPSULE_H

#include <precast/compat/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*PyCapsule_Destructor)(PyObject *);

typedef struct pc_compat_capsule {
  pc_compat_head head;
  void *pointer;    /* not NULL */
  const char *name; /* nullable; the caller's, lives as long as the capsule */
  void *context;    /* nullable */
  PyCapsule_Destructor destructor; /* nullable */
} pc_compat_capsule;

/* The destructor may run outside of a call: it then gives memory back, but gets none and reports nothing. */
PC_COMPAT_SLOW void pc_compat_capsule_dealloc(PyObject *o) {
  pc_compat_capsule *capsule = (pc_compat_capsule *)o;
  if (capsule->destructor != NULL) capsule->destructor(o);
  pc_compat_delete(o);
}

PC_COMPAT_DATA const pc_type pc_compat_capsule_type = {"PyCapsule", pc_compat_capsule_dealloc};

#define PyCapsule_CheckExact(o) (pc_compat_kind((PyObject *)(o)) == PC_COMPAT_CAPSULE)

PC_COMPAT_SLOW PyObject *PyCapsule_New(void *pointer, const char *name, PyCapsule_Destructor destructor) {
  if (pointer == NULL) {
    PyErr_SetString(PyExc_ValueError, "PyCapsule_New called with null pointer");
    return NULL;
  }
  pc_compat_capsule *capsule =
      (pc_compat_capsule *)pc_compat_new(PC_COMPAT_CAPSULE, &pc_compat_capsule_type, sizeof(pc_compat_capsule));
  if (capsule == NULL) return NULL;
  capsule->pointer = pointer;
  capsule->name = name;
  capsule->destructor = destructor;
  return (PyObject *)capsule;
}

/* Returns `o` as a capsule; NULL with an error set if it is not a capsule. */
PC_COMPAT_SLOW pc_compat_capsule *pc_compat_capsule_of(PyObject *o, const char *caller) {
  if (o != NULL && PyCapsule_CheckExact(o)) return (pc_compat_capsule *)o;
  PyErr_Format(PyExc_ValueError, "%s called with invalid PyCapsule object", caller);
  return NULL;
}

PC_COMPAT_FN int pc_compat_same_name(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

PC_COMPAT_SLOW void *PyCapsule_GetPointer(PyObject *o, const char *name) {
  pc_compat_capsule *capsule = pc_compat_capsule_of(o, "PyCapsule_GetPointer");
  if (capsule == NULL) return NULL;
  if (pc_compat_same_name(capsule->name, name)) return capsule->pointer;
  PyErr_SetString(PyExc_ValueError, "PyCapsule_GetPointer called with incorrect name");
  return NULL;
}

PC_COMPAT_FN int PyCapsule_IsValid(PyObject *o, const char *name) {
  return o != NULL && PyCapsule_CheckExact(o) && pc_compat_same_name(((pc_compat_capsule *)o)->name, name);
}

PC_COMPAT_SLOW const char *PyCapsule_GetName(PyObject *o) {
  pc_compat_capsule *capsule = pc_compat_capsule_of(o, "PyCapsule_GetName");
  return capsule == NULL ? NULL : capsule->name;
}

PC_COMPAT_SLOW void *PyCapsule_GetContext(PyObject *o) {
  pc_compat_capsule *capsule = pc_compat_capsule_of(o, "PyCapsule_GetContext");
  return capsule == NULL ? NULL : capsule->context;
}

PC_COMPAT_SLOW PyCapsule_Destructor PyCapsule_GetDestructor(PyObject *o) {
  pc_compat_capsule *capsule = pc_compat_capsule_of(o, "PyCapsule_GetDestructor");
  return capsule == NULL ? NULL : capsule->destructor;
}

PC_COMPAT_SLOW int PyCapsule_SetContext(PyObject *o, void *context) {
  pc_compat_capsule *capsule = pc_compat_capsule_of(o, "PyCapsule_SetContext");
  if (capsule != NULL) capsule->context = context;
  return capsule == NULL ? -1 : 0;
}

PC_COMPAT_SLOW int PyCapsule_SetName(PyObject *o, const char *name) {
  pc_compat_capsule *capsule = pc_compat_capsule_of(o, "PyCapsule_SetName");
  if (capsule != NULL) capsule->name = name;
  return capsule == NULL ? -1 : 0;
}

PC_COMPAT_SLOW int PyCapsule_SetDestructor(PyObject *o, PyCapsule_Destructor destructor) {
  pc_compat_capsule *capsule = pc_compat_capsule_of(o, "PyCapsule_SetDestructor");
  if (capsule != NULL) capsule->destructor = destructor;
  return capsule == NULL ? -1 : 0;
}

PC_COMPAT_SLOW int PyCapsule_SetPointer(PyObject *o, void *pointer) {
  pc_compat_capsule *capsule = pc_compat_capsule_of(o, "PyCapsule_SetPointer");
  if (capsule != NULL && pointer == NULL) {
    PyErr_SetString(PyExc_ValueError, "PyCapsule_SetPointer called with null pointer");
    return -1;
  }
  if (capsule != NULL) capsule->pointer = pointer;
  return capsule == NULL ? -1 : 0;
}

#ifdef __cplusplus
}
#endif
#endif
