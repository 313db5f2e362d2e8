/* driver/cut.h: cuts a pc_loop along one of its dimensions, for hosts with several threads.
 *
 * Every element and every output is computed as in the whole loop, so no bit depends on the cuts or on the number of threads. Fewer than
 * PC_CUT_ELEMENTS elements are not worth the way to another thread.
 */
#ifndef PRECAST_DRIVER_CUT_H
#define PRECAST_DRIVER_CUT_H

#include "loop.h"

#define PC_CUT_ELEMENTS 16384 /* of a range, at least */

typedef struct pc_cut {
  const pc_loop *whole;
  int32_t axis;
  int64_t extent; /* of the axis */
  int64_t grain;  /* of the axis in a range, at least */
} pc_cut;

/* Plans to cut `whole`, each of whose elements stands for `behind` elements of its operands. Returns 0 if it is too short or may not be
 * cut. */
PC_SELDOM static int pc_cut_plan(pc_cut *cut, const pc_loop *whole, int64_t behind, int flags) {
  cut->whole = whole;
  cut->axis = 0;
  for (int32_t d = 1; d < whole->ndim && whole->shape[cut->axis] < 16; d++) {
    if (whole->shape[d] > whole->shape[cut->axis]) cut->axis = d;
  }
  cut->extent = whole->ndim == 0 ? 1 : whole->shape[cut->axis];
  int64_t size = pc_loop_size(whole) * behind;
  if (!(flags & PC_SHARED) || cut->extent < 2 || size < 2 * PC_CUT_ELEMENTS) return 0;
  int64_t of_one = size / cut->extent;
  cut->grain = (PC_CUT_ELEMENTS + of_one - 1) / of_one;
  return 1;
}

/* Sets `part` to the loop from `first` to `end` along the axis. */
PC_SELDOM static void pc_cut_take(const pc_cut *cut, int64_t first, int64_t end, pc_loop *part) {
  *part = *cut->whole;
  part->shape[cut->axis] = end - first;
  for (int32_t k = 0; k < part->n_all; k++) part->data[k] += first * part->stride[k][cut->axis];
}

#endif
