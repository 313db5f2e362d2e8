/* precast/copy.h: sizes of dtypes, and elements copied from one stride to another. */
#ifndef PRECAST_COPY_H
#define PRECAST_COPY_H

#include <precast/context.h>

/* Returns the bytes of an element, 0 for an unknown dtype. */
static inline int32_t pc_dtype_bytes(int32_t dtype) {
  static const uint8_t bytes[24] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 0, 0, 4, 8, 0, 8, 16, 0, 0, 0, 0, 0, 0, 0, 2};
  if (dtype == PC_BF16) return 2;
  return dtype >= 0 && dtype < 24 ? bytes[dtype] : 0;
}

/* Defines the copy for elements of one size. Common slice steps are constants, so that compilers turn them into shuffles. */
#define PC_COPY_STRIDED(BYTES, WORD)                                                                                          \
  typedef WORD pc_copy_word##BYTES __attribute__((may_alias, aligned(1)));                                                    \
  static inline void pc_copy_strided_##BYTES(int64_t n, char *to, int64_t to_step, const char *from, int64_t from_step) {     \
    pc_copy_word##BYTES *__restrict__ t = (pc_copy_word##BYTES *)to;                                                          \
    const pc_copy_word##BYTES *__restrict__ f = (const pc_copy_word##BYTES *)from;                                            \
    if (to_step == BYTES && from_step == 2 * BYTES) {                                                                         \
      for (int64_t i = 0; i < n; i++) t[i] = f[2 * i];                                                                        \
    } else if (to_step == BYTES && from_step == -BYTES) {                                                                     \
      for (int64_t i = 0; i < n; i++) t[i] = f[-i];                                                                           \
    } else if (to_step == BYTES && from_step == 0) {                                                                          \
      const pc_copy_word##BYTES same = n > 0 ? *f : 0;                                                                        \
      for (int64_t i = 0; i < n; i++) t[i] = same;                                                                            \
    } else {                                                                                                                  \
      for (; n > 0; n--, to += to_step, from += from_step) *(pc_copy_word##BYTES *)to = *(const pc_copy_word##BYTES *)from;   \
    }                                                                                                                         \
  }
PC_COPY_STRIDED(1, uint8_t)
PC_COPY_STRIDED(2, uint16_t)
PC_COPY_STRIDED(4, uint32_t)
PC_COPY_STRIDED(8, uint64_t)

/* Copies n elements from one stride to another (bytes); the two do not overlap. */
__attribute__((noinline, unused)) static void pc_copy_strided(int32_t item, int64_t n, char *to, int64_t to_step, const char *from, int64_t from_step) {
  if (to_step == item && from_step == item) {
    __builtin_memcpy(to, from, (size_t)(n * item));
  } else if (item == 8) {
    pc_copy_strided_8(n, to, to_step, from, from_step);
  } else if (item == 4) {
    pc_copy_strided_4(n, to, to_step, from, from_step);
  } else if (item == 2) {
    pc_copy_strided_2(n, to, to_step, from, from_step);
  } else if (item == 1) {
    pc_copy_strided_1(n, to, to_step, from, from_step);
  } else {
    for (; n > 0; n--, to += to_step, from += from_step) __builtin_memcpy(to, from, (size_t)item);
  }
}

#endif
