/* precast/ops/linalg/qr_pivoted.h: QR decompositions of matrices whose columns are exchanged, so that the diagonal of r descends.
 *
 * Before each reflection, the column with the largest norm below the rows that are done takes the next place; the first of equal ones. A norm is
 * computed from the norm before, until too many of its digits are lost.
 *
 * Source. G. H. Golub, C. F. Van Loan, Matrix Computations, 5.4.2; LAPACK, laqp2.
 */
#ifndef PRECAST_OPS_LINALG_QR_PIVOTED_H
#define PRECAST_OPS_LINALG_QR_PIVOTED_H

#include <precast/ops/linalg/qr.h>

/* The columns of a matrix, as n rows of `parts` times m numbers. */
typedef struct pc_columns {
  int64_t n, m, parts;
  double *a;
  /* The norm of each column below the rows that are done, and the last one that was computed from its numbers. */
  double *norm, *known;
  /* The index of each column in the matrix. */
  int64_t *order;
} pc_columns;

/* Computes the norm of a column from its row k on. */
__attribute__((unused)) static void pc_columns_measure(const pc_columns *of, int64_t j, int64_t k) {
  const double *x = of->a + of->parts * j * of->m + k, norm = pc_norm_of(of->m - k, x);
  of->norm[j] = of->known[j] = of->parts == 1 ? norm : pc_length(norm, pc_norm_of(of->m - k, x + of->m));
}

/* room: 3·n elements. */
__attribute__((unused)) static pc_columns pc_columns_of(int64_t n, int64_t m, int64_t parts, double *a, double *room) {
  pc_columns of = {n, m, parts, a, room, room + n, (int64_t *)(room + 2 * n)};
  for (int64_t j = 0; j < n; j++) {
    of.order[j] = j;
    pc_columns_measure(&of, j, 0);
  }
  return of;
}

/* Exchanges column k with the longest one of those from k on. */
__attribute__((unused)) static void pc_columns_exchange(const pc_columns *of, int64_t k) {
  int64_t longest = k, width = of->parts * of->m, order = of->order[k];
  for (int64_t j = k + 1; j < of->n; j++) {
    if (of->norm[j] > of->norm[longest]) longest = j;
  }
  if (longest == k) return;
  of->order[k] = of->order[longest], of->order[longest] = order;
  of->norm[longest] = of->norm[k], of->known[longest] = of->known[k];
  for (int64_t i = 0; i < width; i++) {
    double x = of->a[k * width + i];
    of->a[k * width + i] = of->a[longest * width + i], of->a[longest * width + i] = x;
  }
}

/* Computes the norms of the columns after k without row k. */
__attribute__((unused)) static void pc_columns_shorten(const pc_columns *of, int64_t k) {
  for (int64_t j = k + 1; j < of->n; j++) {
    const double *x = of->a + of->parts * j * of->m + k;
    if (of->norm[j] == 0) continue;
    double ratio = (of->parts == 1 ? pc_size(x[0]) : pc_length(x[0], x[of->m])) / of->norm[j], left = 1 - ratio * ratio;
    double lost = of->norm[j] / of->known[j];
    if (left < 0) left = 0;
    if (left * (lost * lost) <= 0x1p-26) pc_columns_measure(of, j, k + 1);
    else of->norm[j] *= __builtin_sqrt(left);
  }
}

static inline void pc_columns_write(const pc_columns *of, const pc_lines *to) {
  for (int64_t j = 0; j < of->n; j++) *(int64_t *)(to->data + j * to->column) = of->order[j];
}

/* a[n,m]: the transposed matrix. room: 2·min(n, m), 3·n and 4·m elements. */
__attribute__((unused)) static void pc_qr_pivoted_one(const int64_t *props, int64_t n, int64_t m, double *a, const pc_lines *results,
                                                      double *room) {
  const int64_t count = n < m ? n : m;
  double *diagonal = room, *tau = diagonal + count, *of_columns = tau + count;
  const pc_columns columns = pc_columns_of(n, m, 1, a, of_columns);
  for (int64_t k = 0; k < count; k++) {
    pc_columns_exchange(&columns, k);
    diagonal[k] = pc_reflection(m - k, a + k * m + k, 0, &tau[k]);
    pc_reflect(n - k - 1, m - k, a + (k + 1) * m + k, m, a + k * m + k, tau[k]);
    pc_columns_shorten(&columns, k);
  }
  pc_columns_write(&columns, &results[1 + (props[1] != 0)]);
  pc_qr_write(props, n, m, a, diagonal, tau, results, of_columns + 3 * n);
}

/* The same for complex matrices. room: 3·min(n, m), 3·n and 2·m elements. */
__attribute__((unused)) static void pc_qr_pivoted_complex_one(const int64_t *props, int64_t n, int64_t m, double *a, const pc_lines *results,
                                                              double *room) {
  const int64_t count = n < m ? n : m;
  pc_c128 *tau = (pc_c128 *)room;
  double *diagonal = room + 2 * count, *of_columns = diagonal + count;
  const pc_columns columns = pc_columns_of(n, m, 2, a, of_columns);
  for (int64_t k = 0; k < count; k++) {
    pc_columns_exchange(&columns, k);
    diagonal[k] = pc_qr_complex_step(n, m, k, a, &tau[k]);
    pc_columns_shorten(&columns, k);
  }
  pc_columns_write(&columns, &results[1 + (props[1] != 0)]);
  pc_qr_complex_write(props, n, m, a, diagonal, tau, results, of_columns + 3 * n);
}

/* props: whether q and r are complete, whether q is a result. out: q and r, or r; the indices of the columns. */
__attribute__((unused)) static int pc_qr_pivoted(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  const int64_t m = in[0]->shape[in[0]->ndim - 2], n = in[0]->shape[in[0]->ndim - 1];
  pc_factors made = pc_qr_factors(props, m, n, in[0]->dtype);
  (void)n_in;
  made.kernel = pc_is_complex(in[0]->dtype) ? pc_qr_pivoted_complex_one : pc_qr_pivoted_one;
  made.room += 3 * n;
  made.shape[made.n_results][1] = n;
  made.rank[made.n_results] = 1;
  made.dtype[made.n_results++] = PC_I64;
  return pc_factor_stack(ctx, props, in[0], out, &made);
}

#endif
