/* The largest error of each unary f32 function over bit patterns at one distance: `whole <step> [name [end]]`, where a step of 1
 * takes all 2^32, or with an end of 0x80000000 those without a sign.
 * The reference is the f64 function of the same name, some ulps of f64 off, so the error is known to about 2^-28 ulp. A line a function:
 * its name, how many values, the largest error in ulp, where it is, and how many values are not the nearest f32. */
#include <precast/ops/math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EACH(F)                                                                                                     \
  F(exp) F(exp2) F(expm1) F(log) F(log2) F(log10) F(log1p) F(softplus) F(log1mexp) F(sigmoid) F(tanh) F(sinh) F(cosh) \
  F(asinh) F(acosh) F(atanh) F(asin) F(acos) F(atan) F(cbrt) F(erf) F(erfc) F(sin) F(cos) F(tan) F(gammaln) F(digamma) F(trigamma) \
  F(gamma) F(logit) F(entr) F(erfcx) F(ndtr) F(log_ndtr) F(ndtri) F(erfinv) F(erfcinv) F(i0) F(i1) F(i0e) F(i1e)

#define BLOCK 4096

#define LOOPS(NAME)                                                                                   \
  static void NAME##_known(const pc_f32 *restrict x, pc_f64 *restrict y) {                            \
    for (int i = 0; i < BLOCK; i++) y[i] = pc_##NAME##_f64((pc_f64)x[i]);                              \
  }                                                                                                   \
  static void NAME##_found(const pc_f32 *restrict x, pc_f32 *restrict y) {                            \
    for (int i = 0; i < BLOCK; i++) y[i] = pc_##NAME##_f32(x[i]);                                      \
  }
EACH(LOOPS)

/* 1 / ulp of an f32 near `known`, that of the subnormals where it is one. */
static pc_f64 ulps(pc_f64 known) {
  uint64_t e = pc_bits_f64(known) & 0x7ff0000000000000u, least = (uint64_t)(1023 - 126) << 52;
  return pc_from_bits_f64(((uint64_t)(2046 + 23) << 52) - (e < least ? least : e));
}

static pc_f64 magnitude(pc_f64 x) { return pc_magnitude_f64(x); }

/* The errors of a block; 10^9 where one is NaN and the other is not, or an infinity or the sign of a zero is wrong. */
static void errors(const pc_f64 *restrict known, const pc_f32 *restrict found, pc_f64 *restrict out) {
  for (int i = 0; i < BLOCK; i++) {
    pc_f64 k = known[i], f = (pc_f64)found[i];
    pc_f64 e = magnitude(k - f) * ulps(k);
    e = (k >= 0x1.fffffep127) & (f == __builtin_inf()) ? 0.0 : e;
    e = (k <= -0x1.fffffep127) & (f == -__builtin_inf()) ? 0.0 : e;
    e = ((k != k) & (f != f)) ? 0.0 : e;
    e = (k == 0.0) & (pc_sign_f64(k) != pc_sign_f64(f)) ? 1e9 : e;
    out[i] = e <= 1e9 ? e : 1e9;
  }
}

static void check(const char *name, uint64_t step, uint64_t end, void (*known)(const pc_f32 *restrict, pc_f64 *restrict),
                  void (*found)(const pc_f32 *restrict, pc_f32 *restrict)) {
  static pc_f32 x[BLOCK], y[BLOCK];
  static pc_f64 z[BLOCK], e[BLOCK];
  pc_f64 worst = 0.0;
  pc_f32 at = 0.0f;
  uint64_t far = 0, count = 0;
  for (uint64_t u = 0; u < end;) {
    for (int i = 0; i < BLOCK; i++, u += step) {
      x[i] = pc_from_bits_f32((uint32_t)(u < end ? u : end - 1));
      count += u < end;
    }
    known(x, z);
    found(x, y);
    errors(z, y, e);
    for (int i = 0; i < BLOCK; i++) {
      far += e[i] > 0.5000001;
      if (e[i] > worst) worst = e[i], at = x[i];
    }
  }
  printf("%s %llu %.4f at %a, %llu not nearest\n", name, (unsigned long long)count, worst, (double)at, (unsigned long long)far);
  fflush(stdout);
}

int main(int argc, char **argv) {
  uint64_t step = argc > 1 ? strtoull(argv[1], NULL, 0) : 4099, end = argc > 3 ? strtoull(argv[3], NULL, 0) : 0x100000000u;
#define RUN(NAME) if (argc < 3 || strcmp(argv[2], #NAME) == 0) check(#NAME, step, end, NAME##_known, NAME##_found);
  EACH(RUN)
  return 0;
}
