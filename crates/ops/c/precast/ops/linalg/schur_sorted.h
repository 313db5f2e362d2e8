/* precast/ops/linalg/schur_sorted.h: Schur decompositions over stacks of matrices, with some eigenvalues first.
 *
 * A matrix with NaN or an infinity has only NaN as results, and so has one whose eigenvalues do not converge.
 */
#ifndef PRECAST_OPS_LINALG_SCHUR_SORTED_H
#define PRECAST_OPS_LINALG_SCHUR_SORTED_H

#include <precast/ops/linalg/pencil.h>

__attribute__((unused)) static int pc_schur_sort(const pc_schur_state *of, int64_t parts, double scale, int64_t which) {
  const pc_pencil form = {of->n, parts, of->h, NULL, NULL, of->z, of->row, scale, 1};
  return pc_pencil_sort(&form, which);
}

/* props: the elements of a number, and the eigenvalues that come first. */
__attribute__((unused)) static void pc_schur_sorted_one(const int64_t *props, int64_t n, int64_t columns, double *a, const pc_lines *results,
                                                        double *room) {
  (void)columns;
  pc_schur_write(props[0], n, a, results, room, pc_schur_sort, props[1]);
}

/* out: the Schur form, and the vectors as columns. props: the eigenvalues that come first. */
__attribute__((unused)) static int pc_schur_sorted(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in,
                                                   pc_tensor **out) {
  const int64_t own[2] = {pc_is_complex(in[0]->dtype) ? 2 : 1, props[0]};
  (void)n_in;
  return pc_schur_stack(ctx, pc_schur_sorted_one, own, in, out);
}

#endif
