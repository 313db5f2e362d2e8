/* precast/ops/math/tail.h: shared parts of the incomplete gamma and beta functions.
 *
 * Both are a power times a series, a continued fraction or an expansion. A logarithm of the power is known as a pair, from
 *
 *   ln Gamma z = (z - 1/2) ln z - z + ln(2 pi) / 2 + c(z)    c: the correction of stirling.h
 *   deviance(a, d) = d - a ln(1 + d / a)                     after C. Loader, "Fast and accurate computation of binomial probabilities" (2000)
 *
 * so no large numbers cancel. The expansion for large arguments is BASYM of A. R. DiDonato and A. H. Morris, "Algorithm 708" (1992), whose
 * limit for b = inf, h = 0, is that of the gamma function.
 *
 * These functions have branches and loops, so they are not vector code. The bits are the same at all levels: IEEE operations in a written
 * order. */
#ifndef PRECAST_OPS_MATH_TAIL_H
#define PRECAST_OPS_MATH_TAIL_H

#include <precast/ops/math/erf.h>
#include <precast/ops/math/exp2.h>
#include <precast/ops/math/gamma.h>
#include <precast/ops/math/stirling.h>

/* From which argument on the expansion is used, and how far from the mean, by the argument. */
#define PC_TAIL_LEAST 48.0
#define PC_TAIL_WIDTH 0.3
/* Terms of the expansion. */
#define PC_TAIL_TERMS 24
/* A bound of all loops; those that converge end long before. */
#define PC_TAIL_STEPS 20000

/* d - a ln(1 + d / a) for a > 0, d > -a. Near 0 v (u - 2 v^2 (1/3 + v^2 / 5 + ...)), u = d / a, v = u / (2 + u). */
PC_TAIL pc_pair_f64 pc_deviance_f64(pc_f64 a, pc_pair_f64 d) {
  pc_pair_f64 of = pc_pair_of_f64(a);
  if (pc_magnitude_f64(d.hi) < 0.125 * a) {
    pc_pair_f64 u = pc_pair_div_f64(d, of), v = pc_pair_div_f64(u, pc_plus_f64(pc_pair_of_f64(2.0), u));
    pc_f64 z = v.hi * v.hi;
    pc_f64 t = 1.0 / 13.0 + z * (1.0 / 15.0 + z * (1.0 / 17.0));
    t = 2.0 * z * (1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * (1.0 / 11.0 + z * t)))));
    return pc_pair_mul_f64(of, pc_pair_mul_f64(v, pc_plus_f64(u, pc_pair_of_f64(-t))));
  }
  pc_pair_f64 m = pc_plus_f64(of, d), log;
  if (m.hi > 0x1p500 * a || m.hi < 0x1p-500 * a || a < 0x1p-900) {
    log = pc_plus_f64(pc_log_of_pair_f64(m), pc_minus_f64(pc_log_pair_f64(a)));
  } else {
    log = pc_log_of_pair_f64(pc_pair_div_f64(m, of));
  }
  return pc_plus_f64(d, pc_minus_f64(pc_pair_mul_f64(of, log)));
}

/* e^(x^2) erfc x for 0 <= x <= 27.5. */
PC_TAIL pc_f64 pc_tail_erfcx_f64(pc_f64 x) {
  if (x < 0.75) return pc_exp_f64(x * x) * pc_erfc_f64(x);
  pc_pair_f64 g = pc_erfc_factor_f64(x);
  return g.hi / x;
}

/* The lower tail of the beta function with arguments a and b, the mean of which is not below x: h is the quotient of both arguments, the
 * smaller one above; r 1 - h, negative where a is the larger one; w 1 / sqrt(smaller * (1 + h)); f the deviance; c the sum of corrections. */
PC_TAIL pc_f64 pc_uniform_f64(pc_f64 h, pc_f64 r, pc_f64 w, pc_pair_f64 f, pc_pair_f64 c) {
  pc_f64 a[PC_TAIL_TERMS + 1], b[PC_TAIL_TERMS + 1], e[PC_TAIL_TERMS + 1], d[PC_TAIL_TERMS + 1];
  const pc_f64 root = 0x1.20dd750429b6dp+0, low = 0x1.6a09e667f3bcdp-2; /* 2 / sqrt(pi), 2^(-3/2) */
  pc_f64 scale = pc_exp_pair_f64(pc_minus_f64(pc_plus_f64(f, c)));
  if (!(f.hi < 745.0) || scale == 0.0) return 0.0;
  pc_f64 z0 = __builtin_sqrt(f.hi > 0.0 ? f.hi : 0.0), z = 0x1.6a09e667f3bcdp+0 * z0, z2 = f.hi + f.hi, r0 = 1.0 / (1.0 + h);
  a[0] = 2.0 / 3.0 * r;
  e[0] = -0.5 * a[0];
  d[0] = -e[0];
  pc_f64 j0 = 0.5 / root * pc_tail_erfcx_f64(z0), j1 = low, sum = j0 + d[0] * w * j1;
  pc_f64 s = 1.0, h2 = h * h, hn = 1.0, wn = w, znm = z, zn = z2;
  for (int n = 2; n <= PC_TAIL_TERMS; n += 2) {
    hn = h2 * hn;
    a[n - 1] = 2.0 * r0 * (h * hn + 1.0) / (n + 2.0);
    s = s + hn;
    a[n] = 2.0 * r * s / (n + 3.0);
    for (int i = n; i <= n + 1; i++) {
      pc_f64 q = -0.5 * (i + 1.0);
      b[0] = q * a[0];
      for (int m = 2; m <= i; m++) {
        pc_f64 part = 0.0;
        for (int j = 1; j <= m - 1; j++) part = part + (j * q - (m - j)) * a[j - 1] * b[m - j - 1];
        b[m - 1] = q * a[m - 1] + part / m;
      }
      e[i - 1] = b[i - 1] / (i + 1.0);
      pc_f64 part = 0.0;
      for (int j = 1; j <= i - 1; j++) part = part + d[i - j - 1] * e[j - 1];
      d[i - 1] = -(part + e[i - 1]);
    }
    j0 = low * znm + (n - 1.0) * j0;
    j1 = low * zn + n * j1;
    znm = z2 * znm;
    zn = z2 * zn;
    wn = w * wn;
    pc_f64 t0 = d[n - 1] * wn * j0;
    wn = w * wn;
    pc_f64 t1 = d[n] * wn * j1;
    sum = sum + (t0 + t1);
    if (pc_magnitude_f64(t0) + pc_magnitude_f64(t1) <= 0x1p-56 * sum) break;
  }
  return root * scale * sum;
}

#endif
