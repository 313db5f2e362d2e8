/* product.c: products of matrices and vectors for the host; chooses the level and the way. */
#include "product/product.h"

typedef struct pc_product_level {
  void (*product)(const pc_product *p);
  void (*sums)(const pc_sums *s);
} pc_product_level;

#define PC_LEVEL(LEVEL)                                                                        \
  void pc_product_f32_##LEVEL(const pc_product *p), pc_sums_f32_##LEVEL(const pc_sums *s); \
  void pc_product_f64_##LEVEL(const pc_product *p), pc_sums_f64_##LEVEL(const pc_sums *s);
PC_LEVEL(all)
#if defined(__x86_64__)
PC_LEVEL(v3)
PC_LEVEL(v4)
#endif
#undef PC_LEVEL

/* The functions by the level that the host found, for f32 and f64. Eight f32, the lanes of a sum, are a register of AVX2. */
#define PC_LEVEL(LEVEL, SUMS) {{pc_product_f32_##LEVEL, pc_sums_f32_##SUMS}, {pc_product_f64_##LEVEL, pc_sums_f64_##LEVEL}}
static const pc_product_level levels[][2] = {
  PC_LEVEL(all, all),
#if defined(__x86_64__)
  PC_LEVEL(v3, v3),
  PC_LEVEL(v4, v3),
#endif
};
#undef PC_LEVEL

/* Returns whether one of the operands is a vector. Then sets `s` to the product as sums; the rows of its matrix are rows of a or columns of
 * b. */
static int pc_product_is_sums(const pc_product *p, pc_sums *s) {
  if (p->n == p->parts) {
    *s = (pc_sums){p->m, p->k, p->a, p->b, p->c, p->a_row, p->a_col, p->b_row, p->c_row, p->parts, p->scratch};
    return 1;
  }
  *s = (pc_sums){p->n / p->parts, p->k, p->b, p->a, p->c, p->b_col, p->b_row, p->a_col, p->c_col, p->parts, p->scratch};
  return p->m == 1;
}

/* Writes the product for k = 0: zeros. */
static void pc_product_zero(const pc_product *p, size_t real_bytes) {
  for (int64_t i = 0; i < p->m; i++) {
    for (int64_t j = 0; j < p->n; j += p->parts) {
      memset((char *)p->c + (i * p->c_row + j / p->parts * p->c_col) * (int64_t)real_bytes, 0, (size_t)p->parts * real_bytes);
    }
  }
}

size_t pc_product_scratch(const pc_product *p, int32_t real_bytes);
void pc_product_run(const pc_product *p, int32_t real_bytes, int32_t level);
void pc_product_stack(const pc_product *p, int32_t real_bytes, int32_t level, int64_t count, const int64_t *steps);

/* Returns the bytes that a product needs in `scratch`, of reals of so many bytes; 0 for most small ones. */
size_t pc_product_scratch(const pc_product *p, int32_t real_bytes) {
  pc_sums s;
  if (p->m == 0 || p->n == 0 || p->k == 0) return 0;
  if (pc_product_is_sums(p, &s)) return (size_t)(pc_sums_scratch(&s) * real_bytes);
  int64_t wide = pc_least(p->n + PC_PANEL_MOST, PC_BLOCK_ROW_BYTES / real_bytes);
  int64_t rows = (pc_product_copies_a(p) ? PC_BLOCK_ROWS : 0) + (pc_product_copies_b(p) ? wide : 0);
  return (size_t)(rows * pc_least(p->k, PC_BLOCK_K) * real_bytes);
}

/* Computes the product by the instructions of a level: 0 for every CPU, 1 from x86-64-v3 on, 2 from x86-64-v4 on. */
void pc_product_run(const pc_product *p, int32_t real_bytes, int32_t level) {
  const pc_product_level *by = &levels[level][real_bytes == 8];
  pc_sums s;
  if (p->m == 0 || p->n == 0) return;
  if (p->k == 0) {
    pc_product_zero(p, (size_t)real_bytes);
  } else if (pc_product_is_sums(p, &s)) {
    by->sums(&s);
  } else {
    by->product(p);
  }
}

/* Computes `count` products; each operand lies `steps` bytes behind that of the product before. */
void pc_product_stack(const pc_product *p, int32_t real_bytes, int32_t level, int64_t count, const int64_t *steps) {
  pc_product one = *p;
  for (int64_t i = 0; i < count; i++) {
    one.a = (const char *)p->a + i * steps[0];
    one.b = (const char *)p->b + i * steps[1];
    one.c = (char *)p->c + i * steps[2];
    pc_product_run(&one, real_bytes, level);
  }
}
