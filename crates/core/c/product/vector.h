/* product/vector.h: products with a vector. A part of template.h.
 *
 *   y[i] = sum of a[i, l] x[l], element l in lane l mod 8, then a tree over the lanes: the same bits at every level
 *
 * Such a product reads a matrix once and does nothing else, so it is as fast as memory. Several rows at once are read where the matrix
 * is in the caches, since additions wait for each other; where rows are so short that their ends count; and where x is so long that rows
 * push it out of the first cache. Else rows come one after the other, as memory is read the fastest.
 * A complex one is two real ones: a row of a is (re, im, re, im, …), multiplied by (re, -im, …) and by (im, re, …).
 */

/* Adds the products of `rows` rows with x, `length` elements of each, to the lanes of each row; the first time the lanes are 0. The
 * last time, where there is a y, come its elements. */
PC_TARGET static inline __attribute__((always_inline)) void PC_NAME(rows_of)(const int rows, int64_t length, const PC_T *a, int64_t a_row,
                                                                             const PC_T *x, PC_T (*lane)[PC_SUM_LANES], int first, PC_T *y,
                                                                             int64_t y_step) {
  PC_NAME(vector) sum[PC_LANES][PC_SUM_LANES / PC_LANES];
  int64_t l = 0;
  #pragma GCC unroll 8
  for (int i = 0; i < rows; i++) {
    #pragma GCC unroll 8
    for (int v = 0; v < PC_SUM_LANES / PC_LANES; v++) sum[i][v] = first ? (PC_NAME(vector)){0} : *(PC_NAME(vector) *)(lane[i] + v * PC_LANES);
  }
  for (; l + PC_SUM_LANES <= length; l += PC_SUM_LANES) {
    #pragma GCC unroll 8
    for (int v = 0; v < PC_SUM_LANES / PC_LANES; v++) {
      PC_NAME(vector) of_x = *(const PC_NAME(unaligned) *)(x + l + v * PC_LANES);
      #pragma GCC unroll 8
      for (int i = 0; i < rows; i++) sum[i][v] += *(const PC_NAME(unaligned) *)(a + i * a_row + l + v * PC_LANES) * of_x;
    }
  }
  if (l < length) {
    #pragma GCC unroll 8
    for (int v = 0; v < PC_SUM_LANES / PC_LANES; v++) {
      int64_t left = length - l - v * PC_LANES;
      PC_MASK some = PC_FIRST(left < 0 ? 0 : pc_least(left, PC_LANES));
      PC_NAME(vector) of_x = PC_LOAD(x + l + v * PC_LANES, some);
      #pragma GCC unroll 8
      for (int i = 0; i < rows; i++) sum[i][v] += PC_LOAD(a + i * a_row + l + v * PC_LANES, some) * of_x;
    }
  }
  #pragma GCC unroll 8
  for (int i = 0; i < rows; i++) {
    #pragma GCC unroll 8
    for (int v = 0; v < PC_SUM_LANES / PC_LANES; v++) *(PC_NAME(vector) *)(lane[i] + v * PC_LANES) = sum[i][v];
  }
  #pragma GCC unroll 8
  for (int i = 0; y != NULL && i < rows; i++) {
    const PC_T *s = lane[i];
    y[i * y_step] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
  }
}
PC_TARGET static void PC_NAME(some_rows)(int64_t length, const PC_T *a, int64_t a_row, const PC_T *x, PC_T (*lane)[PC_SUM_LANES], int first,
                                         PC_T *y, int64_t y_step) {
  PC_NAME(rows_of)(PC_LANES, length, a, a_row, x, lane, first, y, y_step);
}
PC_TARGET static void PC_NAME(one_row)(int64_t length, const PC_T *a, int64_t a_row, const PC_T *x, PC_T (*lane)[PC_SUM_LANES], int first,
                                       PC_T *y, int64_t y_step) {
  PC_NAME(rows_of)(1, length, a, a_row, x, lane, first, y, y_step);
}

/* A vector as reals that lie whole; a complex one as the factors of the real parts, then as those of the imaginary ones. */
static void PC_NAME(gather_factors)(const pc_sums *s, PC_T *to) {
  const PC_T *x = s->x;
  for (int64_t i = 0; i < s->length; i += s->parts, x += s->x_step) {
    to[i] = x[0];
    if (s->parts == 2) to[i + 1] = -x[1], to[s->length + i] = x[1], to[s->length + i + 1] = x[0];
  }
}

/* Elements l .. l + length of `rows` rows from row i on, one row after the other in `to`. */
static void PC_NAME(gather_rows)(const pc_sums *s, int64_t i, int64_t rows, int64_t l, int64_t length, PC_T *to) {
  const PC_T *a = (const PC_T *)s->a + i * s->a_row + l / s->parts * s->a_col;
  for (int64_t q = 0; q < length; q += s->parts, a += s->a_col, to += s->parts) {
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t t = 0; t < s->parts; t++) to[r * PC_SUM_BLOCK + t] = a[r * s->a_row + t];
    }
  }
}

/* Sums along rows, which are gathered by blocks where they do not lie whole. */
static void PC_NAME(along_rows)(const pc_sums *s) {
  PC_T rows_block[PC_LANES * PC_SUM_BLOCK], lane[2][PC_LANES][PC_SUM_LANES] __attribute__((aligned(PC_VECTOR_BYTES)));
  int whole = s->a_col == s->parts || s->length == s->parts;
  int64_t block = whole ? s->length : PC_SUM_BLOCK, row_bytes = s->length * (int64_t)sizeof(PC_T);
  int alone = whole && row_bytes > PC_SUM_SHORT_BYTES && row_bytes * s->parts <= PC_SUM_FACTOR_BYTES && row_bytes > PC_SUM_NEAR_BYTES / s->rows;
  const PC_T *x = pc_sums_gather_factors(s) ? s->scratch : s->x;
  if (pc_sums_gather_factors(s)) PC_NAME(gather_factors)(s, s->scratch);
  for (int64_t i = 0, rows; i < s->rows; i += rows) {
    rows = alone || s->rows - i < PC_LANES ? 1 : PC_LANES;
    for (int64_t l = 0; l < s->length; l += block) {
      int64_t length = pc_least(s->length - l, block);
      const PC_T *a = whole ? (const PC_T *)s->a + i * s->a_row : rows_block;
      if (!whole) PC_NAME(gather_rows)(s, i, rows, l, length, rows_block);
      for (int t = 0; t < s->parts; t++) {
        PC_T *y = l + length == s->length ? (PC_T *)s->y + i * s->y_step + t : NULL;
        const int64_t a_row = whole ? s->a_row : PC_SUM_BLOCK;
        if (rows == 1) {
          PC_NAME(one_row)(length, a, a_row, x + t * s->length + l, lane[t], l == 0, y, s->y_step);
        } else {
          PC_NAME(some_rows)(length, a, a_row, x + t * s->length + l, lane[t], l == 0, y, s->y_step);
        }
      }
    }
  }
}

/* Adds `steps` columns, eight apart in the order of the sum, times their factors to one lane of `width` rows. */
PC_TARGET static inline __attribute__((always_inline)) void PC_NAME(columns_of)(const int steps, int64_t width, const PC_T *a, int64_t a_col, const PC_T *x,
                                                                                int64_t x_step, PC_T *lane) {
  const PC_T *column[PC_SUM_STEPS];
  PC_NAME(vector) factor[PC_SUM_STEPS];
  int64_t i = 0;
  #pragma GCC unroll 8
  for (int t = 0; t < steps; t++) {
    column[t] = a + t * PC_SUM_LANES * a_col;
    factor[t] = x[t * PC_SUM_LANES * x_step] - (PC_NAME(vector)){0};
  }
  for (; i + PC_LANES <= width; i += PC_LANES) {
    PC_NAME(vector) sum = *(PC_NAME(vector) *)(lane + i);
    #pragma GCC unroll 8
    for (int t = 0; t < steps; t++) sum += *(const PC_NAME(unaligned) *)(column[t] + i) * factor[t];
    *(PC_NAME(vector) *)(lane + i) = sum;
  }
  for (; i < width; i++) {
    #pragma GCC unroll 8
    for (int t = 0; t < steps; t++) lane[i] += column[t][i] * factor[t][0];
  }
}
PC_TARGET static void PC_NAME(some_columns)(int64_t width, const PC_T *a, int64_t a_col, const PC_T *x, int64_t x_step, PC_T *lane) {
  PC_NAME(columns_of)(PC_SUM_STEPS, width, a, a_col, x, x_step, lane);
}
PC_TARGET static void PC_NAME(one_column)(int64_t width, const PC_T *a, int64_t a_col, const PC_T *x, int64_t x_step, PC_T *lane) {
  PC_NAME(columns_of)(1, width, a, a_col, x, x_step, lane);
}

/* Sums of a matrix whose columns lie whole: each is added to a lane of all rows. */
static void PC_NAME(along_columns)(const pc_sums *s) {
  const int64_t group = PC_SUM_STEPS * PC_SUM_LANES, pitch = pc_sums_pitch(s);
  PC_T *lane = s->scratch;
  for (int64_t i = 0; i < s->rows; i += PC_SUM_WIDTH) {
    int64_t width = pc_least(s->rows - i, PC_SUM_WIDTH), l = 0;
    const PC_T *a = (const PC_T *)s->a + i, *x = s->x;
    memset(lane, 0, (size_t)(PC_SUM_LANES * pitch) * sizeof(PC_T));
    for (; l + group <= s->length; l += group) {
      for (int64_t q = l; q < l + PC_SUM_LANES; q++) {
        PC_NAME(some_columns)(width, a + q * s->a_col, s->a_col, x + q * s->x_step, s->x_step, lane + (q - l) * pitch);
      }
    }
    for (; l < s->length; l++) PC_NAME(one_column)(width, a + l * s->a_col, s->a_col, x + l * s->x_step, s->x_step, lane + l % PC_SUM_LANES * pitch);
    for (int64_t r = 0; r < width; r++) {
      const PC_T *low = lane + r, *high = low + 4 * pitch;
      PC_T sum = (low[0] + low[pitch]) + (low[2 * pitch] + low[3 * pitch]);
      ((PC_T *)s->y)[(i + r) * s->y_step] = sum + ((high[0] + high[pitch]) + (high[2 * pitch] + high[3 * pitch]));
    }
  }
}

void PC_NAME(sums)(const pc_sums *s);
void PC_NAME(sums)(const pc_sums *s) {
  if (pc_sums_go_along_columns(s)) {
    PC_NAME(along_columns)(s);
  } else {
    PC_NAME(along_rows)(s);
  }
}
