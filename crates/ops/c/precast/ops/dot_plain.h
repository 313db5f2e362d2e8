/* precast/ops/dot_plain.h: products of dtypes that the host's GEMM does not have; see dot.h. */
#ifndef PRECAST_OPS_DOT_PLAIN_H
#define PRECAST_OPS_DOT_PLAIN_H

#include <precast/ops/dot.h>
#include <precast/ops/scalar.h>

/* Rows of b are added to a row of c, so that the inner loop runs along both; each sum still goes in the order of k. */
#define PC_DOT_PLAIN(NAME, DTYPE)                                                                                        \
  static int NAME##_product(pc_context *ctx, int32_t dtype, int64_t m, int64_t n, int64_t k, const char *a, int64_t a_row, \
                            int64_t a_col, const char *b, int64_t b_row, int64_t b_col, char *c, int64_t c_row,          \
                            int64_t c_col) {                                                                             \
    (void)ctx, (void)dtype;                                                                                              \
    for (int64_t i = 0; i < m; i++) {                                                                                    \
      for (int64_t l = 0; l < k; l++) {                                                                                  \
        pc_##DTYPE x = *(const pc_##DTYPE *)(a + i * a_row + l * a_col);                                                 \
        const char *row = b + l * b_row;                                                                                 \
        for (int64_t j = 0; j < n; j++) {                                                                                \
          pc_##DTYPE *to = (pc_##DTYPE *)(c + i * c_row + j * c_col);                                                    \
          pc_##DTYPE xy = pc_mul_##DTYPE(x, *(const pc_##DTYPE *)(row + j * b_col));                                     \
          *to = l == 0 ? xy : pc_add_##DTYPE(*to, xy);                                                                   \
        }                                                                                                                \
      }                                                                                                                  \
    }                                                                                                                    \
    return 0;                                                                                                            \
  }                                                                                                                      \
  static int NAME(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {          \
    (void)n_in;                                                                                                          \
    return pc_dot_with(ctx, (int32_t)props[0], in, &out[0], NAME##_product);                                             \
  }

#endif
