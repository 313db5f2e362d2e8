/* grid/grid.h: copies of grids of elements (rows x columns) between strided memory and a block that has them contiguous, row by row.
 *
 *   way in memory                        copied as
 *   columns in step 0                    each element repeated
 *   rows in step 0                       the first row, then twice as many rows at a time
 *   columns contiguous                   each row by a few words, the last two of which may overlap
 *   columns backwards                    the same, each vector reversed
 *   rows contiguous                      turned (turn.h)
 *   anything else                        a vector's elements at a time
 *
 * Short rows are the reason: a call for each row would take longer than its elements. Kernels read a block by vectors of their level at
 * once after it is written. If it was written by shorter ones, many CPUs make such a read wait until all is in the cache. So there is a
 * copy of these functions for each level (template.h); results do not depend on it.
 */
#ifndef PRECAST_GRID_H
#define PRECAST_GRID_H

#include <stdint.h>

/* Where the elements lie: steps in bytes. */
typedef struct pc_grid {
  char *at;
  int64_t rows, columns, row, column;
} pc_grid;

/* The copies of a level. */
typedef struct pc_grid_ways {
  /* Copies a grid of elements of `item` bytes to the block, or with `back` from there. */
  void (*copy)(int32_t item, const pc_grid *g, char *block, int back);
  /* Copies n elements, `step` bytes apart at `at`, to the block, or with `back` from there. */
  void (*line)(int32_t item, int64_t n, char *at, int64_t step, char *block, int back);
  /* Sets to[j][i] = from[i][j] for i of `rows` and j of `columns`; elements of 4 or 8 bytes, steps from row to row in bytes. */
  void (*turn)(int32_t item, int64_t rows, int64_t columns, char *to, int64_t to_step, const char *from, int64_t step);
} pc_grid_ways;

extern const pc_grid_ways pc_grid_all;
#ifdef __x86_64__
extern const pc_grid_ways pc_grid_v3, pc_grid_v4;
#endif

#endif
