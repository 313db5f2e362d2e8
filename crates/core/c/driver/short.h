/* driver/short.h: folds many short rows at once, in the order that monoid.h defines for each.
 *
 *   rows x elements, contiguous --turned--> elements x rows --▶ few_columns          no more elements than lanes
 *                                                        └──▶ step, close, finish   else
 *
 * A fold of one row costs four calls, too much for a row of a few dozen elements. Here each lane is added up for all rows at once, so the
 * bits are those of one row after the other.
 */
#ifndef PRECAST_DRIVER_SHORT_H
#define PRECAST_DRIVER_SHORT_H

#include "area.h"
#include "copies.h"
#include <precast/driver.h>

#define PC_SHORT_ROW 128           /* elements of a short row, at most */
#define PC_SHORT_ELEMENTS 2048     /* turned at once, at most: as many as a chunk has of the widest type, */
#define PC_SHORT_TURNED_BYTES 8192 /* and bytes that are turned at once: they stay in the first-level cache, with the lanes */

/* Returns whether rows of `count` elements are added up in place. */
static int pc_short_is_few(const pc_monoid *m, int64_t count) { return m->few_columns != NULL && count <= m->lanes; }

/* Returns whether folding so many rows at once takes less time than one after the other. */
static int pc_short_pays(int64_t count, int64_t rows) { return rows > 1 && (rows >= 8 || count <= 16); }

/* Returns the most rows that are folded at once: a multiple of 8. */
static int64_t pc_short_rows(const pc_monoid *m, int64_t count) {
  int64_t longest = pc_short_is_few(m, count) || count > m->lanes ? count : m->lanes;
  int64_t rows = PC_SHORT_TURNED_BYTES / (longest * m->item), most = PC_SHORT_ELEMENTS / count;
  rows = (rows < most ? rows : most) & ~(int64_t)7;
  return rows < 8 ? 8 : rows > 256 ? 256 : rows;
}

/* Returns the most bytes of memory that pc_short_fold needs for so many rows. */
static int64_t pc_short_bytes(const pc_monoid *m, int64_t count, int64_t rows) {
  int64_t most = pc_short_rows(m, count), turned = (rows < most ? rows : most) * m->item;
  return pc_area_whole(turned * count) + pc_area_whole(turned * m->lanes) + most * 16;
}

/* Folds `rows` rows, no more than pc_short_rows, at `x`; the results go to `out`, `step` bytes apart. */
static void pc_short_part(const pc_monoid *m, const char *x, int64_t count, int64_t rows, char *scratch, char *out, int64_t step) {
  const pc_grid turned = {(char *)(uintptr_t)x, count, rows, m->item, count * m->item};
  pc_copies()->copy(m->item, &turned, scratch, 0);
  if (pc_short_is_few(m, count)) {
    m->few_columns(scratch, count, rows);
    pc_copies()->line(m->item, rows, out, step, scratch, 1);
    return;
  }
  char *lanes = scratch + pc_area_whole(count * rows * m->item), *totals = lanes + pc_area_whole(m->lanes * rows * m->item);
  m->clear(lanes, m->lanes * rows);
  for (int64_t first = 0; first < count; first += m->lanes) {
    m->step(lanes, scratch + first * rows * m->item, (count - first < m->lanes ? count - first : m->lanes) * rows);
  }
  m->close(lanes, rows, totals, 1);
  m->finish(totals, rows, count, out, step);
}

/* Folds `rows` rows of `count` elements each, one behind the other at `x`; the results go to `out`, `step` bytes apart. `scratch` has
 * pc_short_bytes, aligned to a line of the cache. */
static void pc_short_fold(const pc_monoid *m, const char *x, int64_t count, int64_t rows, char *scratch, char *out, int64_t step) {
  int64_t most = pc_short_rows(m, count);
  for (int64_t row = 0; row < rows; row += most) {
    pc_short_part(m, x + row * count * m->item, count, rows - row < most ? rows - row : most, scratch, out + row * step, step);
  }
}

#endif
