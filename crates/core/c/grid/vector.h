/* grid/vector.h: reads and arranges elements and vectors. A part of template.h. */

typedef uint64_t pc_wide __attribute__((vector_size(PC_WIDE_BYTES), aligned(1), may_alias));
typedef uint32_t pc_wide_fours __attribute__((vector_size(PC_WIDE_BYTES), aligned(1), may_alias));
typedef uint16_t pc_wide_halves __attribute__((vector_size(PC_WIDE_BYTES), aligned(1), may_alias));
typedef uint8_t pc_wide_bytes __attribute__((vector_size(PC_WIDE_BYTES), aligned(1), may_alias));
typedef struct pc_sixteen_bytes { uint64_t low, high; } __attribute__((aligned(1), may_alias)) pc_sixteen_bytes;
typedef uint8_t pc_grid_bytes __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint16_t pc_grid_halves __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint16_t pc_two_bytes __attribute__((aligned(1), may_alias));

/* Copies one element of `item` bytes, a constant. */
PC_COPY void pc_grid_element(int item, char *to, const char *from) {
  if (item == 1) *(uint8_t *)to = *(const uint8_t *)from;
  if (item == 2) *(pc_two_bytes *)to = *(const pc_two_bytes *)from;
  if (item == 4) *(pc_four_bytes *)to = *(const pc_four_bytes *)from;
  if (item == 8) *(pc_eight_bytes *)to = *(const pc_eight_bytes *)from;
  if (item == 16) *(pc_sixteen_bytes *)to = *(const pc_sixteen_bytes *)from;
}

/* Returns sixteen bytes of one element, repeated. */
PC_COPY pc_two pc_grid_same(int item, const char *from) {
  if (item == 1) return (pc_two)((pc_grid_bytes){0} + *(const uint8_t *)from);
  if (item == 2) return (pc_two)((pc_grid_halves){0} + *(const pc_two_bytes *)from);
  if (item == 4) return (pc_two)((pc_four){0} + *(const pc_four_bytes *)from);
  if (item == 8) return (pc_two){0} + *(const pc_eight_bytes *)from;
  return *(const pc_two *)from;
}

/* Returns a vector of one element of at most 8 bytes, repeated. */
PC_COPY pc_wide pc_grid_same_wide(int item, const char *from) {
  if (item == 1) return (pc_wide)((pc_wide_bytes){0} + *(const uint8_t *)from);
  if (item == 2) return (pc_wide)((pc_wide_halves){0} + *(const pc_two_bytes *)from);
  if (item == 4) return (pc_wide)((pc_wide_fours){0} + *(const pc_four_bytes *)from);
  return (pc_wide){0} + *(const pc_eight_bytes *)from;
}

/* Returns a vector of elements of 8 or 4 bytes, `step` bytes apart. */
PC_COPY pc_wide pc_grid_apart(int item, const char *from, int64_t step) {
#define PC_AT_8(I) *(const pc_eight_bytes *)(from + (I) * step)
#define PC_AT_4(I) *(const pc_four_bytes *)(from + (I) * step)
  if (item == 8) return (pc_wide){PC_LANES_8(PC_AT_8)};
  return (pc_wide)(pc_wide_fours){PC_LANES_4(PC_AT_4)};
#undef PC_AT_8
#undef PC_AT_4
}

/* Returns every second element, from the first on, of two vectors. */
PC_COPY pc_wide pc_grid_seconds(int item, const char *from) {
#define PC_SECOND(I) 2 * (I)
  const pc_wide a = *(const pc_wide *)from, b = *(const pc_wide *)(from + PC_WIDE_BYTES);
  if (item == 8) return PC_SHUFFLED(pc_wide, a, b, PC_LANES_8(PC_SECOND));
  return (pc_wide)PC_SHUFFLED(pc_wide_fours, (pc_wide_fours)a, (pc_wide_fours)b, PC_LANES_4(PC_SECOND));
#undef PC_SECOND
}

/* Returns the vector that ends with the element at `from`, in the opposite order. */
PC_COPY pc_wide pc_grid_backwards(int item, const char *from) {
#define PC_BACK_8(I) PC_WIDE_BYTES / 8 - 1 - (I)
#define PC_BACK_4(I) PC_WIDE_BYTES / 4 - 1 - (I)
  const pc_wide a = *(const pc_wide *)(from + item - PC_WIDE_BYTES);
  if (item == 8) return PC_SHUFFLED(pc_wide, a, a, PC_LANES_8(PC_BACK_8));
  return (pc_wide)PC_SHUFFLED(pc_wide_fours, (pc_wide_fours)a, (pc_wide_fours)a, PC_LANES_4(PC_BACK_4));
#undef PC_BACK_8
#undef PC_BACK_4
}
