/* precast/float_state.h: how floats are computed, kept from call to call: rounding, denormals, traps.
 *
 * These are registers of the thread. Code of an op's author may set them and forget it, and every op after it, in the graph
 * and in the program, would compute other numbers. So the functions of a module with such code begin with
 *
 *   PC_KEEP_FLOAT_STATE
 *
 * which puts back on every way out of the block what was set when it was entered, and leaves the x87 registers empty, as the
 * ABI wants them between functions: MMX instructions fill them. Flags of exceptions that happened are not part of it.
 *
 *   PC_SETTLE(x)
 *
 * is behind the last computation of a result that is returned: what goes into `x` is computed before the state is put back.
 */
#ifndef PRECAST_FLOAT_STATE_H
#define PRECAST_FLOAT_STATE_H

#include <stdint.h>

typedef struct pc_float_state {
  uint64_t vector; /* MXCSR without its flags; FPCR */
  uint64_t x87;    /* the x87 control word */
} pc_float_state;

static inline pc_float_state pc_float_state_read(void) {
  pc_float_state state = {0, 0};
#if defined(__x86_64__)
  uint32_t mxcsr;
  uint16_t control;
  __asm__ volatile("stmxcsr %0" : "=m"(mxcsr)::"memory");
  __asm__ volatile("fnstcw %0" : "=m"(control)::"memory");
  state.vector = mxcsr & ~UINT32_C(0x3f);
  state.x87 = control;
#elif defined(__aarch64__)
  __asm__ volatile("mrs %0, fpcr" : "=r"(state.vector)::"memory");
#endif
  return state;
}

static inline void pc_float_state_keep(const pc_float_state *kept) {
#if defined(__x86_64__)
  __asm__ volatile("emms" ::: "memory");
#endif
  const pc_float_state now = pc_float_state_read();
  if (now.vector == kept->vector && now.x87 == kept->x87) {
    return;
  }
#if defined(__x86_64__)
  const uint32_t mxcsr = (uint32_t)kept->vector;
  const uint16_t control = (uint16_t)kept->x87;
  __asm__ volatile("ldmxcsr %0" ::"m"(mxcsr) : "memory");
  __asm__ volatile("fnclex\n\tfldcw %0" ::"m"(control) : "memory");
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" ::"r"(kept->vector) : "memory");
#endif
}

#define PC_KEEP_FLOAT_STATE \
  const pc_float_state pc_kept_float_state __attribute__((__cleanup__(pc_float_state_keep), __unused__)) = pc_float_state_read();

#define PC_SETTLE(x_) __asm__ volatile("" : "+m"(x_) : : "memory");

#endif
