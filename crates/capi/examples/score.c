/* Calls the entries of a bundle: ./score score.precast */
#include <precast.h>
#include <stdio.h>

static int failed(void) {
  fprintf(stderr, "%s: %s\n", precast_status_name(precast_last_status()), precast_last_error());
  return 1;
}

int main(int argc, char **argv) {
  precast_bundle *bundle = NULL;
  precast_function *score = NULL, *gauss = NULL;
  if (precast_bundle_open(argc > 1 ? argv[1] : "score.precast", &bundle) != PRECAST_OK ||
      precast_bundle_function(bundle, "score", &score) != PRECAST_OK ||
      precast_bundle_function(bundle, "gauss", &gauss) != PRECAST_OK) {
    return failed();
  }
  precast_bundle_free(bundle); /* functions outlive the bundle */

  /* The arrays, including that of the result, belong to this program. */
  double x[] = {0.0, 0.5, 1.0}, y[] = {1.0, 2.0, 3.0}, z[] = {4.0, 5.0, 6.0}, out = 0.0;
  int64_t shape[] = {3};
  precast_array inputs[] = {
      {x, shape, NULL, 1, PRECAST_F64, 0},
      {y, shape, NULL, 1, PRECAST_F64, 0},
      {z, shape, NULL, 1, PRECAST_F64, 0},
  };
  precast_array output = {&out, NULL, NULL, 0, PRECAST_F64, 0};
  if (precast_call(score, inputs, 3, &output, 1) != PRECAST_OK) {
    return failed();
  }
  printf("score %.6f\n", out);

  /* A plain C function: its type is checked once, then a call costs one indirect call. */
  precast_native native = NULL;
  if (precast_function_native(gauss, "d)d", &native) != PRECAST_OK) {
    return failed();
  }
  double (*f)(double) = (double (*)(double))native;
  printf("gauss %.6f\n", f(0.5));

  precast_function_free(score);
  precast_function_free(gauss);
  return 0;
}
