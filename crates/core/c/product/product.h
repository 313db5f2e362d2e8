/* product/product.h: the operands of products, and the numbers that all levels share.
 *
 *   a product of matrices       tile.h, blocks.h: each element one chain over k, cut into blocks of PC_BLOCK_K
 *   a product with a vector     vector.h: each element a sum over PC_SUM_LANES lanes
 *
 * Levels differ in how many elements they hold in registers, never in the order of additions. From x86-64-v3 on, and on
 * aarch64, a product of matrices rounds a multiplication and its addition once; below, twice. Products with a vector have the
 * same bits at all levels.
 */
#ifndef PRECAST_PRODUCT_H
#define PRECAST_PRODUCT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* c[m,n] = a[m,k] . b[k,n] of f32 or f64. Extents and steps count reals: a complex matrix has two in each element, the
 * real part before the imaginary one, n and k count both, and its steps lead from one element to the next. */
typedef struct pc_product {
  int64_t m, n, k;
  const void *a, *b;
  void *c; /* overlaps neither */
  int64_t a_row, a_col, b_row, b_col, c_row, c_col; /* any sign */
  int32_t parts;                                    /* reals in an element: 1 or 2 */
  void *scratch;                                    /* pc_product_scratch() bytes, aligned to 64 */
} pc_product;

/* y[i] = sum of a[i,l] x[l]; as above. */
typedef struct pc_sums {
  int64_t rows, length;
  const void *a, *x;
  void *y;
  int64_t a_row, a_col, x_step, y_step;
  int32_t parts;
  void *scratch; /* pc_sums_scratch() reals, aligned to 64 */
} pc_sums;

/* Elements of k in a chain, which is then added to c. The bits of a product depend on this number. */
#define PC_BLOCK_K 256
/* Rows of a that are copied at once, and bytes of a row of b: 256 KiB and 2 MiB with PC_BLOCK_K, for the second and the third
 * level of caches. A panel's width divides the latter at every level. */
#define PC_BLOCK_ROWS 128
#define PC_BLOCK_ROW_BYTES 8448
/* Products of at most so many multiplications read their operands where they lie. */
#define PC_PRODUCT_SMALL 1000000
/* A matrix is not worth a copy that is used by fewer rows or columns of the other. */
#define PC_PRODUCT_FEW 32
/* Columns of the widest panel of all levels and types. */
#define PC_PANEL_MOST 48

/* Sums that run side by side in a product with a vector. Its bits depend on this number. */
#define PC_SUM_LANES 8
/* Elements that are gathered at once; columns, eight apart, that are added to lanes at once; rows of them, so many that memory
 * is read in long runs. */
#define PC_SUM_BLOCK 256
#define PC_SUM_STEPS 4
#define PC_SUM_WIDTH 4096
/* Bytes of a matrix that the caches have, of a vector that stays in the first while rows go by, and of a short row. */
#define PC_SUM_NEAR_BYTES (1 << 24)
#define PC_SUM_FACTOR_BYTES (15 << 10)
#define PC_SUM_SHORT_BYTES 256

static inline int64_t pc_least(int64_t a, int64_t b) { return a < b ? a : b; }

static inline int pc_product_is_small(const pc_product *p) { return p->m * p->n <= PC_PRODUCT_SMALL / p->k; }

/* Whether a and b are copied: if many tiles use them, or if a tile could not read them. */
static inline int pc_product_copies_a(const pc_product *p) {
  return (p->n > PC_PRODUCT_FEW && !pc_product_is_small(p)) || (p->parts == 2 && p->a_col != 2);
}
static inline int pc_product_copies_b(const pc_product *p) {
  return (p->m > PC_PRODUCT_FEW && !pc_product_is_small(p)) || p->parts == 2 || (p->b_col != 1 && p->n > 1);
}

/* Whether columns of a lie whole, and rows do not. */
static inline int pc_sums_go_along_columns(const pc_sums *s) { return s->parts == 1 && s->a_row == 1 && s->a_col != 1 && s->rows > 1; }
/* Whether the vector is copied. */
static inline int pc_sums_gather_factors(const pc_sums *s) { return s->parts == 2 || (s->x_step != 1 && s->length > 1); }
/* Elements from a lane to the next: whole vectors, and no power of two, so that lanes do not share the cache's sets. */
static inline int64_t pc_sums_pitch(const pc_sums *s) { return (pc_least(s->rows, PC_SUM_WIDTH) + 15) / 16 * 16 + 16; }
/* Elements of `scratch`. */
static inline int64_t pc_sums_scratch(const pc_sums *s) {
  return pc_sums_go_along_columns(s) ? PC_SUM_LANES * pc_sums_pitch(s) : pc_sums_gather_factors(s) ? s->parts * s->length : 0;
}

#endif
