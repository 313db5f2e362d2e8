/* precast/compat/iter.h: queries an NpyIter, and moves it. */
#ifndef PRECAST_COMPAT_ITER_H
#define PRECAST_COMPAT_ITER_H

#include <precast/compat/iter_new.h>

#ifdef __cplusplus
extern "C" {
#endif

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
  for (int d = 0; d < iter->ndim; d++) {
    if (iter->axis[d] >= 0) index[iter->axis[d]] = iter->index[d];
    else index[~iter->axis[d]] = iter->shape[d] - 1 - iter->index[d];
  }
}

/* NULL with an error set if the iterator was not made with NPY_ITER_MULTI_INDEX. */
PC_COMPAT_SLOW NpyIter_GetMultiIndexFunc *NpyIter_GetGetMultiIndex(NpyIter *iter, char **message) {
  (void)message;
  if ((iter->flags & NPY_ITER_MULTI_INDEX) != 0) return pc_compat_iter_multi_index;
  PyErr_SetString(PyExc_ValueError, "the iterator does not track a multi-index");
  return NULL;
}

/* Goes to the place with an index of each axis of the broadcast shape; NPY_FAIL with an error set. */
PC_COMPAT_SLOW int NpyIter_GotoMultiIndex(NpyIter *iter, const npy_intp *index) {
  int fits = (iter->flags & NPY_ITER_MULTI_INDEX) != 0;
  for (int d = 0; d < iter->ndim && fits; d++) {
    npy_intp at = index[iter->axis[d] < 0 ? ~iter->axis[d] : iter->axis[d]];
    fits = at >= 0 && at < iter->shape[d];
  }
  if (!fits) {
    PyErr_SetString(PyExc_IndexError, "the iterator tracks no multi-index, or the index is out of bounds");
    return NPY_FAIL;
  }
  NpyIter_Reset(iter, NULL);
  for (int d = 0; d < iter->ndim; d++) {
    iter->index[d] = iter->axis[d] >= 0 ? index[iter->axis[d]] : iter->shape[d] - 1 - index[~iter->axis[d]];
    for (int i = 0; i < iter->nop; i++) iter->at[i] += iter->index[d] * iter->strides[d * iter->nop + i];
  }
  return NPY_SUCCEED;
}

/* How many places the iterator has passed. */
PC_COMPAT_SLOW npy_intp NpyIter_GetIterIndex(NpyIter *iter) {
  npy_intp index = 0;
  for (int d = 0; d < iter->ndim; d++) index = index * iter->shape[d] + iter->index[d];
  return index;
}

/* Goes to a place by its number in the order of iteration; NPY_FAIL with an error set. */
PC_COMPAT_SLOW int NpyIter_GotoIterIndex(NpyIter *iter, npy_intp index) {
  if ((iter->flags & NPY_ITER_EXTERNAL_LOOP) != 0 || index < 0 || index >= iter->size) {
    PyErr_SetString(PyExc_IndexError, "the iterator has an external loop, or the index is out of bounds");
    return NPY_FAIL;
  }
  NpyIter_Reset(iter, NULL);
  for (int d = iter->ndim - 1; d >= 0; d--) {
    iter->index[d] = index % iter->shape[d];
    index /= iter->shape[d];
    for (int i = 0; i < iter->nop; i++) iter->at[i] += iter->index[d] * iter->strides[d * iter->nop + i];
  }
  return NPY_SUCCEED;
}

/* Gives up the multi-index, so that axes may be joined; goes to the start. */
PC_COMPAT_SLOW int NpyIter_RemoveMultiIndex(NpyIter *iter) {
  iter->flags &= ~(npy_uint32)NPY_ITER_MULTI_INDEX;
  pc_compat_iter_arrange(iter, NPY_CORDER);
  pc_compat_iter_settle(iter);
  return NPY_SUCCEED;
}

/* Leaves the innermost axis to the caller from now on; goes to the start. */
PC_COMPAT_SLOW int NpyIter_EnableExternalLoop(NpyIter *iter) {
  if ((iter->flags & NPY_ITER_MULTI_INDEX) != 0) {
    PyErr_SetString(PyExc_ValueError, "an iterator with a multi-index has no external loop");
    return NPY_FAIL;
  }
  iter->flags |= NPY_ITER_EXTERNAL_LOOP;
  pc_compat_iter_settle(iter);
  return NPY_SUCCEED;
}

/* In a reduction: whether the element that array `i` is at has not been visited before. With an external loop it is the caller's to
 * know that its own axis is one of a reduction, by a stride of 0. */
PC_COMPAT_SLOW npy_bool NpyIter_IsFirstVisit(NpyIter *iter, int i) {
  for (int d = 0; d < iter->outer; d++) {
    if (iter->index[d] != 0 && iter->strides[d * iter->nop + i] == 0) return 0;
  }
  return 1;
}

#ifdef __cplusplus
}
#endif
#endif
