/* grid/template.h: the copies of grid.h by vectors of PC_WIDE_BYTES. The including file defines it and:
 *
 *   PC_TARGET                    an attribute that allows the instructions
 *   PC_LANES_8(E), PC_LANES_4(E) E(0), E(1), ... for each element of 8, or of 4 bytes, of a vector
 *   PC_NUMBERS(P), PC_CHOSEN(NUMBERS, FROM)   the words of 4 bytes of FROM with the numbers in bytes at P; for vectors wider than 16 bytes
 */
#include "../turn.h"
#include "grid.h"
#include <precast/copy.h>

#define PC_GRID_NEAR_BYTES 4096 /* rows are at most this far apart, so no unmapped page lies between them */
#define PC_COPY PC_TARGET static inline __attribute__((always_inline))

#include "vector.h"
#include "repeat.h"
#include "rows.h"
#include "turn.h"

PC_COPY void pc_grid_gather_of(int item, const pc_grid *g, char *block) {
  const int64_t bytes = g->columns * item;
  if (g->column == 0) {
    pc_grid_repeat(item, block, g->at, g->row, g->rows, g->columns);
  } else if (g->row == 0) {
    pc_grid_gather_row(item, g->columns, block, g->at, g->column);
    pc_grid_again(block, bytes, g->rows);
  } else if (g->column == item) {
    pc_grid_rows(bytes, g->rows, block, bytes, g->at, g->row);
  } else if (g->row == item && (item == 4 || item == 8)) {
    pc_grid_turn(item, g->columns, g->rows, block, bytes, g->at, g->column);
  } else if (g->column == -item && (item == 4 || item == 8) && bytes >= PC_WIDE_BYTES) {
    pc_grid_reverse(item, g, block);
  } else {
    pc_grid_gather_rows(item, g, block);
  }
}

PC_COPY void pc_grid_scatter_of(int item, const pc_grid *g, char *block) {
  const int64_t bytes = g->columns * item;
  if (g->column == item) {
    pc_grid_rows(bytes, g->rows, g->at, g->row, block, bytes);
  } else if (g->row == item && (item == 4 || item == 8)) {
    pc_grid_turn(item, g->rows, g->columns, g->at, g->column, block, bytes);
  } else {
    char *row = g->at;
    for (int64_t i = 0; i < g->rows; i++, row += g->row) {
      char *at = row;
      for (int64_t j = 0; j < g->columns; j++, at += g->column, block += item) pc_grid_element(item, at, block);
    }
  }
}

/* Copies a grid to the block, or with `back` from there. At every level the first level copies elements of other than 4 and 8 bytes. */
PC_TARGET static void pc_grid_copy(int32_t item, const pc_grid *g, char *block, int back) {
  if (item == 8) {
    back ? pc_grid_scatter_of(8, g, block) : pc_grid_gather_of(8, g, block);
  } else if (item == 4) {
    back ? pc_grid_scatter_of(4, g, block) : pc_grid_gather_of(4, g, block);
#if PC_WIDE_BYTES > 16
  } else {
    pc_grid_all.copy(item, g, block, back);
#else
  } else if (item == 2) {
    back ? pc_grid_scatter_of(2, g, block) : pc_grid_gather_of(2, g, block);
  } else if (item == 1) {
    back ? pc_grid_scatter_of(1, g, block) : pc_grid_gather_of(1, g, block);
  } else {
    back ? pc_grid_scatter_of(16, g, block) : pc_grid_gather_of(16, g, block);
#endif
  }
}

/* Gathers n elements of 4 or 8 bytes, `step` bytes apart. */
PC_COPY void pc_grid_line_of(int item, int64_t n, char *to, const char *from, int64_t step) {
  const int64_t lanes = PC_WIDE_BYTES / item;
  if (step == 0 && n >= lanes) {
    pc_grid_repeat_wide(item, n * item, to, from, 0, 1);
  } else if (step == -item && n >= lanes) {
    const pc_grid g = {(char *)(uintptr_t)from, 1, n, 0, step};
    pc_grid_reverse(item, &g, to);
  } else {
    int64_t i = 0;
    /* The memory behind the last element may be invalid. */
    for (; step == 2 * item && i + lanes < n; i += lanes, from += 2 * PC_WIDE_BYTES) *(pc_wide *)(to + i * item) = pc_grid_seconds(item, from);
    pc_grid_gather_row(item, n - i, to + i * item, from, step);
  }
}

PC_TARGET static void pc_grid_line(int32_t item, int64_t n, char *at, int64_t step, char *block, int back) {
  if (!back && item == 8 && step != 8) {
    pc_grid_line_of(8, n, block, at, step);
  } else if (!back && item == 4 && step != 4) {
    pc_grid_line_of(4, n, block, at, step);
#if PC_WIDE_BYTES > 16
  } else {
    pc_grid_all.line(item, n, at, step, block, back);
#else
  } else {
    pc_copy_strided(item, n, back ? at : block, back ? step : item, back ? block : at, back ? item : step);
#endif
  }
}
