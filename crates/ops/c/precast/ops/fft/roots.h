/* precast/ops/fft/roots.h: the powers of a root of unity, in f64, from polynomials of the C here, so that they have the same bits on every host.
 *
 * An angle is a fraction k/n of a whole turn. It is reduced to an eighth of a turn in integers, without an error. The series of sine and
 * cosine are cut after the terms that still count there. A table of n powers is made of products of two tables of about √n powers.
 *
 * Source. The series of Taylor; W. J. Cody, W. Waite, Software Manual for the Elementary Functions, 8, for the reduction.
 */
#ifndef PRECAST_OPS_FFT_ROOTS_H
#define PRECAST_OPS_FFT_ROOTS_H

#include <stdint.h>

typedef struct pc_root {
  double re, im;
} pc_root;

/* exp(2πi·k/n) for 0 <= k < n. */
__attribute__((unused, noinline)) static pc_root pc_root_of(int64_t k, int64_t n) {
  static const double of_c[] = {1 / 2.0, 1 / 24.0, 1 / 720.0, 1 / 40320.0, 1 / 3628800.0, 1 / 479001600.0, 1 / 87178291200.0, 1 / 20922789888000.0, 1 / 6402373705728000.0};
  static const double of_s[] = {1 / 6.0, 1 / 120.0, 1 / 5040.0, 1 / 362880.0, 1 / 39916800.0, 1 / 6227020800.0, 1 / 1307674368000.0, 1 / 355687428096000.0};
  const int64_t eighth = 8 * k / n, rest = 8 * k - eighth * n;
  const double x = 0.78539816339744831 * ((double)(eighth & 1 ? n - rest : rest) / (double)n), z = x * x;
  double c = 0, s = 0;
  for (int i = 8; i >= 0; i--) c = z * (of_c[i] - c);
  for (int i = 7; i >= 0; i--) s = z * (of_s[i] - s);
  c = 1 - c;
  s = x - x * s;
  switch (eighth) {
  case 0: return (pc_root){c, s};
  case 1: return (pc_root){s, c};
  case 2: return (pc_root){-s, c};
  case 3: return (pc_root){-c, s};
  case 4: return (pc_root){-c, -s};
  case 5: return (pc_root){-s, -c};
  case 6: return (pc_root){s, -c};
  default: return (pc_root){c, -s};
  }
}

/* Two tables: the power k is the product of coarse[k >> bits] and fine[k & (1 << bits) - 1]. */
typedef struct pc_roots {
  int bits;
  pc_root *coarse, *fine;
} pc_roots;

/* The number of bits of the positions in the fine table. */
static inline int pc_roots_bits(int64_t n) {
  int bits = 0;
  while ((int64_t)1 << (2 * bits) < n) bits++;
  return bits;
}

/* The number of elements of both tables. */
static inline int64_t pc_roots_room(int64_t n) { return ((int64_t)1 << pc_roots_bits(n)) + (n >> pc_roots_bits(n)) + 1; }

__attribute__((unused)) static pc_roots pc_roots_make(int64_t n, pc_root *room) {
  pc_roots made = {pc_roots_bits(n), room + ((int64_t)1 << pc_roots_bits(n)), room};
  for (int64_t k = 0; k < (int64_t)1 << made.bits; k++) made.fine[k] = pc_root_of(k % n, n);
  for (int64_t k = 0; k <= (n - 1) >> made.bits; k++) made.coarse[k] = pc_root_of(k << made.bits, n);
  return made;
}

/* exp(2πi·k/n) for 0 <= k < n. */
static inline pc_root pc_roots_at(const pc_roots *roots, int64_t k) {
  const pc_root a = roots->coarse[k >> roots->bits], b = roots->fine[k & (((int64_t)1 << roots->bits) - 1)];
  return (pc_root){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

#endif
