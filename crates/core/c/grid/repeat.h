/* grid/repeat.h: repeats an element of each of several rows to a whole row. A part of template.h. */

/* Repeats each of `rows` elements, `step` bytes apart, to rows of `bytes`, which is at least 16. */
PC_COPY void pc_grid_repeat_long(int item, const int64_t bytes, char *to, const char *from, int64_t step, int64_t rows) {
  for (; rows > 0; rows--, from += step, to += bytes) {
    const pc_two same = pc_grid_same(item, from);
    #pragma GCC unroll 4
    for (int64_t i = 0; i + 16 <= bytes; i += 16) *(pc_two *)(to + i) = same;
    if (bytes % 16 != 0) *(pc_two *)(to + bytes - 16) = same;
  }
}

/* Does the same for rows of at least one vector, and elements of at most 8 bytes. */
PC_COPY void pc_grid_repeat_wide(int item, int64_t bytes, char *to, const char *from, int64_t step, int64_t rows) {
  for (; rows > 0; rows--, from += step, to += bytes) {
    const pc_wide same = pc_grid_same_wide(item, from);
    #pragma GCC unroll 4
    for (int64_t i = 0; i + PC_WIDE_BYTES <= bytes; i += PC_WIDE_BYTES) *(pc_wide *)(to + i) = same;
    if (bytes % PC_WIDE_BYTES != 0) *(pc_wide *)(to + bytes - PC_WIDE_BYTES) = same;
  }
}

#if PC_WIDE_BYTES > 16
/* Numbers of words for the vectors that repeat each element of a vector C times, by C and by vector. An element has WORDS words. */
#define PC_SPREAD_WORD(WORDS, C, V, I) (uint8_t)((((V) * (PC_WIDE_BYTES / 4) + (I)) / (WORDS) / (C)) * (WORDS) + (I) % (WORDS))
#define PC_SPREAD_EIGHT(WORDS, C, V, I) \
  PC_SPREAD_WORD(WORDS, C, V, I), PC_SPREAD_WORD(WORDS, C, V, I + 1), PC_SPREAD_WORD(WORDS, C, V, I + 2), PC_SPREAD_WORD(WORDS, C, V, I + 3), \
    PC_SPREAD_WORD(WORDS, C, V, I + 4), PC_SPREAD_WORD(WORDS, C, V, I + 5), PC_SPREAD_WORD(WORDS, C, V, I + 6), \
    PC_SPREAD_WORD(WORDS, C, V, I + 7)
#if PC_WIDE_BYTES == 32
#define PC_SPREAD_VECTOR(WORDS, C, V) PC_SPREAD_EIGHT(WORDS, C, V, 0)
#else
#define PC_SPREAD_VECTOR(WORDS, C, V) PC_SPREAD_EIGHT(WORDS, C, V, 0), PC_SPREAD_EIGHT(WORDS, C, V, 8)
#endif
#define PC_SPREAD_2(WORDS, C) PC_SPREAD_VECTOR(WORDS, C, 0), PC_SPREAD_VECTOR(WORDS, C, 1)
#define PC_SPREAD_3(WORDS, C) PC_SPREAD_2(WORDS, C), PC_SPREAD_VECTOR(WORDS, C, 2)
#define PC_SPREAD_4(WORDS, C) PC_SPREAD_3(WORDS, C), PC_SPREAD_VECTOR(WORDS, C, 3)
#define PC_SPREAD_5(WORDS, C) PC_SPREAD_4(WORDS, C), PC_SPREAD_VECTOR(WORDS, C, 4)
#define PC_SPREAD_6(WORDS, C) PC_SPREAD_5(WORDS, C), PC_SPREAD_VECTOR(WORDS, C, 5)
#define PC_SPREAD_7(WORDS, C) PC_SPREAD_6(WORDS, C), PC_SPREAD_VECTOR(WORDS, C, 6)
#define PC_SPREAD_ALL(WORDS) \
  {PC_SPREAD_2(WORDS, 2), PC_SPREAD_3(WORDS, 3), PC_SPREAD_4(WORDS, 4), PC_SPREAD_5(WORDS, 5), PC_SPREAD_6(WORDS, 6), PC_SPREAD_7(WORDS, 7)}
static const uint8_t pc_grid_spread_numbers[2][27 * PC_WIDE_BYTES / 4] = {PC_SPREAD_ALL(1), PC_SPREAD_ALL(2)};

/* Repeats contiguous elements of 4 or 8 bytes, each 2 to 7 times. Takes as many of `rows` elements as fill whole vectors, and returns their
 * number. */
PC_COPY int64_t pc_grid_spread(int item, int64_t columns, char *to, const char *from, int64_t rows) {
  const int64_t lanes = PC_WIDE_BYTES / item;
  const uint8_t *numbers = pc_grid_spread_numbers[item / 4 - 1] + (columns * (columns - 1) / 2 - 1) * (PC_WIDE_BYTES / 4);
  pc_wide chosen[7];
  int64_t done = 0;
  for (int64_t v = 0; v < columns; v++) chosen[v] = (pc_wide)PC_NUMBERS(numbers + v * (PC_WIDE_BYTES / 4));
  for (; done + lanes <= rows; done += lanes, from += PC_WIDE_BYTES) {
    const pc_wide all = *(const pc_wide *)from;
    for (int64_t v = 0; v < columns; v++, to += PC_WIDE_BYTES) *(pc_wide *)to = (pc_wide)PC_CHOSEN(chosen[v], all);
  }
  return done;
}
#endif

/* Repeats each of `rows` elements, `step` bytes apart, to a row. */
PC_COPY void pc_grid_repeat(int item, char *to, const char *from, int64_t step, int64_t rows, int64_t columns) {
  const int64_t bytes = columns * item;
#if PC_WIDE_BYTES > 16
  if ((item == 4 || item == 8) && step == item && columns > 1 && columns < 8 && bytes % PC_WIDE_BYTES != 0) {
    const int64_t done = pc_grid_spread(item, columns, to, from, rows);
    to += done * bytes;
    from += done * step;
    rows -= done;
  }
#endif
  if (item <= 8 && bytes == PC_WIDE_BYTES) return pc_grid_repeat_wide(item, PC_WIDE_BYTES, to, from, step, rows);
  if (item <= 8 && bytes > PC_WIDE_BYTES) return pc_grid_repeat_wide(item, bytes, to, from, step, rows);
  switch (bytes) {
  case 16: return pc_grid_repeat_long(item, 16, to, from, step, rows);
  case 24: return pc_grid_repeat_long(item, 24, to, from, step, rows);
  case 32: return pc_grid_repeat_long(item, 32, to, from, step, rows);
  case 40: return pc_grid_repeat_long(item, 40, to, from, step, rows);
  case 48: return pc_grid_repeat_long(item, 48, to, from, step, rows);
  default: break;
  }
  if (bytes >= 16) return pc_grid_repeat_long(item, bytes, to, from, step, rows);
  if (bytes >= 8) {
    for (; rows > 0; rows--, from += step, to += bytes) {
      const uint64_t same = pc_grid_same(item, from)[0];
      *(pc_eight_bytes *)to = same;
      *(pc_eight_bytes *)(to + bytes - 8) = same;
    }
    return;
  }
  for (; rows > 0; rows--, from += step) {
    for (int64_t i = 0; i < columns; i++, to += item) pc_grid_element(item, to, from);
  }
}
