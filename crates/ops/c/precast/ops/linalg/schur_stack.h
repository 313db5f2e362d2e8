/* precast/ops/linalg/schur_stack.h: Schur decompositions over stacks of matrices with any strides.
 *
 * That of a real matrix is real (schur.h), that of a complex matrix complex (schur_complex.h); all are computed in f64. A matrix with NaN or
 * an infinity has only NaN as results, and so has one whose eigenvalues do not converge.
 */
#ifndef PRECAST_OPS_LINALG_SCHUR_STACK_H
#define PRECAST_OPS_LINALG_SCHUR_STACK_H

#include <precast/ops/linalg/schur_complex.h>

/* Puts some eigenvalues of a Schur form first. Returns nonzero on failure. */
typedef int pc_schur_order(const pc_schur_state *of, int64_t parts, double scale, int64_t which);

/* room: parts·(n² + 2·n) + 2·n elements, and n rows. order: NULL leaves the eigenvalues where they are. */
__attribute__((unused)) static void pc_schur_write(int64_t parts, int64_t n, double *a, const pc_lines *results, double *room,
                                                   pc_schur_order *order, int64_t which) {
  const int64_t size = parts * n * n;
  double *tau = room, *y = tau + parts * n, *values = y + parts * n, *p = values + 2 * n, largest = pc_largest(size, a);
  const double scale = pc_to_middle(largest);
  const pc_schur_state of = {n, a, p + size, pc_row_of(parts * n), values, values + n};
  for (int64_t i = 0; i < size && scale != 1; i++) a[i] *= scale;
  int failed = !(largest <= 0x1.fffffffffffffp+1023);
  if (!failed) failed = parts == 1 ? pc_schur_decompose(&of, p, tau, y) : pc_complex_schur_decompose(&of, p, tau, y);
  if (!failed && order) failed = order(&of, parts, scale, which);
  if (failed) {
    pc_write_nan(&results[0], n, n);
    pc_write_nan(&results[1], n, n);
    return;
  }
  for (int64_t i = 0; i < size && scale != 1; i++) a[i] /= scale;
  for (int64_t i = 0; i < n; i++) pc_write_row(&results[0], i, n, a + parts * i * n, 0);
  for (int64_t j = 0; j < n; j++) pc_write_column(&results[1], j, n, of.z + j * of.row, 0);
}

/* props: the elements of a number, and the eigenvalues that come first. */
__attribute__((unused)) static int pc_schur_stack(pc_context *ctx, pc_factor_kernel one, const int64_t *props, pc_tensor *const *in,
                                                  pc_tensor **out) {
  const int32_t dtype = in[0]->dtype;
  const int64_t n = in[0]->shape[in[0]->ndim - 1], parts = props[0];
  pc_factors made = {one, 0, parts * (n * n + 2 * n) + 2 * n + n * pc_row_of(parts * n), 2, {{n, n}, {n, n}}, {2, 2, 2},
                     {dtype, dtype, dtype}};
  return pc_matrix_square(ctx, in[0]) ? -1 : pc_factor_stack(ctx, props, in[0], out, &made);
}

/* props: the elements of a number. */
__attribute__((unused)) static void pc_schur_one(const int64_t *props, int64_t n, int64_t columns, double *a, const pc_lines *results,
                                                 double *room) {
  (void)columns;
  pc_schur_write(props[0], n, a, results, room, NULL, 0);
}

/* out: the Schur form, and the vectors as columns. */
__attribute__((unused)) static int pc_schur(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  const int64_t own[1] = {pc_is_complex(in[0]->dtype) ? 2 : 1};
  (void)n_in, (void)props;
  return pc_schur_stack(ctx, pc_schur_one, own, in, out);
}

#endif
