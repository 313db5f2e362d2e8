/* Applies a function of math/complex/ to a file of bits, so that a test can compare its bits with those that `perform` gives.
 * usage: complex <function> <input file> <output file>; operands of one element stand together, each its real part first. */
#include "functions.h" /* ONE(F) and TWO(F), lists of the functions; made by tests/it/cases.rs */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOP1_(NAME, D)                                       \
  static void NAME##_##D(long n, const void *in, void *out) { \
    const pc_##D *x = (const pc_##D *)in;                     \
    pc_##D *y = (pc_##D *)out;                                \
    for (long i = 0; i < n; i++) y[i] = pc_##NAME##_##D(x[i]); \
  }
#define LOOP2_(NAME, D)                                                          \
  static void NAME##_##D(long n, const void *in, void *out) {                    \
    const pc_##D *x = (const pc_##D *)in;                                        \
    pc_##D *y = (pc_##D *)out;                                                   \
    for (long i = 0; i < n; i++) y[i] = pc_##NAME##_##D(x[2 * i], x[2 * i + 1]); \
  }
#define LOOP1(NAME) LOOP1_(NAME, c128) LOOP1_(NAME, c64)
#define LOOP2(NAME) LOOP2_(NAME, c128) LOOP2_(NAME, c64)
ONE(LOOP1)
TWO(LOOP2)

#define ROW1(NAME) {#NAME "_c128", NAME##_c128, 16, 16}, {#NAME "_c64", NAME##_c64, 8, 8},
#define ROW2(NAME) {#NAME "_c128", NAME##_c128, 32, 16}, {#NAME "_c64", NAME##_c64, 16, 8},
static const struct {
  const char *name;
  void (*run)(long, const void *, void *);
  long takes, gives;
} functions[] = {ONE(ROW1) TWO(ROW2)};

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
