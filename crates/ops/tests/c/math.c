/* Applies a function of math.h to a file of bits, so that a test can compare its bits with those that `perform` gives.
 * usage: math <function> <input file> <output file>; operands of one element stand together. */
#include "functions.h" /* ONE(F) to FOUR(F), lists of the functions; made by tests/it/cases.rs */
#include <precast/ops/math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOP(NAME, ...)                                               \
  static void NAME##_f64(long n, const void *in, void *out) {         \
    const pc_f64 *x = (const pc_f64 *)in;                             \
    pc_f64 *y = (pc_f64 *)out;                                        \
    for (long i = 0; i < n; i++) y[i] = pc_##NAME##_f64(__VA_ARGS__); \
  }                                                                   \
  static void NAME##_f32(long n, const void *in, void *out) {         \
    const pc_f32 *x = (const pc_f32 *)in;                             \
    pc_f32 *y = (pc_f32 *)out;                                        \
    for (long i = 0; i < n; i++) y[i] = pc_##NAME##_f32(__VA_ARGS__); \
  }
#define LOOP1(NAME) LOOP(NAME, x[i])
#define LOOP2(NAME) LOOP(NAME, x[2 * i], x[2 * i + 1])
#define LOOP3(NAME) LOOP(NAME, x[3 * i], x[3 * i + 1], x[3 * i + 2])
#define LOOP4(NAME) LOOP(NAME, x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3])
ONE(LOOP1)
TWO(LOOP2)
THREE(LOOP3)
FOUR(LOOP4)

#define ROW1(NAME) {#NAME "_f64", NAME##_f64, 8, 1}, {#NAME "_f32", NAME##_f32, 4, 1},
#define ROW2(NAME) {#NAME "_f64", NAME##_f64, 8, 2}, {#NAME "_f32", NAME##_f32, 4, 2},
#define ROW3(NAME) {#NAME "_f64", NAME##_f64, 8, 3}, {#NAME "_f32", NAME##_f32, 4, 3},
#define ROW4(NAME) {#NAME "_f64", NAME##_f64, 8, 4}, {#NAME "_f32", NAME##_f32, 4, 4},
static const struct {
  const char *name;
  void (*run)(long, const void *, void *);
  long bytes, arity;
} functions[] = {ONE(ROW1) TWO(ROW2) THREE(ROW3) FOUR(ROW4)};

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
    size_t given = (size_t)(bytes / functions[f].arity);
    functions[f].run((long)given / functions[f].bytes, x, y);
    return fwrite(y, 1, given, out) == given && fclose(out) == 0 ? 0 : 5;
  }
  return 6;
}
