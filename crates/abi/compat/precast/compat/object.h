/* precast/compat/object.h: PyObject, reference counts, types, None and the booleans.
 *
 * Whatever op code can hold starts with a pc_tensor, so a host or a module that is handed one by mistake reads a type number
 * that no dtype has, and refuses it:
 *
 *   dtype >= 0   an array; without dimensions it is also the number or truth value that it holds
 *   dtype <  0   one of PC_COMPAT_* below; `data` is NULL
 *
 * Kinds are numbers, not addresses of types, because each module has types of its own. Objects of a module that live for
 * ever have a reference count that nothing brings down, and that compat code leaves alone: threads share them.
 */
#ifndef PRECAST_COMPAT_OBJECT_H
#define PRECAST_COMPAT_OBJECT_H

#include <precast/compat/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef pc_object PyObject;
typedef intptr_t Py_ssize_t;
typedef intptr_t Py_hash_t;
typedef intptr_t Py_intptr_t;
typedef uintptr_t Py_uintptr_t;
#define PY_SSIZE_T_MAX ((Py_ssize_t)INTPTR_MAX)
#define PY_SSIZE_T_MIN ((Py_ssize_t)INTPTR_MIN)

enum {
  PC_COMPAT_NONE = -1,
  PC_COMPAT_TYPE = -2,
  PC_COMPAT_EXCEPTION = -3,
  PC_COMPAT_DESCR = -4,
  PC_COMPAT_TUPLE = -5,
  PC_COMPAT_LIST = -6,
  PC_COMPAT_STR = -7,
  PC_COMPAT_BYTES = -8,
  PC_COMPAT_CAPSULE = -9,
  PC_COMPAT_SLICE = -10,
  PC_COMPAT_ITER = -11,
  PC_COMPAT_MULTI_ITER = -12,
  PC_COMPAT_NOT_IMPLEMENTED = -13,
  PC_COMPAT_ELLIPSIS = -14,
  /* Only in PyTypeObject.kind: numbers, which are arrays without dimensions. */
  PC_COMPAT_ARRAY = -32,
  PC_COMPAT_FLOAT = -33,
  PC_COMPAT_LONG = -34,
  PC_COMPAT_BOOL = -35,
  PC_COMPAT_COMPLEX = -36,
  PC_COMPAT_SCALAR = -37
};

/* The start of every object that is not an array. */
typedef struct pc_compat_head {
  pc_tensor tensor;
  const pc_host *host; /* whose memory the object is in; NULL for one that lives for ever */
} pc_compat_head;

#define PC_COMPAT_IMMORTAL (INT64_MAX / 2)

/* `pc_type.dealloc` of objects that live for ever. */
PC_COMPAT_SLOW void pc_compat_keep(pc_object *o) { o->refcount = PC_COMPAT_IMMORTAL; }

PC_COMPAT_DATA const pc_type pc_compat_eternal = {"precast.compat", pc_compat_keep};
PC_COMPAT_DATA const int64_t pc_compat_no_extent = 0;

/* Initialises the head of an object that lives for ever. */
#define PC_COMPAT_HEAD(kind)                                                                                             \
  {                                                                                                                      \
    {{PC_COMPAT_IMMORTAL, &pc_compat_eternal}, NULL, (kind), 0, &pc_compat_no_extent, &pc_compat_no_extent,             \
     PC_FLAG_READONLY, 0, NULL, 0},                                                                                      \
        NULL                                                                                                             \
  }

/* A new object of `bytes` bytes, all zero behind the head; one reference. NULL with the error slot set when refused. */
PC_COMPAT_SLOW PyObject *pc_compat_new(int32_t kind, const pc_type *type, size_t bytes) {
  pc_context *ctx = pc_compat_current.ctx;
  if (ctx == NULL) return NULL;
  pc_compat_head *head = (pc_compat_head *)ctx->host->alloc(ctx, bytes);
  if (head == NULL) return NULL;
  memset(head, 0, bytes);
  head->tensor.object.refcount = 1;
  head->tensor.object.type = type;
  head->tensor.dtype = kind;
  head->tensor.shape = &pc_compat_no_extent;
  head->tensor.strides = &pc_compat_no_extent;
  head->tensor.flags = PC_FLAG_READONLY;
  head->host = ctx->host;
  return &head->tensor.object;
}

/* Gives an object's memory back; the end of every dealloc. There may be no context any more. */
PC_COMPAT_FN void pc_compat_delete(PyObject *o) {
  const pc_host *host = ((pc_compat_head *)o)->host;
  host->release(NULL, o);
}

/* ---- reference counts ---- */

PC_COMPAT_FN void pc_compat_incref(PyObject *o) {
  if (o->refcount < PC_COMPAT_IMMORTAL / 2) o->refcount++;
}

PC_COMPAT_FN void pc_compat_decref(PyObject *o) {
  if (o->refcount < PC_COMPAT_IMMORTAL / 2 && --o->refcount == 0) o->type->dealloc(o);
}

PC_COMPAT_FN void pc_compat_xincref(PyObject *o) {
  if (o != NULL) pc_compat_incref(o);
}

PC_COMPAT_FN void pc_compat_xdecref(PyObject *o) {
  if (o != NULL) pc_compat_decref(o);
}

PC_COMPAT_FN PyObject *pc_compat_xnewref(PyObject *o) {
  pc_compat_xincref(o);
  return o;
}

#define Py_INCREF(o) pc_compat_incref((PyObject *)(o))
#define Py_DECREF(o) pc_compat_decref((PyObject *)(o))
#define Py_XINCREF(o) pc_compat_xincref((PyObject *)(o))
#define Py_XDECREF(o) pc_compat_xdecref((PyObject *)(o))
#define Py_IncRef(o) pc_compat_xincref((PyObject *)(o))
#define Py_DecRef(o) pc_compat_xdecref((PyObject *)(o))
#define Py_NewRef(o) pc_compat_xnewref((PyObject *)(o))
#define Py_XNewRef(o) pc_compat_xnewref((PyObject *)(o))
#define Py_REFCNT(o) ((Py_ssize_t)((PyObject *)(o))->refcount)
#define Py_CLEAR(o)                             \
  do {                                          \
    PyObject *pc_compat_old = (PyObject *)(o);  \
    (o) = NULL;                                 \
    pc_compat_xdecref(pc_compat_old);           \
  } while (0)
#define Py_SETREF(o, value)                     \
  do {                                          \
    PyObject *pc_compat_old = (PyObject *)(o);  \
    (o) = (value);                              \
    pc_compat_decref(pc_compat_old);            \
  } while (0)
#define Py_XSETREF(o, value)                    \
  do {                                          \
    PyObject *pc_compat_old = (PyObject *)(o);  \
    (o) = (value);                              \
    pc_compat_xdecref(pc_compat_old);           \
  } while (0)

/* ---- types ---- */

typedef struct PyTypeObject {
  pc_compat_head head;
  const char *tp_name;
  int32_t kind;    /* PC_COMPAT_* of the objects that are instances */
  int32_t typenum; /* with PC_COMPAT_SCALAR: of the element; else -1 */
} PyTypeObject;

#define PC_COMPAT_TYPE_OBJECT(symbol, name, kind, typenum) \
  PC_COMPAT_DATA PyTypeObject symbol = {PC_COMPAT_HEAD(PC_COMPAT_TYPE), name, kind, typenum};

PC_COMPAT_TYPE_OBJECT(PyType_Type, "type", PC_COMPAT_TYPE, -1)
PC_COMPAT_TYPE_OBJECT(PyArray_Type, "numpy.ndarray", PC_COMPAT_ARRAY, -1)
PC_COMPAT_TYPE_OBJECT(PyArrayDescr_Type, "numpy.dtype", PC_COMPAT_DESCR, -1)
PC_COMPAT_TYPE_OBJECT(PyArrayIter_Type, "numpy.flatiter", PC_COMPAT_ITER, -1)
PC_COMPAT_TYPE_OBJECT(PyArrayMultiIter_Type, "numpy.broadcast", PC_COMPAT_MULTI_ITER, -1)
PC_COMPAT_TYPE_OBJECT(PyFloat_Type, "float", PC_COMPAT_FLOAT, -1)
PC_COMPAT_TYPE_OBJECT(PyLong_Type, "int", PC_COMPAT_LONG, -1)
PC_COMPAT_TYPE_OBJECT(PyBool_Type, "bool", PC_COMPAT_BOOL, -1)
PC_COMPAT_TYPE_OBJECT(PyComplex_Type, "complex", PC_COMPAT_COMPLEX, -1)
PC_COMPAT_TYPE_OBJECT(PyTuple_Type, "tuple", PC_COMPAT_TUPLE, -1)
PC_COMPAT_TYPE_OBJECT(PyList_Type, "list", PC_COMPAT_LIST, -1)
PC_COMPAT_TYPE_OBJECT(PyUnicode_Type, "str", PC_COMPAT_STR, -1)
PC_COMPAT_TYPE_OBJECT(PyBytes_Type, "bytes", PC_COMPAT_BYTES, -1)
PC_COMPAT_TYPE_OBJECT(PyCapsule_Type, "PyCapsule", PC_COMPAT_CAPSULE, -1)
PC_COMPAT_TYPE_OBJECT(PySlice_Type, "slice", PC_COMPAT_SLICE, -1)
PC_COMPAT_TYPE_OBJECT(pc_compat_none_type, "NoneType", PC_COMPAT_NONE, -1)
PC_COMPAT_TYPE_OBJECT(pc_compat_exception_type, "type", PC_COMPAT_EXCEPTION, -1)
PC_COMPAT_TYPE_OBJECT(pc_compat_other_type, "object", 0, -1)

/* The kind of an object: a PC_COMPAT_*, PC_COMPAT_ARRAY for every array. */
PC_COMPAT_FN int32_t pc_compat_kind(const PyObject *o) {
  int32_t dtype = ((const pc_tensor *)o)->dtype;
  return dtype >= 0 ? PC_COMPAT_ARRAY : dtype;
}

PC_COMPAT_SLOW PyTypeObject *pc_compat_type_of(const PyObject *o) {
  switch (pc_compat_kind(o)) {
    case PC_COMPAT_ARRAY: return &PyArray_Type;
    case PC_COMPAT_NONE: return &pc_compat_none_type;
    case PC_COMPAT_TYPE: return &PyType_Type;
    case PC_COMPAT_EXCEPTION: return &pc_compat_exception_type;
    case PC_COMPAT_DESCR: return &PyArrayDescr_Type;
    case PC_COMPAT_TUPLE: return &PyTuple_Type;
    case PC_COMPAT_LIST: return &PyList_Type;
    case PC_COMPAT_STR: return &PyUnicode_Type;
    case PC_COMPAT_BYTES: return &PyBytes_Type;
    case PC_COMPAT_CAPSULE: return &PyCapsule_Type;
    case PC_COMPAT_SLICE: return &PySlice_Type;
    case PC_COMPAT_ITER: return &PyArrayIter_Type;
    case PC_COMPAT_MULTI_ITER: return &PyArrayMultiIter_Type;
    default: return &pc_compat_other_type;
  }
}

#define Py_TYPE(o) pc_compat_type_of((const PyObject *)(o))
#define Py_IS_TYPE(o, type) (Py_TYPE(o) == (type))

/* ---- None, True, False ---- */

PC_COMPAT_DATA pc_compat_head pc_compat_none = PC_COMPAT_HEAD(PC_COMPAT_NONE);
PC_COMPAT_DATA pc_compat_head pc_compat_not_implemented = PC_COMPAT_HEAD(PC_COMPAT_NOT_IMPLEMENTED);
PC_COMPAT_DATA pc_compat_head pc_compat_ellipsis = PC_COMPAT_HEAD(PC_COMPAT_ELLIPSIS);
PC_COMPAT_DATA pc_bool pc_compat_truth[2] = {0, 1};
#define PC_COMPAT_BOOLEAN(at)                                                                                            \
  {                                                                                                                      \
    {{PC_COMPAT_IMMORTAL, &pc_compat_eternal}, (char *)&pc_compat_truth[at], PC_BOOL, 0, &pc_compat_no_extent,          \
     &pc_compat_no_extent, PC_FLAG_READONLY, 0, NULL, 0},                                                                \
        NULL                                                                                                             \
  }
PC_COMPAT_DATA pc_compat_head pc_compat_booleans[2] = {PC_COMPAT_BOOLEAN(0), PC_COMPAT_BOOLEAN(1)};

#define Py_None (&pc_compat_none.tensor.object)
#define Py_True (&pc_compat_booleans[1].tensor.object)
#define Py_False (&pc_compat_booleans[0].tensor.object)
#define Py_NotImplemented (&pc_compat_not_implemented.tensor.object)
#define Py_Ellipsis (&pc_compat_ellipsis.tensor.object)
#define Py_Is(a, b) ((PyObject *)(a) == (PyObject *)(b))
#define Py_IsNone(o) (pc_compat_kind((PyObject *)(o)) == PC_COMPAT_NONE)
#define Py_IsTrue(o) Py_Is(o, Py_True)
#define Py_IsFalse(o) Py_Is(o, Py_False)
#define Py_RETURN_NONE return Py_None
#define Py_RETURN_TRUE return Py_True
#define Py_RETURN_FALSE return Py_False
#define Py_RETURN_NOTIMPLEMENTED return Py_NotImplemented

#define Py_LT 0
#define Py_LE 1
#define Py_EQ 2
#define Py_NE 3
#define Py_GT 4
#define Py_GE 5

#ifdef __cplusplus
}
#endif
#endif
