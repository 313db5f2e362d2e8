/* product/first.h: loads and stores the first elements of a vector alone, for levels without an instruction for that. A part of a level's file. */
#include "product.h"

#define PC_MASK int64_t
#define PC_FIRST(N) (N)
#define PC_LOAD(P, N) PC_NAME(load)(P, N)
#define PC_STORE(P, N, V) PC_NAME(store)(P, N, V)

typedef PC_T PC_NAME(some) __attribute__((vector_size(PC_VECTOR_BYTES), may_alias));

typedef PC_T PC_NAME(some_at) __attribute__((vector_size(PC_VECTOR_BYTES), aligned(sizeof(PC_T)), may_alias));

static inline PC_NAME(some) PC_NAME(load)(const PC_T *from, int n) {
  if (n == (int)(PC_VECTOR_BYTES / sizeof(PC_T))) return *(const PC_NAME(some_at) *)from;
  PC_NAME(some) v = {0};
  for (int i = 0; i < n; i++) v[i] = from[i];
  return v;
}

static inline void PC_NAME(store)(PC_T *to, int n, PC_NAME(some) v) {
  for (int i = 0; i < n; i++) to[i] = v[i];
}
