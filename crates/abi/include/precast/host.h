/* precast/host.h: services as a host in C may have them. No module includes it.
 *
 * `pc_host_error_format` is pc_host.error_format; `pc_host_parallel` is pc_host.parallel of a host with one thread, and
 * `pc_host_gemms` is pc_host.gemms of one that calls its `gemm`.
 */
#ifndef PRECAST_HOST_H
#define PRECAST_HOST_H

#include <precast/context.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4), unused, noinline, cold))
#endif
static void pc_host_error_format(pc_context *ctx, int32_t kind, const char *format, ...) {
  if (ctx->error.kind == PC_ERROR_NONE) {
    va_list args;
    va_start(args, format);
    ctx->host->format(ctx->error.message, PC_ERROR_BYTES, format, args);
    va_end(args);
    ctx->error.kind = kind;
  }
}

#if defined(__GNUC__)
__attribute__((unused))
#endif
static int pc_host_parallel(pc_context *ctx, int64_t n, int64_t grain, pc_range body, void *state) {
  (void)grain;
  return body(ctx, 0, n, state);
}

#if defined(__GNUC__)
__attribute__((unused))
#endif
static int pc_host_gemms(pc_context *ctx, int32_t dtype, const int64_t *extents, const char *a, const int64_t *a_steps, const char *b,
                         const int64_t *b_steps, char *c, const int64_t *c_steps) {
  int failed = 0;
  for (int64_t i = 0; i < extents[0] && !failed; i++) {
    failed = ctx->host->gemm(ctx, dtype, extents[1], extents[2], extents[3], a + i * a_steps[0], a_steps[1], a_steps[2], b + i * b_steps[0],
                             b_steps[1], b_steps[2], c + i * c_steps[0], c_steps[1], c_steps[2]);
  }
  return failed;
}

#ifdef __cplusplus
}
#endif
#endif
