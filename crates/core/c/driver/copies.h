/* driver/copies.h: chooses the copies (grid.h) of the level that the host allows. */
#ifndef PRECAST_DRIVER_COPIES_H
#define PRECAST_DRIVER_COPIES_H

#include "../grid/grid.h"

static const pc_grid_ways *pc_copies_used = &pc_grid_all;

/* Uses the copies of a level: 0 for every CPU, 1 for x86-64-v3, 2 for x86-64-v4. */
static inline void pc_copies_use(int32_t level) {
#ifdef __x86_64__
  const pc_grid_ways *const ways[] = {&pc_grid_all, &pc_grid_v3, &pc_grid_v4};
  __atomic_store_n(&pc_copies_used, ways[level], __ATOMIC_RELAXED);
#else
  (void)level;
#endif
}

static inline const pc_grid_ways *pc_copies(void) { return __atomic_load_n(&pc_copies_used, __ATOMIC_RELAXED); }

#endif
