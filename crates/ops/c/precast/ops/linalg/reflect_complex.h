/* precast/ops/linalg/reflect_complex.h: Householder reflections of rows of complex numbers.
 *
 * The imaginary parts of a row are `apart` elements behind the real parts, so all loops work on neighbors. A rotation with real numbers
 * rotates real and imaginary parts alike, as rows of twice the length (reflect.h).
 *
 * Source. LAPACK, zlarfg.
 */
#ifndef PRECAST_OPS_LINALG_REFLECT_COMPLEX_H
#define PRECAST_OPS_LINALG_REFLECT_COMPLEX_H

#include <precast/ops/linalg/reflect.h>
#include <precast/ops/scalar/c128.h>

/* The sum of the products of n pairs, of which the numbers of v are conjugated. */
static inline pc_c128 pc_complex_dot(int64_t n, const double *v, int64_t v_apart, const double *x, int64_t apart) {
  return pc_complex_f64(pc_dot_of(n, v, x) + pc_dot_of(n, v + v_apart, x + apart), pc_dot_of(n, v, x + apart) - pc_dot_of(n, v + v_apart, x));
}

/* x -= factor · v for n numbers. */
static inline void pc_complex_subtract(int64_t n, double *x, int64_t apart, pc_c128 factor, const double *v, int64_t v_apart) {
  for (int64_t i = 0; i < n; i++) x[i] -= factor.re * v[i] - factor.im * v[v_apart + i];
  for (int64_t i = 0; i < n; i++) x[apart + i] -= factor.re * v[v_apart + i] + factor.im * v[i];
}

/* Multiplies n numbers by a factor. */
static inline void pc_complex_scale(int64_t n, double *x, int64_t apart, pc_c128 factor) {
  for (int64_t i = 0; i < n; i++) {
    double re = x[i];
    x[i] = re * factor.re - x[apart + i] * factor.im;
    x[apart + i] = re * factor.im + x[apart + i] * factor.re;
  }
}

/* Replaces x[n] by the vector v of a reflection H = 1 - tau·v·vᴴ, whose adjoint turns x into a real multiple of one axis, and returns this
 * multiple. The number at `pivot`, the first or the last, is the axis: v is 1 there. tau is 0 if x is such a multiple. */
__attribute__((unused)) static double pc_complex_reflection(int64_t n, double *x, int64_t apart, int64_t pivot, pc_c128 *tau) {
  double *rest = x + (pivot == 0 ? 1 : 0), norm = pc_length(pc_norm_of(n - 1, rest), pc_norm_of(n - 1, rest + apart));
  pc_c128 alpha = pc_complex_f64(x[pivot], x[apart + pivot]);
  x[pivot] = 1, x[apart + pivot] = 0;
  *tau = pc_complex_f64(0, 0);
  if (norm == 0 && alpha.im == 0) return alpha.re;
  double size = pc_length(alpha.re, alpha.im), scale = pc_to_middle(size > norm ? size : norm);
  if (scale != 1) {
    alpha = pc_complex_f64(alpha.re * scale, alpha.im * scale);
    for (int64_t i = 0; i < n - 1; i++) rest[i] *= scale, rest[apart + i] *= scale;
    norm = pc_length(pc_norm_of(n - 1, rest), pc_norm_of(n - 1, rest + apart));
    size = pc_length(alpha.re, alpha.im);
  }
  const double length = pc_length(size, norm), beta = alpha.re >= 0 ? -length : length;
  *tau = pc_complex_f64((beta - alpha.re) / beta, -alpha.im / beta);
  pc_complex_scale(n - 1, rest, apart, pc_div_c128(pc_complex_f64(1, 0), pc_complex_f64(alpha.re - beta, alpha.im)));
  return beta / scale;
}

/* Reflects `rows` rows of n numbers, which are `row` elements apart, by 1 - tau·v·vᴴ. Nothing happens if tau is 0. */
__attribute__((unused, noinline)) static void pc_complex_reflect(int64_t rows, int64_t n, double *x, int64_t row, int64_t apart,
                                                                 const double *v, int64_t v_apart, pc_c128 tau) {
  if (tau.re == 0 && tau.im == 0) return;
  for (int64_t r = 0; r < rows; r++, x += row) {
    pc_complex_subtract(n, x, apart, pc_mul_c128(tau, pc_complex_dot(n, v, v_apart, x, apart)), v, v_apart);
  }
}

/* The columns of a product of reflections, as `rows` rows of n numbers: row j is H(0)·…·H(last)·e(j). The vector of reflection k is v[k,n] from
 * index k + shift on. `first`: the index of the first row. `row`: elements from a row of q to the next. */
__attribute__((unused)) static void pc_complex_units(int64_t first, int64_t rows, int64_t n, double *q, int64_t row, const double *v,
                                                     const pc_c128 *tau, int64_t count, int64_t shift) {
  for (int64_t j = 0; j < rows; j++) {
    double *unit = q + j * row;
    for (int64_t i = 0; i < 2 * n; i++) unit[i] = i == first + j ? 1 : 0;
    /* Reflection k does not change earlier units. */
    for (int64_t k = first + j - shift < count - 1 ? first + j - shift : count - 1; k >= 0; k--) {
      pc_complex_reflect(1, n - k - shift, unit + k + shift, 0, n, v + 2 * k * n + k + shift, n, tau[k]);
    }
  }
}

/* The factor of size 1 that makes the first of the largest numbers of a row real and positive; 1 if all are 0. `best`: its index. */
__attribute__((unused)) static pc_c128 pc_complex_turn(int64_t n, const double *x, int64_t *best) {
  double largest = 0;
  *best = 0;
  for (int64_t i = 0; i < n; i++) {
    double size = pc_length(x[i], x[n + i]);
    if (size > largest) largest = size, *best = i;
  }
  return largest == 0 ? pc_complex_f64(1, 0) : pc_complex_f64(x[*best] / largest, -x[n + *best] / largest);
}

#endif
