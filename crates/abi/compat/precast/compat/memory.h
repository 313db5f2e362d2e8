/* precast/compat/memory.h: PyMem_*, PyObject_Malloc and their like, on the host's memory.
 *
 * A block knows its size and the host it came from, so it can be resized, and given back outside of any call:
 *
 *   | bytes | host | 48 bytes to spare | the caller's bytes, aligned to 64 ...
 */
#ifndef PRECAST_COMPAT_MEMORY_H
#define PRECAST_COMPAT_MEMORY_H

#include <precast/compat/current.h>
#include <precast/compat/std.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pc_compat_block {
  size_t bytes;        /* that the caller may use */
  const pc_host *host; /* never NULL */
  char spare[48];
} pc_compat_block;

PC_COMPAT_ASSERT(sizeof(pc_compat_block) == 64, "blocks keep the host's alignment");

/* New memory, uninitialised; NULL when refused or outside of a call. No bytes are one byte. */
PC_COMPAT_SLOW void *pc_compat_malloc(size_t bytes) {
  pc_context *ctx = pc_compat_current.ctx;
  if (ctx == NULL || bytes > SIZE_MAX / 2) return NULL;
  pc_compat_block *block = (pc_compat_block *)ctx->host->alloc(ctx, sizeof *block + (bytes == 0 ? 1 : bytes));
  if (block == NULL) return NULL;
  block->bytes = bytes;
  block->host = ctx->host;
  return block + 1;
}

PC_COMPAT_SLOW void pc_compat_free(void *memory) {
  if (memory == NULL) return;
  pc_compat_block *block = (pc_compat_block *)memory - 1;
  block->host->release(NULL, block);
}

PC_COMPAT_SLOW void *pc_compat_calloc(size_t count, size_t bytes) {
  if (bytes != 0 && count > SIZE_MAX / bytes) return NULL;
  void *memory = pc_compat_malloc(count * bytes);
  if (memory != NULL) memset(memory, 0, count * bytes);
  return memory;
}

PC_COMPAT_SLOW void *pc_compat_realloc(void *memory, size_t bytes) {
  void *fresh = pc_compat_malloc(bytes);
  if (fresh != NULL && memory != NULL) {
    size_t old = ((pc_compat_block *)memory - 1)->bytes;
    memcpy(fresh, memory, old < bytes ? old : bytes);
    pc_compat_free(memory);
  }
  return fresh;
}

#define PyMem_Malloc pc_compat_malloc
#define PyMem_Calloc pc_compat_calloc
#define PyMem_Realloc pc_compat_realloc
#define PyMem_Free pc_compat_free
#define PyMem_RawMalloc pc_compat_malloc
#define PyMem_RawCalloc pc_compat_calloc
#define PyMem_RawRealloc pc_compat_realloc
#define PyMem_RawFree pc_compat_free
#define PyMem_MALLOC pc_compat_malloc
#define PyMem_REALLOC pc_compat_realloc
#define PyMem_FREE pc_compat_free
#define PyMem_New(type, n) ((type *)((size_t)(n) > SIZE_MAX / sizeof(type) ? NULL : pc_compat_malloc((n) * sizeof(type))))
#define PyMem_Resize(p, type, n) \
  ((p) = (type *)((size_t)(n) > SIZE_MAX / sizeof(type) ? NULL : pc_compat_realloc((p), (n) * sizeof(type))))
#define PyMem_Del pc_compat_free
#define PyObject_Malloc pc_compat_malloc
#define PyObject_Calloc pc_compat_calloc
#define PyObject_Realloc pc_compat_realloc
#define PyObject_Free pc_compat_free

#ifdef __cplusplus
}
#endif
#endif
