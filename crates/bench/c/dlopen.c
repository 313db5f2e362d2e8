/* The peer of a load: dlopen, dlsym, dlclose of one shared object, unverified. Prints nanoseconds, one round a line.
 * usage: dlopen FILE ROUNDS */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  for (int round = 0; round < atoi(argv[2]); round++) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library || !dlsym(library, "precast_module_v1")) return 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    dlclose(library);
    printf("%lld\n", (end.tv_sec - start.tv_sec) * 1000000000LL + end.tv_nsec - start.tv_nsec);
  }
  return 0;
}
