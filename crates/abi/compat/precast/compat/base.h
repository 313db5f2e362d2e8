/* precast/compat/base.h: the base of every compat header: attributes and checks of the platform. */
#ifndef PRECAST_COMPAT_BASE_H
#define PRECAST_COMPAT_BASE_H

#include <precast/context.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For functions small enough to be worth inlining. */
#define PC_COMPAT_FN static inline __attribute__((unused))
/* For functions whose time does not matter: one copy a module, dropped if it is never called (without optimisation compilers drop only
 * inline functions). */
#ifdef __OPTIMIZE__
#define PC_COMPAT_SLOW static __attribute__((unused, noinline))
#else
#define PC_COMPAT_SLOW static inline __attribute__((unused))
#endif
/* An object or a table of a module. */
#define PC_COMPAT_DATA static __attribute__((unused))

#ifdef __cplusplus
#define PC_COMPAT_ASSERT(condition, text) static_assert(condition, text)
#else
#define PC_COMPAT_ASSERT(condition, text) _Static_assert(condition, text)
#endif

PC_COMPAT_ASSERT(sizeof(intptr_t) == sizeof(int64_t), "the compat headers need 64-bit addresses");

#endif
