/* precast/capsule.h: an address that travels as an object and owns the value behind it.
 *
 *   pc_capsule   a u64[] tensor, read-only, whose one element is the address; `destroy` runs when the last reference goes
 *
 * Made by the c_sync of opaque types. The code of `destroy` is the module's: a capsule must not outlive the module, which
 * holds because opaque values live inside a graph only.
 */
#ifndef PRECAST_CAPSULE_H
#define PRECAST_CAPSULE_H

#include <precast/context.h>

typedef struct pc_capsule {
  pc_tensor tensor;
  uint64_t address;
  void (*destroy)(void *); /* nullable; gets the address */
  const pc_host *host;     /* whose memory this is */
} pc_capsule;

__attribute__((unused)) static void pc_capsule_dealloc(pc_object *object) {
  pc_capsule *const capsule = (pc_capsule *)object;
  pc_context ctx;
  ctx.host = capsule->host;
  ctx.error.kind = PC_ERROR_NONE;
  if (capsule->destroy != NULL) {
    capsule->destroy((void *)(uintptr_t)capsule->address);
  }
  ctx.host->release(&ctx, capsule);
}

/* Returns an object that owns `address`. Returns NULL with the error slot set if memory is refused; the caller then keeps the address. */
__attribute__((unused)) static pc_object *pc_capsule_new(pc_context *ctx, void *address, void (*destroy)(void *)) {
  static const pc_type type = {"capsule", pc_capsule_dealloc};
  static const int64_t none[1] = {0};
  pc_capsule *const capsule = (pc_capsule *)ctx->host->alloc(ctx, sizeof(pc_capsule));
  if (capsule == NULL) {
    return NULL;
  }
  capsule->tensor.object.refcount = 1;
  capsule->tensor.object.type = &type;
  capsule->tensor.data = (char *)&capsule->address;
  capsule->tensor.dtype = PC_U64;
  capsule->tensor.ndim = 0;
  capsule->tensor.shape = none;
  capsule->tensor.strides = none;
  capsule->tensor.flags = PC_FLAG_READONLY;
  capsule->tensor.reserved = 0;
  capsule->tensor.owner = NULL;
  capsule->tensor.capacity_bytes = 0;
  capsule->address = (uint64_t)(uintptr_t)address;
  capsule->destroy = destroy;
  capsule->host = ctx->host;
  return (pc_object *)capsule;
}

#endif
