/* A program that calls native functions: all it knows of precast is precast/module.h. The cases follow. */
#include <complex.h>
#include <dlfcn.h>
#include <precast/host.h>
#include <precast/module.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pc_host host = {.abi_version = PC_ABI_VERSION, .struct_bytes = sizeof(pc_host), .format = vsnprintf, .error_format = pc_host_error_format};
static pc_context ctx;

/* The entry in `slot` of the shared object `file`, made ready. */
static const pc_entry *entry(const char *directory, int file, int slot) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d.so", directory, file);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const pc_module *module = library == NULL ? NULL : (const pc_module *)dlsym(library, "precast_module_v1");
  if (module == NULL || module->magic != PC_MODULE_MAGIC || module->abi_version != PC_ABI_VERSION) {
    fprintf(stderr, "%s is no module: %s\n", path, dlerror());
    exit(1);
  }
  const pc_entry *found = module->entries[slot];
  if (found->load != NULL && found->load(&ctx) != 0) {
    fprintf(stderr, "%s cannot be loaded\n", path);
    exit(1);
  }
  return found;
}

/* Whether the function is what it will be cast to. */
static void check(const pc_entry *found, const char *signature) {
  if (found->function == NULL || strcmp(found->native, signature) != 0) {
    fprintf(stderr, "%s is `%s`, not `%s`\n", found->signature, found->native, signature);
    exit(1);
  }
}

static void put(const void *value, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    printf("%02x", ((const unsigned char *)value)[i]);
  }
  printf(" ");
}

