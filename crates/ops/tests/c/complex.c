/* Applies a function of math/complex/ to a file of bits, so that a test can compare its bits with those that `perform` gives.
 * usage: complex <function> <input file> <output file>; operands of one element stand together, each its real part first. */
#include <precast/ops/math/complex/arc.h>
#include <precast/ops/math/complex/area.h>
#include <precast/ops/math/complex/exp.h>
#include <precast/ops/math/complex/hyperbolic.h>
#include <precast/ops/math/complex/log.h>
#include <precast/ops/math/complex/pow.h>
#include <precast/ops/math/complex/root.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ONE(F, D)                                                                                                      \
  F(exp, D) F(log, D) F(log2, D) F(log10, D) F(log1p, D) F(sqrt, D) F(sinh, D) F(cosh, D) F(tanh, D) F(sin, D) F(cos, D) \
  F(tan, D) F(asin, D) F(acos, D) F(asinh, D) F(acosh, D) F(atan, D) F(atanh, D)

#define LOOP1(NAME, D)                                        \
  static void NAME##_##D(long n, const void *in, void *out) { \
    const pc_##D *x = (const pc_##D *)in;                     \
    pc_##D *y = (pc_##D *)out;                                \
    for (long i = 0; i < n; i++) y[i] = pc_##NAME##_##D(x[i]); \
  }
#define POW(D)                                                                        \
  static void pow_##D(long n, const void *in, void *out) {                            \
    const pc_##D *x = (const pc_##D *)in;                                             \
    pc_##D *y = (pc_##D *)out;                                                        \
    for (long i = 0; i < n; i++) y[i] = pc_pow_##D(x[2 * i], x[2 * i + 1]);           \
  }
ONE(LOOP1, c128)
ONE(LOOP1, c64)
POW(c128)
POW(c64)

#define ROW_c128 16, 16
#define ROW_c64 8, 8
#define ROW1(NAME, D) {#NAME "_" #D, NAME##_##D, ROW_##D},
static const struct {
  const char *name;
  void (*run)(long, const void *, void *);
  long takes, gives;
} functions[] = {ONE(ROW1, c128) ONE(ROW1, c64){"pow_c128", pow_c128, 32, 16},
                 {"pow_c64", pow_c64, 16, 8}};

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  FILE *in = fopen(argv[2], "rb"), *out = fopen(argv[3], "wb");
  if (in == NULL || out == NULL || fseek(in, 0, SEEK_END) != 0) return 3;
  long bytes = ftell(in);
  rewind(in);
  void *x = malloc((size_t)bytes), *y = malloc((size_t)bytes);
  if (x == NULL || y == NULL || fread(x, 1, (size_t)bytes, in) != (size_t)bytes) return 4;
  for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
    if (strcmp(functions[f].name, argv[1]) != 0) continue;
    long n = bytes / functions[f].takes;
    functions[f].run(n, x, y);
    size_t given = (size_t)(n * functions[f].gives);
    return fwrite(y, 1, given, out) == given && fclose(out) == 0 ? 0 : 5;
  }
  return 6;
}
