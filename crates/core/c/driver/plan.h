/* driver/plan.h: reports to a profile how a driver walks its operands. Without a profile it costs a load and a branch. */
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

static __thread pc_plan pc_plan_told; /* the plan of this thread, if it asked */
static pc_plan *pc_plan_asked;              /* pc_plan_told of the asking thread; NULL if no thread asks */

/* Returns whether some thread asks for a plan. */
static inline __attribute__((always_inline)) int pc_plan_is_asked(void) {
  return __builtin_expect(__atomic_load_n(&pc_plan_asked, __ATOMIC_RELAXED) != NULL, 0);
}

/* Stores the plan if this thread asked and has no plan yet. */
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

/* Returns the plan of the first loop since pc_plan_ask and ends the request; `way` is NULL if no loop began. */
static inline pc_plan pc_plan_take(void) {
  __atomic_store_n(&pc_plan_asked, NULL, __ATOMIC_RELAXED);
  return pc_plan_told;
}

#endif
