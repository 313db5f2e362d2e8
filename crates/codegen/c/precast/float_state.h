/* precast/float_state.h: how floats are computed: rounding, subnormal numbers, traps.
 *
 * These are registers of the thread.
 *
 * # The caller's
 * Kernels rely on the default. A host sets it before it calls `run`. A native function is called without a host: it asks
 * pc_float_state_is_default() first, which takes a fraction of a nanosecond, and else calls itself between pc_float_state_read(),
 * pc_float_state_set_default() and pc_float_state_keep().
 *
 * # An author's
 * Code of an op's author may set them and forget it, and every op after it, in the graph and in the program, would compute
 * other numbers. So the functions of a module with such code begin with
 *
 *   PC_KEEP_FLOAT_STATE
 *
 * which restores the state at entry on every way out of the block. It also empties the x87 registers, as the ABI wants them
 * empty between functions: MMX instructions fill them. Flags of exceptions that happened are not part of the state.
 *
 *   PC_SETTLE(x)
 *
 * is behind the last computation of a returned result: `x` is computed before the state is restored.
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

#if defined(__x86_64__)
/* Four floats, four more, and their sums in the default environment: one that is not rounded down, one that is not rounded up, a
 * subnormal result, and one of subnormal operands. */
static const float pc_float_state_probe[12] __attribute__((__aligned__(16), __unused__)) = {
    1.0f, 1.0f, 0x1.8p-126f, 0x1p-127f, 0x1p-25f, 0x1.8p-24f, -0x1p-126f, 0x1.8p-127f, 1.0f, 0x1.000002p0f, 0x1p-127f, 0x1.4p-126f};
#elif defined(__aarch64__)
/* Of FPCR all but traps. */
#define PC_FLOAT_STATE_FPCR UINT64_C(0x07c80007)
#endif

/* Returns whether the thread rounds to the nearest and keeps subnormal numbers, as a new thread does. */
static inline int pc_float_state_is_default(void) {
#if defined(__x86_64__)
  /* Reading MXCSR takes twenty times as long. */
  float __attribute__((__vector_size__(16))) sum;
  int equal;
  __asm__ volatile("movaps %2, %0\n\taddps %3, %0\n\tpcmpeqd %4, %0\n\tpmovmskb %0, %1"
                   : "=&x"(sum), "=r"(equal)
                   : "m"(*(const float(*)[4])pc_float_state_probe), "m"(*(const float(*)[4])(pc_float_state_probe + 4)),
                     "m"(*(const float(*)[4])(pc_float_state_probe + 8)));
  return equal == 0xffff;
#elif defined(__aarch64__)
  return (pc_float_state_read().vector & PC_FLOAT_STATE_FPCR) == 0;
#else
  return 1;
#endif
}

/* Makes the thread round to the nearest and keep subnormal numbers. Traps stay unchanged. */
static inline void pc_float_state_set_default(void) {
  const pc_float_state now = pc_float_state_read();
#if defined(__x86_64__)
  const uint32_t mxcsr = (uint32_t)now.vector & ~UINT32_C(0xe040);
  const uint16_t control = (uint16_t)((now.x87 & ~0x0c00u) | 0x0300u);
  __asm__ volatile("ldmxcsr %0" ::"m"(mxcsr) : "memory");
  __asm__ volatile("fldcw %0" ::"m"(control) : "memory");
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" ::"r"(now.vector & ~PC_FLOAT_STATE_FPCR) : "memory");
#else
  (void)now;
#endif
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
