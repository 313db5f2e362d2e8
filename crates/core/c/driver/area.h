/* driver/area.h: the working memory of a run: up to 8 KiB on the stack, more from the host.
 *
 * Threads of C programs may have only 128 KiB of stack, as with musl, so drivers take at most 72 KiB of it. Memory for few elements lies
 * on the stack. For more elements the host allocates it, usually once a run, which costs little beside the work on them.
 */
#ifndef PRECAST_DRIVER_AREA_H
#define PRECAST_DRIVER_AREA_H

#include <precast/context.h>

#define PC_AREA_NEAR_BYTES 8192

typedef struct pc_area {
  char *free;    /* the memory that is not cut off yet */
  char *heap;    /* NULL: `near` is enough */
  int64_t bytes; /* of `heap`, or of `near` */
  char near[PC_AREA_NEAR_BYTES] __attribute__((aligned(64)));
} pc_area;

static void pc_area_begin(pc_area *a) {
  a->heap = NULL;
  a->bytes = PC_AREA_NEAR_BYTES;
}

static void pc_area_end(pc_context *ctx, pc_area *a) {
  if (a->heap != NULL) ctx->host->release(ctx, a->heap);
}

/* Makes room for `bytes` and discards all earlier cuts. Returns 0, or -1 with the error slot set. */
static int pc_area_ready(pc_context *ctx, pc_area *a, int64_t bytes) {
  if (bytes > a->bytes) {
    pc_area_end(ctx, a);
    pc_area_begin(a);
    a->heap = (char *)ctx->host->alloc(ctx, (size_t)bytes);
    if (a->heap == NULL) return -1;
    a->bytes = bytes;
  }
  a->free = a->heap != NULL ? a->heap : a->near;
  return 0;
}

/* Returns the bytes that pc_area_cut takes for `bytes`: whole lines of the cache. */
static int64_t pc_area_whole(int64_t bytes) { return (bytes + 63) & ~(int64_t)63; }

/* Cuts `bytes` off, aligned to a line of the cache. */
static char *pc_area_cut(pc_area *a, int64_t bytes) {
  char *cut = a->free;
  a->free += pc_area_whole(bytes);
  return cut;
}

#endif
