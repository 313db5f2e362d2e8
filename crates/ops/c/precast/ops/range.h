/* precast/ops/range.h: tensors that follow from a few numbers: eye, arange. */
#ifndef PRECAST_OPS_RANGE_H
#define PRECAST_OPS_RANGE_H

#include <precast/ops/fill.h>

/* A matrix of zeros with ones on diagonal k. in: rows, columns, k (i64); ... initialises the one. All bits of a zero are 0. */
#define PC_EYE(NAME, DTYPE, ...)                                                                                              \
  static int NAME(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {          \
    int64_t shape[2], strides[2] = {0, 0}, k = pc_integer(in[2]);                                                        \
    static const char zero[sizeof(pc_##DTYPE)] = {0};                                                                    \
    static const pc_##DTYPE one = __VA_ARGS__;                                                                           \
    (void)n_in;                                                                                                          \
    if (pc_extents(ctx, 2, in, shape) != 0) return -1;                                                                   \
    pc_tensor *t = pc_output_ready(ctx, &out[0], (int32_t)props[0], 2, shape);                                           \
    if (t == NULL) return -1;                                                                                            \
    pc_copy_nd((int32_t)sizeof zero, 2, shape, t->data, t->strides, zero, strides);                       \
    if (k <= -shape[0] || k >= shape[1]) return 0;                                                                       \
    for (int64_t i = k < 0 ? -k : 0; i < shape[0] && i + k < shape[1]; i++)                                              \
      *(pc_##DTYPE *)(t->data + i * t->strides[0] + (i + k) * t->strides[1]) = one;                                      \
    return 0;                                                                                                            \
  }

/* The number of elements of an arange; a value error when there are too many, or the step is zero. */
__attribute__((unused)) static int pc_arange_size(pc_context *ctx, int zero, pc_f64 exact, int64_t *n) {
  if (zero) {
    pc_error_set(ctx, PC_ERROR_VALUE, "arange: the step must not be zero");
    return -1;
  }
  if (exact != exact) {
    pc_error_set(ctx, PC_ERROR_VALUE, "arange: cannot compute length");
    return -1;
  }
  if (exact >= 9223372036854775808.0) {
    pc_error_set(ctx, PC_ERROR_VALUE, "Maximum allowed size exceeded");
    return -1;
  }
  *n = exact <= 0 ? 0 : (int64_t)exact;
  return 0;
}

/* The least integer that is not below x, for |x| < 2^63. */
static inline pc_f64 pc_arange_ceil(pc_f64 x) {
  if (!(x > -4503599627370496.0 && x < 4503599627370496.0)) return x;
  pc_f64 down = (pc_f64)(int64_t)x;
  return down < x ? down + 1 : down;
}

/* start + i*step of integers: exact, however far apart start and stop are; the numbers wrap. */
#define PC_ARANGE_INTEGER(NAME, DTYPE, SIGNED)                                                                                 \
  static int NAME(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {          \
    pc_##DTYPE start = *(pc_##DTYPE *)in[0]->data, stop = *(pc_##DTYPE *)in[1]->data, step = *(pc_##DTYPE *)in[2]->data; \
    uint64_t span = 0, stride = 1, size = 0;                                                                             \
    int64_t n;                                                                                                           \
    (void)n_in;                                                                                                          \
    if (step > 0 && stop > start) {                                                                                      \
      span = (uint64_t)stop - (uint64_t)start;                                                                           \
      stride = (uint64_t)step;                                                                                           \
    } else if (SIGNED && !(step > 0) && stop < start) {                                                                         \
      span = (uint64_t)start - (uint64_t)stop;                                                                           \
      stride = step == 0 ? 1 : 0 - (uint64_t)step;                                                                       \
    }                                                                                                                    \
    size = span / stride + (span % stride != 0);                                                                         \
    if (pc_arange_size(ctx, step == 0, size > INT64_MAX ? 1e19 : 0, &n) != 0) return -1;                                 \
    n = (int64_t)size;                                                                                                   \
    pc_tensor *t = pc_output_ready(ctx, &out[0], (int32_t)props[0], 1, &n);                                              \
    if (t == NULL) return -1;                                                                                            \
    for (int64_t i = 0; i < n; i++)                                                                                      \
      *(pc_##DTYPE *)(t->data + i * t->strides[0]) = (pc_##DTYPE)((uint64_t)start + (uint64_t)i * (uint64_t)step);       \
    return 0;                                                                                                            \
  }

/* As NumPy: ceil((stop - start) / step) numbers in f64; the second number sets the step of those after it. */
#define PC_ARANGE_FLOAT(NAME, DTYPE)                                                                                     \
  static int NAME(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {          \
    pc_##DTYPE start = *(pc_##DTYPE *)in[0]->data, stop = *(pc_##DTYPE *)in[1]->data, step = *(pc_##DTYPE *)in[2]->data; \
    int64_t n;                                                                                                           \
    (void)n_in;                                                                                                          \
    if (pc_arange_size(ctx, step == 0, pc_arange_ceil(((pc_f64)stop - (pc_f64)start) / (pc_f64)step), &n) != 0) return -1; \
    pc_tensor *t = pc_output_ready(ctx, &out[0], (int32_t)props[0], 1, &n);                                              \
    if (t == NULL) return -1;                                                                                            \
    pc_##DTYPE second = (pc_##DTYPE)((pc_f64)start + (pc_f64)step), by = second - start;                                 \
    for (int64_t i = 0; i < n; i++)                                                                                      \
      *(pc_##DTYPE *)(t->data + i * t->strides[0]) = i == 0 ? start : i == 1 ? second : start + (pc_##DTYPE)i * by;      \
    return 0;                                                                                                            \
  }

#define PC_ARANGE_i8(NAME) PC_ARANGE_INTEGER(NAME, i8, 1)
#define PC_ARANGE_i16(NAME) PC_ARANGE_INTEGER(NAME, i16, 1)
#define PC_ARANGE_i32(NAME) PC_ARANGE_INTEGER(NAME, i32, 1)
#define PC_ARANGE_i64(NAME) PC_ARANGE_INTEGER(NAME, i64, 1)
#define PC_ARANGE_u8(NAME) PC_ARANGE_INTEGER(NAME, u8, 0)
#define PC_ARANGE_u16(NAME) PC_ARANGE_INTEGER(NAME, u16, 0)
#define PC_ARANGE_u32(NAME) PC_ARANGE_INTEGER(NAME, u32, 0)
#define PC_ARANGE_u64(NAME) PC_ARANGE_INTEGER(NAME, u64, 0)
#define PC_ARANGE_f32(NAME) PC_ARANGE_FLOAT(NAME, f32)
#define PC_ARANGE_f64(NAME) PC_ARANGE_FLOAT(NAME, f64)

#endif
