/* Applies the eight functions of math.h to files of bits, so that a test can hold them against the Rust port.
 * usage: math <function> <input file> <output file> */
#include <precast/ops/math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOP(NAME, T)                                                              \
  static void NAME(long n, const void *in, void *out) {                            \
    const T *x = (const T *)in;                                                    \
    T *y = (T *)out;                                                               \
    for (long i = 0; i < n; i++) y[i] = pc_##NAME(x[i]);                           \
  }
LOOP(exp_f32, float)
LOOP(log_f32, float)
LOOP(tanh_f32, float)
LOOP(sigmoid_f32, float)
LOOP(exp_f64, double)
LOOP(log_f64, double)
LOOP(tanh_f64, double)
LOOP(sigmoid_f64, double)

static const struct {
  const char *name;
  void (*run)(long, const void *, void *);
  long bytes;
} functions[] = {{"exp_f32", exp_f32, 4},         {"log_f32", log_f32, 4}, {"tanh_f32", tanh_f32, 4},
                 {"sigmoid_f32", sigmoid_f32, 4}, {"exp_f64", exp_f64, 8}, {"log_f64", log_f64, 8},
                 {"tanh_f64", tanh_f64, 8},       {"sigmoid_f64", sigmoid_f64, 8}};

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
    functions[f].run(bytes / functions[f].bytes, x, y);
    return fwrite(y, 1, (size_t)bytes, out) == (size_t)bytes && fclose(out) == 0 ? 0 : 5;
  }
  return 6;
}
