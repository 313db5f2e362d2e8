/* driver/loop.h: one loop over several strided operands, for kernels that need contiguous data.
 *
 *   operands --broadcast--> common shape, byte strides (0 where stretched) --coalesce--> few dimensions --chunks--> kernel
 *
 * A chunk is a run of elements in loop order. A contiguous chunk of an operand is handed to the kernel in place. Any other
 * chunk is gathered into a block that stays in the L1 cache, or scattered from there. Chunks do not cross rows when rows are
 * long, and pack several rows when they are short. A block is not filled again with the elements that it already has, such as
 * those of a broadcast row. All blocks together fit into the L1 cache, so they are shorter when there are many.
 */
#ifndef PRECAST_DRIVER_LOOP_H
#define PRECAST_DRIVER_LOOP_H

#include "plan.h"
#include <precast/driver.h>
#include <precast/copy.h>

#define PC_LOOP_BLOCK 512            /* elements in a block, at most */
#define PC_LOOP_SHORT_ROW 128        /* rows below this are packed, several to a chunk */
#define PC_LOOP_SCRATCH_BYTES 32768  /* all blocks together */
#define PC_LOOP_NEAR_BYTES 2048      /* of a block of an elementwise kernel: a CPU reads the next block while it computes only if blocks are short */
/* Marks functions that run once a call: they are compiled for size, which takes half the time. */
#define PC_SELDOM __attribute__((cold, noinline))

typedef struct pc_loop {
  int32_t ndim;
  int32_t n_in;    /* operands 0 .. n_in are read, */
  int32_t n_all;   /* n_in .. n_all are written */
  int64_t shape[PC_MAX_NDIM];
  char *data[PC_LOOP_OPERANDS];
  int32_t item[PC_LOOP_OPERANDS];                  /* bytes of an element; 0 for an operand declared scalar */
  int64_t stride[PC_LOOP_OPERANDS][PC_MAX_NDIM];   /* bytes */
} pc_loop;

/* Elements of a block of an elementwise kernel. */
static int64_t pc_loop_near(const pc_loop *loop) {
  int32_t widest = PC_LOOP_NEAR_BYTES / PC_LOOP_BLOCK;
  for (int32_t k = 0; k < loop->n_all; k++) widest = loop->item[k] > widest ? loop->item[k] : widest;
  return PC_LOOP_NEAR_BYTES / widest;
}

/* Calls the host's snprintf. Returns the number of characters written, 0 on failure or if the text does not fit. */
static int32_t pc_format(pc_context *ctx, char *to, size_t bytes, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = ctx->host->format(to, bytes, format, args);
  va_end(args);
  return n > 0 && (size_t)n < bytes ? n : 0;
}

/* Sets a value error: operand k cannot be broadcast with the operands before it. Extents after the first 72 characters of a shape are left
 * out. */
static void pc_loop_mismatch(pc_context *ctx, const pc_loop *loop, int32_t k, const pc_tensor *t, const char *name) {
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
static int pc_loop_common(pc_context *ctx, pc_loop *loop, int32_t k, const pc_tensor *t, const char *name) {
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
static void pc_loop_operand(pc_loop *loop, int32_t k, const pc_tensor *t, int scalar) {
  int32_t shift = loop->ndim - t->ndim;
  loop->data[k] = t->data;
  loop->item[k] = scalar ? 0 : pc_dtype_bytes(t->dtype);
  for (int32_t d = 0; d < loop->ndim; d++) {
    loop->stride[k][d] = d < shift || t->shape[d - shift] == 1 ? 0 : t->strides[d - shift];
  }
}

/* Drops dimensions of extent 1 and joins neighbours that every operand walks through in one stride. */
static void pc_loop_coalesce(pc_loop *loop) {
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

/* Moves the dimensions along which the first output has longer steps to the front, for loops that may take their elements in any order.
 * Returns whether a dimension was moved. */
static int pc_loop_order(pc_loop *loop) {
  const int64_t *out = loop->stride[loop->n_in];
  int moved = 0;
  for (int32_t i = 1; i < loop->ndim; i++) {
    for (int32_t d = i; d > 0; d--) {
      int64_t here = out[d] < 0 ? -out[d] : out[d], before = out[d - 1] < 0 ? -out[d - 1] : out[d - 1], extent = loop->shape[d];
      if (before >= here) break;
      loop->shape[d] = loop->shape[d - 1];
      loop->shape[d - 1] = extent;
      for (int32_t k = 0; k < loop->n_all; k++) {
        int64_t step = loop->stride[k][d];
        loop->stride[k][d] = loop->stride[k][d - 1];
        loop->stride[k][d - 1] = step;
      }
      moved = 1;
    }
  }
  return moved;
}

/* Moves dimension d to the end. */
static void pc_loop_move(pc_loop *loop, int32_t d) {
  for (; d < loop->ndim - 1; d++) {
    int64_t extent = loop->shape[d];
    loop->shape[d] = loop->shape[d + 1];
    loop->shape[d + 1] = extent;
    for (int32_t k = 0; k < loop->n_all; k++) {
      int64_t step = loop->stride[k][d];
      loop->stride[k][d] = loop->stride[k][d + 1];
      loop->stride[k][d + 1] = step;
    }
  }
}

/* Moves to the end the dimension along which the most operands are contiguous, if they are more than along the last one. So inputs with the
 * same order are read in place, although the output runs the other way. For loops that may take their elements in any order. Returns
 * whether a dimension was moved. */
static int pc_loop_prefer(pc_loop *loop) {
  int32_t best = loop->ndim - 1, fewest = 0;
  for (int32_t d = best; d >= 0; d--) {
    int32_t scattered = 0;
    for (int32_t k = 0; k < loop->n_all; k++) scattered += loop->item[k] != 0 && loop->stride[k][d] != loop->item[k] && loop->stride[k][d] != 0;
    if (d == loop->ndim - 1 || scattered < fewest) best = d, fewest = scattered;
  }
  if (best == loop->ndim - 1 || best < 0) return 0;
  pc_loop_move(loop, best);
  return 1;
}

/* Returns the address `bytes` behind `at`, by integer arithmetic: an operand without elements may have no valid address. */
static inline char *pc_loop_step(char *at, int64_t bytes) { return (char *)((uintptr_t)at + (uintptr_t)bytes); }

/* Moves `at`, a position of each operand, and `index` to the next setting of the first `ndim` dimensions except `skip`. After the last
 * setting, moves to the first and returns 0. */
static int pc_loop_next(const pc_loop *loop, int32_t ndim, int32_t skip, int64_t *index, char **at) {
  for (int32_t d = ndim - 1; d >= 0; d--) {
    if (d == skip) continue;
    int stays = ++index[d] < loop->shape[d];
    int64_t by = stays ? 1 : 1 - loop->shape[d];
    for (int32_t k = 0; k < loop->n_all; k++) at[k] = pc_loop_step(at[k], by * loop->stride[k][d]);
    if (stays) return 1;
    index[d] = 0;
  }
  return 0;
}

/* Returns a / b, and a % b, for a >= 0 and b > 0. CPUs up to 2019 divide words of 32 bits four times as fast. */
static inline int64_t pc_loop_divide(int64_t a, int64_t b) { return ((a | b) >> 32) == 0 ? (int64_t)((uint32_t)a / (uint32_t)b) : a / b; }
static inline int64_t pc_loop_rest(int64_t a, int64_t b) { return ((a | b) >> 32) == 0 ? (int64_t)((uint32_t)a % (uint32_t)b) : a % b; }

static int64_t pc_loop_size(const pc_loop *loop) {
  int64_t n = 1;
  for (int32_t d = 0; d < loop->ndim; d++) n *= loop->shape[d];
  return n;
}

#endif
