/* precast/copy.h: sizes of dtypes, and elements copied from one stride to another. */
#ifndef PRECAST_COPY_H
#define PRECAST_COPY_H

#include <precast/context.h>

/* Bytes of an element, 0 for a number that is no dtype. */
static inline int32_t pc_dtype_bytes(int32_t dtype) {
  static const uint8_t bytes[24] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 0, 0, 4, 8, 0, 8, 16, 0, 0, 0, 0, 0, 0, 0, 2};
  if (dtype == PC_BF16) return 2;
  return dtype >= 0 && dtype < 24 ? bytes[dtype] : 0;
}

/* Copies n elements from one stride to another (bytes). */
__attribute__((noinline, unused)) static void pc_copy_strided(int32_t item, int64_t n, char *to, int64_t to_step, const char *from, int64_t from_step) {
  if (to_step == item && from_step == item) {
    __builtin_memcpy(to, from, (size_t)(n * item));
    return;
  }
  for (; n > 0; n--, to += to_step, from += from_step) {
    if (item == 8) {
      *(uint64_t *)to = *(const uint64_t *)from;
    } else if (item == 4) {
      *(uint32_t *)to = *(const uint32_t *)from;
    } else if (item == 2) {
      *(uint16_t *)to = *(const uint16_t *)from;
    } else if (item == 1) {
      *to = *from;
    } else {
      __builtin_memcpy(to, from, (size_t)item);
    }
  }
}

#endif
