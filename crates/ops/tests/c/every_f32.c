/* The f32 functions that are computed in f64, against the f64 functions of the C library: `every_f32 STEP`. Every STEP-th bit pattern is an
 * argument; with 1, every f32. A line a function: its name, the largest error in ulp, where it is, the number of wrong special values, and the
 * number of values whose form of a region has other bits. tests/it/every_f32.rs compiles it. */
#include <math.h>
#include <precast/ops/math.h>
#include <stdio.h>
#include <stdlib.h>

static double log1mexp(double x) { return x > -0.69 ? log(-expm1(x)) : log1p(-exp(x)); }

typedef struct row {
  const char *name;
  float (*ours)(float);
  double (*exact)(double);
  float (*near)(float);
} row;

#define OURS(NAME) \
  static float NAME##_32(float x) { return pc_##NAME##_f32(x); }
#define NEAR(NAME) \
  static float NAME##_near(float x) { return pc_##NAME##_is_near_f32(x) ? pc_##NAME##_near_f32(x) : pc_##NAME##_f32(x); }
#define EACH(F) \
  F(sin) F(cos) F(tan) F(atan) F(asin) F(acos) F(cbrt) F(exp2) F(expm1) F(log2) F(log10) F(sinh) F(cosh) F(asinh) F(acosh) F(atanh) F(log1mexp)
EACH(OURS)
NEAR(sin) NEAR(cos) NEAR(tan)

#define ROW(NAME) {#NAME, NAME##_32, NAME, NULL},
static row rows[] = {EACH(ROW)};

/* Whether two results are the same number, zero with its sign, or NaN. */
static int is_same(float x, float y) { return pc_bits_f32(x) == pc_bits_f32(y) || (isnan(x) && isnan(y)); }

static void check(const row *r, unsigned long step) {
  double worst = 0;
  float at = 0;
  long wrong = 0, other = 0;
  for (unsigned long bits = 0; bits < (1ul << 32); bits += step) {
    float x = pc_from_bits_f32((uint32_t)bits), y = r->ours(x);
    double exact = r->exact((double)x);
    float rounded = (float)exact;
    other += r->near != NULL && !is_same(y, r->near(x));
    if (!isfinite(y) || !isfinite(rounded) || rounded == 0 || y == 0) {
      wrong += !is_same(y, rounded);
      continue;
    }
    int e;
    frexp(rounded, &e);
    double error = fabs(ldexp(exact - (double)y, -(e - 24 < -149 ? -149 : e - 24)));
    if (error > worst) worst = error, at = x;
  }
  printf("%s %.4f %a %ld %ld\n", r->name, worst, at, wrong, other);
}

int main(int argc, char **argv) {
  unsigned long step = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
  rows[0].near = sin_near;
  rows[1].near = cos_near;
  rows[2].near = tan_near;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) check(&rows[i], step);
  return 0;
}
