/* Calls an entry that takes a vector and gives a number and a vector of its length: ./call BUNDLE ENTRY NUMBER... */
#include <precast.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  precast_bundle *bundle = NULL;
  precast_function *function = NULL;
  const int64_t count = argc - 3;
  double point[64], value = 0.0, gradient[64];
  if (count < 1 || count > 64) return 2;
  for (int64_t i = 0; i < count; i++) point[i] = strtod(argv[3 + i], NULL);
  const precast_array input = {point, &count, NULL, 1, PRECAST_F64, PRECAST_READ_ONLY};
  const precast_array outputs[] = {{&value, NULL, NULL, 0, PRECAST_F64, 0}, {gradient, &count, NULL, 1, PRECAST_F64, 0}};
  if (precast_bundle_open(argv[1], &bundle) != PRECAST_OK || precast_bundle_function(bundle, argv[2], &function) != PRECAST_OK ||
      precast_call(function, &input, 1, outputs, 2) != PRECAST_OK) {
    fprintf(stderr, "%s: %s\n", precast_status_name(precast_last_status()), precast_last_error());
    return 1;
  }
  printf("%.17g\n", value);
  for (int64_t i = 0; i < count; i++) printf("%.17g%c", gradient[i], i + 1 < count ? ' ' : '\n');
  precast_function_free(function);
  precast_bundle_free(bundle);
  return 0;
}
