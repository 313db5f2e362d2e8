/* precast/ops/sort.h: the elements along an axis in ascending order (order.h), or the positions they come from. Equal elements
 * keep their order, so there is one result.
 *
 * Each line is gathered as keys, unsigned integers of the elements' order, which are sorted byte by byte from the lowest up: a
 * radix sort compares nothing and reads each key twice a byte. Short lines are sorted by insertion. Where keys do not give
 * the elements back (complex and 16-bit ones), positions are sorted along and the elements fetched from there. Many short lines
 * of 32-bit and 64-bit keys are sorted several at once (sort_lines.h).
 *
 * Source. D. E. Knuth, The Art of Computer Programming 3, 5.2.5 (radix), 5.2.1 (insertion).
 */
#ifndef PRECAST_OPS_SORT_H
#define PRECAST_OPS_SORT_H

#include <precast/ops/order.h>
#include <precast/ops/sort_lines.h>
#include <precast/output.h>

/* Up to so many elements insertion is quicker. */
#define PC_SORT_SHORT 64

typedef struct pc_sorter {
  int32_t stages, bytes; /* keys of an element, and how many of their bytes are used at most */
  /* The keys of one stage of the elements at the positions `at`; NULL: of all in their order. */
  void (*keys)(int32_t stage, int64_t n, const char *from, int64_t step, const int64_t *at, uint64_t *key);
  /* The elements of sorted keys; NULL: keys do not give them back. */
  void (*values)(int64_t n, const uint64_t *key, char *to, int64_t to_step, const char *from, int64_t from_step);
  /* Sorts so many lines at once, with room for PC_SORT_LINES_BYTES an element of one; NULL: not this dtype. */
  int32_t lines;
  void (*together)(int64_t n, char *const *to, int64_t to_step, const char *const *from, int64_t from_step, void *room);
} pc_sorter;

__attribute__((unused, noinline)) static void pc_sort_insertion(int64_t n, uint64_t *key, int64_t *at) {
  for (int64_t i = 1; i < n; i++) {
    uint64_t k = key[i];
    int64_t j = i, p = at != NULL ? at[i] : 0;
    for (; j > 0 && key[j - 1] > k; j--) {
      key[j] = key[j - 1];
      if (at != NULL) at[j] = at[j - 1];
    }
    key[j] = k;
    if (at != NULL) at[j] = p;
  }
}

/* Sorts n keys of so many bytes, and the positions `at` alike unless that is NULL. Each array has n more elements of room. */
__attribute__((unused, noinline)) static void pc_sort_keys(int64_t n, int32_t bytes, uint64_t *key, int64_t *at) {
  uint64_t *from = key, *to = key + n;
  int64_t *at_from = at, *at_to = at != NULL ? at + n : NULL;
  if (n <= PC_SORT_SHORT) {
    pc_sort_insertion(n, key, at);
    return;
  }
  for (int32_t shift = 0; shift < bytes * 8; shift += 8) {
    int64_t first[256] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i++) first[from[i] >> shift & 255]++;
    if (first[from[0] >> shift & 255] == n) continue;
    for (int32_t digit = 0; digit < 256; digit++) {
      int64_t count = first[digit];
      first[digit] = sum;
      sum += count;
    }
    for (int64_t i = 0; i < n; i++) {
      int64_t p = first[from[i] >> shift & 255]++;
      to[p] = from[i];
      if (at != NULL) at_to[p] = at_from[i];
    }
    uint64_t *keys = from;
    int64_t *positions = at_from;
    from = to, to = keys;
    at_from = at_to, at_to = positions;
  }
  if (from == key) return;
  __builtin_memcpy(key, from, (size_t)n * sizeof *key);
  if (at != NULL) __builtin_memcpy(at, at_from, (size_t)n * sizeof *at);
}

/* One line. `key` and `at` have room for 2 n; `at` NULL: positions are not needed. `item`: bytes of an element, 0 for positions
 * as the result. */
__attribute__((unused, noinline)) static void pc_sort_line(const pc_sorter *sorter, int32_t item, int64_t n, char *to, int64_t to_step, const char *from,
                                                           int64_t from_step, uint64_t *key, int64_t *at) {
  for (int64_t i = 0; at != NULL && i < n; i++) at[i] = i;
  for (int32_t stage = 0; stage < sorter->stages; stage++) {
    sorter->keys(stage, n, from, from_step, stage > 0 ? at : NULL, key);
    pc_sort_keys(n, sorter->bytes, key, at);
  }
  if (at == NULL) {
    sorter->values(n, key, to, to_step, from, from_step);
  } else if (item == 0) {
    pc_copy_strided(8, n, to, to_step, (const char *)at, 8);
  } else {
    for (int64_t i = 0; i < n; i++) __builtin_memcpy(to + i * to_step, from + at[i] * from_step, (size_t)item);
  }
}

/* props: axis, whether positions are the result. */
__attribute__((unused, noinline)) static int pc_sort(pc_context *ctx, const int64_t *props, const pc_tensor *in, pc_tensor **out, const pc_sorter *sorter) {
  int64_t index[PC_MAX_NDIM] = {0}, n = in->shape[props[0]];
  int32_t axis = (int32_t)props[0], positions = props[1] != 0, item = pc_dtype_bytes(in->dtype);
  pc_tensor *t = pc_output_ready(ctx, out, positions ? PC_I64 : in->dtype, in->ndim, in->shape);
  if (t == NULL) return -1;
  if (pc_tensor_size(in) == 0) return 0;
  int32_t arrays = positions || sorter->values == NULL ? 4 : 2, most = 1, waiting = 0;
  if (arrays == 2 && sorter->together != NULL && n > 1 && n <= PC_SORT_LINES_LONG) most = sorter->lines;
  int64_t bytes = n * (most > 1 ? PC_SORT_LINES_BYTES : arrays * 8);
  uint64_t *key = (uint64_t *)ctx->host->alloc(ctx, (size_t)bytes);
  if (key == NULL) return -1;
  int64_t *at = arrays > 2 ? (int64_t *)(key + 2 * n) : NULL;
  const char *line = in->data, *from[PC_SORT_LINES_MOST];
  char *result = t->data, *to[PC_SORT_LINES_MOST];
  for (int is_last = 0; !is_last;) {
    from[waiting] = line;
    to[waiting++] = result;
    int32_t d = in->ndim - 1;
    for (; d >= 0; d--) {
      if (d == axis) continue;
      int64_t by = ++index[d] < in->shape[d] ? 1 : 1 - in->shape[d];
      line += by * in->strides[d];
      result += by * t->strides[d];
      if (by == 1) break;
      index[d] = 0;
    }
    is_last = d < 0;
    if (waiting < most && !is_last) continue;
    if (most > 1 && waiting == most) {
      sorter->together(n, to, t->strides[axis], from, in->strides[axis], key);
      waiting = 0;
    }
    while (waiting > 0) {
      waiting--;
      pc_sort_line(sorter, positions ? 0 : item, n, to[waiting], t->strides[axis], from[waiting], in->strides[axis], key, at);
    }
  }
  ctx->host->release(ctx, key);
  return 0;
}

/* Restores the order of the zeros and NaNs of a line, whose keys are equal. KEY(i) is the sorted key i. Keys of dtypes without such elements are
 * left alone. */
#define PC_SORT_RESTORE(D, n, KEY, to, to_step, from, from_step)                                     \
  do {                                                                                               \
    uint64_t zero = pc_order_##D(0, 0);                                                              \
    int64_t zeros = 0, nans = (n), any = 0;                                                          \
    for (int64_t i = 0; i < (n); i++) {                                                              \
      pc_##D x = *(const pc_##D *)((from) + i * (from_step));                                        \
      any |= (x == 0) | (x != x);                                                                    \
    }                                                                                                \
    if (!any) break;                                                                                 \
    while (nans > 0 && pc_unorder_##D(KEY(nans - 1)) != pc_unorder_##D(KEY(nans - 1))) nans--;       \
    while (zeros < nans && KEY(zeros) < zero) zeros++;                                               \
    for (int64_t i = 0; i < (n); i++) {                                                              \
      pc_##D x = *(const pc_##D *)((from) + i * (from_step));                                        \
      if (x == 0) *(pc_##D *)((to) + zeros++ * (to_step)) = x;                                       \
      if (x != x) *(pc_##D *)((to) + nans++ * (to_step)) = x;                                        \
    }                                                                                                \
  } while (0)
#define PC_SORT_KEEP(D, n, KEY, to, to_step, from, from_step) (void)(from), (void)(from_step)

#define PC_SORT_KEYS(NAME, D)                                                                                              \
  static void NAME##_keys(int32_t stage, int64_t n, const char *from, int64_t step, const int64_t *at, uint64_t *key) {    \
    for (int64_t i = 0; i < n; i++) key[i] = pc_order_##D(*(const pc_##D *)(from + (at != NULL ? at[i] : i) * step), stage); \
  }
#define PC_SORT_RUN(NAME, STAGES, BYTES, VALUES, LINES, TOGETHER)                                                          \
  static int NAME(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {            \
    static const pc_sorter sorter = {STAGES, BYTES, NAME##_keys, VALUES, LINES, TOGETHER};                                 \
    (void)n_in;                                                                                                            \
    return pc_sort(ctx, props, in[0], &out[0], &sorter);                                                                   \
  }

/* Of positions, and of elements that are fetched from there. */
#define PC_SORT_FETCHED(NAME, D, STAGES, BYTES) \
  PC_SORT_KEYS(NAME, D)                         \
  PC_SORT_RUN(NAME, STAGES, BYTES, NULL, 1, NULL)

/* Of elements that their keys give back; RESTORE is one of the above. */
#define PC_SORT_VALUES(NAME, D, RESTORE)                                                                                   \
  PC_SORT_KEYS(NAME, D)                                                                                                    \
  static void NAME##_values(int64_t n, const uint64_t *key, char *to, int64_t to_step, const char *from, int64_t from_step) { \
    for (int64_t i = 0; i < n; i++) *(pc_##D *)(to + i * to_step) = pc_unorder_##D(key[i]);                               \
    RESTORE(D, n, PC_SORT_KEY, to, to_step, from, from_step);                                                              \
  }
#define PC_SORT_KEY(i) key[i]
#define PC_SORT(NAME, D, STAGES, BYTES, RESTORE) \
  PC_SORT_VALUES(NAME, D, RESTORE)               \
  PC_SORT_RUN(NAME, STAGES, BYTES, NAME##_values, 1, NULL)

/* The same of 32 or 64 bits, by keys U. Results are written row by row, as keys are. */
#define PC_SORT_WIDE(NAME, D, U, RESTORE)                                                                                  \
  PC_SORT_VALUES(NAME, D, RESTORE)                                                                                         \
  PC_SORT_LINES_KEYS(NAME##_network, U)                                                                                    \
  static void NAME##_together(int64_t n, char *const *to, int64_t to_step, const char *const *from, int64_t from_step, void *room) { \
    enum { LINES = PC_SORT_LINES_BYTES / sizeof(U) };                                                                      \
    U *all = (U *)room;                                                                                                    \
    for (int64_t i = 0; i < n; i++)                                                                                        \
      for (int32_t l = 0; l < LINES; l++) all[i * LINES + l] = (U)pc_order_##D(*(const pc_##D *)(from[l] + i * from_step), 0); \
    NAME##_network(n, all);                                                                                                \
    for (int64_t i = 0; i < n; i++)                                                                                        \
      for (int32_t l = 0; l < LINES; l++) *(pc_##D *)(to[l] + i * to_step) = pc_unorder_##D(all[i * LINES + l]);           \
    for (int32_t l = 0; l < LINES; l++) RESTORE(D, n, PC_SORT_LINE_KEY, to[l], to_step, from[l], from_step);               \
  }                                                                                                                        \
  PC_SORT_RUN(NAME, 1, (int32_t)sizeof(U), NAME##_values, PC_SORT_LINES_BYTES / sizeof(U), NAME##_together)
#define PC_SORT_LINE_KEY(i) all[(i) * LINES + l]

#endif
