/* precast/ops/random/counts.h: draws of the Poisson and the binomial distribution, as floats.
 *
 *   mean < 10    inversion: the probabilities are subtracted from a uniform number, one count after another
 *   otherwise    PTRS and BTRS of W. Hoermann, "The transformed rejection method for generating Poisson random variables" and "The
 *                generation of binomial random variates" (1993); a candidate is accepted with a probability of at least 0.7
 *
 * Logarithms of probabilities are those of C. Loader, "Fast and accurate computation of binomial probabilities" (2000), so no large
 * numbers cancel. After PC_STREAM_TRIES candidates the result is the mode. Inversion ends at probabilities below 2^-60, which all
 * counts above 100 have.
 *
 * NaN for parameters outside of their range: a mean that is not finite or negative; a number of trials that is not whole, negative or
 * above 2^53; a probability outside of [0, 1]. */
#ifndef PRECAST_OPS_RANDOM_COUNTS_H
#define PRECAST_OPS_RANDOM_COUNTS_H

#include <precast/ops/math/tail.h>
#include <precast/ops/random/threefry.h>
#include <precast/ops/scalar/f64.h>

#define PC_COUNTS_LEAST_MEAN 10.0
#define PC_COUNTS_LAST 0x1p-60
#define PC_COUNTS_TWO_PI 0x1.921fb54442d18p+2

PC_TAIL pc_f64 pc_poisson_near_f64(pc_u64 word, pc_f64 mean) {
  pc_f64 u = pc_stream_f64(word, 0), p = pc_exp_f64(-mean), k = 0.0;
  while (u >= p && p >= PC_COUNTS_LAST) {
    u = u - p;
    k = k + 1.0;
    p = p * (mean / k);
  }
  return k;
}

/* The logarithm of the probability of k. */
PC_TAIL pc_f64 pc_poisson_log_f64(pc_f64 k, pc_f64 mean) {
  if (k == 0.0) return -mean;
  pc_pair_f64 f = pc_plus_f64(pc_deviance_f64(k, pc_sum_f64(mean, -k)), pc_stirling_f64(k));
  return -(f.hi + f.lo) - 0.5 * pc_log_f64(PC_COUNTS_TWO_PI * k);
}

PC_TAIL pc_f64 pc_poisson_far_f64(pc_u64 word, pc_f64 mean) {
  const pc_f64 b = 0.931 + 2.53 * __builtin_sqrt(mean), a = -0.059 + 0.02483 * b;
  const pc_f64 inverse = 1.1239 + 1.1328 / (b - 3.4), least = 0.9277 - 3.6224 / (b - 2.0);
  for (pc_u64 i = 0; i < 2 * PC_STREAM_TRIES; i += 2) {
    pc_f64 u = pc_stream_f64(word, i) - 0.5, v = pc_stream_f64(word, i + 1), rest = 0.5 - pc_magnitude_f64(u);
    pc_f64 k = pc_floor_f64((2.0 * a / rest + b) * u + mean + 0.43);
    if (rest >= 0.07 && v <= least) return k;
    if (k < 0.0 || (rest < 0.013 && v > rest)) continue;
    if (pc_log_f64(v * inverse / (a / (rest * rest) + b)) <= pc_poisson_log_f64(k, mean)) return k;
  }
  return pc_floor_f64(mean);
}

PC_TAIL pc_f64 pc_poisson_draw_f64(pc_u64 word, pc_f64 mean) {
  if (!(mean >= 0.0 && mean < __builtin_inf())) return __builtin_nan("");
  return mean < PC_COUNTS_LEAST_MEAN ? pc_poisson_near_f64(word, mean) : pc_poisson_far_f64(word, mean);
}

/* n p < 10, p <= 1/2. */
PC_TAIL pc_f64 pc_binomial_near_f64(pc_u64 word, pc_f64 n, pc_f64 p) {
  const pc_f64 odds = p / (1.0 - p);
  pc_f64 u = pc_stream_f64(word, 0), r = pc_exp_f64(n * pc_log1p_f64(-p)), k = 0.0;
  while (u >= r && k < n && r >= PC_COUNTS_LAST) {
    u = u - r;
    k = k + 1.0;
    r = r * (odds * ((n - k + 1.0) / k));
  }
  return k;
}

/* The logarithm of the probability of 0 <= k <= n. */
PC_TAIL pc_f64 pc_binomial_log_f64(pc_f64 k, pc_f64 n, pc_f64 p) {
  if (k == 0.0) return n * pc_log1p_f64(-p);
  if (k == n) return n * pc_log_f64(p);
  pc_pair_f64 d = pc_plus_f64(pc_product_f64(n, p), pc_pair_of_f64(-k));
  pc_pair_f64 f = pc_plus_f64(pc_deviance_f64(k, d), pc_deviance_f64(n - k, pc_minus_f64(d)));
  pc_pair_f64 c = pc_plus_f64(pc_plus_f64(pc_stirling_f64(k), pc_stirling_f64(n - k)), pc_minus_f64(pc_stirling_f64(n)));
  f = pc_plus_f64(f, c);
  return -(f.hi + f.lo) - 0.5 * pc_log_f64(PC_COUNTS_TWO_PI * k * ((n - k) / n));
}

/* n p >= 10, p <= 1/2. */
PC_TAIL pc_f64 pc_binomial_far_f64(pc_u64 word, pc_f64 n, pc_f64 p) {
  const pc_f64 spread = __builtin_sqrt(n * p * (1.0 - p)), b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const pc_f64 alpha = (2.83 + 5.1 / b) * spread, least = 0.92 - 4.2 / b, mode = pc_floor_f64((n + 1.0) * p);
  for (pc_u64 i = 0; i < 2 * PC_STREAM_TRIES; i += 2) {
    pc_f64 u = pc_stream_f64(word, i) - 0.5, v = pc_stream_f64(word, i + 1), rest = 0.5 - pc_magnitude_f64(u);
    pc_f64 k = pc_floor_f64((2.0 * a / rest + b) * u + (n * p + 0.5));
    if (k < 0.0 || k > n) continue;
    if (rest >= 0.07 && v <= least) return k;
    pc_f64 share = pc_binomial_log_f64(k, n, p) - pc_binomial_log_f64(mode, n, p);
    if (pc_log_f64(v * alpha / (a / (rest * rest) + b)) <= share) return k;
  }
  return mode;
}

PC_TAIL pc_f64 pc_binomial_draw_f64(pc_u64 word, pc_f64 n, pc_f64 p) {
  if (!(n >= 0.0 && n <= 0x1p53 && p >= 0.0 && p <= 1.0) || pc_floor_f64(n) != n) return __builtin_nan("");
  pc_f64 least = p <= 0.5 ? p : 1.0 - p;
  pc_f64 k = n * least < PC_COUNTS_LEAST_MEAN ? pc_binomial_near_f64(word, n, least) : pc_binomial_far_f64(word, n, least);
  return p <= 0.5 ? k : n - k;
}

#endif
