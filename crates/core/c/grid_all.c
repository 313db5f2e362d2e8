/* grid_all.c: copies by instructions that every CPU has. */
#define PC_TARGET
#define PC_WIDE_BYTES 16
#define PC_LANES_8(E) E(0), E(1)
#define PC_LANES_4(E) PC_LANES_8(E), E(2), E(3)
#include "grid/template.h"

const pc_grid_ways pc_grid_all = {pc_grid_copy, pc_grid_line, pc_grid_turn};
