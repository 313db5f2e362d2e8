/* driver/flat.h: operands that lie contiguous with one shape: what needs no loop. Single elements may be among them, which are spread
 * to blocks where that is little. */
#ifndef PRECAST_DRIVER_FLAT_H
#define PRECAST_DRIVER_FLAT_H

#include "loop.h"

#define PC_FLAT_SPREAD 512 /* elements that are spread in all, at most */
#define PC_FLAT_SPREAD_BYTES (PC_FLAT_SPREAD * 16 + PC_LOOP_OPERANDS * 64)

/* Operands as they are added; all zero before the first. */
typedef struct pc_flat {
  const pc_tensor *lead; /* gives the shape; NULL: none is there but scalars */
  int64_t n;             /* elements of that shape */
  uint64_t single;       /* a bit for each operand that has one element and not that shape, */
  int32_t singles;       /* at least as many as these: also those declared scalar count, before an operand that takes the lead */
} pc_flat;

static int64_t pc_flat_count(const pc_tensor *t) {
  int64_t n = 1;
  for (int32_t d = 0; d < t->ndim; d++) n *= t->shape[d];
  return n;
}

/* Whether `t` is contiguous with the shape of `lead`. */
static int pc_flat_fits(const pc_tensor *t, const pc_tensor *lead) {
  int64_t step = pc_dtype_bytes(t->dtype);
  if (t->ndim != lead->ndim) return 0;
  for (int32_t d = t->ndim - 1; d >= 0; d--) {
    if (t->shape[d] != lead->shape[d] || t->strides[d] != step) return 0;
    step *= t->shape[d];
  }
  return 1;
}

static int pc_flat_is_single(const pc_tensor *t) {
  for (int32_t d = 0; d < t->ndim; d++) {
    if (t->shape[d] != 1) return 0;
  }
  return 1;
}

/* Adds operand k, which is not declared scalar. Returns 0 if a loop is needed. */
static int pc_flat_add(pc_flat *f, int32_t k, const pc_tensor *t) {
  if (f->lead != NULL && pc_flat_fits(t, f->lead)) return 1;
  if (f->lead != NULL && t->ndim <= f->lead->ndim && pc_flat_is_single(t)) {
    f->single |= UINT64_C(1) << k;
    f->singles++;
    return 1;
  }
  /* Single elements may come first. */
  if (!pc_flat_fits(t, t) || (f->lead != NULL && (f->n != 1 || f->lead->ndim > t->ndim))) return 0;
  f->singles = f->lead == NULL ? 0 : k;
  f->single = (UINT64_C(1) << f->singles) - 1;
  f->lead = t;
  f->n = pc_flat_count(t);
  return 1;
}

/* Whether what is single is little enough for pc_flat_spread. */
static int pc_flat_is_little(const pc_flat *f) { return f->n * f->singles <= PC_FLAT_SPREAD; }

/* Gives `data` of each operand where it lies, of what is single in blocks at `at`, which has PC_FLAT_SPREAD_BYTES. */
static void pc_flat_spread(const pc_flat *f, int32_t n_in, pc_tensor *const *in, const uint8_t *scalar, char *at, char **data) {
  for (int32_t k = 0; k < n_in; k++) {
    data[k] = in[k]->data;
    if (scalar[k] || !(f->single >> k & 1)) continue;
    int32_t item = pc_dtype_bytes(in[k]->dtype);
    pc_copy_strided(item, f->n, at, item, data[k], 0);
    data[k] = at;
    at += (f->n * item + 63) & ~(int64_t)63;
  }
}

#endif
