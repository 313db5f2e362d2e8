/* precast/ops/monoid.h: what a reduction adds up with, and the one order in which it does.
 *
 * The order is part of the result, so it depends on the elements' count alone, never on layout, vector width, fusion or
 * threads. The elements that one output is made of, in C order of the reduced axes, are cut into blocks of 4096. Within a
 * block element i goes to lane i mod LANES; then lane j takes in lane j + LANES/2, j + LANES/4, .. ; then the blocks'
 * totals are taken in order. Lanes start at the identity (0 for sums, so a sum of -0.0 is 0.0, as in NumPy). No elements
 * at all make one block of identities.
 * f32 sums keep the total of blocks in f64 and round once at the end; a mean divides that total by the count.
 *
 *   sum   f32 f64 i64 (wraps); empty: 0       mean  f32 f64; empty: NaN        prod  f32 f64 i64 (wraps); empty: 1
 *   max, min   f32 f64 i64 bool; NaN if any is; empty: an error                any, all   bool; empty: 0, 1
 */
#ifndef PRECAST_OPS_MONOID_H
#define PRECAST_OPS_MONOID_H

#include <precast/ops/scalar.h>

#define PC_REDUCE_BLOCK 4096

typedef struct pc_monoid {
  int32_t lanes;       /* LANES, a power of two that divides PC_REDUCE_BLOCK */
  int32_t item;        /* bytes of an element and of a lane */
  const char *no_empty; /* not NULL: an empty reduction is an error, and this is NumPy's name of the operation */
  void (*clear)(void *lanes, int64_t n);
  /* lanes[(phase + i) mod LANES] += x[i] */
  void (*fold)(void *lanes, const void *x, int64_t n, int64_t phase);
  /* lanes[i] += x[i] */
  void (*step)(void *lanes, const void *x, int64_t n);
  /* lanes[l * columns + c]: the tree over l, then totals[c] += it (= it for the first block). 8 bytes per total. */
  void (*close)(void *lanes, int64_t columns, void *totals, int first);
  /* Writes the results of `count` elements each; count may be 0. */
  void (*finish)(const void *totals, int64_t columns, int64_t count, char *out, int64_t out_step);
} pc_monoid;

/* NAME_D: elements T in LANES lanes from IDENTITY with ADD; totals TOTAL with ADD_TOTAL; RESULT gives the output from
 * `total` and `count`. */
#define PC_MONOID(NAME, D, T, LANES, IDENTITY, ADD, TOTAL, ADD_TOTAL, RESULT, NO_EMPTY)                             \
  __attribute__((unused)) static void pc_##NAME##_##D##_clear(void *to, int64_t n) {                                \
    for (int64_t i = 0; i < n; i++) ((T *)to)[i] = (T)(IDENTITY);                                                   \
  }                                                                                                                 \
  __attribute__((unused)) static void pc_##NAME##_##D##_fold(void *to, const void *from, int64_t n, int64_t phase) { \
    T l[LANES], *lanes = (T *)to;                                                                                   \
    const T *x = (const T *)from;                                                                                   \
    int64_t i = 0;                                                                                                  \
    for (; phase != 0 && i < n; i++, phase = (phase + 1) % LANES) lanes[phase] = ADD(lanes[phase], x[i]);           \
    if (i == n) return;                                                                                             \
    __builtin_memcpy(l, lanes, sizeof l);                                                                           \
    for (; i + LANES <= n; i += LANES)                                                                              \
      for (int64_t j = 0; j < LANES; j++) l[j] = ADD(l[j], x[i + j]);                                               \
    __builtin_memcpy(lanes, l, sizeof l);                                                                           \
    for (int64_t j = 0; i + j < n; j++) lanes[j] = ADD(lanes[j], x[i + j]);                                         \
  }                                                                                                                 \
  __attribute__((unused)) static void pc_##NAME##_##D##_step(void *to, const void *from, int64_t n) {               \
    T *__restrict__ lanes = (T *)to;                                                                                \
    const T *__restrict__ x = (const T *)from;                                                                      \
    for (int64_t i = 0; i < n; i++) lanes[i] = ADD(lanes[i], x[i]);                                                 \
  }                                                                                                                 \
  __attribute__((unused)) static void pc_##NAME##_##D##_close(void *from, int64_t columns, void *to, int first) {   \
    T *lanes = (T *)from;                                                                                           \
    TOTAL *totals = (TOTAL *)to;                                                                                    \
    for (int64_t w = (LANES / 2) * columns; w >= columns; w /= 2) pc_##NAME##_##D##_step(lanes, lanes + w, w);      \
    for (int64_t c = 0; c < columns; c++) totals[c] = first ? (TOTAL)lanes[c] : ADD_TOTAL(totals[c], (TOTAL)lanes[c]); \
  }                                                                                                                 \
  __attribute__((unused)) static void pc_##NAME##_##D##_finish(const void *from, int64_t columns, int64_t count,    \
                                                               char *out, int64_t out_step) {                       \
    for (int64_t c = 0; c < columns; c++) {                                                                         \
      TOTAL total = ((const TOTAL *)from)[c];                                                                       \
      (void)total;                                                                                                  \
      (void)count;                                                                                                  \
      *(T *)(out + c * out_step) = (T)(RESULT);                                                                     \
    }                                                                                                               \
  }                                                                                                                 \
  __attribute__((unused)) static const pc_monoid pc_##NAME##_##D = {                                                \
      LANES, (int32_t)sizeof(T), NO_EMPTY, pc_##NAME##_##D##_clear, pc_##NAME##_##D##_fold,                         \
      pc_##NAME##_##D##_step, pc_##NAME##_##D##_close, pc_##NAME##_##D##_finish};

PC_MONOID(sum, f64, pc_f64, 16, 0.0, pc_add_f64, pc_f64, pc_add_f64, total, NULL)
PC_MONOID(sum, f32, pc_f32, 32, 0.0f, pc_add_f32, pc_f64, pc_add_f64, total, NULL)
PC_MONOID(sum, i64, pc_i64, 16, 0, pc_add_i64, pc_i64, pc_add_i64, total, NULL)
PC_MONOID(mean, f64, pc_f64, 16, 0.0, pc_add_f64, pc_f64, pc_add_f64, total / (pc_f64)count, NULL)
PC_MONOID(mean, f32, pc_f32, 32, 0.0f, pc_add_f32, pc_f64, pc_add_f64, total / (pc_f64)count, NULL)
PC_MONOID(prod, f64, pc_f64, 16, 1.0, pc_mul_f64, pc_f64, pc_mul_f64, total, NULL)
PC_MONOID(prod, f32, pc_f32, 32, 1.0f, pc_mul_f32, pc_f64, pc_mul_f64, total, NULL)
PC_MONOID(prod, i64, pc_i64, 16, 1, pc_mul_i64, pc_i64, pc_mul_i64, total, NULL)
PC_MONOID(max, f64, pc_f64, 32, -__builtin_inf(), pc_maximum_f64, pc_f64, pc_maximum_f64, total, "maximum")
PC_MONOID(max, f32, pc_f32, 64, -__builtin_inff(), pc_maximum_f32, pc_f32, pc_maximum_f32, total, "maximum")
PC_MONOID(max, i64, pc_i64, 32, INT64_MIN, pc_maximum_i64, pc_i64, pc_maximum_i64, total, "maximum")
PC_MONOID(max, bool, pc_bool, 64, 0, pc_maximum_bool, pc_bool, pc_maximum_bool, total, "maximum")
PC_MONOID(min, f64, pc_f64, 32, __builtin_inf(), pc_minimum_f64, pc_f64, pc_minimum_f64, total, "minimum")
PC_MONOID(min, f32, pc_f32, 64, __builtin_inff(), pc_minimum_f32, pc_f32, pc_minimum_f32, total, "minimum")
PC_MONOID(min, i64, pc_i64, 32, INT64_MAX, pc_minimum_i64, pc_i64, pc_minimum_i64, total, "minimum")
PC_MONOID(min, bool, pc_bool, 64, 1, pc_minimum_bool, pc_bool, pc_minimum_bool, total, "minimum")
PC_MONOID(any, bool, pc_bool, 64, 0, pc_or_bool, pc_bool, pc_or_bool, total, NULL)
PC_MONOID(all, bool, pc_bool, 64, 1, pc_and_bool, pc_bool, pc_and_bool, total, NULL)

#endif
