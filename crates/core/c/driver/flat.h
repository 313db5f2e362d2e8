/* driver/flat.h: operands that need no loop, since they are contiguous with one shape. Some of them may be broadcast to that shape, or
 * strided: these are spread to blocks if they have few elements. */
#ifndef PRECAST_DRIVER_FLAT_H
#define PRECAST_DRIVER_FLAT_H

#include "copies.h"
#include "loop.h"

#define PC_FLAT_SPREAD 512 /* most elements that are spread in all */
#define PC_FLAT_SPREAD_BYTES (PC_FLAT_SPREAD * 16 + PC_LOOP_OPERANDS * 64)

/* The operands added so far; all zero before the first. */
typedef struct pc_flat {
  const pc_tensor *lead; /* gives the shape; NULL if all operands so far are scalars */
  int64_t n;             /* elements of that shape */
  uint64_t spread;       /* a bit for each operand that is spread, */
  int32_t spreads;       /* at least their number: operands declared scalar count too, if they come before the lead */
} pc_flat;

static int64_t pc_flat_count(const pc_tensor *t) {
  int64_t n = 1;
  for (int32_t d = 0; d < t->ndim; d++) n *= t->shape[d];
  return n;
}

/* Returns whether `t` is contiguous with the shape of `lead`. */
static int pc_flat_fits(const pc_tensor *t, const pc_tensor *lead) {
  int64_t step = pc_dtype_bytes(t->dtype);
  if (t->ndim != lead->ndim) return 0;
  for (int32_t d = t->ndim - 1; d >= 0; d--) {
    if (t->shape[d] != lead->shape[d] || t->strides[d] != step) return 0;
    step *= t->shape[d];
  }
  return 1;
}

/* Returns whether `t` can be broadcast to the shape of `lead`, or has it. */
static int pc_flat_stretches(const pc_tensor *t, const pc_tensor *lead) {
  int32_t shift = lead->ndim - t->ndim;
  if (shift < 0) return 0;
  for (int32_t d = 0; d < t->ndim; d++) {
    if (t->shape[d] != 1 && t->shape[d] != lead->shape[d + shift]) return 0;
  }
  return 1;
}

/* Adds operand k, which is not contiguous with the shape of the operands before it. Returns 0 if a loop is needed. */
static __attribute__((noinline)) int pc_flat_add_other(pc_flat *f, int32_t k, const pc_tensor *t) {
  if (f->lead != NULL && pc_flat_stretches(t, f->lead)) {
    f->spread |= UINT64_C(1) << k;
    f->spreads++;
    return 1;
  }
  /* The operands before it may be broadcast to its shape. */
  if (f->lead != NULL && !pc_flat_stretches(f->lead, t)) return 0;
  f->spreads = f->lead == NULL ? 0 : k;
  f->spread = (UINT64_C(1) << f->spreads) - 1;
  f->lead = t;
  f->n = pc_flat_count(t);
  if (!pc_flat_fits(t, t)) {
    f->spread |= UINT64_C(1) << k;
    f->spreads++;
  }
  return 1;
}

/* Adds operand k, which is not declared scalar. Returns 0 if a loop is needed. */
static inline int pc_flat_add(pc_flat *f, int32_t k, const pc_tensor *t) {
  if (!pc_flat_fits(t, f->lead != NULL ? f->lead : t)) return pc_flat_add_other(f, k, t);
  if (f->lead == NULL) {
    f->lead = t;
    f->n = pc_flat_count(t);
  }
  return 1;
}

/* Returns whether the spread elements are few enough for pc_flat_spread. */
static int pc_flat_is_little(const pc_flat *f) { return f->n * f->spreads <= PC_FLAT_SPREAD; }

/* Copies `t`, broadcast to the shape of `lead`, to `to`. */
static void pc_flat_copy(const pc_tensor *t, const pc_tensor *lead, char *to) {
  int64_t index[PC_MAX_NDIM], steps[PC_MAX_NDIM];
  int32_t last = lead->ndim - 1, shift = lead->ndim - t->ndim, item = pc_dtype_bytes(t->dtype);
  if (pc_flat_count(t) == 1) {
    pc_copy_strided(item, pc_flat_count(lead), to, item, t->data, 0);
    return;
  }
  for (int32_t d = 0; d <= last; d++) {
    index[d] = 0;
    steps[d] = d < shift || t->shape[d - shift] == 1 ? 0 : t->strides[d - shift];
  }
  pc_grid g = {t->data, last > 0 ? lead->shape[last - 1] : 1, last < 0 ? 1 : lead->shape[last], last > 0 ? steps[last - 1] : 0,
               last < 0 ? 0 : steps[last]};
  for (int32_t d = 0; d >= 0; to += g.rows * g.columns * item) {
    pc_copies()->copy(item, &g, to, 0);
    for (d = last - 2; d >= 0; d--) {
      g.at += steps[d];
      if (++index[d] < lead->shape[d]) break;
      g.at -= steps[d] * lead->shape[d];
      index[d] = 0;
    }
  }
}

/* Sets `data` of each operand to its address. Spread operands are copied to blocks at `at`, which has PC_FLAT_SPREAD_BYTES. The operands
 * must have elements. */
static void pc_flat_spread(const pc_flat *f, int32_t n_in, pc_tensor *const *in, const uint8_t *scalar, char *at, char **data) {
  for (int32_t k = 0; k < n_in; k++) {
    data[k] = in[k]->data;
    if (scalar[k] || !(f->spread >> k & 1)) continue;
    pc_flat_copy(in[k], f->lead, at);
    data[k] = at;
    at += (f->n * pc_dtype_bytes(in[k]->dtype) + 63) & ~(int64_t)63;
  }
}

#endif
