/* product/tile.h: a tile of a product, held in registers. A part of template.h.
 *
 *   c[M, NV vectors] = a[M, k] . b[k, .]     M of 1 .. PC_ROWS, NV of 1 .. PC_VECTORS
 *
 * Each element is one chain of multiplications and additions in the order of k, so neither the tile it falls into nor the
 * layout of an operand shows in its bits.
 */

typedef PC_T PC_NAME(vector) __attribute__((vector_size(PC_VECTOR_BYTES), may_alias));
typedef PC_T PC_NAME(unaligned) __attribute__((vector_size(PC_VECTOR_BYTES), aligned(sizeof(PC_T)), may_alias));

/* One tile: steps in elements, the columns of b and c are neighbours. Of the last vector `rest` lanes count, of 1 .. PC_LANES.
 * With `add` the tile is added to c. */
typedef void (*PC_NAME(tile))(int64_t k, const PC_T *a, int64_t a_row, int64_t a_col, const PC_T *b, int64_t b_row, PC_T *c,
                              int64_t c_row, int64_t rest, int add);

PC_TARGET static inline __attribute__((always_inline)) void PC_NAME(tile_of)(const int rows, const int vectors, int64_t k, const PC_T *a,
                                                                             int64_t a_row, int64_t a_col, const PC_T *b, int64_t b_row,
                                                                             PC_T *c, int64_t c_row, int64_t rest, int add) {
  PC_NAME(vector) sum[PC_ROWS][PC_VECTORS], of_b[PC_VECTORS];
  PC_MASK last = PC_FIRST(rest);
  #pragma GCC unroll 8
  for (int i = 0; i < rows; i++) {
    #pragma GCC unroll 8
    for (int j = 0; j < vectors; j++) sum[i][j] = (PC_NAME(vector)){0};
  }
  if (add) {
    #pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
      #pragma GCC unroll 8
      for (int j = 0; j < vectors; j++) __builtin_prefetch(c + i * c_row + j * PC_LANES, 1);
    }
  }
  for (; k > 0; k--, a += a_col, b += b_row) {
    #pragma GCC unroll 8
    for (int j = 0; j < vectors - 1; j++) of_b[j] = *(const PC_NAME(unaligned) *)(b + j * PC_LANES);
    of_b[vectors - 1] = PC_LOAD(b + (vectors - 1) * PC_LANES, last);
    #pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
      PC_NAME(vector) of_a = a[i * a_row] - (PC_NAME(vector)){0};
      #pragma GCC unroll 8
      for (int j = 0; j < vectors; j++) sum[i][j] = PC_FMA(of_a, of_b[j], sum[i][j]);
    }
  }
  #pragma GCC unroll 8
  for (int i = 0; i < rows; i++, c += c_row) {
    #pragma GCC unroll 8
    for (int j = 0; j < vectors; j++) {
      PC_NAME(unaligned) *to = (PC_NAME(unaligned) *)(c + j * PC_LANES);
      if (j == vectors - 1 && rest < PC_LANES) {
        if (add) sum[i][j] += PC_LOAD((PC_T *)to, last);
        PC_STORE((PC_T *)to, last, sum[i][j]);
      } else {
        if (add) sum[i][j] += *to;
        *to = sum[i][j];
      }
    }
  }
}

/* Tiles of 1, 2, 4 … PC_ROWS rows. */
#define PC_TILE(ROWS, VECTORS)                                                                                                         \
  PC_TARGET static void PC_NAME(tile_##ROWS##_##VECTORS)(int64_t k, const PC_T *a, int64_t a_row, int64_t a_col, const PC_T *b,        \
                                                         int64_t b_row, PC_T *c, int64_t c_row, int64_t rest, int add) {               \
    PC_NAME(tile_of)(ROWS, VECTORS, k, a, a_row, a_col, b, b_row, c, c_row, rest, add);                                                \
  }
#define PC_TILES(VECTORS) PC_TILE(1, VECTORS) PC_TILE(2, VECTORS) PC_TILE(4, VECTORS) PC_TILES_OF_8(VECTORS)
#if PC_ROWS == 8
#define PC_TILES_OF_8(VECTORS) PC_TILE(8, VECTORS)
#else
#define PC_TILES_OF_8(VECTORS)
#endif
PC_TILES(1)
PC_TILES(2)
#if PC_VECTORS == 3
PC_TILES(3)
#endif
#undef PC_TILE

#define PC_TILE(ROWS, VECTORS) [ROWS / 2 - ROWS / 8][VECTORS - 1] = PC_NAME(tile_##ROWS##_##VECTORS),
static const PC_NAME(tile) PC_NAME(tiles)[4][PC_VECTORS] = {
  PC_TILES(1)
  PC_TILES(2)
#if PC_VECTORS == 3
  PC_TILES(3)
#endif
};
#undef PC_TILE
#undef PC_TILES
#undef PC_TILES_OF_8
