/* precast/ops/mask.h: positions where a tensor of bool is true: nonzero, boolean_index. True places are counted first, which gives the
 * length of the results. The mask is then walked in C order, a block of a row at a time, and true places are collected without a branch.
 */
#ifndef PRECAST_OPS_MASK_H
#define PRECAST_OPS_MASK_H

#include <precast/ops/strided.h>

#define PC_MASK_BLOCK 256
#define PC_MASK_LANES 64

/* A walk through the rows of a mask, the runs of its last dimension; a mask without dimensions has one row of one place. */
typedef struct pc_mask_walk {
  const pc_tensor *mask;
  int64_t index[PC_MAX_NDIM]; /* of the row */
  const char *row;
  int64_t n, step; /* places of a row, and bytes from one to the next */
} pc_mask_walk;

__attribute__((unused, noinline)) static pc_mask_walk pc_mask_begin(const pc_tensor *mask) {
  pc_mask_walk walk;
  walk.mask = mask;
  walk.row = mask->data;
  walk.n = mask->ndim > 0 ? mask->shape[mask->ndim - 1] : 1;
  walk.step = mask->ndim > 0 ? mask->strides[mask->ndim - 1] : 0;
  for (int32_t d = 0; d < PC_MAX_NDIM; d++) walk.index[d] = 0;
  return walk;
}

/* To the next row; 0 behind the last. */
static inline int pc_mask_next(pc_mask_walk *walk) {
  for (int32_t d = walk->mask->ndim - 2; d >= 0; d--) {
    int64_t by = ++walk->index[d] < walk->mask->shape[d] ? 1 : 1 - walk->mask->shape[d];
    walk->row += by * walk->mask->strides[d];
    if (by == 1) return 1;
    walk->index[d] = 0;
  }
  return 0;
}

/* The true places from `begin` on, in a block of the row; gives their number. Eight false places are passed over at once. */
__attribute__((unused, noinline)) static int64_t pc_mask_block(const pc_mask_walk *walk, int64_t begin, int64_t *at) {
  int64_t end = walk->n - begin < PC_MASK_BLOCK ? walk->n : begin + PC_MASK_BLOCK, count = 0, i = begin;
  for (; walk->step == 1 && i + 8 <= end; i += 8) {
    uint64_t eight;
    __builtin_memcpy(&eight, walk->row + i, 8);
    if (eight == 0) continue;
    for (int64_t j = 0; j < 8; j++) {
      at[count] = i + j;
      count += walk->row[i + j] != 0;
    }
  }
  for (; i < end; i++) {
    at[count] = i;
    count += walk->row[i * walk->step] != 0;
  }
  return count;
}

/* The bytes that are not 0, in runs so short that a byte can count those of a lane. */
__attribute__((unused, noinline)) static int64_t pc_mask_count_bytes(const char *at, int64_t n) {
  int64_t count = 0, i = 0;
  while (i + PC_MASK_LANES <= n) {
    uint8_t lanes[PC_MASK_LANES] = {0};
    for (int32_t turn = 0; turn < 255 && i + PC_MASK_LANES <= n; turn++, i += PC_MASK_LANES)
      for (int32_t j = 0; j < PC_MASK_LANES; j++) lanes[j] = (uint8_t)(lanes[j] + (at[i + j] != 0));
    for (int32_t j = 0; j < PC_MASK_LANES; j++) count += lanes[j];
  }
  for (; i < n; i++) count += at[i] != 0;
  return count;
}

__attribute__((unused, noinline)) static int64_t pc_mask_count(const pc_tensor *mask) {
  int64_t count = 0;
  if (pc_tensor_size(mask) == 0) return 0;
  pc_mask_walk walk = pc_mask_begin(mask);
  do {
    if (walk.step == 1) {
      count += pc_mask_count_bytes(walk.row, walk.n);
    } else {
      for (int64_t i = 0; i < walk.n; i++) count += walk.row[i * walk.step] != 0;
    }
  } while (pc_mask_next(&walk));
  return count;
}

/* The index of each true place: a row of the result for each dimension. */
__attribute__((unused, noinline)) static int pc_nonzero(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  int64_t at[PC_MASK_BLOCK + 1], shape[2] = {in[0]->ndim, pc_mask_count(in[0])}, done = 0;
  int32_t last = in[0]->ndim - 1;
  (void)props, (void)n_in;
  pc_tensor *t = pc_output_ready(ctx, &out[0], PC_I64, 2, shape);
  if (t == NULL) return -1;
  if (shape[1] == 0 || last < 0) return 0;
  pc_mask_walk walk = pc_mask_begin(in[0]);
  do {
    for (int64_t begin = 0; begin < walk.n; begin += PC_MASK_BLOCK) {
      int64_t count = pc_mask_block(&walk, begin, at);
      char *to = t->data + done * t->strides[1];
      for (int32_t d = 0; d < last; d++) {
        for (int64_t i = 0; i < count; i++) *(int64_t *)(to + d * t->strides[0] + i * t->strides[1]) = walk.index[d];
      }
      pc_copy_strided(8, count, to + last * t->strides[0], t->strides[1], (const char *)at, 8);
      done += count;
    }
  } while (pc_mask_next(&walk));
  return 0;
}

/* Copies the elements of a block at true places to `to`; returns their number. Eight places that are equal are one step. Mixed places are
 * copied without a branch: each element is written, and the next one over it where its place is false. */
#define PC_MASK_COMPRESS(T)                                                                                          \
  __attribute__((unused, noinline)) static int64_t pc_mask_compress_##T(const char *mask, const void *from, int64_t n, void *to) { \
    const T *x = (const T *)from;                                                                                    \
    T kept[PC_MASK_BLOCK + 8];                                                                                       \
    int64_t count = 0, i = 0;                                                                                        \
    for (; i + 8 <= n; i += 8) {                                                                                     \
      uint64_t eight;                                                                                                \
      __builtin_memcpy(&eight, mask + i, 8);                                                                         \
      if (eight == 0) continue;                                                                                      \
      if (eight == 0x0101010101010101u) {                                                                            \
        __builtin_memcpy(kept + count, x + i, 8 * sizeof(T));                                                        \
        count += 8;                                                                                                  \
        continue;                                                                                                    \
      }                                                                                                              \
      for (int64_t j = 0; j < 8; j++) {                                                                              \
        kept[count] = x[i + j];                                                                                      \
        count += mask[i + j] != 0;                                                                                   \
      }                                                                                                              \
    }                                                                                                                \
    for (; i < n; i++) {                                                                                             \
      kept[count] = x[i];                                                                                            \
      count += mask[i] != 0;                                                                                         \
    }                                                                                                                \
    __builtin_memcpy(to, kept, (size_t)count * sizeof(T));                                                           \
    return count;                                                                                                    \
  }
PC_MASK_COMPRESS(uint8_t)
PC_MASK_COMPRESS(uint16_t)
PC_MASK_COMPRESS(uint32_t)
PC_MASK_COMPRESS(uint64_t)

/* Chooses the function for the size of an element; NULL for any other size. */
typedef int64_t (*pc_mask_compress)(const char *mask, const void *from, int64_t n, void *to);
static inline pc_mask_compress pc_mask_compress_of(int32_t item) {
  switch (item) {
    case 1: return pc_mask_compress_uint8_t;
    case 2: return pc_mask_compress_uint16_t;
    case 4: return pc_mask_compress_uint32_t;
    case 8: return pc_mask_compress_uint64_t;
    default: return NULL;
  }
}

/* in: tensor, mask of its first dimensions. The parts of the tensor where the mask is true, one behind the other. */
__attribute__((unused, noinline)) static int pc_boolean_index(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  const pc_tensor *x = in[0], *mask = in[1];
  int64_t at[PC_MASK_BLOCK + 1], shape[PC_MAX_NDIM + 1], done = 0;
  int32_t m = mask->ndim, rest = x->ndim - m, item = pc_dtype_bytes(x->dtype);
  (void)props, (void)n_in;
  for (int32_t d = 0; d < m; d++) {
    if (x->shape[d] == mask->shape[d]) continue;
    pc_error_format(ctx, PC_ERROR_INDEX,
                    "boolean index did not match indexed array along axis %d; size of axis is %lld but size of corresponding boolean axis is %lld", (int)d,
                    (long long)x->shape[d], (long long)mask->shape[d]);
    return -1;
  }
  shape[0] = pc_mask_count(mask);
  for (int32_t d = 0; d < rest; d++) shape[d + 1] = x->shape[m + d];
  pc_tensor *t = pc_output_ready(ctx, &out[0], x->dtype, rest + 1, shape);
  if (t == NULL) return -1;
  if (pc_tensor_size(t) == 0) return 0;
  pc_mask_walk walk = pc_mask_begin(mask);
  int64_t from_step = m > 0 ? x->strides[m - 1] : 0, run = pc_run_bytes(item, rest, shape + 1, t->strides + 1, x->strides + m);
  int is_plain = rest == 0 && walk.step == 1 && from_step == item && t->strides[0] == item;
  pc_mask_compress compress = is_plain ? pc_mask_compress_of(item) : NULL;
  do {
    const char *row = x->data;
    for (int32_t d = 0; d < m - 1; d++) row += walk.index[d] * x->strides[d];
    for (int64_t begin = 0; begin < walk.n; begin += PC_MASK_BLOCK) {
      if (compress != NULL) {
        int64_t n = walk.n - begin < PC_MASK_BLOCK ? walk.n - begin : PC_MASK_BLOCK;
        done += compress(walk.row + begin, row + begin * item, n, t->data + done * item);
        continue;
      }
      int64_t count = pc_mask_block(&walk, begin, at);
      char *to = t->data + done * t->strides[0];
      for (int64_t i = 0; i < count; i++) {
        pc_copy_part(run, item, rest, shape + 1, to + i * t->strides[0], t->strides + 1, row + at[i] * from_step, x->strides + m);
      }
      done += count;
    }
  } while (pc_mask_next(&walk));
  return 0;
}

#endif
