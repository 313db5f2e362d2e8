/* precast/linked.h: modules that are linked into a program, instead of being loaded from shared objects.
 *
 * An object with modules has an array of pc_linked in the section `precast_linked`, defined by PC_LINKED. The linker puts
 * the arrays of all objects of a program one after the other, and the host finds them between PC_LINKED_FIRST and
 * PC_LINKED_END. Both are NULL in a program without linked modules.
 */
#ifndef PRECAST_LINKED_H
#define PRECAST_LINKED_H

#include <precast/module.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One artifact: its digest and its table. */
typedef struct pc_linked {
  uint8_t digest[32]; /* Digest of the archive of the table */
  const pc_module *module;
} pc_linked;

/* Linkers drop sections that nothing refers to; not all of them see that the host refers to this one. */
#if defined(__has_attribute)
#if __has_attribute(__retain__)
#define PC_RETAIN __attribute__((__retain__))
#endif
#endif
#ifndef PC_RETAIN
#define PC_RETAIN
#endif

#define PC_LINKED \
  static const pc_linked pc_linked_modules[] __attribute__((__section__("precast_linked"), __used__)) PC_RETAIN

extern const pc_linked __start_precast_linked[] __attribute__((__weak__, __visibility__("hidden")));
extern const pc_linked __stop_precast_linked[] __attribute__((__weak__, __visibility__("hidden")));

#define PC_LINKED_FIRST __start_precast_linked
#define PC_LINKED_END __stop_precast_linked

#ifdef __cplusplus
}
#endif
#endif
