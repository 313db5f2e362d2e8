/* Calls an entry that takes a vector, or a key and a vector, and gives a number and a vector of its length:
   ./call BUNDLE ENTRY [key=SEED] NUMBER... */
#include <precast.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  precast_bundle *bundle = NULL;
  precast_function *function = NULL;
  const int has_key = argc > 3 && strncmp(argv[3], "key=", 4) == 0;
  const unsigned long long seed = has_key ? strtoull(argv[3] + 4, NULL, 10) : 0;
  uint32_t key[] = {(uint32_t)(seed >> 32), (uint32_t)seed};
  argc -= has_key, argv += has_key;
  const int64_t count = argc - 3, two = 2;
  double point[64], value = 0.0, gradient[64];
  if (count < 1 || count > 64) return 2;
  for (int64_t i = 0; i < count; i++) point[i] = strtod(argv[3 + i], NULL);
  const precast_array inputs[] = {{key, &two, NULL, 1, PRECAST_U32, PRECAST_READ_ONLY},
                                  {point, &count, NULL, 1, PRECAST_F64, PRECAST_READ_ONLY}};
  const precast_array outputs[] = {{&value, NULL, NULL, 0, PRECAST_F64, 0}, {gradient, &count, NULL, 1, PRECAST_F64, 0}};
  const char *path = argv[1 - has_key], *entry = argv[2 - has_key];
  if (precast_bundle_open(path, &bundle) != PRECAST_OK || precast_bundle_function(bundle, entry, &function) != PRECAST_OK ||
      precast_call(function, has_key ? inputs : inputs + 1, 1 + has_key, outputs, 2) != PRECAST_OK) {
    fprintf(stderr, "%s: %s\n", precast_status_name(precast_last_status()), precast_last_error());
    return 1;
  }
  printf("%.17g\n", value);
  for (int64_t i = 0; i < count; i++) printf("%.17g%c", gradient[i], i + 1 < count ? ' ' : '\n');
  precast_function_free(function);
  precast_bundle_free(bundle);
  return 0;
}
