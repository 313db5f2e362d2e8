/* precast/ops/monoid.h: the operations of reductions, and the one order in which they are applied.
 *
 * The order is part of the result, so it depends on the elements' count alone, never on layout, vector width, fusion or
 * threads. The elements that one output is made of, in C order of the reduced axes, are cut into blocks of 4096. Within a
 * block element i goes to lane i mod LANES; then lane j takes in lane j + LANES/2, j + LANES/4, .. ; then the blocks'
 * totals are taken in order. Lanes start at the identity (0 for sums, so a sum of -0.0 is 0.0, as in NumPy). No elements
 * at all make one block of identities. A few elements, one for a lane or less, are reduced by one function in that order, and
 * so are columns of a few elements each.
 * f32 sums keep the total of blocks in f64 and round once at the end; a mean divides that total by the count.
 *
 *   sum   f32 f64 i64 u64 (wrap); empty: 0    mean  f32 f64; empty: NaN        prod  f32 f64 i64 u64 (wrap); empty: 1
 *   sum, mean, prod   c64 (totals in c128), c128: monoid_complex.h
 *   max, min   f32 f64, integers, bool; NaN if any is; empty: an error          any, all   bool; empty: 0, 1
 */
#ifndef PRECAST_OPS_MONOID_H
#define PRECAST_OPS_MONOID_H

#include <precast/driver.h>
#include <precast/ops/scalar/bool.h>
#include <precast/ops/scalar/f32.h>
#include <precast/ops/scalar/f64.h>
#include <precast/ops/scalar/i64.h>

/* For size, which compiles in half the time. */
#define PC_MONOID_SELDOM __attribute__((unused, cold, noinline))

/* The tree over the lanes l, whose total is then in l[0]; a step for each width, so that each is one vector operation or none. */
#define PC_MONOID_HALVE(WIDTH, LANES, ADD) \
  if (LANES > WIDTH)                       \
    for (int64_t j = 0; j < WIDTH; j++) l[j] = ADD(l[j], l[WIDTH + j]);
#define PC_MONOID_TREE(LANES, ADD)                                                                 \
  (void)sizeof(char[LANES >= 8 && LANES <= 64 && (LANES & (LANES - 1)) == 0 ? 1 : -1]);            \
  PC_MONOID_HALVE(32, LANES, ADD) PC_MONOID_HALVE(16, LANES, ADD) PC_MONOID_HALVE(8, LANES, ADD)   \
  PC_MONOID_HALVE(4, LANES, ADD) PC_MONOID_HALVE(2, LANES, ADD) PC_MONOID_HALVE(1, LANES, ADD)

/* Copies lanes, in pieces of the register width of the loop beside it. A read that is wider than the writes before it has to wait until they
 * arrive in memory. */
#define PC_MONOID_COPY(TO, FROM, BYTES)                                  \
  for (size_t at = 0; at < BYTES; at += 32) {                            \
    __asm__ volatile("");                                                \
    __builtin_memcpy((char *)(TO) + at, (const char *)(FROM) + at, 32);  \
  }

/* WAYS is a macro that chooses the inputs of a reduction: rows alone, where it has a single output; columns of a map, and short rows of a
 * program of rows, which may be of a few elements each (`few_columns`); and columns of elements in memory (`steps`). */
#define PC_MONOID_ROWS(ROWS, MAPPED, COLUMNS) ROWS
#define PC_MONOID_MAPPED(ROWS, MAPPED, COLUMNS) MAPPED
#define PC_MONOID_COLUMNS(ROWS, MAPPED, COLUMNS) COLUMNS
#define PC_MONOID_NONE(...)
#define PC_MONOID_STEPS(NAME, T, ADD) \
  __attribute__((unused)) static void NAME##_steps(void *to, const void *from, int64_t n, int64_t rows, int64_t row_bytes) { \
    T *lanes = (T *)to;                                                                                                \
    const char *row = (const char *)from;                                                                              \
    for (; rows >= 4; rows -= 4, row += 4 * row_bytes) {                                                               \
      const T *x = (const T *)row, *y = (const T *)(row + row_bytes), *z = (const T *)(row + 2 * row_bytes);           \
      const T *w = (const T *)(row + 3 * row_bytes);                                                                   \
      _Pragma("GCC ivdep")                                                                                             \
      for (int64_t i = 0; i < n; i++) lanes[i] = ADD(ADD(ADD(ADD(lanes[i], x[i]), y[i]), z[i]), w[i]);                 \
    }                                                                                                                  \
    for (; rows > 0; rows--, row += row_bytes) NAME##_step(lanes, row, n);                                             \
  }

#define PC_MONOID_FEW_COLUMNS(NAME, T, LANES, IDENTITY, ADD, TOTAL, WIDEN, RESULT)                    \
  __attribute__((unused)) static void NAME##_few_columns(void *rows, int64_t n, int64_t columns) {   \
    T *__restrict__ x = (T *)rows;                                                                  \
    const int64_t count = n;                                                                        \
    for (int64_t w = LANES / 2; w > 0; n = n < w ? n : w, w /= 2)                                   \
      if (n > w) NAME##_step(x, x + w * columns, (n - w) * columns);                                \
    for (int64_t c = 0; c < columns; c++) {                                                         \
      TOTAL total = WIDEN(ADD(IDENTITY, x[c]));                                                     \
      (void)total;                                                                                  \
      (void)count;                                                                                  \
      x[c] = RESULT;                                                                                \
    }                                                                                               \
  }

/* The monoid NAME: elements T in LANES lanes from IDENTITY with ADD; totals TOTAL, made by WIDEN, with ADD_TOTAL; RESULT gives the output from
 * `total` and `count`. A fold takes four groups of at most 16 lanes at once: gcc unrolls a loop of so few steps before it looks for vectors,
 * unless there is more in it. The empty statement keeps it from joining two such steps, which would read every second line of the cache
 * first: from memory, that takes a third longer. */
#define PC_MONOID(NAME, WAYS, T, ...) PC_MONOID_WHERE(NAME, WAYS, 1, T, T, __VA_ARGS__)

/* Columns of a few elements are reduced in place, so that a result needs the room of an element. */
#define PC_MONOID_IN_PLACE(NAME, PASSES, OUT, T) (PASSES && sizeof(OUT) == sizeof(T) ? NAME##_few_columns : NULL)

/* As PC_MONOID, with outputs of type OUT. PASSES says whether adding the identity a second time never changes a bit, anywhere in a tree.
 * For a few elements, lanes without any are then passed over, and the identity is added to the total alone. */
#define PC_MONOID_WHERE(NAME, WAYS, PASSES, OUT, T, LANES, IDENTITY, ADD, TOTAL, WIDEN, ADD_TOTAL, RESULT, NO_EMPTY)         \
  __attribute__((unused)) static void NAME##_clear(void *to, int64_t n) {                                              \
    T *lanes = (T *)to;                                                                                                \
    for (; n > 0; n -= LANES, lanes += LANES)                                                                          \
      for (int64_t j = 0; j < LANES; j++) lanes[j] = IDENTITY;                                                         \
  }                                                                                                                    \
  __attribute__((unused, noinline)) static void NAME##_step(void *to, const void *from, int64_t n) {                  \
    T *__restrict__ lanes = (T *)to;                                                                                  \
    const T *__restrict__ x = (const T *)from;                                                                        \
    for (int64_t i = 0; i < n; i++) lanes[i] = ADD(lanes[i], x[i]);                                                   \
  }                                                                                                                   \
  WAYS(PC_MONOID_NONE, PC_MONOID_NONE, PC_MONOID_STEPS)(NAME, T, ADD)                                                           \
  PC_LIGHT __attribute__((unused)) static void NAME##_fold(void *to, const void *from, int64_t n, int64_t phase) {             \
    T l[LANES], *lanes = (T *)to;                                                                                     \
    const T *x = (const T *)from;                                                                                     \
    int64_t i = 0;                                                                                                    \
    if (phase != 0) {                                                                                                 \
      i = LANES - phase < n ? LANES - phase : n;                                                                      \
      NAME##_step(lanes + phase, x, i);                                                                               \
    }                                                                                                                 \
    if (i + (LANES > 16 ? 1 : 4) * LANES <= n) {                                                                       \
      PC_MONOID_COPY(l, lanes, sizeof l)                                                                               \
      for (; LANES > 16 && i + LANES <= n; i += LANES) {                                                               \
        __asm__ volatile("");                                                                                          \
        for (int64_t j = 0; j < LANES; j++) l[j] = ADD(l[j], x[i + j]);                                                \
      }                                                                                                                \
      for (; LANES <= 16 && i + 4 * LANES <= n; i += 4 * LANES) {                                                      \
        __asm__ volatile("");                                                                                          \
        for (int64_t j = 0; j < LANES; j++)                                                                            \
          l[j] = ADD(ADD(ADD(ADD(l[j], x[i + j]), x[i + LANES + j]), x[i + 2 * LANES + j]), x[i + 3 * LANES + j]);     \
      }                                                                                                                \
      PC_MONOID_COPY(lanes, l, sizeof l)                                                                               \
    }                                                                                                                  \
    for (; i < n; i += LANES) NAME##_step(lanes, x + i, n - i < LANES ? n - i : LANES);                                \
  }                                                                                                                    \
  __attribute__((unused, noinline)) static T NAME##_tree(const T *lanes) {                                             \
    T l[LANES];                                                                                                        \
    __builtin_memcpy(l, lanes, sizeof l);                                                                              \
    PC_MONOID_TREE(LANES, ADD)                                                                                         \
    return l[0];                                                                                                       \
  }                                                                                                                    \
  PC_MONOID_SELDOM static void NAME##_close_columns(T *lanes, int64_t columns, TOTAL *totals, int first) {             \
    for (int64_t w = LANES / 2; w > 0; w /= 2) NAME##_step(lanes, lanes + w * columns, w * columns);                   \
    for (int64_t c = 0; c < columns; c++) totals[c] = first ? WIDEN(lanes[c]) : ADD_TOTAL(totals[c], WIDEN(lanes[c])); \
  }                                                                                                                    \
  __attribute__((unused)) static void NAME##_close(void *from, int64_t columns, void *to, int first) {                 \
    TOTAL *totals = (TOTAL *)to;                                                                                       \
    if (columns != 1) {                                                                                                \
      NAME##_close_columns((T *)from, columns, totals, first);                                                         \
      return;                                                                                                          \
    }                                                                                                                  \
    T made = NAME##_tree((const T *)from);                                                                             \
    totals[0] = first ? WIDEN(made) : ADD_TOTAL(totals[0], WIDEN(made));                                               \
  }                                                                                                                    \
  PC_MONOID_SELDOM static void NAME##_finish(const void *from, int64_t columns, int64_t count, char *out, int64_t out_step) { \
    for (int64_t c = 0; c < columns; c++) {                                                                            \
      TOTAL total = ((const TOTAL *)from)[c];                                                                          \
      (void)total;                                                                                                     \
      (void)count;                                                                                                     \
      *(OUT *)(out + c * out_step) = RESULT;                                                                           \
    }                                                                                                                  \
  }                                                                                                                    \
  PC_MONOID_SELDOM static void NAME##_few(const void *from, int64_t n, char *out) {                                    \
    T l[LANES];                                                                                                      \
    int64_t count = n, live = PASSES ? n : LANES;                                                                    \
    for (int64_t i = 0; i < live; i++) l[i] = i < n ? ADD(IDENTITY, ((const T *)from)[i]) : IDENTITY;                \
    for (int64_t w = LANES / 2; w > 0; live = live < w ? live : w, w /= 2)                                           \
      for (int64_t i = w; i < live; i++) l[i - w] = ADD(l[i - w], l[i]);                                             \
    TOTAL total = WIDEN(l[0]);                                                                                       \
    (void)total;                                                                                                     \
    (void)count;                                                                                                     \
    *(OUT *)out = RESULT;                                                                                            \
  }                                                                                                                  \
  WAYS(PC_MONOID_NONE, PC_MONOID_FEW_COLUMNS, PC_MONOID_FEW_COLUMNS)(NAME, T, LANES, IDENTITY, ADD, TOTAL, WIDEN, RESULT) \
  __attribute__((unused)) static const pc_monoid NAME = {                                                \
      LANES, (int32_t)sizeof(T), NO_EMPTY, NAME##_clear, NAME##_fold,                         \
      NAME##_step, NAME##_close, NAME##_finish, WAYS(NULL, NULL, NAME##_steps), NAME##_few, \
      WAYS(NULL, PC_MONOID_IN_PLACE(NAME, PASSES, OUT, T), PC_MONOID_IN_PLACE(NAME, PASSES, OUT, T))};

/* Of integers, where any order gives the same bits. */
#define PC_MONOID_GREATER(a, b) ((b) > (a) ? (b) : (a))
#define PC_MONOID_LESS(a, b) ((b) < (a) ? (b) : (a))
#define PC_MONOID_PLUS(a, b) ((a) + (b))
#define PC_MONOID_TIMES(a, b) ((a) * (b))

#define PC_MONOID_sum_f64(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_f64, 16, 0.0, pc_add_f64, pc_f64, (pc_f64), pc_add_f64, total, NULL)
#define PC_MONOID_sum_f32(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_f32, 32, 0.0f, pc_add_f32, pc_f64, (pc_f64), pc_add_f64, (pc_f32)total, NULL)
#define PC_MONOID_sum_i64(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_i64, 16, 0, pc_add_i64, pc_i64, (pc_i64), pc_add_i64, total, NULL)
/* The sum of bools, which the map makes 16-bit integers: a block has at most 4096, so that no lane overflows. */
#define PC_MONOID_sum_bool(NAME, WAYS) PC_MONOID_WHERE(NAME, WAYS, 1, pc_i64, pc_u16, 64, 0, PC_MONOID_PLUS, pc_i64, (pc_i64), PC_MONOID_PLUS, total, NULL)
#define PC_MONOID_mean_f64(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_f64, 16, 0.0, pc_add_f64, pc_f64, (pc_f64), pc_add_f64, total / (pc_f64)count, NULL)
#define PC_MONOID_mean_f32(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_f32, 32, 0.0f, pc_add_f32, pc_f64, (pc_f64), pc_add_f64, (pc_f32)(total / (pc_f64)count), NULL)
#define PC_MONOID_prod_f64(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_f64, 16, 1.0, pc_mul_f64, pc_f64, (pc_f64), pc_mul_f64, total, NULL)
#define PC_MONOID_prod_f32(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_f32, 32, 1.0f, pc_mul_f32, pc_f64, (pc_f64), pc_mul_f64, (pc_f32)total, NULL)
#define PC_MONOID_prod_i64(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_i64, 16, 1, pc_mul_i64, pc_i64, (pc_i64), pc_mul_i64, total, NULL)
#define PC_MONOID_max_f64(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_f64, 32, -__builtin_inf(), pc_maximum_f64, pc_f64, (pc_f64), pc_maximum_f64, total, "maximum")
#define PC_MONOID_max_f32(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_f32, 64, -__builtin_inff(), pc_maximum_f32, pc_f32, (pc_f32), pc_maximum_f32, total, "maximum")
#define PC_MONOID_max_i64(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_i64, 32, INT64_MIN, pc_maximum_i64, pc_i64, (pc_i64), pc_maximum_i64, total, "maximum")
#define PC_MONOID_max_bool(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_bool, 64, 0, pc_maximum_bool, pc_bool, (pc_bool), pc_maximum_bool, total, "maximum")
#define PC_MONOID_min_f64(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_f64, 32, __builtin_inf(), pc_minimum_f64, pc_f64, (pc_f64), pc_minimum_f64, total, "minimum")
#define PC_MONOID_min_f32(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_f32, 64, __builtin_inff(), pc_minimum_f32, pc_f32, (pc_f32), pc_minimum_f32, total, "minimum")
#define PC_MONOID_min_i64(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_i64, 32, INT64_MAX, pc_minimum_i64, pc_i64, (pc_i64), pc_minimum_i64, total, "minimum")
#define PC_MONOID_min_bool(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_bool, 64, 1, pc_minimum_bool, pc_bool, (pc_bool), pc_minimum_bool, total, "minimum")
#define PC_MONOID_max_i8(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_i8, 64, INT8_MIN, PC_MONOID_GREATER, pc_i8, (pc_i8), PC_MONOID_GREATER, total, "maximum")
#define PC_MONOID_min_i8(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_i8, 64, INT8_MAX, PC_MONOID_LESS, pc_i8, (pc_i8), PC_MONOID_LESS, total, "minimum")
#define PC_MONOID_max_i16(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_i16, 64, INT16_MIN, PC_MONOID_GREATER, pc_i16, (pc_i16), PC_MONOID_GREATER, total, "maximum")
#define PC_MONOID_min_i16(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_i16, 64, INT16_MAX, PC_MONOID_LESS, pc_i16, (pc_i16), PC_MONOID_LESS, total, "minimum")
#define PC_MONOID_max_i32(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_i32, 64, INT32_MIN, PC_MONOID_GREATER, pc_i32, (pc_i32), PC_MONOID_GREATER, total, "maximum")
#define PC_MONOID_min_i32(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_i32, 64, INT32_MAX, PC_MONOID_LESS, pc_i32, (pc_i32), PC_MONOID_LESS, total, "minimum")
#define PC_MONOID_max_u8(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_u8, 64, 0, PC_MONOID_GREATER, pc_u8, (pc_u8), PC_MONOID_GREATER, total, "maximum")
#define PC_MONOID_min_u8(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_u8, 64, UINT8_MAX, PC_MONOID_LESS, pc_u8, (pc_u8), PC_MONOID_LESS, total, "minimum")
#define PC_MONOID_max_u16(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_u16, 64, 0, PC_MONOID_GREATER, pc_u16, (pc_u16), PC_MONOID_GREATER, total, "maximum")
#define PC_MONOID_min_u16(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_u16, 64, UINT16_MAX, PC_MONOID_LESS, pc_u16, (pc_u16), PC_MONOID_LESS, total, "minimum")
#define PC_MONOID_max_u32(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_u32, 64, 0, PC_MONOID_GREATER, pc_u32, (pc_u32), PC_MONOID_GREATER, total, "maximum")
#define PC_MONOID_min_u32(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_u32, 64, UINT32_MAX, PC_MONOID_LESS, pc_u32, (pc_u32), PC_MONOID_LESS, total, "minimum")
#define PC_MONOID_max_u64(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_u64, 32, 0, PC_MONOID_GREATER, pc_u64, (pc_u64), PC_MONOID_GREATER, total, "maximum")
#define PC_MONOID_min_u64(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_u64, 32, UINT64_MAX, PC_MONOID_LESS, pc_u64, (pc_u64), PC_MONOID_LESS, total, "minimum")
#define PC_MONOID_sum_u64(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_u64, 16, 0, PC_MONOID_PLUS, pc_u64, (pc_u64), PC_MONOID_PLUS, total, NULL)
#define PC_MONOID_prod_u64(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_u64, 16, 1, PC_MONOID_TIMES, pc_u64, (pc_u64), PC_MONOID_TIMES, total, NULL)
#define PC_MONOID_any_bool(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_bool, 64, 0, pc_or_bool, pc_bool, (pc_bool), pc_or_bool, total, NULL)
#define PC_MONOID_all_bool(NAME, WAYS) PC_MONOID(NAME, WAYS, pc_bool, 64, 1, pc_and_bool, pc_bool, (pc_bool), pc_and_bool, total, NULL)

#endif
