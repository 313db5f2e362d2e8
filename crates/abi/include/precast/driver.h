/* precast/driver.h: requests of a module to the host's drivers: which kernel to run over which operands.
 *
 * A driver plans the loop (broadcasting, strides, blocks); a module supplies the kernel, which runs on contiguous elements.
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

/* Marks a memory-bound loop: it uses vectors half as long as a cache line. From memory, or unaligned, a load of a whole line takes
 * longer than two loads of half a line (measured on Zen 4). The bits are the same. Only gcc has such an attribute for a
 * function. */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#define PC_LIGHT __attribute__((target("prefer-vector-width=256")))
#else
#define PC_LIGHT
#endif

/* A kernel of a module: `data` points to n contiguous elements of each operand, inputs then outputs (one element
 * for an operand declared scalar). Returns 0, or a failure with the error slot set. */
typedef int (*pc_kernel)(pc_context *ctx, int64_t n, char *const *data);

/* Flag of every driver request: its kernels may run on several threads at once, each on separate elements. */
#define PC_SHARED 1

/* Flag of a reduction: a total that differs from the identity never changes again, so the remaining elements may be skipped. Its map
 * never fails. A host may ignore the flag. */
#define PC_SETTLES 2

/* Flag of a reduction: the bits of a total depend on the order of the elements, not on the parentheses. That order is the order of the
 * lanes' tree. The identity is neutral; elements, totals and results have one type. A host may ignore the flag. */
#define PC_ASSOCIATIVE 4

/* Flag of a reduction: the result depends on the total alone, not also on the number of elements. A host may ignore the flag. */
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
#define PC_REDUCE_BLOCK 4096     /* elements of a block, whose lanes are combined before the next block begins */

/* The operation of a reduction; precast/ops/monoid.h defines the only order of its additions. */
typedef struct pc_monoid {
  int32_t lanes;        /* a power of two that divides PC_REDUCE_BLOCK */
  int32_t item;         /* bytes of an element and of a lane */
  const char *no_empty; /* not NULL: an empty reduction is an error, and this is NumPy's name of the operation */
  void (*clear)(void *lanes, int64_t n);
  /* lanes[(phase + i) mod LANES] += x[i] */
  void (*fold)(void *lanes, const void *x, int64_t n, int64_t phase);
  /* lanes[i] += x[i] */
  void (*step)(void *lanes, const void *x, int64_t n);
  /* Combines lanes[l * columns + c] over l by the tree, then adds the result to totals[c]; sets totals[c] if `first` is not 0.
   * At most 16 bytes per total. */
  void (*close)(void *lanes, int64_t columns, void *totals, int first);
  /* Writes the results of `count` elements each; count may be 0. */
  void (*finish)(const void *totals, int64_t columns, int64_t count, char *out, int64_t out_step);
  /* lanes[i] += x[i] for `rows` rows in order, each `row_bytes` behind the one before. NULL if the module reduces no columns
   * in place; the host then calls `step`. */
  void (*steps)(void *lanes, const void *x, int64_t n, int64_t rows, int64_t row_bytes);
  /* Writes the result of 1 to `lanes` elements; equals clear, fold, close and finish. */
  void (*few)(const void *x, int64_t n, char *out);
  /* Like `few`, for each of `columns` columns of n consecutive rows. The results replace the first row; the other rows are
   * undefined afterwards. May be NULL. */
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

/* A step of a row program: a map of some values to new values, or a fold of one value to one element. */
typedef struct pc_rows_step {
  pc_kernel kernel;        /* NULL: a fold */
  const pc_monoid *monoid; /* NULL: a map */
  const uint8_t *values;   /* the operands' numbers, then the results' */
  uint8_t n_in, n_out;
  uint8_t pass;            /* number of its pass through the row; ascending */
  uint8_t once;            /* 1: a map of one element, run after that pass */
} pc_rows_step;

/* For pc_host.rows. The reduced dimensions of the operands' common shape form a row. Each pass goes through a row once.
 * Values are numbered: the operands first, then the results of steps; one step makes each result. Folds, and maps that run
 * once, make one element a row; other maps make a full row. A step that broadcasts such an element over the row is in a
 * later pass than the step that made the element. */
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
