/* precast/driver.h: what a module tells the host's drivers: which kernel to run over which operands.
 *
 * A driver decides the loop (broadcasting, strides, blocks), a module brings the kernel that is run on contiguous elements.
 * Drivers are the host's, compiled once; kernels are the module's, compiled for its ISA level. Drivers compute nothing, so
 * the bits of a result are those of the module's kernels.
 */
#ifndef PRECAST_DRIVER_H
#define PRECAST_DRIVER_H

#include <precast/context.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PC_LOOP_OPERANDS 64 /* most operands of a kernel, outputs included */

/* Of a loop that waits for its operands: vectors half as long as a line of the cache. A load of a whole line takes longer than two of
 * halves from memory, and where operands do not begin with a line (measured on Zen 4). The bits are the same. Only gcc can be told so
 * of a function. */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#define PC_LIGHT __attribute__((target("prefer-vector-width=256")))
#else
#define PC_LIGHT
#endif

/* A kernel made for a module: `data` points to n contiguous elements of each operand, inputs then outputs (one element
 * for an operand declared scalar). Returns 0, or a failure with the error slot set. */
typedef int (*pc_kernel)(pc_context *ctx, int64_t n, char *const *data);

/* Of what a driver is handed: its kernels may run on several threads at once, each on elements of its own. */
#define PC_SHARED 1

/* Of a reduction: a total that is not the identity never changes again, so that the remaining elements may be skipped. Its map never
 * fails. A host may ignore it. */
#define PC_SETTLES 2

/* Of a reduction: parentheses do not show in the bits of a total, only the order of the elements does, which is that of the lanes' tree; the
 * identity is neutral; elements, totals and results are of one type. A host may ignore it. */
#define PC_ASSOCIATIVE 4

/* Of a reduction: the result does not depend on the number of elements but by their total. A host may ignore it. */
#define PC_TOTAL 8

/* For pc_host.elemwise. */
typedef struct pc_elemwise {
  uint16_t n_in, flags;     /* n_in >= 1; PC_SHARED or 0 */
  int32_t n_out;            /* n_out >= 1, n_in + n_out <= PC_LOOP_OPERANDS */
  const uint8_t *scalar;    /* n_in flags: 1 for an operand that is 0-d by its type */
  const int32_t *dtypes;    /* n_out: of the outputs */
  const char *const *names; /* n_in, for messages; NULL, or with NULL entries */
  pc_kernel kernel;
} pc_elemwise;

#define PC_REDUCE_ALL UINT32_MAX /* every axis, whatever the rank */
#define PC_REDUCE_BLOCK 4096     /* elements whose lanes are added up before the next block is begun */

/* What a reduction adds up with; precast/ops/monoid.h defines the one order in which it does. */
typedef struct pc_monoid {
  int32_t lanes;        /* a power of two that divides PC_REDUCE_BLOCK */
  int32_t item;         /* bytes of an element and of a lane */
  const char *no_empty; /* not NULL: an empty reduction is an error, and this is NumPy's name of the operation */
  void (*clear)(void *lanes, int64_t n);
  /* lanes[(phase + i) mod LANES] += x[i] */
  void (*fold)(void *lanes, const void *x, int64_t n, int64_t phase);
  /* lanes[i] += x[i] */
  void (*step)(void *lanes, const void *x, int64_t n);
  /* lanes[l * columns + c]: the tree over l, then totals[c] += it (= it for the first block, where `first` is not 0). At most
   * 16 bytes per total. */
  void (*close)(void *lanes, int64_t columns, void *totals, int first);
  /* Writes the results of `count` elements each; count may be 0. */
  void (*finish)(const void *totals, int64_t columns, int64_t count, char *out, int64_t out_step);
  /* lanes[i] += x[i], and the same of further rows, each `row_bytes` behind the one before: `rows` in all, in order. NULL where
   * no reduction is of columns as they lie: `step` serves then. */
  void (*steps)(void *lanes, const void *x, int64_t n, int64_t rows, int64_t row_bytes);
  /* Writes the result of 1 to `lanes` elements: that of clear, fold, close and finish, in one call. */
  void (*few)(const void *x, int64_t n, char *out);
  /* The same of each of `columns` columns, whose elements are n rows one behind the other: the results are the first row then,
   * and the others are undefined. NULL if there is none. */
  void (*few_columns)(void *rows, int64_t n, int64_t columns);
} pc_monoid;

/* For pc_host.reduce. */
typedef struct pc_reduce {
  uint16_t n_in, flags;     /* n_in >= 1; PC_SHARED, PC_SETTLES, PC_ASSOCIATIVE, PC_TOTAL */
  uint32_t axes;            /* bit d: axis d of the broadcast operands is reduced; or PC_REDUCE_ALL */
  int32_t dtype;            /* of the output */
  const uint8_t *scalar;    /* n_in flags: 1 for an operand that is 0-d by its type */
  const char *const *names; /* n_in, for messages; NULL, or with NULL entries */
  pc_kernel map;            /* n_in operands to one of the monoid's element type; NULL: the only operand itself */
  const pc_monoid *monoid;
} pc_reduce;

#define PC_ROWS_VALUES 96 /* most values of a row program */
#define PC_ROWS_FOLDS 8   /* most folds of one; the lanes of each have at most 512 bytes */

/* A step of a row program: a map of some values to others, or a fold of one value to one element. */
typedef struct pc_rows_step {
  pc_kernel kernel;        /* NULL: a fold */
  const pc_monoid *monoid; /* NULL: a map */
  const uint8_t *values;   /* the operands' numbers, then the results' */
  uint8_t n_in, n_out;
  uint8_t pass;            /* which walk through the row it is part of; ascending */
  uint8_t once;            /* a map of one element, after that walk */
} pc_rows_step;

/* For pc_host.rows. The reduced dimensions of the operands' common shape are a row, and each row is walked through once a
 * pass. Values are numbered: the operands first, then what steps make, each by one step. Results of folds and of maps that run
 * once are one element a row, others as many as the row has; what reads an element of a row as if it were as many is in a pass
 * after that which made it. */
typedef struct pc_rows {
  uint16_t n_in, flags;     /* n_in >= 1; PC_SHARED or 0 */
  int32_t n_full, n_single; /* outputs that have the operands' shape, then outputs of one element a row */
  int32_t n_values, n_steps, n_passes;
  uint32_t axes;            /* as pc_reduce.axes */
  uint32_t kept;            /* bit j: of the single outputs, the j-th has the reduced dimensions, with extent 1 */
  const uint8_t *scalar;    /* n_in flags: 1 for an operand that is 0-d by its type */
  const int32_t *dtypes;    /* n_values */
  const uint8_t *outputs;   /* n_full + n_single values */
  const pc_rows_step *steps;
} pc_rows;

#ifdef __cplusplus
}
#endif
#endif
