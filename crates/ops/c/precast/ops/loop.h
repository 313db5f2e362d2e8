/* precast/ops/loop.h: one loop over several strided operands, served by kernels that only know contiguous data.
 *
 *   operands --broadcast--> common shape, byte strides (0 where stretched) --coalesce--> few dimensions --chunks--> kernel
 *
 * A chunk is a run of elements in loop order. An operand whose chunk is contiguous is handed to the kernel where it
 * lies; another is gathered into a block that stays in the L1 cache, or scattered from there. Chunks do not cross rows
 * when rows are long, and pack several rows when they are short. An operand that does not move at all is filled once.
 * No allocation: the blocks are on the stack, and shorter when there are many.
 */
#ifndef PRECAST_OPS_LOOP_H
#define PRECAST_OPS_LOOP_H

#include <precast/context.h>

#define PC_LOOP_OPERANDS 64          /* most operands of a kernel, outputs included */
#define PC_LOOP_BLOCK 512            /* elements in a block, at most */
#define PC_LOOP_SCRATCH_BYTES 32768  /* all blocks together */
/* Code that runs once a call or once a chunk, not once an element. Compiled without optimisation where the compiler can
 * be told: it then takes a third of the time, and most of a module's time is spent here. */
#if defined(__GNUC__) && !defined(__clang__)
#define PC_DRIVER __attribute__((noinline, unused, optimize("O0")))
#else
#define PC_DRIVER __attribute__((noinline, cold, unused))
#endif

/* A kernel made for a module: `data` points to n contiguous elements of each operand, inputs then outputs (one element
 * for an operand declared scalar). Returns 0, or a failure with the error slot set. */
typedef int (*pc_kernel)(pc_context *ctx, int64_t n, char *const *data);

typedef struct pc_loop {
  int32_t ndim;
  int32_t n_in;    /* operands 0 .. n_in are read, */
  int32_t n_all;   /* n_in .. n_all are written */
  int64_t shape[PC_MAX_NDIM];
  char *data[PC_LOOP_OPERANDS];
  int32_t item[PC_LOOP_OPERANDS];                  /* bytes of an element; 0 for an operand declared scalar */
  int64_t stride[PC_LOOP_OPERANDS][PC_MAX_NDIM];   /* bytes */
} pc_loop;

/* The host's snprintf; returns what was written, 0 when nothing could be. */
PC_DRIVER static int32_t pc_format(pc_context *ctx, char *to, size_t bytes, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = ctx->host->format(to, bytes, format, args);
  va_end(args);
  return n > 0 && (size_t)n < bytes ? n : 0;
}

/* Bytes of an element, 0 for a number that is no dtype. */
static inline int32_t pc_dtype_bytes(int32_t dtype) {
  static const uint8_t bytes[24] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 0, 0, 4, 8, 0, 8, 16, 0, 0, 0, 0, 0, 0, 0, 2};
  return dtype >= 0 && dtype < 24 ? bytes[dtype] : 0;
}

/* Copies n elements from one stride to another (bytes). */
__attribute__((noinline, unused)) static void pc_copy_strided(int32_t item, int64_t n, char *to, int64_t to_step, const char *from, int64_t from_step) {
  if (to_step == item && from_step == item) {
    __builtin_memcpy(to, from, (size_t)(n * item));
    return;
  }
  for (; n > 0; n--, to += to_step, from += from_step) {
    if (item == 8) {
      *(uint64_t *)to = *(const uint64_t *)from;
    } else if (item == 4) {
      *(uint32_t *)to = *(const uint32_t *)from;
    } else {
      __builtin_memcpy(to, from, (size_t)item);
    }
  }
}

/* Says that operand k does not fit those before it. At most six extents of a shape are printed. */
PC_DRIVER static void pc_loop_mismatch(pc_context *ctx, const pc_loop *loop, int32_t k, const pc_tensor *t, const char *name) {
  char text[2][96];
  for (int32_t side = 0; side < 2; side++) {
    int32_t ndim = side ? loop->ndim : t->ndim, at = 0;
    text[side][0] = 0;
    for (int32_t d = 0; d < ndim && at < 72; d++) {
      at += pc_format(ctx, text[side] + at, sizeof text[side] - (size_t)at, d ? ",%lld" : "%lld", (long long)(side ? loop->shape : t->shape)[d]);
    }
  }
  pc_error_format(ctx, PC_ERROR_VALUE, "operand %d%s%s of shape (%s) cannot be broadcast with the operands before it, of shape (%s)",
                  (int)k, name ? " " : "", name ? name : "", text[0], text[1]);
}

/* Adds input `k` of the loop, aligned right; grows the common shape. -1 with a value error when the shapes disagree. */
PC_DRIVER static int pc_loop_common(pc_context *ctx, pc_loop *loop, int32_t k, const pc_tensor *t, const char *name) {
  for (int32_t more = t->ndim - loop->ndim; more > 0; more--, loop->ndim++) {
    for (int32_t d = loop->ndim; d > 0; d--) loop->shape[d] = loop->shape[d - 1];
    loop->shape[0] = 1;
  }
  for (int32_t d = loop->ndim - 1, q = t->ndim - 1; q >= 0; d--, q--) {
    if (loop->shape[d] == 1) {
      loop->shape[d] = t->shape[q];
    } else if (t->shape[q] != 1 && t->shape[q] != loop->shape[d]) {
      pc_loop_mismatch(ctx, loop, k, t, name);
      return -1;
    }
  }
  return 0;
}

/* Sets operand k: strides over the common shape, 0 where it is stretched. */
PC_DRIVER static void pc_loop_operand(pc_loop *loop, int32_t k, const pc_tensor *t, int scalar) {
  int32_t shift = loop->ndim - t->ndim;
  loop->data[k] = t->data;
  loop->item[k] = scalar ? 0 : pc_dtype_bytes(t->dtype);
  for (int32_t d = 0; d < loop->ndim; d++) {
    loop->stride[k][d] = d < shift || t->shape[d - shift] == 1 ? 0 : t->strides[d - shift];
  }
}

/* Drops dimensions of extent 1 and joins neighbours that every operand walks through in one stride. */
PC_DRIVER static void pc_loop_coalesce(pc_loop *loop) {
  int32_t last = -1;
  for (int32_t d = 0; d < loop->ndim; d++) {
    if (loop->shape[d] == 1) continue;
    int joins = last >= 0;
    for (int32_t k = 0; joins && k < loop->n_all; k++) joins = loop->stride[k][last] == loop->stride[k][d] * loop->shape[d];
    if (joins) {
      loop->shape[last] *= loop->shape[d];
    } else {
      loop->shape[++last] = loop->shape[d];
    }
    for (int32_t k = 0; k < loop->n_all; k++) loop->stride[k][last] = loop->stride[k][d];
  }
  loop->ndim = last + 1;
}

PC_DRIVER static int64_t pc_loop_size(const pc_loop *loop) {
  int64_t n = 1;
  for (int32_t d = 0; d < loop->ndim; d++) n *= loop->shape[d];
  return n;
}

#endif
