/* precast/ops/linalg/qr.h: QR decompositions by Householder reflections, over stacks of matrices with any strides.
 *
 * The signs are LAPACK's: an element of the diagonal of r has the opposite sign of the number that its reflection replaced, and the last one
 * of a square matrix is not reflected. The diagonal of r is real, also of complex matrices. NaN and infinities propagate.
 *
 * Source. G. H. Golub, C. F. Van Loan, Matrix Computations, 5.2; LAPACK, geqrf and orgqr.
 */
#ifndef PRECAST_OPS_LINALG_QR_H
#define PRECAST_OPS_LINALG_QR_H

#include <precast/ops/linalg/reflect_complex.h>

/* The reflections whose vectors stay in the cache. */
#define PC_QR_PANEL 32

/* Decomposes the transpose of a[n,m] in place: row j holds the vector of reflection j from index j on, and before it column j of r. `diagonal`:
 * of r. */
__attribute__((unused)) static void pc_qr_factor(int64_t n, int64_t m, double *a, double *diagonal, double *tau) {
  const int64_t count = n < m ? n : m;
  for (int64_t start = 0; start < count; start += PC_QR_PANEL) {
    int64_t stop = start + PC_QR_PANEL < count ? start + PC_QR_PANEL : count;
    for (int64_t k = start; k < stop; k++) {
      diagonal[k] = pc_reflection(m - k, a + k * m + k, 0, &tau[k]);
      pc_reflect(stop - k - 1, m - k, a + (k + 1) * m + k, m, a + k * m + k, tau[k]);
    }
    for (int64_t j = stop; j < n; j += PC_REFLECT_ROWS) {
      int64_t rows = n - j < PC_REFLECT_ROWS ? n - j : PC_REFLECT_ROWS;
      for (int64_t k = start; k < stop; k++) pc_reflect(rows, m - k, a + j * m + k, m, a + k * m + k, tau[k]);
    }
  }
}

/* Writes q and r, or r, from the vectors of reflections in a[n,m]. props: complete, with q. room: 4·m elements. */
__attribute__((unused)) static void pc_qr_write(const int64_t *props, int64_t n, int64_t m, const double *a, const double *diagonal,
                                                const double *tau, const pc_lines *results, double *room) {
  const int64_t count = n < m ? n : m, height = props[0] ? m : count;
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < height; i++) room[i] = i < j ? a[j * m + i] : i == j ? diagonal[j] : 0;
    pc_write_column(&results[props[1] != 0], j, height, room, 0);
  }
  for (int64_t j = 0; j < height && props[1]; j += PC_REFLECT_ROWS) {
    int64_t rows = height - j < PC_REFLECT_ROWS ? height - j : PC_REFLECT_ROWS;
    pc_reflect_units(j, rows, m, room, m, a, m, tau, count, 0);
    for (int64_t i = 0; i < rows; i++) pc_write_column(&results[0], j + i, m, room + i * m, 0);
  }
}

/* The same for complex matrices. room: 2·m elements. */
__attribute__((unused)) static void pc_qr_complex_write(const int64_t *props, int64_t n, int64_t m, const double *a, const double *diagonal,
                                                        const pc_c128 *tau, const pc_lines *results, double *room) {
  const int64_t count = n < m ? n : m, height = props[0] ? m : count;
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < height; i++) {
      room[i] = i < j ? a[2 * j * m + i] : i == j ? diagonal[j] : 0;
      room[height + i] = i < j ? a[2 * j * m + m + i] : 0;
    }
    pc_write_column(&results[props[1] != 0], j, height, room, 0);
  }
  for (int64_t j = 0; j < height && props[1]; j++) {
    pc_complex_units(j, 1, m, room, 2 * m, a, tau, count, 0);
    pc_write_column(&results[0], j, m, room, 0);
  }
}

/* Makes column k of a complex matrix a multiple of one axis. Returns this multiple. */
__attribute__((unused)) static double pc_qr_complex_step(int64_t n, int64_t m, int64_t k, double *a, pc_c128 *tau) {
  double *v = a + 2 * k * m + k, multiple = pc_complex_reflection(m - k, v, m, 0, tau);
  pc_complex_reflect(n - k - 1, m - k, v + 2 * m, 2 * m, m, v, m, pc_conj_c128(*tau));
  return multiple;
}

/* a[n,m]: the transposed matrix. room: 2·min(n, m) and 4·m elements. */
__attribute__((unused)) static void pc_qr_one(const int64_t *props, int64_t n, int64_t m, double *a, const pc_lines *results, double *room) {
  const int64_t count = n < m ? n : m;
  double *diagonal = room, *tau = diagonal + count;
  pc_qr_factor(n, m, a, diagonal, tau);
  pc_qr_write(props, n, m, a, diagonal, tau, results, tau + count);
}

/* The same for complex matrices. room: 3·min(n, m) and 2·m elements. */
__attribute__((unused)) static void pc_qr_complex_one(const int64_t *props, int64_t n, int64_t m, double *a, const pc_lines *results,
                                                      double *room) {
  const int64_t count = n < m ? n : m;
  pc_c128 *tau = (pc_c128 *)room;
  double *diagonal = room + 2 * count;
  for (int64_t k = 0; k < count; k++) diagonal[k] = pc_qr_complex_step(n, m, k, a, &tau[k]);
  pc_qr_complex_write(props, n, m, a, diagonal, tau, results, diagonal + count);
}

/* Describes the decomposition of matrices with m rows and n columns. */
__attribute__((unused)) static pc_factors pc_qr_factors(const int64_t *props, int64_t m, int64_t n, int32_t dtype) {
  const int64_t count = n < m ? n : m, height = props[0] ? m : count;
  pc_factors made = {pc_qr_one, 1, 2 * count + 4 * m, 0, {{0}}, {2, 2, 2}, {dtype, dtype, dtype}};
  if (pc_is_complex(dtype)) made.kernel = pc_qr_complex_one, made.room = 3 * count + 2 * m;
  if (props[1]) made.shape[0][0] = m, made.shape[0][1] = height, made.n_results = 1;
  made.shape[made.n_results][0] = height;
  made.shape[made.n_results++][1] = n;
  return made;
}

/* props: whether q and r are complete, whether q is a result. out: q and r, or r. */
__attribute__((unused)) static int pc_qr(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out) {
  const pc_factors made = pc_qr_factors(props, in[0]->shape[in[0]->ndim - 2], in[0]->shape[in[0]->ndim - 1], in[0]->dtype);
  (void)n_in;
  return pc_factor_stack(ctx, props, in[0], out, &made);
}

#endif
