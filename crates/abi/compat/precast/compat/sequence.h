/* precast/compat/sequence.h: PyTuple, PyList, PySequence and PySlice. */
#ifndef PRECAST_COMPAT_SEQUENCE_H
#define PRECAST_COMPAT_SEQUENCE_H

#include <precast/compat/number.h>
#include <precast/compat/text.h>

#ifdef __cplusplus
extern "C" {
#endif

PC_COMPAT_SLOW void pc_compat_items_dealloc(PyObject *o) {
  pc_compat_items *items = (pc_compat_items *)o;
  for (Py_ssize_t i = 0; i < items->length; i++) Py_XDECREF(items->items[i]);
  pc_compat_free(items->items);
  pc_compat_delete(o);
}

PC_COMPAT_DATA const pc_type pc_compat_tuple_type = {"tuple", pc_compat_items_dealloc};
PC_COMPAT_DATA const pc_type pc_compat_list_type = {"list", pc_compat_items_dealloc};

typedef pc_compat_items PyTupleObject;
typedef pc_compat_items PyListObject;

#define PyTuple_Check(o) (pc_compat_kind((PyObject *)(o)) == PC_COMPAT_TUPLE)
#define PyTuple_CheckExact(o) PyTuple_Check(o)
#define PyList_Check(o) (pc_compat_kind((PyObject *)(o)) == PC_COMPAT_LIST)
#define PyList_CheckExact(o) PyList_Check(o)

/* A sequence of `length` empty places. */
PC_COMPAT_SLOW PyObject *pc_compat_items_new(int32_t kind, Py_ssize_t length) {
  if (length < 0) {
    PyErr_BadInternalCall();
    return NULL;
  }
  const pc_type *type = kind == PC_COMPAT_LIST ? &pc_compat_list_type : &pc_compat_tuple_type;
  pc_compat_items *items = (pc_compat_items *)pc_compat_new(kind, type, sizeof(pc_compat_items));
  if (items == NULL || length == 0) return (PyObject *)items;
  items->items = (PyObject **)pc_compat_calloc((size_t)length, sizeof(PyObject *));
  if (items->items == NULL) {
    Py_DECREF(items);
    return NULL;
  }
  items->length = items->room = length;
  return (PyObject *)items;
}

PC_COMPAT_SLOW pc_compat_items *pc_compat_items_of(PyObject *o, int32_t kind) {
  if (o != NULL && pc_compat_kind(o) == kind) return (pc_compat_items *)o;
  PyErr_BadInternalCall();
  return NULL;
}

/* Borrowed; NULL with an error set. */
PC_COMPAT_SLOW PyObject *pc_compat_items_get(PyObject *o, int32_t kind, Py_ssize_t i) {
  pc_compat_items *items = pc_compat_items_of(o, kind);
  if (items == NULL) return NULL;
  if (i >= 0 && i < items->length) return items->items[i];
  PyErr_Format(PyExc_IndexError, "%s index out of range", kind == PC_COMPAT_LIST ? "list" : "tuple");
  return NULL;
}

/* Takes over the reference, also when it fails. */
PC_COMPAT_SLOW int pc_compat_items_set(PyObject *o, int32_t kind, Py_ssize_t i, PyObject *item) {
  pc_compat_items *items = pc_compat_items_of(o, kind);
  if (items != NULL && i >= 0 && i < items->length) {
    PyObject *old = items->items[i];
    items->items[i] = item;
    Py_XDECREF(old);
    return 0;
  }
  Py_XDECREF(item);
  if (items != NULL) PyErr_Format(PyExc_IndexError, "%s assignment index out of range", kind == PC_COMPAT_LIST ? "list" : "tuple");
  return -1;
}

PC_COMPAT_SLOW Py_ssize_t pc_compat_items_size(PyObject *o, int32_t kind) {
  pc_compat_items *items = pc_compat_items_of(o, kind);
  return items == NULL ? -1 : items->length;
}

/* Returns the items from `low` up to `high`, both limited to the length of `o`, as a new sequence of kind `into`. */
PC_COMPAT_SLOW PyObject *pc_compat_items_slice(PyObject *o, int32_t kind, Py_ssize_t low, Py_ssize_t high, int32_t into) {
  pc_compat_items *items = pc_compat_items_of(o, kind);
  if (items == NULL) return NULL;
  low = low < 0 ? 0 : low > items->length ? items->length : low;
  high = high < low ? low : high > items->length ? items->length : high;
  pc_compat_items *fresh = (pc_compat_items *)pc_compat_items_new(into, high - low);
  for (Py_ssize_t i = low; fresh != NULL && i < high; i++) fresh->items[i - low] = pc_compat_xnewref(items->items[i]);
  return (PyObject *)fresh;
}

/* ---- tuples ---- */

PC_COMPAT_FN PyObject *PyTuple_New(Py_ssize_t length) { return pc_compat_items_new(PC_COMPAT_TUPLE, length); }
PC_COMPAT_FN Py_ssize_t PyTuple_Size(PyObject *o) { return pc_compat_items_size(o, PC_COMPAT_TUPLE); }
PC_COMPAT_FN PyObject *PyTuple_GetItem(PyObject *o, Py_ssize_t i) { return pc_compat_items_get(o, PC_COMPAT_TUPLE, i); }
PC_COMPAT_FN int PyTuple_SetItem(PyObject *o, Py_ssize_t i, PyObject *item) {
  return pc_compat_items_set(o, PC_COMPAT_TUPLE, i, item);
}
PC_COMPAT_FN PyObject *PyTuple_GetSlice(PyObject *o, Py_ssize_t low, Py_ssize_t high) {
  return pc_compat_items_slice(o, PC_COMPAT_TUPLE, low, high, PC_COMPAT_TUPLE);
}

PC_COMPAT_SLOW PyObject *PyTuple_Pack(Py_ssize_t length, ...) {
  PyObject *o = PyTuple_New(length);
  va_list args;
  va_start(args, length);
  for (Py_ssize_t i = 0; o != NULL && i < length; i++) {
    PyObject *item = va_arg(args, PyObject *);
    ((pc_compat_items *)o)->items[i] = pc_compat_xnewref(item);
  }
  va_end(args);
  return o;
}

#define PyTuple_GET_ITEM(o, i) (((pc_compat_items *)(o))->items[i])
#define PyTuple_SET_ITEM(o, i, item) ((void)(((pc_compat_items *)(o))->items[i] = (PyObject *)(item)))
#define PyTuple_GET_SIZE(o) (((pc_compat_items *)(o))->length)

/* ---- lists ---- */

PC_COMPAT_FN PyObject *PyList_New(Py_ssize_t length) { return pc_compat_items_new(PC_COMPAT_LIST, length); }
PC_COMPAT_FN Py_ssize_t PyList_Size(PyObject *o) { return pc_compat_items_size(o, PC_COMPAT_LIST); }
PC_COMPAT_FN PyObject *PyList_GetItem(PyObject *o, Py_ssize_t i) { return pc_compat_items_get(o, PC_COMPAT_LIST, i); }
PC_COMPAT_FN int PyList_SetItem(PyObject *o, Py_ssize_t i, PyObject *item) {
  return pc_compat_items_set(o, PC_COMPAT_LIST, i, item);
}
PC_COMPAT_FN PyObject *PyList_GetSlice(PyObject *o, Py_ssize_t low, Py_ssize_t high) {
  return pc_compat_items_slice(o, PC_COMPAT_LIST, low, high, PC_COMPAT_LIST);
}
PC_COMPAT_FN PyObject *PyList_AsTuple(PyObject *o) {
  return pc_compat_items_slice(o, PC_COMPAT_LIST, 0, PY_SSIZE_T_MAX, PC_COMPAT_TUPLE);
}

/* Puts a new reference to `item` in front of item `i`; negative positions count from the end. */
PC_COMPAT_SLOW int PyList_Insert(PyObject *o, Py_ssize_t i, PyObject *item) {
  pc_compat_items *list = pc_compat_items_of(o, PC_COMPAT_LIST);
  if (list == NULL || item == NULL) return -1;
  if (list->length == list->room) {
    Py_ssize_t room = list->room * 2 + 4;
    PyObject **items = (PyObject **)pc_compat_realloc(list->items, (size_t)room * sizeof(PyObject *));
    if (items == NULL) return -1;
    list->items = items;
    list->room = room;
  }
  if (i < 0) i += list->length;
  i = i < 0 ? 0 : i > list->length ? list->length : i;
  memmove(list->items + i + 1, list->items + i, (size_t)(list->length - i) * sizeof(PyObject *));
  list->items[i] = pc_compat_xnewref(item);
  list->length++;
  return 0;
}

PC_COMPAT_FN int PyList_Append(PyObject *o, PyObject *item) { return PyList_Insert(o, PY_SSIZE_T_MAX, item); }

PC_COMPAT_SLOW int PyList_Reverse(PyObject *o) {
  pc_compat_items *list = pc_compat_items_of(o, PC_COMPAT_LIST);
  if (list == NULL) return -1;
  for (Py_ssize_t i = 0, j = list->length - 1; i < j; i++, j--) {
    PyObject *item = list->items[i];
    list->items[i] = list->items[j];
    list->items[j] = item;
  }
  return 0;
}

#define PyList_GET_ITEM(o, i) (((pc_compat_items *)(o))->items[i])
#define PyList_SET_ITEM(o, i, item) ((void)(((pc_compat_items *)(o))->items[i] = (PyObject *)(item)))
#define PyList_GET_SIZE(o) (((pc_compat_items *)(o))->length)
#define Py_SIZE(o) (((pc_compat_items *)(o))->length)

/* ---- any sequence ---- */

#define PySequence_Check(o) (PyTuple_Check(o) || PyList_Check(o))

/* Items of a tuple or list, bytes, characters, or the first extent of an array; -1 with an error set for anything else. */
PC_COMPAT_SLOW Py_ssize_t PyObject_Size(PyObject *o) {
  int32_t kind = o == NULL ? 0 : pc_compat_kind(o);
  if (kind == PC_COMPAT_TUPLE || kind == PC_COMPAT_LIST) return ((pc_compat_items *)o)->length;
  if (kind == PC_COMPAT_STR) return PyUnicode_GetLength(o);
  if (kind == PC_COMPAT_BYTES) return ((pc_compat_chars *)o)->length;
  if (kind == PC_COMPAT_ARRAY && ((pc_tensor *)o)->ndim > 0) return (Py_ssize_t)((pc_tensor *)o)->shape[0];
  PyErr_Format(PyExc_TypeError, "object of type '%s' has no len()", o == NULL ? "NULL" : Py_TYPE(o)->tp_name);
  return -1;
}

/* A new reference to an item of a tuple or list; negative positions count from the end. */
PC_COMPAT_SLOW PyObject *PySequence_GetItem(PyObject *o, Py_ssize_t i) {
  if (o == NULL || !PySequence_Check(o)) {
    PyErr_SetString(PyExc_TypeError, "object does not support indexing");
    return NULL;
  }
  if (i < 0) i += ((pc_compat_items *)o)->length;
  return pc_compat_xnewref(pc_compat_items_get(o, pc_compat_kind(o), i));
}

/* A tuple or list itself, with one more reference. */
PC_COMPAT_SLOW PyObject *PySequence_Fast(PyObject *o, const char *message) {
  if (o != NULL && PySequence_Check(o)) return Py_NewRef(o);
  PyErr_SetString(PyExc_TypeError, message);
  return NULL;
}

#define PySequence_Size(o) PyObject_Size(o)
#define PySequence_Length(o) PyObject_Size(o)
#define PyObject_Length(o) PyObject_Size(o)
#define PySequence_Fast_GET_SIZE(o) (((pc_compat_items *)(o))->length)
#define PySequence_Fast_GET_ITEM(o, i) (((pc_compat_items *)(o))->items[i])
#define PySequence_Fast_ITEMS(o) (((pc_compat_items *)(o))->items)

/* ---- slices ---- */

/* A slice is three items: start, stop, step; each None or an integer. */
PC_COMPAT_DATA const pc_type pc_compat_slice_type = {"slice", pc_compat_items_dealloc};

#define PySlice_Check(o) (pc_compat_kind((PyObject *)(o)) == PC_COMPAT_SLICE)

PC_COMPAT_SLOW PyObject *PySlice_New(PyObject *start, PyObject *stop, PyObject *step) {
  pc_compat_items *slice = (pc_compat_items *)pc_compat_items_new(PC_COMPAT_TUPLE, 3);
  if (slice == NULL) return NULL;
  slice->head.tensor.dtype = PC_COMPAT_SLICE;
  slice->head.tensor.object.type = &pc_compat_slice_type;
  slice->items[0] = Py_NewRef(start != NULL ? start : Py_None);
  slice->items[1] = Py_NewRef(stop != NULL ? stop : Py_None);
  slice->items[2] = Py_NewRef(step != NULL ? step : Py_None);
  return (PyObject *)slice;
}

PC_COMPAT_SLOW int PySlice_Unpack(PyObject *o, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t *step) {
  pc_compat_items *slice = pc_compat_items_of(o, PC_COMPAT_SLICE);
  if (slice == NULL) return -1;
  *step = Py_IsNone(slice->items[2]) ? 1 : PyNumber_AsSsize_t(slice->items[2], NULL);
  if (PyErr_Occurred()) return -1;
  if (*step == 0) {
    PyErr_SetString(PyExc_ValueError, "slice step cannot be zero");
    return -1;
  }
  if (*step < -PY_SSIZE_T_MAX) *step = -PY_SSIZE_T_MAX;
  *start = Py_IsNone(slice->items[0]) ? (*step < 0 ? PY_SSIZE_T_MAX : 0) : PyNumber_AsSsize_t(slice->items[0], NULL);
  *stop = Py_IsNone(slice->items[1]) ? (*step < 0 ? PY_SSIZE_T_MIN : PY_SSIZE_T_MAX) : PyNumber_AsSsize_t(slice->items[1], NULL);
  return PyErr_Occurred() ? -1 : 0;
}

/* Brings the bounds of a slice into a sequence of `length` items; gives the number of items of the slice. */
PC_COMPAT_SLOW Py_ssize_t PySlice_AdjustIndices(Py_ssize_t length, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t step) {
  Py_ssize_t *const bounds[2] = {start, stop};
  for (int i = 0; i < 2; i++) {
    if (*bounds[i] < 0) {
      *bounds[i] += length;
      if (*bounds[i] < 0) *bounds[i] = step < 0 ? -1 : 0;
    } else if (*bounds[i] >= length) {
      *bounds[i] = step < 0 ? length - 1 : length;
    }
  }
  if (step < 0) return *stop < *start ? (*start - *stop - 1) / -step + 1 : 0;
  return *start < *stop ? (*stop - *start - 1) / step + 1 : 0;
}

PC_COMPAT_SLOW int PySlice_GetIndicesEx(PyObject *o, Py_ssize_t length, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t *step,
                                        Py_ssize_t *count) {
  if (PySlice_Unpack(o, start, stop, step) < 0) return -1;
  *count = PySlice_AdjustIndices(length, start, stop, *step);
  return 0;
}

#ifdef __cplusplus
}
#endif
#endif
