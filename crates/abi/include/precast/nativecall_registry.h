/* precast/nativecall_registry.h: shares one registry of signatures in a process.
 *
 * The first library to offer a registry puts its address into the environment, with the random bytes that Linux gave this
 * program execution. So another program that inherits the variable does not mistake the address for its own:
 *
 *   _NATIVECALL_REGISTRY_1=00007f3c5a1b2c40:9f…32 hexadecimal digits…e1
 *
 * Needs POSIX (setenv). Inside CPython use precast/nativecall_python.h instead.
 */
#ifndef PRECAST_NATIVECALL_REGISTRY_H
#define PRECAST_NATIVECALL_REGISTRY_H

#include <precast/nativecall.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Writes 32 hexadecimal digits and a NUL that identify this program execution. */
static inline void pc_native_program(char digits[33]) {
#if defined(__linux__)
  const unsigned char *bytes = (const unsigned char *)getauxval(AT_RANDOM);
  for (int at = 0; at < 16; at++) {
    snprintf(digits + 2 * at, 3, "%02x", bytes != NULL ? bytes[at] : 0u);
  }
#else
  snprintf(digits, 33, "%032lx", (unsigned long)getpid());
#endif
}

/* Returns the registry that was offered to this program execution; NULL if none was. */
static inline const pc_native_registry *pc_native_offered(void) {
  const char *value = getenv(PC_NATIVE_REGISTRY_VARIABLE);
  char program[33];
  pc_native_program(program);
  if (value == NULL || strlen(value) != 16 + 1 + 32 || value[16] != ':' || strcmp(value + 17, program) != 0) {
    return NULL;
  }
  const pc_native_registry *registry = (const pc_native_registry *)(uintptr_t)strtoull(value, NULL, 16);
  int fits = registry != NULL && registry->version == PC_NATIVE_REGISTRY_VERSION &&
             registry->struct_bytes >= sizeof(pc_native_registry);
  return fits ? registry : NULL;
}

/* Offers `mine` (not NULL) unless a registry was offered before. Returns the shared registry; NULL if the environment has no
 * room. `mine` must never be freed: link a library that may be unloaded (dlclose) with `-z nodelete`. Like setenv, call it
 * while no other thread reads or changes the environment. */
static inline const pc_native_registry *pc_native_share(const pc_native_registry *mine) {
  const pc_native_registry *there = pc_native_offered();
  char program[33];
  char value[16 + 1 + 33];
  if (there != NULL) {
    return there;
  }
  pc_native_program(program);
  snprintf(value, sizeof value, "%016llx:%s", (unsigned long long)(uintptr_t)mine, program);
  return setenv(PC_NATIVE_REGISTRY_VARIABLE, value, 1) == 0 ? mine : NULL;
}

#ifdef __cplusplus
}
#endif
#endif
