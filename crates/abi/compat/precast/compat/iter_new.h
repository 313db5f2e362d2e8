/* precast/compat/iter_new.h: makes an NpyIter, over any number of arrays that broadcast to one shape.
 *
 * Axes are put in the order of memory (unless an order is asked for, or a multi-index), axes that can be walked as one
 * become one, and with NPY_ITER_EXTERNAL_LOOP the innermost is left to the caller. Elements are not buffered: an iterator
 * that would have to cast is refused.
 */
#ifndef PRECAST_COMPAT_ITER_NEW_H
#define PRECAST_COMPAT_ITER_NEW_H

#include <precast/compat/copy.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NPY_ITER_C_INDEX 0x00000001
#define NPY_ITER_F_INDEX 0x00000002
#define NPY_ITER_MULTI_INDEX 0x00000004
#define NPY_ITER_EXTERNAL_LOOP 0x00000008
#define NPY_ITER_COMMON_DTYPE 0x00000010
#define NPY_ITER_REFS_OK 0x00000020
#define NPY_ITER_ZEROSIZE_OK 0x00000040
#define NPY_ITER_REDUCE_OK 0x00000080
#define NPY_ITER_RANGED 0x00000100
#define NPY_ITER_BUFFERED 0x00000200
#define NPY_ITER_GROWINNER 0x00000400
#define NPY_ITER_DELAY_BUFALLOC 0x00000800
#define NPY_ITER_DONT_NEGATE_STRIDES 0x00001000
#define NPY_ITER_COPY_IF_OVERLAP 0x00002000
#define NPY_ITER_READWRITE 0x00010000
#define NPY_ITER_READONLY 0x00020000
#define NPY_ITER_WRITEONLY 0x00040000
#define NPY_ITER_NBO 0x00080000
#define NPY_ITER_ALIGNED 0x00100000
#define NPY_ITER_CONTIG 0x00200000
#define NPY_ITER_COPY 0x00400000
#define NPY_ITER_UPDATEIFCOPY 0x00800000
#define NPY_ITER_ALLOCATE 0x01000000
#define NPY_ITER_NO_SUBTYPE 0x02000000
#define NPY_ITER_VIRTUAL 0x04000000
#define NPY_ITER_NO_BROADCAST 0x08000000
#define NPY_ITER_OVERLAP_ASSUME_ELEMENTWISE 0x40000000

typedef struct NpyIter {
  int nop, ndim;  /* arrays; axes that are walked, the innermost last */
  int outer;      /* how many of them the iterator steps along: all, or all but the innermost */
  int full_ndim;  /* axes of the broadcast shape */
  npy_uint32 flags;
  npy_intp size, inner; /* elements in all, elements left to the caller at a time */
  npy_intp full_shape[PC_MAX_NDIM];
  int axis[PC_MAX_NDIM]; /* which axis of the broadcast shape; ~axis if it is walked backwards */
  npy_intp shape[PC_MAX_NDIM], index[PC_MAX_NDIM];
  /* nop entries each, behind this structure: */
  PyArrayObject **arrays;
  PyArray_Descr **descrs;
  char **first, **at;
  npy_intp *inner_strides;
  npy_intp *strides; /* strides[d * nop + i] */
} NpyIter;

typedef int(NpyIter_IterNextFunc)(NpyIter *);
typedef void(NpyIter_GetMultiIndexFunc)(NpyIter *, npy_intp *);

PC_COMPAT_SLOW int NpyIter_Deallocate(NpyIter *iter) {
  if (iter == NULL) return NPY_SUCCEED;
  for (int i = 0; i < iter->nop; i++) Py_XDECREF(iter->arrays[i]);
  pc_compat_free(iter);
  return NPY_SUCCEED;
}

/* Steps to the next place; 0 at the end. */
PC_COMPAT_SLOW int pc_compat_iter_next(NpyIter *iter) {
  for (int d = iter->outer - 1; d >= 0; d--) {
    const npy_intp *strides = iter->strides + (size_t)d * (size_t)iter->nop;
    for (int i = 0; i < iter->nop; i++) iter->at[i] += strides[i];
    if (++iter->index[d] < iter->shape[d]) return 1;
    for (int i = 0; i < iter->nop; i++) iter->at[i] -= strides[i] * iter->shape[d];
    iter->index[d] = 0;
  }
  return 0;
}

PC_COMPAT_SLOW int NpyIter_Reset(NpyIter *iter, char **message) {
  (void)message;
  for (int i = 0; i < iter->nop; i++) iter->at[i] = iter->first[i];
  for (int d = 0; d < iter->ndim; d++) iter->index[d] = 0;
  return NPY_SUCCEED;
}

PC_COMPAT_FN npy_intp pc_compat_magnitude(npy_intp x) { return x < 0 ? -x : x; }

/* Returns whether axis `a` belongs inside axis `b`: 1 if every array with strides along both has a smaller one along `a`, 0 if one has not,
 * -1 if no array has strides along both. */
PC_COMPAT_SLOW int pc_compat_iter_inside(const NpyIter *iter, int a, int b) {
  int inside = -1;
  for (int i = 0; i < iter->nop; i++) {
    npy_intp x = pc_compat_magnitude(iter->strides[a * iter->nop + i]);
    npy_intp y = pc_compat_magnitude(iter->strides[b * iter->nop + i]);
    if (x == 0 || y == 0) continue;
    if (x >= y) return 0;
    inside = 1;
  }
  return inside;
}

PC_COMPAT_SLOW void pc_compat_iter_swap(NpyIter *iter, int a, int b) {
  npy_intp extent = iter->shape[a];
  int axis = iter->axis[a];
  iter->shape[a] = iter->shape[b], iter->shape[b] = extent;
  iter->axis[a] = iter->axis[b], iter->axis[b] = axis;
  for (int i = 0; i < iter->nop; i++) {
    npy_intp stride = iter->strides[a * iter->nop + i];
    iter->strides[a * iter->nop + i] = iter->strides[b * iter->nop + i];
    iter->strides[b * iter->nop + i] = stride;
  }
}

/* Sorts the axes, turns those round that run backwards in every array, and joins neighbours. */
PC_COMPAT_SLOW void pc_compat_iter_arrange(NpyIter *iter, NPY_ORDER order) {
  int n = iter->nop, multi = (iter->flags & NPY_ITER_MULTI_INDEX) != 0;
  if (order == NPY_FORTRANORDER) {
    for (int d = 0; d < iter->ndim / 2; d++) pc_compat_iter_swap(iter, d, iter->ndim - 1 - d);
  } else if (order == NPY_KEEPORDER || order == NPY_ANYORDER) {
    for (int d = 1; d < iter->ndim; d++) {
      int to = d;
      for (int e = d - 1; e >= 0; e--) { /* past axes that no array orders */
        int inside = pc_compat_iter_inside(iter, e, d);
        if (inside == 0) break;
        if (inside == 1) to = e;
      }
      for (int e = d; e > to; e--) pc_compat_iter_swap(iter, e - 1, e);
    }
    for (int d = 0; d < iter->ndim && (iter->flags & NPY_ITER_DONT_NEGATE_STRIDES) == 0; d++) {
      int back = 0, forth = 0;
      for (int i = 0; i < n; i++) back |= iter->strides[d * n + i] < 0, forth |= iter->strides[d * n + i] > 0;
      if (back && !forth) iter->axis[d] = ~iter->axis[d];
      for (int i = 0; i < n && back && !forth; i++) {
        iter->first[i] += (iter->shape[d] - 1) * iter->strides[d * n + i];
        iter->strides[d * n + i] = -iter->strides[d * n + i];
      }
    }
  }
  if (multi) return;
  int kept = 0;
  for (int d = 0; d < iter->ndim; d++) {
    int joins = kept > 0;
    if (iter->shape[d] == 1) continue;
    for (int i = 0; i < n && joins; i++) {
      joins = iter->strides[(kept - 1) * n + i] == iter->strides[d * n + i] * iter->shape[d];
    }
    if (!joins) kept++;
    iter->shape[kept - 1] = joins ? iter->shape[kept - 1] * iter->shape[d] : iter->shape[d];
    for (int i = 0; i < n; i++) iter->strides[(kept - 1) * n + i] = iter->strides[d * n + i];
  }
  iter->ndim = kept;
}

/* The arguments of a new iterator. */
typedef struct pc_compat_iter_call {
  PyArrayObject **arrays;
  const npy_uint32 *op_flags;
  PyArray_Descr **wanted; /* NULL, or an entry that may be NULL for each array */
  int ndim;               /* -1: that of the broadcast arrays */
  int **axes;
  const npy_intp *shape;
} pc_compat_iter_call;

/* Which axis of array `i` goes along axis `d` of the iterator; negative for none. */
PC_COMPAT_FN int pc_compat_iter_axis(const pc_compat_iter_call *call, const NpyIter *iter, int i, int d) {
  if (call->axes != NULL && call->axes[i] != NULL) return call->axes[i][d];
  return d - (iter->full_ndim - (iter->arrays[i] != NULL ? iter->arrays[i]->ndim : iter->full_ndim));
}

/* Puts the strides of array `i`, broadcast, into the iterator; 0 with an error set if an extent does not fit. */
PC_COMPAT_SLOW int pc_compat_iter_place(NpyIter *iter, int i, const pc_compat_iter_call *call) {
  const PyArrayObject *a = iter->arrays[i];
  iter->first[i] = a->data;
  iter->descrs[i] = PyArray_DESCR(a);
  for (int d = 0; d < iter->full_ndim; d++) {
    int from = pc_compat_iter_axis(call, iter, i, d);
    int64_t extent = from < 0 || from >= a->ndim ? 1 : a->shape[from];
    if (extent != 1 && extent != iter->full_shape[d]) {
      PyErr_SetString(PyExc_ValueError, "operands could not be broadcast together");
      return 0;
    }
    iter->strides[d * iter->nop + i] = extent == 1 ? 0 : a->strides[from];
  }
  return 1;
}

/* Makes array `i`, which is to be allocated: the axes that it goes along, in their order there. */
PC_COMPAT_SLOW int pc_compat_iter_allocate(NpyIter *iter, int i, const pc_compat_iter_call *call) {
  int typenum = call->wanted != NULL && call->wanted[i] != NULL ? call->wanted[i]->type_num : -1, ndim = 0;
  npy_intp shape[PC_MAX_NDIM];
  for (int k = 0; k < iter->nop && (call->wanted == NULL || call->wanted[i] == NULL); k++) {
    if (call->arrays[k] != NULL) typenum = typenum < 0 ? call->arrays[k]->dtype : pc_compat_promote(typenum, call->arrays[k]->dtype);
  }
  for (int d = 0; d < iter->full_ndim; d++) {
    int to = pc_compat_iter_axis(call, iter, i, d);
    if (to >= 0 && to < PC_MAX_NDIM) shape[to] = iter->full_shape[d], ndim = to + 1 > ndim ? to + 1 : ndim;
  }
  iter->arrays[i] = (PyArrayObject *)pc_compat_empty(ndim, shape, typenum, 0);
  return iter->arrays[i] != NULL;
}

/* Sets the extents of the iterator: the given ones, or the broadcast shape of the arrays. Returns 0 with an error set if they do not fit. */
PC_COMPAT_SLOW int pc_compat_iter_extents(NpyIter *iter, const pc_compat_iter_call *call) {
  int64_t shape[PC_MAX_NDIM];
  int fits = 1;
  if (call->ndim >= 0) iter->full_ndim = call->ndim;
  for (int d = 0; d < PC_MAX_NDIM; d++) shape[d] = call->ndim > d && call->shape != NULL && call->shape[d] >= 0 ? call->shape[d] : 1;
  for (int i = 0; i < iter->nop && fits; i++) {
    const PyArrayObject *a = call->arrays[i];
    if (a == NULL) continue;
    if (call->ndim < 0) fits = pc_compat_broadcast(&iter->full_ndim, shape, a);
    for (int d = 0; d < call->ndim && fits; d++) {
      int from = pc_compat_iter_axis(call, iter, i, d);
      int64_t extent = from < 0 ? 1 : from < a->ndim ? a->shape[from] : -1;
      fits = extent == 1 || extent == shape[d] || (shape[d] == 1 && extent >= 0);
      if (extent != 1) shape[d] = extent;
    }
  }
  if (!fits) PyErr_SetString(PyExc_ValueError, "operands could not be broadcast together");
  iter->size = 1;
  for (int d = 0; d < iter->full_ndim && fits; d++) {
    iter->full_shape[d] = iter->shape[d] = shape[d];
    iter->axis[d] = d;
    iter->size *= shape[d];
  }
  return fits;
}

/* Takes the arrays, broadcasts them, makes those that are to be allocated; 0 with an error set. */
PC_COMPAT_SLOW int pc_compat_iter_operands(NpyIter *iter, const pc_compat_iter_call *call) {
  for (int i = 0; i < iter->nop; i++) {
    if (call->arrays[i] == NULL) continue;
    if (call->wanted != NULL && call->wanted[i] != NULL && call->wanted[i]->type_num != call->arrays[i]->dtype) {
      PyErr_SetString(PyExc_TypeError, "an iterator here does not cast: cast the operand before");
      return 0;
    }
    iter->arrays[i] = (PyArrayObject *)Py_NewRef(call->arrays[i]);
  }
  if (!pc_compat_iter_extents(iter, call)) return 0;
  for (int i = 0; i < iter->nop; i++) {
    int writes = (call->op_flags[i] & (NPY_ITER_READWRITE | NPY_ITER_WRITEONLY)) != 0;
    if (call->arrays[i] == NULL && !pc_compat_iter_allocate(iter, i, call)) return 0;
    if (writes && pc_compat_fail_unless_writeable(iter->arrays[i], "output operand") < 0) return 0;
    if (!pc_compat_iter_place(iter, i, call)) return 0;
    for (int d = 0; d < iter->full_ndim && writes && (iter->flags & NPY_ITER_REDUCE_OK) == 0; d++) {
      if (iter->strides[d * iter->nop + i] == 0 && iter->shape[d] != 1) {
        PyErr_SetString(PyExc_ValueError, "non-broadcastable output operand");
        return 0;
      }
    }
  }
  return 1;
}

/* Which axes are the iterator's and which the caller's; goes to the start. */
PC_COMPAT_SLOW void pc_compat_iter_settle(NpyIter *iter) {
  int external = (iter->flags & NPY_ITER_EXTERNAL_LOOP) != 0 && iter->ndim > 0;
  iter->outer = external ? iter->ndim - 1 : iter->ndim;
  iter->inner = external ? iter->shape[iter->ndim - 1] : 1;
  if (iter->size == 0) iter->inner = 0;
  for (int i = 0; i < iter->nop; i++) {
    iter->inner_strides[i] = iter->ndim > 0 ? iter->strides[(iter->ndim - 1) * iter->nop + i] : 0;
  }
  NpyIter_Reset(iter, NULL);
}

PC_COMPAT_SLOW NpyIter *pc_compat_iter_new(int nop, npy_uint32 flags, NPY_ORDER order, const pc_compat_iter_call *call) {
  size_t n = nop > 0 ? (size_t)nop : 0;
  if (nop < 1 || nop > NPY_MAXARGS || (flags & (NPY_ITER_C_INDEX | NPY_ITER_F_INDEX | NPY_ITER_RANGED)) != 0 ||
      ((flags & NPY_ITER_MULTI_INDEX) != 0 && (flags & NPY_ITER_EXTERNAL_LOOP) != 0)) {
    PyErr_SetString(PyExc_ValueError, "no such iterator here: 1 to 64 operands, a multi-index or an external loop");
    return NULL;
  }
  size_t bytes = sizeof(NpyIter) + n * (5 + PC_MAX_NDIM) * sizeof(void *);
  NpyIter *iter = (NpyIter *)pc_compat_calloc(1, bytes);
  if (iter == NULL) return NULL;
  iter->nop = nop;
  iter->flags = flags;
  iter->arrays = (PyArrayObject **)(iter + 1);
  iter->descrs = (PyArray_Descr **)(iter->arrays + n);
  iter->first = (char **)(iter->descrs + n);
  iter->at = iter->first + n;
  iter->inner_strides = (npy_intp *)(iter->at + n);
  iter->strides = iter->inner_strides + n;
  int fine = pc_compat_iter_operands(iter, call);
  if (fine && iter->size == 0 && (flags & NPY_ITER_ZEROSIZE_OK) == 0) {
    PyErr_SetString(PyExc_ValueError, "iteration of zero-sized operands is not enabled");
    fine = 0;
  }
  if (!fine) {
    NpyIter_Deallocate(iter);
    return NULL;
  }
  iter->ndim = iter->full_ndim;
  pc_compat_iter_arrange(iter, order);
  pc_compat_iter_settle(iter);
  return iter;
}

/* NULL with an error set. Casting never happens, so `casting` is not asked. */
PC_COMPAT_FN NpyIter *NpyIter_MultiNew(int nop, PyArrayObject **arrays, npy_uint32 flags, NPY_ORDER order, NPY_CASTING casting,
                                       npy_uint32 *op_flags, PyArray_Descr **wanted) {
  pc_compat_iter_call call = {arrays, op_flags, wanted, -1, NULL, NULL};
  (void)casting;
  return pc_compat_iter_new(nop, flags, order, &call);
}

/* With `ndim` axes: `axes[i][d]` is the axis of array `i` along axis `d` of the iterator, -1 for none (a reduction, if the array is
 * written); NULL for those of broadcasting. An extent of `shape` is -1 where the arrays tell. `buffer` is not used. */
PC_COMPAT_SLOW NpyIter *NpyIter_AdvancedNew(int nop, PyArrayObject **arrays, npy_uint32 flags, NPY_ORDER order, NPY_CASTING casting,
                                            npy_uint32 *op_flags, PyArray_Descr **wanted, int ndim, int **axes, npy_intp *shape,
                                            npy_intp buffer) {
  pc_compat_iter_call call = {arrays, op_flags, wanted, ndim, ndim < 0 ? NULL : axes, ndim < 0 ? NULL : shape};
  (void)casting, (void)buffer;
  if (ndim > PC_MAX_NDIM) return pc_compat_check_extents(ndim, NULL), (NpyIter *)NULL;
  return pc_compat_iter_new(nop, flags, order, &call);
}

PC_COMPAT_SLOW NpyIter *NpyIter_New(PyArrayObject *a, npy_uint32 flags, NPY_ORDER order, NPY_CASTING casting,
                                    PyArray_Descr *descr) {
  npy_uint32 op_flags = flags & 0xffff0000u;
  if ((op_flags & (NPY_ITER_READWRITE | NPY_ITER_READONLY | NPY_ITER_WRITEONLY)) == 0) op_flags |= NPY_ITER_READONLY;
  return NpyIter_MultiNew(1, &a, flags & 0xffffu, order, casting, &op_flags, &descr);
}

#ifdef __cplusplus
}
#endif
#endif
