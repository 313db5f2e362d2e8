/* precast/ops/linalg/schur_sorted.h: Schur decompositions over stacks of matrices, with some eigenvalues first.
 *
 * A matrix with NaN or an infinity has only NaN as results, and so has one whose eigenvalues do not converge.
 */
#ifndef PRECAST_OPS_LINALG_SCHUR_SORTED_H
#define PRECAST_OPS_LINALG_SCHUR_SORTED_H

#include <precast/ops/linalg/pencil.h>

/* props: the elements of a number, and the eigenvalues that come first. room: as that of pc_schur_one. */
__attribute__((unused)) static void pc_schur_sorted_one(const int64_t *props, int64_t n, int64_t columns, double *a, const pc_lines *results,
                                                        double *room) {
  const int64_t parts = props[0], size = parts * n * n;
  double *tau = room, *y = tau + parts * n, *values = y + parts * n, *p = values + 2 * n, largest = pc_largest(size, a);
  const double scale = pc_to_middle(largest);
  const pc_schur_state of = {n, a, p + size, pc_row_of(parts * n), values, values + n};
  const pc_pencil form = {n, parts, a, NULL, NULL, of.z, of.row, scale, 1};
  (void)columns;
  for (int64_t i = 0; i < size && scale != 1; i++) a[i] *= scale;
  int failed = !(largest <= 0x1.fffffffffffffp+1023);
  if (!failed) failed = parts == 1 ? pc_schur_decompose(&of, p, tau, y) : pc_complex_schur_decompose(&of, p, tau, y);
  if (!failed) failed = pc_pencil_sort(&form, props[1]);
  if (failed) {
    pc_write_nan(&results[0], n, n);
    pc_write_nan(&results[1], n, n);
    return;
  }
  for (int64_t i = 0; i < size && scale != 1; i++) a[i] /= scale;
  for (int64_t i = 0; i < n; i++) pc_write_row(&results[0], i, n, a + parts * i * n, 0);
  for (int64_t j = 0; j < n; j++) pc_write_column(&results[1], j, n, of.z + j * of.row, 0);
}

/* out: the Schur form, and the vectors as columns. props: the eigenvalues that come first. */
__attribute__((unused)) static int pc_schur_sorted(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in,
                                                   pc_tensor **out) {
  const int32_t dtype = in[0]->dtype;
  const int64_t n = in[0]->shape[in[0]->ndim - 1], parts = pc_is_complex(dtype) ? 2 : 1, own[2] = {parts, props[0]};
  pc_factors made = {pc_schur_sorted_one, 0, parts * (n * n + 2 * n) + 2 * n + n * pc_row_of(parts * n), 2, {{n, n}, {n, n}}, {2, 2, 2},
                     {dtype, dtype, dtype}};
  (void)n_in;
  return pc_matrix_square(ctx, in[0]) ? -1 : pc_factor_stack(ctx, own, in[0], out, &made);
}

#endif
