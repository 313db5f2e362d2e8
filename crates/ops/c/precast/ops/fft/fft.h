/* precast/ops/fft/fft.h: discrete Fourier transforms along the last axis, of any length. `roots.h` makes powers of roots of unity, `passes.h`
 * transforms lines whose length has small prime factors, and `lines.h` other lengths and stacks. Products are rounded before they are added, so that
 * the bits are the same at all levels.
 *
 * Source. J. W. Cooley, J. W. Tukey, An algorithm for the machine calculation of complex Fourier series, 1965; C. Van Loan, Computational
 * Frameworks for the Fast Fourier Transform, 1992; L. I. Bluestein, A linear filtering approach to the computation of the discrete Fourier transform,
 * 1968.
 */
#ifndef PRECAST_OPS_FFT_FFT_H
#define PRECAST_OPS_FFT_FFT_H

#include <precast/ops/fft/roots.h>
#include <precast/ops/linalg/stack.h>
#include <precast/ops/scalar.h>

/* The most factors of a length, the largest one that is not transformed by a convolution, half of it, and the lines that are computed at once. */
#define PC_FFT_FACTORS 40
#define PC_FFT_PRIME 31
#define PC_FFT_HALF 15
#define PC_FFT_LANES 16

/* The most elements of a line. */
#define PC_FFT_MOST ((int64_t)1 << 40)

/* Kinds of transforms. */
#define PC_FFT_COMPLEX 0
#define PC_FFT_FROM_REAL 1
#define PC_FFT_TO_REAL 2

/* Writes the factors of a length: 4, odd primes, and 2; returns their number, or -1 if a prime is too large. */
__attribute__((unused)) static int pc_fft_factors(int64_t n, int32_t *factors) {
  int count = 0;
  for (; n % 4 == 0; n /= 4) factors[count++] = 4;
  const int is_even = n % 2 == 0;
  n >>= is_even;
  for (int32_t r = 3; n > 1; r += 2) {
    if (r > PC_FFT_PRIME) return -1;
    for (; n % r == 0; n /= r) factors[count++] = r;
  }
  if (is_even) factors[count++] = 2;
  return count;
}

/* The length of the transforms by which n elements are transformed. */
__attribute__((unused)) static int64_t pc_fft_length(int64_t n) {
  int32_t factors[PC_FFT_FACTORS];
  if (pc_fft_factors(n, factors) >= 0) return n;
  int64_t best = INT64_MAX;
  for (int64_t five = 1; five < 2 * n; five *= 5) {
    for (int64_t three = five; three < 2 * n; three *= 3) {
      int64_t length = three;
      while (length < 2 * n - 1) length *= 2;
      best = length < best ? length : best;
    }
  }
  return best;
}

/* The bytes of room for lines whose longer side has n elements. */
static inline size_t pc_fft_room(int64_t n) {
  return (size_t)(pc_roots_room(4 * n)) * sizeof(pc_root) + (size_t)(12 * pc_fft_length(n) + n) * sizeof(double);
}

#define PC_T float
#define PC_NAME(name) name##_f32
#include <precast/ops/fft/passes.h>
#include <precast/ops/fft/lines.h>
#undef PC_T
#undef PC_NAME
#define PC_T double
#define PC_NAME(name) name##_f64
#include <precast/ops/fft/passes.h>
#include <precast/ops/fft/lines.h>
#undef PC_T
#undef PC_NAME

#endif
