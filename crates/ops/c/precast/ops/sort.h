/* precast/ops/sort.h: the elements along an axis in ascending order (order.h), or the positions they come from. Equal elements
 * keep their order, so there is one result.
 *
 * Each line is gathered as keys, unsigned integers of the elements' order, which are sorted byte by byte from the lowest up: a
 * radix sort compares nothing and reads each key twice a byte. Short lines are sorted by insertion. Where keys do not give
 * the elements back (complex and 16-bit ones), positions are sorted along and the elements fetched from there.
 *
 * Source. D. E. Knuth, The Art of Computer Programming 3, 5.2.5 (radix), 5.2.1 (insertion).
 */
#ifndef PRECAST_OPS_SORT_H
#define PRECAST_OPS_SORT_H

#include <precast/ops/order.h>
#include <precast/output.h>

/* Up to so many elements insertion is quicker. */
#define PC_SORT_SHORT 64

typedef struct pc_sorter {
  int32_t stages, bytes; /* keys of an element, and how many of their bytes are used at most */
  /* The keys of one stage of the elements at the positions `at`; NULL: of all in their order. */
  void (*keys)(int32_t stage, int64_t n, const char *from, int64_t step, const int64_t *at, uint64_t *key);
  /* The elements of sorted keys; NULL: keys do not give them back. */
  void (*values)(int64_t n, const uint64_t *key, char *to, int64_t to_step, const char *from, int64_t from_step);
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
  int32_t arrays = positions || sorter->values == NULL ? 4 : 2;
  uint64_t *key = (uint64_t *)ctx->host->alloc(ctx, (size_t)n * (size_t)arrays * 8);
  if (key == NULL) return -1;
  int64_t *at = arrays > 2 ? (int64_t *)(key + 2 * n) : NULL;
  const char *from = in->data;
  char *to = t->data;
  for (;;) {
    pc_sort_line(sorter, positions ? 0 : item, n, to, t->strides[axis], from, in->strides[axis], key, at);
    int32_t d = in->ndim - 1;
    for (; d >= 0; d--) {
      if (d == axis) continue;
      int64_t by = ++index[d] < in->shape[d] ? 1 : 1 - in->shape[d];
      from += by * in->strides[d];
      to += by * t->strides[d];
      if (by == 1) break;
      index[d] = 0;
    }
    if (d < 0) break;
  }
  ctx->host->release(ctx, key);
  return 0;
}

/* The zeros and NaNs of a line, whose keys are alike, as they came. Keys of dtypes without such elements are left alone. */
#define PC_SORT_RESTORE(D, n, key, to, to_step, from, from_step)                                     \
  do {                                                                                               \
    uint64_t zero = pc_order_##D(0, 0);                                                              \
    int64_t zeros = 0, nans = (n);                                                                   \
    while (nans > 0 && pc_unorder_##D((key)[nans - 1]) != pc_unorder_##D((key)[nans - 1])) nans--;   \
    while (zeros < nans && (key)[zeros] < zero) zeros++;                                             \
    for (int64_t i = 0; i < (n); i++) {                                                              \
      pc_##D x = *(const pc_##D *)((from) + i * (from_step));                                        \
      if (x == 0) *(pc_##D *)((to) + zeros++ * (to_step)) = x;                                       \
      if (x != x) *(pc_##D *)((to) + nans++ * (to_step)) = x;                                        \
    }                                                                                                \
  } while (0)
#define PC_SORT_KEEP(D, n, key, to, to_step, from, from_step) (void)(from), (void)(from_step)

#define PC_SORT_KEYS(NAME, D)                                                                                              \
  static void NAME##_keys(int32_t stage, int64_t n, const char *from, int64_t step, const int64_t *at, uint64_t *key) {    \
    for (int64_t i = 0; i < n; i++) key[i] = pc_order_##D(*(const pc_##D *)(from + (at != NULL ? at[i] : i) * step), stage); \
  }
#define PC_SORT_RUN(NAME, STAGES, BYTES, VALUES)                                                                           \
  static int NAME(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {            \
    static const pc_sorter sorter = {STAGES, BYTES, NAME##_keys, VALUES};                                                  \
    (void)n_in;                                                                                                            \
    return pc_sort(ctx, props, in[0], &out[0], &sorter);                                                                   \
  }

/* Of positions, and of elements that are fetched from there. */
#define PC_SORT_FETCHED(NAME, D, STAGES, BYTES) \
  PC_SORT_KEYS(NAME, D)                         \
  PC_SORT_RUN(NAME, STAGES, BYTES, NULL)

/* Of elements that their keys give back; RESTORE is one of the above. */
#define PC_SORT(NAME, D, STAGES, BYTES, RESTORE)                                                                           \
  PC_SORT_KEYS(NAME, D)                                                                                                    \
  static void NAME##_values(int64_t n, const uint64_t *key, char *to, int64_t to_step, const char *from, int64_t from_step) { \
    for (int64_t i = 0; i < n; i++) *(pc_##D *)(to + i * to_step) = pc_unorder_##D(key[i]);                               \
    RESTORE(D, n, key, to, to_step, from, from_step);                                                                      \
  }                                                                                                                        \
  PC_SORT_RUN(NAME, STAGES, BYTES, NAME##_values)

#endif
