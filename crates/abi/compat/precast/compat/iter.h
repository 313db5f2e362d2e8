/* precast/compat/iter.h: NpyIter, over any number of arrays that broadcast to one shape.
 *
 * Axes are put in the order of memory (unless an order is asked for, or a multi-index), axes that can be walked as one
 * become one, and with NPY_ITER_EXTERNAL_LOOP the innermost is left to the caller. There is no buffering: an iterator that
 * would have to cast is refused.
 */
#ifndef PRECAST_COMPAT_ITER_H
#define PRECAST_COMPAT_ITER_H

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
  int axis[PC_MAX_NDIM]; /* with a multi-index: which axis of the broadcast shape */
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

/* Whether axis `a` belongs inside axis `b`: its strides are smaller, by the first array that tells. */
PC_COMPAT_SLOW int pc_compat_iter_inside(const NpyIter *iter, int a, int b) {
  for (int i = 0; i < iter->nop; i++) {
    npy_intp x = pc_compat_magnitude(iter->strides[a * iter->nop + i]);
    npy_intp y = pc_compat_magnitude(iter->strides[b * iter->nop + i]);
    if (x != 0 && y != 0 && x != y) return x < y;
  }
  return 0;
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
      for (int e = d; e > 0 && pc_compat_iter_inside(iter, e - 1, e); e--) pc_compat_iter_swap(iter, e - 1, e);
    }
    for (int d = 0; d < iter->ndim && !multi && (iter->flags & NPY_ITER_DONT_NEGATE_STRIDES) == 0; d++) {
      int back = 0, forth = 0;
      for (int i = 0; i < n; i++) back |= iter->strides[d * n + i] < 0, forth |= iter->strides[d * n + i] > 0;
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

/* Puts the strides of array `i`, broadcast, into the iterator. */
PC_COMPAT_SLOW void pc_compat_iter_place(NpyIter *iter, int i) {
  const PyArrayObject *a = iter->arrays[i];
  int skip = iter->full_ndim - a->ndim;
  iter->first[i] = a->data;
  iter->descrs[i] = PyArray_DESCR(a);
  for (int d = 0; d < iter->full_ndim; d++) {
    iter->strides[d * iter->nop + i] = d < skip || a->shape[d - skip] == 1 ? 0 : a->strides[d - skip];
  }
}

/* Takes the arrays, broadcasts them, makes those that are to be allocated; 0 with an error set. */
PC_COMPAT_SLOW int pc_compat_iter_operands(NpyIter *iter, PyArrayObject **arrays, const npy_uint32 *op_flags,
                                           PyArray_Descr **wanted) {
  int64_t shape[PC_MAX_NDIM];
  for (int i = 0; i < iter->nop; i++) {
    if (arrays[i] == NULL) continue;
    if (!pc_compat_broadcast(&iter->full_ndim, shape, arrays[i])) {
      PyErr_SetString(PyExc_ValueError, "operands could not be broadcast together");
      return 0;
    }
    if (wanted != NULL && wanted[i] != NULL && wanted[i]->type_num != arrays[i]->dtype) {
      PyErr_SetString(PyExc_TypeError, "an iterator here does not cast: cast the operand before");
      return 0;
    }
    iter->arrays[i] = (PyArrayObject *)Py_NewRef(arrays[i]);
  }
  iter->size = 1;
  for (int d = 0; d < iter->full_ndim; d++) {
    iter->full_shape[d] = iter->shape[d] = shape[d];
    iter->axis[d] = d;
    iter->size *= shape[d];
  }
  for (int i = 0; i < iter->nop; i++) {
    int writes = (op_flags[i] & (NPY_ITER_READWRITE | NPY_ITER_WRITEONLY)) != 0;
    if (arrays[i] == NULL) {
      int typenum = wanted != NULL && wanted[i] != NULL ? wanted[i]->type_num : -1;
      for (int k = 0; k < iter->nop && (wanted == NULL || wanted[i] == NULL); k++) {
        if (arrays[k] != NULL) typenum = typenum < 0 ? arrays[k]->dtype : pc_compat_promote(typenum, arrays[k]->dtype);
      }
      iter->arrays[i] = (PyArrayObject *)pc_compat_empty(iter->full_ndim, iter->full_shape, typenum, 0);
      if (iter->arrays[i] == NULL) return 0;
    }
    if (writes && pc_compat_fail_unless_writeable(iter->arrays[i], "output operand") < 0) return 0;
    pc_compat_iter_place(iter, i);
    for (int d = 0; d < iter->full_ndim && writes && (iter->flags & NPY_ITER_REDUCE_OK) == 0; d++) {
      if (iter->strides[d * iter->nop + i] == 0 && iter->shape[d] != 1) {
        PyErr_SetString(PyExc_ValueError, "non-broadcastable output operand");
        return 0;
      }
    }
  }
  return 1;
}

/* NULL with an error set. Casting never happens, so `casting` is not asked. */
PC_COMPAT_SLOW NpyIter *NpyIter_MultiNew(int nop, PyArrayObject **arrays, npy_uint32 flags, NPY_ORDER order,
                                         NPY_CASTING casting, npy_uint32 *op_flags, PyArray_Descr **wanted) {
  (void)casting;
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
  int fine = pc_compat_iter_operands(iter, arrays, op_flags, wanted);
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
  int external = (flags & NPY_ITER_EXTERNAL_LOOP) != 0;
  iter->outer = external && iter->ndim > 0 ? iter->ndim - 1 : iter->ndim;
  iter->inner = external && iter->ndim > 0 ? iter->shape[iter->ndim - 1] : 1;
  if (iter->size == 0) iter->inner = 0;
  for (int i = 0; i < nop; i++) {
    iter->inner_strides[i] = iter->ndim > 0 ? iter->strides[(iter->ndim - 1) * nop + i] : 0;
  }
  NpyIter_Reset(iter, NULL);
  return iter;
}

PC_COMPAT_SLOW NpyIter *NpyIter_New(PyArrayObject *a, npy_uint32 flags, NPY_ORDER order, NPY_CASTING casting,
                                    PyArray_Descr *descr) {
  npy_uint32 op_flags = flags & 0xffff0000u;
  if ((op_flags & (NPY_ITER_READWRITE | NPY_ITER_READONLY | NPY_ITER_WRITEONLY)) == 0) op_flags |= NPY_ITER_READONLY;
  return NpyIter_MultiNew(1, &a, flags & 0xffffu, order, casting, &op_flags, &descr);
}

PC_COMPAT_FN NpyIter_IterNextFunc *NpyIter_GetIterNext(NpyIter *iter, char **message) {
  (void)message;
  return iter == NULL ? NULL : pc_compat_iter_next;
}

PC_COMPAT_FN char **NpyIter_GetDataPtrArray(NpyIter *iter) { return iter->at; }
PC_COMPAT_FN char **NpyIter_GetInitialDataPtrArray(NpyIter *iter) { return iter->first; }
PC_COMPAT_FN npy_intp *NpyIter_GetInnerStrideArray(NpyIter *iter) { return iter->inner_strides; }
PC_COMPAT_FN npy_intp *NpyIter_GetInnerLoopSizePtr(NpyIter *iter) { return &iter->inner; }
PC_COMPAT_FN npy_intp NpyIter_GetIterSize(NpyIter *iter) { return iter->size; }
PC_COMPAT_FN int NpyIter_GetNOp(NpyIter *iter) { return iter->nop; }
PC_COMPAT_FN int NpyIter_GetNDim(NpyIter *iter) {
  return (iter->flags & NPY_ITER_MULTI_INDEX) != 0 ? iter->full_ndim : iter->ndim > 0 ? iter->ndim : 1;
}
PC_COMPAT_FN PyArrayObject **NpyIter_GetOperandArray(NpyIter *iter) { return iter->arrays; }
PC_COMPAT_FN PyArray_Descr **NpyIter_GetDescrArray(NpyIter *iter) { return iter->descrs; }
PC_COMPAT_FN npy_bool NpyIter_HasExternalLoop(NpyIter *iter) { return (iter->flags & NPY_ITER_EXTERNAL_LOOP) != 0; }
PC_COMPAT_FN npy_bool NpyIter_HasMultiIndex(NpyIter *iter) { return (iter->flags & NPY_ITER_MULTI_INDEX) != 0; }
PC_COMPAT_FN npy_bool NpyIter_RequiresBuffering(NpyIter *iter) { return (void)iter, 0; }
PC_COMPAT_FN npy_bool NpyIter_IterationNeedsAPI(NpyIter *iter) { return (void)iter, 0; }

/* The broadcast shape, or that of the axes that are walked. */
PC_COMPAT_SLOW int NpyIter_GetShape(NpyIter *iter, npy_intp *shape) {
  int multi = (iter->flags & NPY_ITER_MULTI_INDEX) != 0;
  shape[0] = 1;
  for (int d = 0; d < (multi ? iter->full_ndim : iter->ndim); d++) shape[d] = multi ? iter->full_shape[d] : iter->shape[d];
  return NPY_SUCCEED;
}

PC_COMPAT_SLOW void pc_compat_iter_multi_index(NpyIter *iter, npy_intp *index) {
  for (int d = 0; d < iter->ndim; d++) index[iter->axis[d]] = iter->index[d];
}

/* NULL with an error set if the iterator was not made with NPY_ITER_MULTI_INDEX. */
PC_COMPAT_SLOW NpyIter_GetMultiIndexFunc *NpyIter_GetGetMultiIndex(NpyIter *iter, char **message) {
  (void)message;
  if ((iter->flags & NPY_ITER_MULTI_INDEX) != 0) return pc_compat_iter_multi_index;
  PyErr_SetString(PyExc_ValueError, "the iterator does not track a multi-index");
  return NULL;
}

#ifdef __cplusplus
}
#endif
#endif
