/* precast/ops/text.h: shapes in messages, written as NumPy writes them: (3,), (2,3), (). */
#ifndef PRECAST_OPS_TEXT_H
#define PRECAST_OPS_TEXT_H

#include <precast/context.h>

#define PC_TEXT_BYTES 128 /* room for a shape; more than about twelve dimensions are cut with dots */

/* The host's snprintf from `at` on; returns where the text now ends. */
__attribute__((unused, noinline, cold)) static int32_t pc_text_add(pc_context *ctx, char *text, int32_t at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = ctx->host->format(text + at, (size_t)(PC_TEXT_BYTES - at), format, args);
  va_end(args);
  return n > 0 && n < PC_TEXT_BYTES - at ? at + n : at;
}

/* Writes a shape into `text`, which has PC_TEXT_BYTES; returns it. */
__attribute__((unused, noinline, cold)) static const char *pc_text_shape(pc_context *ctx, char *text, int32_t ndim, const int64_t *shape) {
  int32_t at = pc_text_add(ctx, text, 0, "(");
  for (int32_t d = 0; d < ndim; d++) {
    if (at > PC_TEXT_BYTES - 32) {
      at = pc_text_add(ctx, text, at, ",...");
      break;
    }
    at = pc_text_add(ctx, text, at, d > 0 ? ",%lld" : "%lld", (long long)shape[d]);
  }
  pc_text_add(ctx, text, at, ndim == 1 ? ",)" : ")");
  return text;
}

#endif
