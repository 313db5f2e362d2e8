/* driver/plan.h: tells a profile how a driver goes through its operands. Without one who asks, a load and a branch. */
#ifndef PRECAST_DRIVER_PLAN_H
#define PRECAST_DRIVER_PLAN_H

#include <stddef.h>
#include <stdint.h>

/* A loop plan: `rows` times `row` elements (of a reduction: outputs times the elements of each), the kernel called for `most` of them or
 * less. */
typedef struct pc_plan {
  const char *way; /* a few words, static */
  int64_t rows, row, most;
} pc_plan;

static __thread pc_plan pc_plan_told; /* to this thread, if it asked */
static pc_plan *pc_plan_asked;              /* that of the thread that asks; NULL: none */

/* Whether some thread asks. */
static inline __attribute__((always_inline)) int pc_plan_is_asked(void) {
  return __builtin_expect(__atomic_load_n(&pc_plan_asked, __ATOMIC_RELAXED) != NULL, 0);
}

/* Tells the plan, if this thread asked; it gets the first one. */
__attribute__((cold, noinline)) static void pc_plan_tell(const char *way, int64_t rows, int64_t row, int64_t most) {
  if (__atomic_load_n(&pc_plan_asked, __ATOMIC_RELAXED) != &pc_plan_told || pc_plan_told.way != NULL) return;
  const pc_plan told = {way, rows, row, most};
  pc_plan_told = told;
}

/* Asks for the plan of the next loop that this thread begins. One thread may ask at a time. */
static inline void pc_plan_ask(void) {
  pc_plan_told.way = NULL;
  __atomic_store_n(&pc_plan_asked, &pc_plan_told, __ATOMIC_RELAXED);
}

/* The plan of the first loop since; `way` is NULL if there was none. */
static inline pc_plan pc_plan_take(void) {
  __atomic_store_n(&pc_plan_asked, NULL, __ATOMIC_RELAXED);
  return pc_plan_told;
}

#endif
