/* precast/ops/argmax.h: where the largest or smallest element is, along an axis or of all in C order. NumPy's rules: of
 * equal elements the first, and the first NaN before all else. */
#ifndef PRECAST_OPS_ARGMAX_H
#define PRECAST_OPS_ARGMAX_H

#include <precast/output.h>

#define PC_ARGMAX_PLAIN(x) (x)
#define PC_ARGMAX_TRUTH(x) ((x) != 0)
#define PC_ARGMAX_FALSE(x) ((x) == 0)
#define PC_ARGMAX_NAN(x) ((x) != (x))
#define PC_ARGMAX_NEVER(x) 0
#define PC_ARGMAX_BLOCK 512
#define PC_ARGMAX_LANES 32 /* divides a block; gcc unrolls a loop of fewer before it looks for vectors */

/* A mask as wide as an element, which compilers keep in the lanes that compare. */
#define PC_ARGMAX_MASK_bool uint8_t
#define PC_ARGMAX_MASK_i8 uint8_t
#define PC_ARGMAX_MASK_u8 uint8_t
#define PC_ARGMAX_MASK_i16 uint16_t
#define PC_ARGMAX_MASK_u16 uint16_t
#define PC_ARGMAX_MASK_i32 uint32_t
#define PC_ARGMAX_MASK_u32 uint32_t
#define PC_ARGMAX_MASK_i64 uint64_t
#define PC_ARGMAX_MASK_u64 uint64_t
#define PC_ARGMAX_MASK_f32 uint32_t
#define PC_ARGMAX_MASK_f64 uint64_t

/* The best of `n` elements from position `base` on, and of what `best` (-1: nothing yet) and `value` say. */
typedef void (*pc_argmax_scan)(const char *at, int64_t n, int64_t step, int64_t base, void *value, int64_t *best);

/* Sets `out` of shape `in` without `axis`; -1: of all elements. `name`: what NumPy calls it. */
__attribute__((unused, noinline)) static int pc_argmax(pc_context *ctx, int32_t axis, const char *name, const pc_tensor *in, pc_tensor **out,
                                                       pc_argmax_scan scan) {
  int64_t shape[PC_MAX_NDIM] = {0}, index[PC_MAX_NDIM] = {0}, value[2] = {0}, best = -1, base = 0;
  int32_t ndim = 0, row = axis < 0 ? in->ndim - 1 : axis;
  for (int32_t d = 0; axis >= 0 && d < in->ndim; d++) {
    if (d != axis) shape[ndim++] = in->shape[d];
  }
  if ((axis < 0 ? pc_tensor_size(in) : in->shape[axis]) == 0) {
    pc_error_format(ctx, PC_ERROR_VALUE, "attempt to get %s of an empty sequence", name);
    return -1;
  }
  pc_tensor *t = pc_output_ready(ctx, out, PC_I64, ndim, shape);
  if (t == NULL) return -1;
  if (pc_tensor_size(in) == 0) return 0;
  int64_t n = row < 0 ? 1 : in->shape[row], step = row < 0 ? 0 : in->strides[row];
  const char *at = in->data;
  char *to = t->data;
  for (;;) {
    scan(at, n, step, base, value, &best);
    if (axis >= 0) {
      *(int64_t *)to = best;
      best = -1;
    } else {
      base += n;
    }
    int32_t d = in->ndim - 1;
    for (; d >= 0; d--) {
      if (d == row) continue;
      int64_t by = ++index[d] < in->shape[d] ? 1 : 1 - in->shape[d];
      at += by * in->strides[d];
      if (axis >= 0) to += by * t->strides[d < axis ? d : d - 1];
      if (by == 1) break;
      index[d] = 0;
    }
    if (d < 0) break;
  }
  if (axis < 0) *(int64_t *)t->data = best;
  return 0;
}

/* BEATS is > or <; KEY returns the compared part of an element, IS_LAST whether no later element beats it: a NaN, a true bool of
 * argmax. Elements are compared in blocks of vectors. A block is skipped if no element beats the best one so far, because an element
 * that is not at most as good is better, or a NaN. Else `top` finds its best element, and then the first that equals it. Elements
 * that are apart are gathered first, except bytes: a bool soon ends the search. */
#define PC_ARGMAX(NAME, DTYPE, BEATS, KEY, IS_LAST, WORD)                                                                \
  /* Whether an element of a block of n beats m, or is a NaN. */                                                         \
  static int NAME##_beats(const pc_##DTYPE *block, int64_t n, pc_##DTYPE m) {                                            \
    PC_ARGMAX_MASK_##DTYPE better = 0;                                                                                   \
    for (int64_t j = 0; j < n; j++) better |= -(PC_ARGMAX_MASK_##DTYPE) !(KEY(m) BEATS##= KEY(block[j]));                \
    return better != 0;                                                                                                  \
  }                                                                                                                      \
  /* Sets m to the best of n elements, a multiple of the lanes. Returns its position, or -1 if one of them is last. */   \
  static int64_t NAME##_top(const pc_##DTYPE *block, int64_t n, pc_##DTYPE *m) {                                         \
    pc_##DTYPE best = *m, top[PC_ARGMAX_LANES];                                                                          \
    PC_ARGMAX_MASK_##DTYPE last[PC_ARGMAX_LANES], any = 0;                                                               \
    for (int64_t j = 0; j < PC_ARGMAX_LANES; j++) top[j] = best, last[j] = 0;                                            \
    for (; n > 0; n -= PC_ARGMAX_LANES) {                                                                                \
      const pc_##DTYPE *x = block + n - PC_ARGMAX_LANES;                                                                 \
      for (int64_t j = 0; j < PC_ARGMAX_LANES; j++) {                                                                    \
        last[j] |= -(PC_ARGMAX_MASK_##DTYPE)(IS_LAST(x[j]) != 0);                                                        \
        top[j] = KEY(x[j]) BEATS KEY(top[j]) ? x[j] : top[j];                                                            \
      }                                                                                                                  \
    }                                                                                                                    \
    for (int64_t j = 0; j < PC_ARGMAX_LANES; j++) any |= last[j];                                                        \
    if (any) return -1;                                                                                                  \
    for (int64_t w = PC_ARGMAX_LANES / 2; w > 0; w /= 2)                                                                 \
      for (int64_t j = 0; j < w; j++) top[j] = KEY(top[w + j]) BEATS KEY(top[j]) ? top[w + j] : top[j];                  \
    *m = best = top[0];                                                                                                  \
    for (;; n += PC_ARGMAX_LANES) {                                                                                      \
      for (int64_t j = 0; j < PC_ARGMAX_LANES; j++) any |= -(PC_ARGMAX_MASK_##DTYPE)(KEY(block[n + j]) == KEY(best));    \
      if (any) break;                                                                                                    \
    }                                                                                                                    \
    while (!(KEY(block[n]) == KEY(best))) n++;                                                                           \
    return n;                                                                                                            \
  }                                                                                                                      \
  static void NAME##_scan(const char *at, int64_t n, int64_t step, int64_t base, void *value, int64_t *best) {           \
    pc_##DTYPE m, x, gathered[PC_ARGMAX_BLOCK];                                                                          \
    const int32_t item = (int32_t)sizeof m, by_blocks = n >= PC_ARGMAX_LANES && (step == item || item > 1);              \
    int is_first = *best < 0;                                                                                            \
    if (is_first) {                                                                                                      \
      *best = base;                                                                                                      \
      __builtin_memcpy(value, at, sizeof m);                                                                             \
    }                                                                                                                    \
    __builtin_memcpy(&m, value, sizeof m);                                                                               \
    for (int64_t i = 0; i < n && !IS_LAST(m);) {                                                                         \
      int64_t size = n - i < PC_ARGMAX_BLOCK ? n - i : PC_ARGMAX_BLOCK, whole = (size + PC_ARGMAX_LANES - 1) & -PC_ARGMAX_LANES; \
      if (by_blocks) {                                                                                                   \
        if (whole > i + size) size = whole -= PC_ARGMAX_LANES;                                                           \
        const int64_t from = i + size - whole;                                                                           \
        const pc_##DTYPE *block = (const pc_##DTYPE *)(at + from * step);                                                \
        if (step != item) {                                                                                              \
          pc_copy_strided(item, whole, (char *)gathered, item, (const char *)block, step);                               \
          block = gathered;                                                                                              \
        }                                                                                                                \
        int64_t found = whole;                                                                                           \
        if ((is_first || NAME##_beats(block, whole, m)) && (found = NAME##_top(block, whole, &m)) >= 0) *best = base + from + found; \
        is_first = 0;                                                                                                    \
        if (found >= 0) {                                                                                                \
          i += size;                                                                                                     \
          continue;                                                                                                      \
        }                                                                                                                \
      }                                                                                                                  \
      for (const int64_t end = i + size; i < end && !IS_LAST(m); i++) {                                                  \
        x = *(const pc_##DTYPE *)(at + i * step);                                                                        \
        if ((KEY(x) BEATS KEY(m)) || IS_LAST(x)) {                                                                       \
          m = x;                                                                                                         \
          *best = base + i;                                                                                              \
        }                                                                                                                \
      }                                                                                                                  \
    }                                                                                                                    \
    __builtin_memcpy(value, &m, sizeof m);                                                                               \
  }                                                                                                                      \
  static int NAME(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {          \
    (void)n_in;                                                                                                          \
    return pc_argmax(ctx, (int32_t)props[0], WORD, in[0], &out[0], NAME##_scan);                                         \
  }

#endif
