/* precast/compat/libc.h: the parts of <string.h>, <stdlib.h>, <stdio.h>, <math.h>, <limits.h> and <assert.h> that op code expects,
 * for a unit without a C library.
 *
 * `memcpy`, `memmove`, `memset` and `memcmp` are the host's. Functions of <math.h> that the compiler has no instruction for
 * are declared only: an op that calls them returns `m` from `c_libraries`. `printf` and `fprintf` count the characters that
 * they would print, and print nothing: a module has no standard output.
 */
#ifndef PRECAST_COMPAT_LIBC_H
#define PRECAST_COMPAT_LIBC_H

#include <precast/compat/current.h>

#ifdef __cplusplus
extern "C" {
#endif

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int byte, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

#define PC_COMPAT_MATH1(name) \
  double name(double);        \
  float name##f(float);
#define PC_COMPAT_MATH2(name)  \
  double name(double, double); \
  float name##f(float, float);
PC_COMPAT_MATH1(fabs)
PC_COMPAT_MATH1(sqrt)
PC_COMPAT_MATH1(floor)
PC_COMPAT_MATH1(ceil)
PC_COMPAT_MATH1(trunc)
PC_COMPAT_MATH1(rint)
PC_COMPAT_MATH1(round)
PC_COMPAT_MATH1(nearbyint)
PC_COMPAT_MATH1(exp)
PC_COMPAT_MATH1(exp2)
PC_COMPAT_MATH1(expm1)
PC_COMPAT_MATH1(log)
PC_COMPAT_MATH1(log2)
PC_COMPAT_MATH1(log10)
PC_COMPAT_MATH1(log1p)
PC_COMPAT_MATH1(sin)
PC_COMPAT_MATH1(cos)
PC_COMPAT_MATH1(tan)
PC_COMPAT_MATH1(asin)
PC_COMPAT_MATH1(acos)
PC_COMPAT_MATH1(atan)
PC_COMPAT_MATH1(sinh)
PC_COMPAT_MATH1(cosh)
PC_COMPAT_MATH1(tanh)
PC_COMPAT_MATH1(asinh)
PC_COMPAT_MATH1(acosh)
PC_COMPAT_MATH1(atanh)
PC_COMPAT_MATH1(erf)
PC_COMPAT_MATH1(erfc)
PC_COMPAT_MATH1(lgamma)
PC_COMPAT_MATH1(tgamma)
PC_COMPAT_MATH1(cbrt)
PC_COMPAT_MATH2(pow)
PC_COMPAT_MATH2(fmod)
PC_COMPAT_MATH2(atan2)
PC_COMPAT_MATH2(hypot)
PC_COMPAT_MATH2(copysign)
PC_COMPAT_MATH2(nextafter)
PC_COMPAT_MATH2(fmin)
PC_COMPAT_MATH2(fmax)
#undef PC_COMPAT_MATH1
#undef PC_COMPAT_MATH2
int abs(int);
long labs(long);
long long llabs(long long);

#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#define HUGE_VAL __builtin_huge_val()
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)
#define M_E 2.7182818284590452354
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_SQRT2 1.41421356237309504880

#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MAX __INT_MAX__
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX (2u * INT_MAX + 1u)
#define LONG_MAX __LONG_MAX__
#define LONG_MIN (-LONG_MAX - 1L)
#define ULONG_MAX (2ul * LONG_MAX + 1ul)
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX (2ull * LLONG_MAX + 1ull)

#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())
#endif

/* The empty statement keeps the compiler from seeing a `strlen` here and calling that. */
PC_COMPAT_FN size_t pc_compat_strlen(const char *text) {
  size_t n = 0;
  for (; text[n] != '\0'; n++) __asm__("" : "+r"(n));
  return n;
}

PC_COMPAT_FN int pc_compat_strncmp(const char *a, const char *b, size_t most) {
  for (size_t i = 0; i < most; i++) {
    unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];
    if (x != y) return x < y ? -1 : 1;
    if (x == 0) return 0;
  }
  return 0;
}

PC_COMPAT_FN int pc_compat_strcmp(const char *a, const char *b) { return pc_compat_strncmp(a, b, SIZE_MAX); }

PC_COMPAT_FN char *pc_compat_strcpy(char *to, const char *from) {
  return (char *)memcpy(to, from, pc_compat_strlen(from) + 1);
}

#define strlen pc_compat_strlen
#define strcmp pc_compat_strcmp
#define strncmp pc_compat_strncmp
#define strcpy pc_compat_strcpy

typedef struct pc_compat_file pc_compat_file;
#define FILE pc_compat_file
#define stdout ((pc_compat_file *)0)
#define stderr ((pc_compat_file *)0)

PC_COMPAT_SLOW int pc_compat_vsnprintf(char *to, size_t bytes, const char *format, va_list args) {
  pc_context *ctx = pc_compat_current.ctx;
  if (ctx != NULL) return ctx->host->format(to, bytes, format, args);
  if (bytes > 0) to[0] = '\0';
  return 0;
}

__attribute__((format(printf, 3, 4))) PC_COMPAT_SLOW int pc_compat_snprintf(char *to, size_t bytes, const char *format,
                                                                           ...) {
  va_list args;
  va_start(args, format);
  int n = pc_compat_vsnprintf(to, bytes, format, args);
  va_end(args);
  return n;
}

__attribute__((format(printf, 1, 2))) PC_COMPAT_SLOW int pc_compat_printf(const char *format, ...) {
  char none[1];
  va_list args;
  va_start(args, format);
  int n = pc_compat_vsnprintf(none, sizeof none, format, args);
  va_end(args);
  return n;
}

__attribute__((format(printf, 2, 3))) PC_COMPAT_SLOW int pc_compat_fprintf(pc_compat_file *file, const char *format,
                                                                          ...) {
  char none[1];
  va_list args;
  (void)file;
  va_start(args, format);
  int n = pc_compat_vsnprintf(none, sizeof none, format, args);
  va_end(args);
  return n;
}

PC_COMPAT_FN int pc_compat_puts(const char *text) { return (int)pc_compat_strlen(text) + 1; }
PC_COMPAT_FN int pc_compat_fflush(pc_compat_file *file) { return (void)file, 0; }

#define printf pc_compat_printf
#define fprintf pc_compat_fprintf
#define snprintf pc_compat_snprintf
#define vsnprintf pc_compat_vsnprintf
#define puts pc_compat_puts
#define fflush pc_compat_fflush

/* Memory of the host; see precast/compat/memory.h. */
#define malloc pc_compat_malloc
#define calloc pc_compat_calloc
#define realloc pc_compat_realloc
#define free pc_compat_free

#ifdef __cplusplus
}
#endif
#endif
