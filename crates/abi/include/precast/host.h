/* precast/host.h: services as a host in C may have them. No module includes it.
 *
 * `pc_host.error_format` is pc_host.error_format; `pc_host_parallel` is pc_host.parallel of a host with one thread.
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

#ifdef __cplusplus
}
#endif
#endif
