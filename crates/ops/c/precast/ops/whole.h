/* precast/ops/whole.h: kernels that compute whole vectors only, so that compilers see their body once.
 *
 * Of a loop over n elements gcc makes three: of vectors, of shorter ones, of single elements. Where a body is hundreds of instructions
 * that is most of a module's compilation. So such a kernel's loop has a multiple of a vector's elements, and the rest is computed in a
 * vector of its own, filled up with the last element: nothing is computed that the caller did not ask for, so no flag is raised either.
 */
#ifndef PRECAST_OPS_WHOLE_H
#define PRECAST_OPS_WHOLE_H

#include <precast/driver.h>

#if defined(__AVX512F__)
#define PC_WHOLE_BYTES 64
#elif defined(__AVX2__)
#define PC_WHOLE_BYTES 32
#else
#define PC_WHOLE_BYTES 16
#endif

/* Computes n elements of each operand, n a multiple of `width`. */
typedef void (*pc_whole_kernel)(int64_t n, char *const *data);

#define PC_WHOLE_FILL(T) \
  do { \
    typedef T word __attribute__((may_alias)); \
    for (int64_t i = 0; i < width; i++) ((word *)to)[i] = ((const word *)from)[i < rest ? i : rest - 1]; \
  } while (0)

/* Runs `kernel` over n elements of operands, inputs before outputs. `item` are their bytes: 1, 4, 8, and 0 for one that is a single
 * element by its type; none is wider than a `width`th of PC_WHOLE_BYTES. For size, which compiles in half the time. */
__attribute__((noinline, cold, unused)) static void pc_whole(pc_whole_kernel kernel, int64_t width, int64_t n, char *const *data,
                                                              const uint8_t *item, int32_t n_in, int32_t n_all) {
  char room[PC_LOOP_OPERANDS][PC_WHOLE_BYTES] __attribute__((aligned(64)));
  char *last[PC_LOOP_OPERANDS];
  const int64_t rest = n % width, whole = n - rest;
  if (whole > 0) kernel(whole, data);
  if (rest <= 0) return;
  for (int32_t k = 0; k < n_all; k++) {
    char *const to = room[k];
    const char *const from = data[k] + whole * item[k];
    last[k] = item[k] == 0 ? data[k] : to;
    if (k >= n_in || item[k] == 0) continue;
    if (item[k] == 8) {
      PC_WHOLE_FILL(uint64_t);
    } else if (item[k] == 4) {
      PC_WHOLE_FILL(uint32_t);
    } else {
      PC_WHOLE_FILL(uint8_t);
    }
  }
  kernel(width, last);
  for (int32_t k = n_in; k < n_all; k++) __builtin_memcpy(data[k] + whole * item[k], room[k], (size_t)(rest * item[k]));
}

#endif
