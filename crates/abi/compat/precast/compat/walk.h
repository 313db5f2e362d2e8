/* precast/compat/walk.h: goes through the elements of a few arrays of one shape at a time. Not for op code. */
#ifndef PRECAST_COMPAT_WALK_H
#define PRECAST_COMPAT_WALK_H

#include <precast/compat/array.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PC_COMPAT_WALKERS 3

/* for (pc_compat_walk w = ...; w.left > 0; pc_compat_walk_next(&w)) use w.at[0], w.at[1], ... */
typedef struct pc_compat_walk {
  int ndim, n;
  int64_t left; /* elements that have not been passed yet */
  int64_t shape[PC_MAX_NDIM], index[PC_MAX_NDIM];
  int64_t strides[PC_COMPAT_WALKERS][PC_MAX_NDIM];
  char *at[PC_COMPAT_WALKERS];
} pc_compat_walk;

PC_COMPAT_SLOW void pc_compat_walk_start(pc_compat_walk *w, int ndim, const int64_t *shape) {
  w->ndim = ndim;
  w->n = 0;
  w->left = 1;
  for (int d = 0; d < ndim; d++) {
    w->shape[d] = shape[d];
    w->index[d] = 0;
    w->left *= shape[d];
  }
}

/* Adds an array whose shape broadcasts to the walk's; 0 if it does not. */
PC_COMPAT_SLOW int pc_compat_walk_add(pc_compat_walk *w, const pc_tensor *t) {
  int skip = w->ndim - t->ndim;
  if (skip < 0) return 0;
  for (int d = 0; d < w->ndim; d++) {
    int64_t extent = d < skip ? 1 : t->shape[d - skip];
    if (extent != 1 && extent != w->shape[d]) return 0;
    w->strides[w->n][d] = extent == 1 ? 0 : t->strides[d - skip];
  }
  w->at[w->n++] = t->data;
  return 1;
}

PC_COMPAT_FN void pc_compat_walk_next(pc_compat_walk *w) {
  w->left--;
  for (int d = w->ndim - 1; d >= 0; d--) {
    for (int k = 0; k < w->n; k++) w->at[k] += w->strides[k][d];
    if (++w->index[d] < w->shape[d]) return;
    for (int k = 0; k < w->n; k++) w->at[k] -= w->strides[k][d] * w->shape[d];
    w->index[d] = 0;
  }
}

/* The shape that two broadcast to; 0 if they do not. `shape` has room for PC_MAX_NDIM. */
PC_COMPAT_SLOW int pc_compat_broadcast(int *ndim, int64_t *shape, const pc_tensor *t) {
  int n = *ndim > t->ndim ? *ndim : t->ndim;
  for (int i = 1; i <= n; i++) { /* from the last axis; an old extent is read before its place is written */
    int64_t a = i <= *ndim ? shape[*ndim - i] : 1, b = i <= t->ndim ? t->shape[t->ndim - i] : 1;
    if (a != b && a != 1 && b != 1) return 0;
    if (i <= *ndim) shape[*ndim - i] = a == 1 ? b : a;
  }
  for (int d = 0, more = n - *ndim; more > 0 && d < n; d++) {
    int from = n - 1 - d;
    shape[from] = from >= more ? shape[from - more] : t->shape[from];
  }
  *ndim = n;
  return 1;
}

/* The lowest address of an array and the one behind the highest; equal if it has no elements. */
PC_COMPAT_SLOW void pc_compat_range(const pc_tensor *t, uintptr_t *low, uintptr_t *high) {
  *low = (uintptr_t)t->data;
  *high = *low + (uintptr_t)pc_compat_itemsize(t->dtype);
  for (int d = 0; d < t->ndim; d++) {
    if (t->shape[d] == 0) {
      *high = *low;
      return;
    }
    int64_t reach = (t->shape[d] - 1) * t->strides[d];
    if (reach < 0) *low += (uintptr_t)reach;
    else *high += (uintptr_t)reach;
  }
}

PC_COMPAT_SLOW int pc_compat_overlap(const pc_tensor *a, const pc_tensor *b) {
  uintptr_t a_low, a_high, b_low, b_high;
  pc_compat_range(a, &a_low, &a_high);
  pc_compat_range(b, &b_low, &b_high);
  return a_low < b_high && b_low < a_high;
}

#ifdef __cplusplus
}
#endif
#endif
