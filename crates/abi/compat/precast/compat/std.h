/* precast/compat/std.h: the C library that Python.h brings with it.
 *
 * A lean module is compiled freestanding: then `libc.h` stands in for the few functions that op code takes for granted. In
 * a hosted unit (an op asked for a system header or library) they are the system's own.
 */
#ifndef PRECAST_COMPAT_STD_H
#define PRECAST_COMPAT_STD_H

#if __STDC_HOSTED__
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#else
#include <precast/compat/libc.h>
#endif

#endif
