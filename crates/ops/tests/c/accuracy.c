/* The largest error of each function of math.h in ulp, against libquadmath: `accuracy [thousands of values]`. A line a function and
 * dtype: its name, the dtype, the error, where it is. f64: any bits at all, numbers of all exponents, and the range where a function
 * moves; f32: bit patterns at one distance. tests/it/accuracy.rs compiles it where there is libquadmath, and makes ACCURACY.md. */
#include <math.h>
#include <precast/ops/math.h>
#include <quadmath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __float128 quad;
static quad exp2_q(quad x) { return exp2q(x); }
static quad log1mexp_q(quad x) { return x > -0.69Q ? logq(-expm1q(x)) : log1pq(-expq(x)); }
static quad softplus_q(quad x) { return x > 0 ? x + log1pq(expq(-x)) : log1pq(expq(x)); }
static quad gammaln_q(quad x) { return x > 0 ? lgammaq(x) : (quad)NAN; }
/* J. Stirling's series from 40 on, where 14 terms are below 2^-110. */
static quad digamma_q(quad x) {
  static const quad terms[] = {1 / 12.0Q, -1 / 120.0Q, 1 / 252.0Q, -1 / 240.0Q, 1 / 132.0Q, -691 / 32760.0Q, 1 / 12.0Q, -3617 / 8160.0Q,
    43867 / 14364.0Q, -174611 / 6600.0Q, 77683 / 276.0Q, -236364091 / 65520.0Q, 657931 / 12.0Q, -3392780147.0Q / 3480};
  quad sum = 0, power = 1;
  if (!(x > 0)) return (quad)NAN;
  for (; x < 40; x += 1) sum -= 1 / x;
  sum += logq(x) - 0.5Q / x;
  for (int k = 0; k < 14; k++) power /= x * x, sum -= terms[k] * power;
  return sum;
}
static quad sigmoid_q(quad x) { return x < 0 ? expq(x) / (1 + expq(x)) : 1 / (1 + expq(-x)); }

#define WRAP1(NAME)                                                 \
  static double NAME##_64(double x) { return pc_##NAME##_f64(x); } \
  static float NAME##_32(float x) { return pc_##NAME##_f32(x); }
#define WRAP2(NAME)                                                                 \
  static double NAME##_64(double x, double y) { return pc_##NAME##_f64(x, y); }    \
  static float NAME##_32(float x, float y) { return pc_##NAME##_f32(x, y); }
#define EACH1(F)                                                                                                       \
  F(exp, expq, -746, 710) F(exp2, exp2_q, -1076, 1025) F(expm1, expm1q, -3, 3) F(log, logq, 0, 4) F(log2, log2q, 0, 4) \
  F(log10, log10q, 0, 4) F(log1p, log1pq, -1, 3) F(softplus, softplus_q, -40, 40) F(log1mexp, log1mexp_q, -40, 0)     \
  F(sigmoid, sigmoid_q, -745, 40) F(tanh, tanhq, -3, 3) F(sinh, sinhq, -3, 3) F(cosh, coshq, -3, 3)                    \
  F(asinh, asinhq, -3, 3) F(acosh, acoshq, 1, 3) F(atanh, atanhq, -1, 1)  \
  F(asin, asinq, -1, 1) F(acos, acosq, -1, 1) F(atan, atanq, -3, 3) F(cbrt, cbrtq, -8, 8)  \
  F(erf, erfq, -6, 6) F(erfc, erfcq, -2, 27.3) F(sin, sinq, -30, 30) F(cos, cosq, -30, 30) F(tan, tanq, -30, 30) \
  F(gammaln, gammaln_q, 0, 30) F(digamma, digamma_q, 0, 30)
#define EACH2(F) F(pow, powq, 0, 4) F(atan2, atan2q, -3, 3) F(hypot, hypotq, -3, 3)
#define USE1(NAME, QUAD, LOW, HIGH) WRAP1(NAME)
#define USE2(NAME, QUAD, LOW, HIGH) WRAP2(NAME)
EACH1(USE1)
EACH2(USE2)

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}
static double between(double low, double high) { return low + (high - low) * (double)(next() >> 11) * 0x1p-53; }
static double any(void) { uint64_t u = next(); return pc_from_bits_f64(u); }

/* A number near 2^k for a random k of some width, of any sign: where values are dense in the logarithm. */
static double scaled(void) { return ldexp(between(-2, 2), (int)(next() % 140) - 70); }

static double error64(quad exact, double found) {
  double rounded = (double)exact;
  if (isnan(found) || isnan(rounded)) return isnan(found) && isnan(rounded) ? 0 : 1e9;
  if (isinf(found) || isinf(rounded)) return found == rounded ? 0 : fabsq(exact) > 0x1.fffffffffffffp1023Q && !isinf(found) ? (double)((fabsq(exact) - fabs(found)) / 0x1p971Q) : isinf(found) && !isinf(rounded) ? (double)((0x1p1024Q - fabsq(exact)) / 0x1p971Q) : 1e9;
  int e;
  frexp(rounded, &e);
  e = e - 53 < -1074 ? -1074 : e - 53;
  return fabs((double)((exact - (quad)found) / ldexpq(1, e)));
}
static double error32(double exact, float found) {
  float rounded = (float)exact;
  if (isnan(found) || isnan(rounded)) return isnan(found) && isnan(rounded) ? 0 : 1e9;
  if (isinf(found) || isinf(rounded)) return found == rounded ? 0 : 1;
  int e;
  frexpf(rounded, &e);
  e = e - 24 < -149 ? -149 : e - 24;
  return fabs(ldexp(exact - (double)found, -e));
}

/* What there is no reference for: left of 0 both have zeros between their poles, where two terms cancel. */
static int is_left_out(const char *name, double x) { return x <= 0 && (strcmp(name, "gammaln") == 0 || strcmp(name, "digamma") == 0); }

static void report(const char *name, const char *dtype, double worst, double x, double y, int two) {
  printf(two ? "%-10s %s  %.3f  at %a, %a\n" : "%-10s %s  %.3f  at %a\n", name, dtype, worst, x, y);
  fflush(stdout);
}

static void check1(const char *name, double (*f)(double), float (*g)(float), quad (*q)(quad), double low, double high, long n) {
  double worst = 0, at = 0, e;
  for (long i = 0; i < n; i++) {
    double x = i % 4 == 0 ? any() : i % 4 == 1 ? scaled() : between(low, high);
    if (isnan(x) || is_left_out(name, x)) continue;
    if ((e = error64(q(x), f(x))) > worst) worst = e, at = x;
  }
  report(name, "f64", worst, at, 0, 0);
  worst = 0;
  for (uint64_t u = 0; u < 0x100000000u; u += 0x100000000u / (uint64_t)n / 2 | 1) {
    float x = pc_from_bits_f32((uint32_t)u);
    if (isnan(x) || is_left_out(name, x)) continue;
    if ((e = error32((double)q(x), g(x))) > worst) worst = e, at = x;
  }
  report(name, "f32", worst, at, 0, 0);
}

static void check2(const char *name, double (*f)(double, double), float (*g)(float, float),
                   quad (*q)(quad, quad), double low, double high, long n) {
  double worst = 0, at = 0, and = 0, e;
  for (long i = 0; i < n; i++) {
    double x = i % 4 == 0 ? any() : i % 4 == 1 ? scaled() : between(low, high);
    double y = i % 8 == 0 ? any() : i % 4 == 1 ? scaled() : between(low, high);
    if (strcmp(name, "pow") == 0) { /* x^y over the whole range of results */
      x = i % 2 == 0 ? ldexp(between(1, 2), (int)(next() % 2000) - 1000) : between(0.5, 2);
      y = i % 5 == 0 ? y : between(-1080, 1030) / log2(x);
    }
    if (isnan(x) || isnan(y)) continue;
    if ((e = error64(q(x, y), f(x, y))) > worst) worst = e, at = x, and = y;
  }
  report(name, "f64", worst, at, and, 1);
  worst = 0;
  for (long i = 0; i < n; i++) {
    float x = i % 4 == 0 ? pc_from_bits_f32((uint32_t)next()) : (float)between(low, high);
    float y = i % 8 == 0 ? pc_from_bits_f32((uint32_t)next()) : (float)between(low, high);
    if (strcmp(name, "pow") == 0 && i % 4 != 1) {
      x = (float)ldexp(between(1, 2), (int)(next() % 250) - 125);
      y = (float)(between(-150, 128) / log2(x));
    }
    if (isnan(x) || isnan(y)) continue;
    if ((e = error32((double)q(x, y), g(x, y))) > worst) worst = e, at = x, and = y;
  }
  report(name, "f32", worst, at, and, 1);
}

int main(int argc, char **argv) {
  long n = (argc > 1 ? atol(argv[1]) : 1000) * 1000;
#define RUN1(NAME, QUAD, LOW, HIGH) check1(#NAME, NAME##_64, NAME##_32, QUAD, LOW, HIGH, n);
#define RUN2(NAME, QUAD, LOW, HIGH) check2(#NAME, NAME##_64, NAME##_32, QUAD, LOW, HIGH, n);
  EACH1(RUN1)
  EACH2(RUN2)
  return 0;
}
